"""One trader: what they earned, at what risk, at what cost, and whether it adds up; notes, and one's own base."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_POST, require_safe

from copytrade import reconcile, reports, rollups, rules, versions
from copytrade.models import SettingsVersion, SyncJob, TrackingOrder, Trader, TraderNote
from copytrade.rollups.days import first_moment
from copytrade.rollups.details import Line
from copytrade.rollups.ranges import MOST_COPIES
from copytrade.statistics.parts import true_up_before
from dashboard import access, asked, calendars, charts, comparisons, figures, htmx, plots, watching
from dashboard.forms.traders import CapitalForm, NoteForm

TEMPLATE = "traders/trader.jinja"
# What is sent to those who open it: the name in the address, and the template that shows it on the page, too.
FOLDED = {
    "equity": "partials/equity_table.jinja",
    "days": "traders/months.jinja",
    "calendar": "traders/calendar_table.jinja",
    "costs": "traders/costs_table.jinja",
    "holding": "traders/holding_table.jinja",
    "margin": "traders/margin_table.jinja",
    "symbols": "traders/symbols_table.jinja",
}
CHART = "chart"  # the points of the line, for the script that reads them off
HOLDING = "holding"  # whose table names each copy that has a dot
# What needs a line in all its points; a page draws each from few.
WHOLE: Mapping[str, Collection[Line]] = {CHART: ("curve",), "margin": ("margin",)}
BREAKDOWNS = (
    ("side", "Side"),
    ("weekday", "Weekday"),
    ("leverage", "Leverage"),
    ("holding", "Holding time"),
)
MOST_SYMBOLS = 12
NEW = "new"  # the prefix of the form for a note that is not there yet
NOTE = "note"  # of one that is, before its number; `?show=note12` opens it, and `?show=notenew` the new one


@require_safe
def trader(request: HttpRequest, pk: int) -> HttpResponse:
    """The page; a part of it when htmx asks for another period, or for what is folded. Both are in the address."""
    return _page(request, pk)


@require_POST
def note_add(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a note. What is wrong is said on the page, with what was typed."""
    found = access.trader_write(request, pk)
    form = NoteForm(request.POST, prefix=NEW, today=timezone.localdate(), instance=TraderNote(trader=found))
    if not form.is_valid():
        return _page(request, pk, note_form=form, status=422)
    form.save()
    messages.success(request, "The note is kept. It stands on the time axis and under Notes.")
    return _back(request, found, "notes")


@require_POST
def note_edit(request: HttpRequest, pk: int, note: int) -> HttpResponse:
    found = access.trader_write(request, pk)
    row = get_object_or_404(TraderNote, pk=note, trader=found)
    form = NoteForm(request.POST, today=timezone.localdate(), instance=row, prefix=f"{NOTE}{note}")
    if not form.is_valid():
        return _page(request, pk, edited=form, status=422)
    form.save()
    messages.success(request, "The note is changed.")
    return _back(request, found, "notes")


@require_POST
def note_delete(request: HttpRequest, pk: int, note: int) -> HttpResponse:
    """Twice is once: a note that is gone already is no error for its owner."""
    found = access.trader_write(request, pk)
    TraderNote.objects.filter(pk=note, trader=found).delete()
    messages.success(request, "The note is deleted.")
    return _back(request, found, "notes")


@require_POST
def capital(request: HttpRequest, pk: int) -> HttpResponse:
    """One's own base for ROI; empty takes it away. The figures that hang on it are made again at once."""
    found = access.trader_write(request, pk)
    form = CapitalForm(request.POST)
    if not form.is_valid():
        return _page(request, pk, capital_form=form, status=422)
    Trader.objects.filter(pk=found.pk).update(capital_base=form.cleaned_data["capital"])
    rollups.summarise([found.pk])
    said = (
        "ROI is measured against it from now on."
        if form.cleaned_data["capital"]
        else "You have no own base now."
    )
    messages.success(request, said)
    return _back(request, found, "base")


def _back(request: HttpRequest, found: Trader, place: str) -> HttpResponseRedirect:
    """To the same period of the page, at the place where the form stood."""
    query = request.GET.urlencode()
    return HttpResponseRedirect(
        reverse("trader", args=[found.pk]) + (f"?{query}" if query else "") + f"#{place}"
    )


