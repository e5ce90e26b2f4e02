"""One change of copy settings on its way: reviewed, sent, followed, and chosen anew where it did not arrive."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from copytrade import changes, tasks
from copytrade.models import SettingsChange, Trader, User
from dashboard import access, htmx, reviews, stepup

State = SettingsChange.State


@require_http_methods(["GET", "POST"])
def change(request: HttpRequest, pk: int, key: uuid.UUID) -> HttpResponse:
    """Its review while it is a draft; its outcome, live, once it was confirmed. POST confirms it, at most once."""
    trader = access.trader_write(request, pk)
    found = _change_of(trader, key)
    refused = ""
    if request.method == "POST":
        if found.state == State.DRAFT and (proof := stepup.required(request)):
            return proof
        refused = _confirm(found, request.POST, access.person(request))
        if not refused:
            return redirect("copy_settings_change", pk=trader.pk, key=found.key)
        found.refresh_from_db(fields=["state"])
    if found.state == State.DRAFT:
        ticked = request.POST or stepup.returned(request) or {}
        context = reviews.review(trader, found)
        context |= {"refused": refused, "ticked": ticked.get("not_copying") == "understood"}
        return render(request, "copy_settings/review.html", context, status=409 if refused else 200)
    context = reviews.outcome(trader, found) | {"refused": refused}
    template = "copy_settings/outcome.html"
    return htmx.render(request, template, context, partial="outcome", status=409 if refused else 200)


def _confirm(found: SettingsChange, posted: QueryDict, user: User) -> str:
    """Commit the intent and wake a worker; a sentence when it was refused. Nothing is sent from here."""
    stopped = found.base is not None and found.base.copy_enable is False
    if stopped and posted.get("not_copying") != "understood":
        return (
            "This trader is not copied now. Tick the box to say that you know what that may mean, then send."
        )
    try:
        confirmed = changes.confirm(found, posted.get("key", ""), seen=posted.get("seen", ""), by=user)
    except changes.ChangeRefused as error:
        return str(error)
    if confirmed.state == State.CONFIRMED:
        tasks.hint_change(confirmed.pk)
    return ""


@require_POST
def resolve(request: HttpRequest, pk: int, key: uuid.UUID) -> HttpResponse:
    """Settle a conflict by a choice for each setting: a new draft on what the exchange holds now, to be reviewed."""
    trader = access.trader_write(request, pk)
    found = _change_of(trader, key)
    chosen = _chosen(request.POST)
    context = reviews.outcome(trader, found, chosen)
    if request.POST.get("all") == "mine":
        chosen = {column.row.path: "mine" for column in context["columns"]}
    shown = request.POST.get("theirs", "")
    theirs = int(shown) if shown.isdecimal() and len(shown) < 19 else 0
    try:
        draft = changes.resolve(found, chosen, access.person(request), theirs=theirs)
        return redirect("copy_settings_change", pk=trader.pk, key=draft.key)
    except changes.ChangeRefused as error:
        context["refused"] = str(error)
    return render(request, "copy_settings/outcome.html", context, status=409)


def _chosen(posted: QueryDict) -> dict[str, str]:
    picks = {name.removeprefix("pick:"): value for name, value in posted.items() if name.startswith("pick:")}
    return {path: value for path, value in picks.items() if value in ("mine", "theirs")}


@require_POST
def again(request: HttpRequest, pk: int, key: uuid.UUID) -> HttpResponse:
    """The same settings once more, as a new change with its own review, after one that has not arrived."""
    trader = access.trader_write(request, pk)
    found = _change_of(trader, key)
    try:
        draft = changes.again(found, access.person(request))
    except changes.ChangeRefused as error:
        context = reviews.outcome(trader, found) | {"refused": str(error)}
        return render(request, "copy_settings/outcome.html", context, status=409)
    return redirect("copy_settings_change", pk=trader.pk, key=draft.key)


def _change_of(trader: Trader, key: uuid.UUID) -> SettingsChange:
    rows = trader.changes.select_related("base", "author", "trader__account", "previous", "group")
    return get_object_or_404(rows, key=key)
