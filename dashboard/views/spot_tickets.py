"""One spot ticket on its way: reviewed, confirmed, followed, and taken up again where it did not arrive."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from copytrade import tasks
from copytrade.models import Account, SpotTicket
from copytrade.spot import gates, lookups, tickets
from dashboard import access, htmx, spot_words, stepup

from .spot import looked_at, rows_of

DOING = "send a spot order"


@require_http_methods(["GET", "HEAD", "POST"])
def ticket(request: HttpRequest, pk: int, key: uuid.UUID) -> HttpResponse:
    """Its review while it is a draft; its outcome, live, once it was confirmed. POST confirms it, at most once."""
    account = access.account_write(request, pk)
    found = _ticket_of(account, key)
    refused = ""
    if request.method == "POST":
        if found.confirmed_at is None and (proof := stepup.required(request, doing=DOING)):
            return proof
        refused = _confirm(request, found)
        if not refused:
            return redirect("spot_ticket", pk=account.pk, key=found.key)
    if found.confirmed_at is None:
        stepup.returned(request)
        context = _review(account, found) | {"refused": refused}
        return render(request, "spot/review.html", context, status=409 if refused else 200)
    context = _outcome(account, found) | {"refused": refused}
    return htmx.render(
        request, "spot/outcome.html", context, partial="outcome", status=409 if refused else 200
    )


@require_POST
def again(request: HttpRequest, pk: int, key: uuid.UUID) -> HttpResponse:
    """What did not arrive as a new draft under the same ids, with its own review; -1150: one by one."""
    account = access.account_write(request, pk)
    found = _ticket_of(account, key)
    try:
        draft = tickets.again(found, access.person(request))
    except gates.SpotRefused as error:
        context = _outcome(account, found) | {"refused": str(error)}
        return render(request, "spot/outcome.html", context, status=409)
    tickets.read_balances(draft)
    return redirect("spot_ticket", pk=account.pk, key=draft.key)


def _confirm(request: HttpRequest, found: SpotTicket) -> str:
    """Commit the intent and wake a worker; a sentence when it was refused. Nothing is sent from here."""
    posted = request.POST
    try:
        confirmed = tickets.confirm(
            found, posted.get("key", ""), posted.get("seen", ""), access.person(request)
        )
    except gates.SpotRefused as error:
        return str(error)
    if confirmed.look_again_at is not None and any(row.under_way for row in rows_of(confirmed)):
        tasks.hint_spot(confirmed.pk)
    return ""


def _ticket_of(account: Account, key: uuid.UUID) -> SpotTicket:
    rows = account.spot_tickets.select_related("account", "author", "previous").prefetch_related("orders")
    return get_object_or_404(rows, key=key)


def _review(account: Account, found: SpotTicket) -> dict[str, Any]:
    orders = tickets.lines(found)
    return {
        "account": account,
        "ticket": found,
        "orders": [(order, spot_words.example(found.symbol, spot_words.as_new(order))) for order in orders],
        "cautions": spot_words.cautions(found, orders),
        "free": spot_words.free(found).items(),
        "requests": [(path, _pretty(body)) for path, body in tickets.requests(found)],
        "seen": tickets.mark(found),
        "gates": gates.closed(account),
        "counted": 5 if found.way == SpotTicket.Way.BATCH else len(orders),
        "counts": spot_words.counts(account)[0],
        "edit": "spot_batch" if len(orders) > 1 else "spot_account",
    }


def _outcome(account: Account, found: SpotTicket) -> dict[str, Any]:
    if looked_at.is_new("spot", account.pk):
        lookups.watch(account)
    rows = rows_of(found)
    under_way = any(row.under_way for row in rows)
    standing = any(row.order.look_at for row in rows)
    repeatable = tickets.repeatable(found)
    later = found.following.exclude(confirmed_at=None).order_by("-pk").first()
    return {
        "account": account,
        "ticket": found,
        "rows": rows,
        "under_way": under_way,
        "refresh": "1s" if under_way else "5s" if standing else "",
        "repeatable": repeatable if later is None else [],
        "no_batches": any(order.error_code == tickets.NO_BATCH for order in repeatable),
        "refused_all": all(row.order.state == "rejected" for row in rows),
        "later": later,
        "looks": len(lookups.LOOK_AFTER),
        "requests": [(path, _pretty(body)) for path, body in tickets.requests(found)],
        "edit": "spot_batch" if len(rows) > 1 else "spot_account",
        "step": 3 if under_way else 4,
    }


def _pretty(body: dict[str, Any]) -> str:
    return json.dumps(body, indent=2)


@require_POST
def desk_switch(request: HttpRequest) -> HttpResponse:
    """The operator's switch for spot orders. He proves himself as for sending."""
    operator = access.operator(request)
    if proof := stepup.required(request, _security(), "change whether spot orders may be placed here"):
        return proof
    wanted = request.POST.get("spot_trading")
    if wanted not in ("on", "off"):
        messages.error(request, "Nothing was changed. Use one of the buttons.")
    elif gates.set_for_desk(operator, wanted == "on").spot_trading:
        messages.success(
            request, "Spot orders may be placed from this desk now, once an owner switches a connection on."
        )
    else:
        messages.success(request, "No spot orders are placed from this desk any more.")
    return redirect("security")


def _security() -> str:
    from django.urls import reverse

    return reverse("security")


@require_http_methods(["GET", "HEAD", "POST"])
def account_switch(request: HttpRequest, pk: int) -> HttpResponse:
    """The owner's switch for spot orders of one connection. On needs the proof that sending needs; off does not."""
    account = access.account_write(request, pk)
    missing = gates.before_switching_on(account)
    if request.method == "POST":
        on = request.POST.get("enabled") == "1"
        if on and (proof := stepup.required(request, doing=f"switch spot orders on for {account.label}")):
            return proof
        try:
            gates.set_for_account(account, on, access.person(request))
        except gates.SpotRefused as error:
            context = {"account": account, "missing": missing, "refused": str(error)}
            return render(request, "spot/switch.html", context, status=409)
        messages.success(request, f"Spot orders are {'on' if on else 'off'} for {account.label}.")
        return redirect("connection", pk=pk)
    stepup.returned(request)
    operators = not any(gate.name == gates.OPERATOR for gate in gates.closed(account))
    context = {"account": account, "missing": missing, "operators": operators}
    return render(request, "spot/switch.html", context)