def _page(
    request: HttpRequest,
    pk: int,
    *,
    note_form: NoteForm | None = None,
    edited: NoteForm | None = None,
    capital_form: CapitalForm | None = None,
    status: int = 200,
) -> HttpResponse:
    found, jobs, gaps = access.trader_and_jobs(request, pk)
    watching.watch_account(found.account)
    now, zone = timezone.now(), reports.zone_of(access.person(request))
    today = now.astimezone(zone).date()
    wanted = asked.asked(request.GET, today)
    show = request.GET.get("show", "")
    if edited or note_form:  # what was refused stands open
        show = f"{NOTE}{edited.instance.pk if edited else NEW}"
    part = htmx.wants_part(request)
    with access.still_there():
        page = _report(found, wanted, now, zone, reports.reach_of(_history(jobs), gaps), WHOLE.get(show, ()))
        named = [key for *_, key in page.scatter] if show == HOLDING else []
        around = reports.trader_around(found, named, now, ready=not part)  # which is of no period
    freshness = reports.freshness_of(jobs, [SyncJob.Kind.OPEN, SyncJob.Kind.HISTORY], now)
    if show == CHART and part:
        return htmx.data(charts.equity_data(page.curve, _marks(around, zone), str(zone)))
    context = {
        "trader": found,
        "here": reverse("trader", args=[found.pk]),
        "show": show,
        "title": "Cumulative net result",
        "page": page,
        "summary": page.summary,
        "asked": wanted,
        "period": wanted.period,
        "periods": asked.PERIODS,
        "against": comparisons.against(page, zone),
        "figures": figures.figures(page.summary),
        "around": around,
        "freshness": freshness,
        "true_up": true_up_before(now) + timedelta(days=1),
        "verdict": reconcile.verdict(_facts(page, around, freshness, now)),
        "tolerance": reconcile.TOLERANCE,
        "note_form": note_form or (NoteForm(today=today, prefix=NEW) if show == NOTE + NEW else None),
        "notes": _notes(around, edited, show, today),
        "capital_form": capital_form or CapitalForm(initial={"capital": _plain(found.capital_base)}),
        "today": today,
        "most_copies": MOST_COPIES,
        **_tables(page, around, zone),
        **_breakdowns(page),
        **_in_force(around.version),
        "change": around.change,
    }
    if show in FOLDED and part:
        return htmx.part(request, FOLDED[show], context)
    if show == NOTE + NEW and part:
        return htmx.part(request, "traders/note_add.jinja", context)
    if show.startswith(NOTE) and part:
        context |= _note(context["notes"])
        return htmx.part(request, "traders/note_edit.jinja", context)
    context |= _pictures(page, around, zone)
    if not part:
        context["ready"] = around.ready
        context["ready_unified"] = around.version is not None and around.version.mode != rules.PER_SYMBOL
    return htmx.render(request, TEMPLATE, context, partial="traders/of_period.jinja", status=status)


def _history(jobs: list[SyncJob]) -> SyncJob | None:
    return next((job for job in jobs if job.kind == SyncJob.Kind.HISTORY), None)


def _report(
    found: Trader,
    wanted: asked.Asked,
    now: datetime,
    zone: tzinfo,
    reach: reports.Reach,
    whole: Collection[Line],
) -> reports.TraderPage:
    if wanted.first is not None and wanted.last is not None:
        return reports.trader_range(found, wanted.first, wanted.last, now, zone, reach, whole)
    return reports.trader_page(found, wanted.period.key, now, zone, reach, whole)


def _facts(
    page: reports.TraderPage, around: reports.Around, freshness: reports.Freshness, now: datetime
) -> reconcile.Facts:
    """The same facts as the chore's (reconcile.facts_of), from what the page has read."""
    history = freshness.readings.get("history")
    return reconcile.Facts(
        ledger=page.reconciliation.ledger,
        exchange=page.reconciliation.exchange,
        copied=page.trader.copied,
        walking=page.reach.walking,
        gaps=page.reach.gaps,
        missing=page.missing,
        lost=around.lost,
        lost_value=around.lost_value,
        provisional=reconcile.provisional_of(around.recent, now),
        total_read=page.trader.balances_at,
        history_read=history.at if history else None,
        last_close=around.latest[0].close_time if around.latest else None,
    )


def _pictures(page: reports.TraderPage, around: reports.Around, zone: tzinfo) -> dict[str, Any]:
    """What the page draws at once; no part that is sent to those who open it has any of it."""
    curve, summary = page.still, page.summary
    span = (curve[0][0], curve[-1][0]) if len(curve) > 1 else None
    return {
        "still": charts.still(curve, zone, _marks(around, zone)),
        "points": len(curve),
        "readout": charts.readout(curve, zone),
        "told": charts.told(summary.net_profit, summary.max_drawdown, summary.closed_copies),
        "margin": plots.line(
            charts.thinned(page.margin_still, charts.STEP_POINTS),
            zone,
            steps=True,
            kind="margin",
            about=3,
            tall=plots.MID,
            span=_longest(span, page.margin_still),
        ),
        "dots": plots.cloud([(hours, net) for hours, net, _ in page.scatter]),
    }


