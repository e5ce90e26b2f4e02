"""Spot: the order ticket, a batch, the look-up, and the orders that were sent from here."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from copytrade import symbols
from copytrade.clients import NoKey, talking_to
from copytrade.exchange.errors import ExchangeError
from copytrade.exchange.records import SpotOrder as Told
from copytrade.models import Account, SpotOrder, SpotTicket
from copytrade.spot import gates, lookups, tickets
from copytrade.vault import VaultError
from dashboard import access, htmx, spot_words
from dashboard.errors import Explained, explain
from dashboard.filters import whole
from dashboard.forms.spot import LookUpForm, TicketForm
from dashboard.watching import Memory

PAGE = 20
looked_at = Memory(lookups.WATCHED_AFTER.total_seconds())


@require_GET
def spot(request: HttpRequest) -> HttpResponse:
    """The connections, each with its way to the ticket; straight to the only one."""
    accounts = list(access.accounts(request))
    if len(accounts) == 1:
        return redirect("spot_account", pk=accounts[0].pk)
    rows = [(account, gates.closed(account)) for account in accounts]
    return render(request, "spot/accounts.html", {"rows": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def ticket_form(request: HttpRequest, pk: int) -> HttpResponse:
    """The ticket above the orders sent from here; POST makes a draft of it, to be reviewed."""
    account = access.account_write(request, pk)
    if request.method == "POST":
        return _draft(request, account, TicketForm(request.POST))
    if htmx.wants_part(request):
        return htmx.render(request, "spot/spot.html", _orders(request, account), partial="orders")
    form = _started_from(request, account, batch=False)
    return render(request, "spot/spot.html", _context(request, account, form))


@require_http_methods(["GET", "HEAD", "POST"])
def batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Up to ten orders of one symbol; POST makes a draft of them."""
    account = access.account_write(request, pk)
    if request.method == "POST":
        return _draft(request, account, TicketForm(request.POST, batch=True))
    form = _started_from(request, account, batch=True)
    return render(request, "spot/batch.html", _context(request, account, form))


@require_POST
def check(request: HttpRequest, pk: int) -> HttpResponse:
    """What was typed in words, and what is wrong with it: a part for htmx, the whole form without JavaScript."""
    account = access.account_write(request, pk)
    form = TicketForm(request.POST, batch=request.POST.get("batch") == "yes")
    form.check(account)
    template = "spot/batch.html" if form.batch else "spot/spot.html"
    return htmx.render(request, template, _context(request, account, form), partial="checked")


@require_http_methods(["GET", "HEAD", "POST"])
def look_up(request: HttpRequest, pk: int) -> HttpResponse:
    """One order by either id, asked of the exchange when the button is pressed. It needs no switch: it reads."""
    account = access.account_read(request, pk)
    form = LookUpForm(request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {"account": account, "form": form, "tab": "look_up"}
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            found, failed = _asked(account, form.cleaned_data["order_id"], form.cleaned_data["client_id"])
            context |= {"found": found, "failed": failed}
            status = failed.status if failed else 200
            if found:
                context["ours"] = _ours(account, found)
    return render(request, "spot/look_up.html", context, status=status)


def _asked(account: Account, order_id: int | None, client_id: str) -> tuple[Told | None, Explained | None]:
    try:
        with talking_to(account, interactive=True, purpose="to look up a spot order") as client:
            if order_id is not None:
                return client.order(order_id=order_id), None
            return client.order(orig_client_order_id=client_id), None
    except ExchangeError as error:
        if error.code == lookups.NO_SUCH_ORDER:
            step = "Check the id, and which connection it is of."
            return None, Explained("No such order", error.sentence, step, status=404)
        return None, explain(error)
    except (NoKey, VaultError) as error:
        return None, Explained(
            "This connection cannot be used", str(error), "Enter its key again.", status=409
        )


def _ours(account: Account, found: Told) -> SpotOrder | None:
    """The order of ours that this is, brought up to date by what was found."""
    mine = account.spot_orders.filter(client_order_id=found.client_order_id or "").exclude(state="draft")
    order = mine.select_related("ticket").order_by("-attempt").first()
    if order is not None:
        lookups.take(order, found)
        order.refresh_from_db()
    return order


def _draft(request: HttpRequest, account: Account, form: TicketForm) -> HttpResponse:
    """To the review; what does not hold is shown again, as typed."""
    refused = ""
    if form.check(account):
        try:
            symbol = form.symbol.cleaned_data["symbol"]
            made = tickets.draft(account, symbol, form.orders, access.person(request), form.way)
            tickets.read_balances(made)
            return redirect("spot_ticket", pk=account.pk, key=made.key)
        except gates.SpotRefused as error:
            refused = str(error)
    template = "spot/batch.html" if form.batch else "spot/spot.html"
    context = _context(request, account, form) | {"refused": refused}
    return render(request, template, context, status=409 if refused else 422)


def _started_from(request: HttpRequest, account: Account, *, batch: bool) -> TicketForm:
    """An empty form; or that of an earlier ticket, to go on with (`?ticket=<key>`)."""
    try:
        earlier = account.spot_tickets.filter(key=request.GET.get("ticket") or None).first()
    except ValidationError:
        earlier = None
    if earlier is not None:
        form = TicketForm.of(earlier)
        if form.batch == batch:
            return form
    latest = account.spot_tickets.order_by("-pk").values_list("symbol", flat=True).first()
    return TicketForm(batch=batch, symbol=latest or "")


def _context(request: HttpRequest, account: Account, form: TicketForm) -> dict[str, Any]:
    counted, counted_at = spot_words.counts(account)
    symbol = form.symbol.data.get("symbol", "") if form.symbol.is_bound else ""
    examples = [
        (line.number, words)
        for line, order in zip(form.used, form.orders, strict=False)
        if (words := spot_words.example(str(symbol).strip().upper(), order))
    ]
    return {
        "form": form,
        "tab": "batch" if form.batch else "order",
        "gates": gates.closed(account),
        "symbols": _symbols(account),
        "examples": examples,
        "problems": form.problems(),
        "counts": counted,
        "counted_at": counted_at,
        "no_cancel": spot_words.NO_CANCEL,
        **_orders(request, account),
    }


def _orders(request: HttpRequest, account: Account) -> dict[str, Any]:
    """A page of the orders sent from here, newest first; those that stand are read more often while it is open."""
    if looked_at.is_new("spot", account.pk):
        lookups.watch(account)
    found = account.spot_orders.exclude(state="draft").select_related("ticket").order_by("-pk")
    before = whole(request.GET.get("before"))
    page = list((found.filter(pk__lt=before) if before else found)[: PAGE + 1])
    return {
        "account": account,
        "orders": spot_words.rows(page[:PAGE]),
        "older": page[PAGE - 1].pk if len(page) > PAGE else None,
        "before": before,
    }


def _symbols(account: Account) -> list[str]:
    """Symbols to propose: those of earlier tickets, then those that copy trading knows. The field takes any."""
    used = list(account.spot_tickets.order_by("symbol").values_list("symbol", flat=True).distinct()[:30])
    known = sorted(symbols.supported(account.venue) or ())
    return list(dict.fromkeys([*used, *known]))[:40]


def rows_of(ticket: SpotTicket) -> list[spot_words.Row]:
    """The orders of a ticket as the pages show them."""
    orders = tickets.lines(ticket)
    for order in orders:
        order.ticket = ticket
    return spot_words.rows(orders)
