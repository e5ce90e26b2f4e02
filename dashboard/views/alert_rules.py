"""What a person wants to hear of: the table of rules, single traders, quiet hours."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from copytrade.alerts import lately, rules, words
from copytrade.alerts.kinds import KINDS
from copytrade.models import Alert, QuietHours
from dashboard import access
from dashboard.filters import whole
from dashboard.forms.alerts import OverrideForm, QuietForm, RuleForm

MOST_OVERRIDES = 200


@require_http_methods(["GET", "HEAD", "POST"])
def alert_rules(request: HttpRequest) -> HttpResponse:
    """Every kind with what is done about it, saved as a whole."""
    if request.method != "POST":
        return _page(request)
    forms = _forms(request, request.POST)
    if any(not form.is_valid() for form in forms):
        return _page(request, rows=forms)
    changed = rules.save(access.person(request), {form.about.kind: form.wanted() for form in forms})
    if changed:
        messages.success(request, f"Saved. It holds from now on for {len(changed)} of {len(forms)} kinds.")
    else:
        messages.info(request, "Nothing was different, so nothing was changed.")
    return redirect("alert_rules")


@require_POST
def override(request: HttpRequest) -> HttpResponse:
    """Set what holds for one trader. Twice is once."""
    person = access.person(request)
    form = OverrideForm(request.POST, traders=access.traders(request))
    if form.is_valid() and rules.overrides(person).count() >= MOST_OVERRIDES:
        form.add_error(None, f"There are {MOST_OVERRIDES} already. Remove some first.")
    if not form.is_valid():
        return _page(request, own=form)
    data = form.cleaned_data
    rules.override(person, data["kind"], data["trader"], data["mode"], data["limit"], data["unit"])
    messages.success(request, f"Saved for {data['trader']}.")
    return redirect("alert_rules")


@require_POST
def drop(request: HttpRequest, pk: int) -> HttpResponse:
    """What holds for all traders holds for this one again."""
    rule = access.alert_rule_write(request, pk)
    rules.drop(rule)
    messages.success(request, f"{rule.trader}: as for all traders again.")
    return redirect("alert_rules")


@require_POST
def quiet(request: HttpRequest) -> HttpResponse:
    """Quiet hours, by the clock of the person's zone."""
    form = QuietForm(request.POST)
    if not form.is_valid():
        return _page(request, hours=form)
    begins, ends = form.cleaned_data["begins"], form.cleaned_data["ends"]
    rules.set_quiet(access.person(request), begins, ends)
    held = begins is not None and ends is not None
    said = f"Quiet from {begins:%H:%M} to {ends:%H:%M}." if held else "There are no quiet hours now."
    messages.success(request, said)
    return redirect("alert_rules")


def _page(
    request: HttpRequest,
    rows: list[RuleForm] | None = None,
    own: OverrideForm | None = None,
    hours: QuietForm | None = None,
) -> HttpResponse:
    person, failed = access.person(request), bool(rows or own or hours)
    rows = rows or _forms(request)
    held = rules.book([person.pk])
    said = lately.of_the_week(person, held.of(person.pk, Alert.Kind.LOSS).limit, timezone.now())
    context = {
        "rows": [(form, said.get(form.about.kind, "")) for form in rows],
        "refused": sum(bool(form.errors) for form in rows if form.is_bound),
        "overrides": [(row, _limit_of(row, held)) for row in rules.overrides(person)],
        "override_form": own or OverrideForm(traders=access.traders(request), initial=_asked(request)),
        "quiet_form": hours or QuietForm(initial=_hours(request)),
        "has_traders": access.traders(request).exists(),
    }
    return render(request, "alerts/rules.html", context, status=422 if failed else 200)


def _forms(request: HttpRequest, posted: Any = None) -> list[RuleForm]:
    person = access.person(request)
    held = rules.book([person.pk])
    return [RuleForm(about, held.of(person.pk, about.kind), posted) for about in KINDS.values()]


def _asked(request: HttpRequest) -> dict[str, Any]:
    """The trader that a link of his page brought along."""
    return {"trader": whole(request.GET.get("trader"))}


def _hours(request: HttpRequest) -> dict[str, Any]:
    found = QuietHours.objects.filter(owner=access.person(request)).first()
    return {"begins": found.begins, "ends": found.ends} if found else {}


def _limit_of(row: Any, held: rules.Book) -> str:
    rule = held.of(row.owner_id, row.kind, row.trader_id)
    if rule.limit is None:
        return ""
    return words.limit(rule.limit, rule.unit) + ("" if row.threshold is not None else ", as for all")