def _tables(page: reports.TraderPage, around: reports.Around, zone: tzinfo) -> dict[str, Any]:
    """What stands in tables, each worked out where it is shown; and the calendar, whose days come by themselves."""
    return {
        "daily": bool(page.closed_on),
        "table": SimpleLazyObject(lambda: charts.rows_of(page.daily, page.closed_on)),
        "marked": SimpleLazyObject(lambda: charts.within(_marks(around, zone), page.still)),
        "calendar": SimpleLazyObject(lambda: calendars.calendar(page.daily)),
        "dotted": SimpleLazyObject(lambda: _dots(page, around)),
        "months": _months(page),
    }


def _longest(span: Any, margin: Sequence[tuple[datetime, Decimal]]) -> tuple[datetime, datetime] | None:
    """From the first open to the last close: copies may be open before the first of them closes."""
    if not span or not margin:
        return None
    return min(span[0], margin[0][0]), max(span[1], margin[-1][0])


def _marks(around: reports.Around, zone: tzinfo) -> list[tuple[datetime, str, str]]:
    """What stands on the time axis: changes of settings, and notes at the noon of their day."""
    changed = [
        (version.first_seen_at, "settings", f"Settings {version.get_author_display()}")
        for version in around.marks
    ]
    noted = [
        (first_moment(note.day, zone) + timedelta(hours=12), "note", f"Note: {note.text[:80]}")
        for note in around.notes
    ]
    return sorted([*changed, *noted], key=lambda mark: mark[0])


def _dots(
    page: reports.TraderPage, around: reports.Around
) -> list[tuple[TrackingOrder | None, Decimal, Decimal]]:
    """Each dot as its copy (None where it went since the figures were made), the seconds held and the net, the best
    first."""
    best_first = sorted(page.scatter, key=lambda dot: dot[1], reverse=True)
    return [(around.named.get(key), hours * 3600, net) for hours, net, key in best_first]


def _breakdowns(page: reports.TraderPage) -> dict[str, Any]:
    symbols = page.breakdowns["symbol"]
    shown = (
        symbols
        if len(symbols) <= MOST_SYMBOLS
        else [*symbols[: MOST_SYMBOLS // 2], *symbols[-MOST_SYMBOLS // 2 :]]
    )
    tables = []
    for name, title in BREAKDOWNS:
        rows = page.breakdowns[name]
        bars = charts.bars([row.net for row in rows])
        tables.append({"name": name, "title": title, "rows": list(zip(rows, bars, strict=True))})
    return {
        "by_symbol": list(zip(shown, charts.bars([row.net for row in shown]), strict=True)),
        "symbols": symbols,
        "breakdowns": tables,
    }


def _months(page: reports.TraderPage) -> list[tuple[Any, ...]]:
    """The cost gap by month, newest first, each with a bar of its size."""
    rows = page.costs_by_month[::-1]
    bars = charts.bars([costs.gap for _, costs in rows])
    return [(month, costs, bar) for (month, costs), bar in zip(rows, bars, strict=True)]


def _notes(
    around: reports.Around, edited: NoteForm | None, show: str, today: Any
) -> list[tuple[TraderNote, NoteForm | None]]:
    """Each note, the one that is open for changing with its form; one that was refused keeps what was typed."""
    found: list[tuple[TraderNote, NoteForm | None]] = []
    for note in around.notes:
        name = f"{NOTE}{note.pk}"
        form = None
        if name == show:
            form = edited or NoteForm(instance=note, today=today, prefix=name)
        found.append((note, form))
    return found


def _note(notes: list[tuple[TraderNote, NoteForm | None]]) -> dict[str, Any]:
    """The one whose form is asked for. It may be gone, or somebody else's."""
    found = next(((note, form) for note, form in notes if form), None)
    if found is None:
        raise Http404("There is no such note.")
    return {"note": found[0], "form": found[1]}


def _in_force(version: SettingsVersion | None) -> dict[str, Any]:
    """The settings last known to be in force, in words."""
    settings = versions.understood(version.answer) if version else None
    return {
        "version": version,
        "settings": settings,
        "in_words": rules.described(settings) if settings else [],
    }


def _plain(value: Decimal | None) -> str:
    return "" if value is None else f"{value.normalize():f}"
