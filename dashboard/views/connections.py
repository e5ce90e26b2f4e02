"""Connections: the exchange accounts of a person. List, add, test, replace the key, writing, remove."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from copytrade import connections as jobs
from copytrade import egress, reports, tasks
from copytrade.models import Account
from copytrade.reports.coverage import coverage
from copytrade.spot import gates
from dashboard import access, htmx, watching
from dashboard.demo import SANDBOX_KEYS
from dashboard.forms.connections import ConnectionForm, KeyForm
from dashboard.permissions import describe

form_view = require_http_methods(["GET", "HEAD", "POST"])
secret_form = sensitive_post_parameters("key", "secret", "passphrase")


def _rows(request: HttpRequest) -> list[dict[str, object]]:
    return [
        {
            "account": account,
            "venue": _venue(account),
            "permissions": describe(account.permissions),
        }
        for account in access.accounts(request)
    ]


def _venue(account: Account) -> str:
    return settings.VENUES.get(account.venue, {}).get("label", f"{account.venue} (not configured any more)")


@require_GET
def connections(request: HttpRequest) -> HttpResponse:
    return htmx.render(request, "connections/list.html", {"rows": _rows(request)}, partial="rows")


@secret_form
@sensitive_variables("form", "data")
@form_view
def add(request: HttpRequest) -> HttpResponse:
    """Store a connection, then ask the exchange at once whether its key works."""
    form = ConnectionForm(request.POST or None, owner=access.person(request))
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            account = jobs.add(access.person(request), **data)
        except jobs.BadConnection as error:
            form.refuse(error)
        else:
            _tell(request, account, jobs.test(account))
            tasks.hint_account(account.pk)
            return redirect("connection", pk=account.pk)
    context = {
        "form": form,
        "sandbox_keys": SANDBOX_KEYS if "sandbox" in settings.VENUES else (),
        "ways": [egress.shown(name) for name in egress.names()],
    }
    return render(request, "connections/add.html", context, status=400 if form.errors else 200)


@require_GET
def connection(request: HttpRequest, pk: int) -> HttpResponse:
    account = access.account_read(request, pk)
    watching.watch_account(account)
    readings = list(account.jobs.select_related("account").order_by("pk"))
    context = {
        "account": account,
        "venue": _venue(account),
        "permissions": describe(account.permissions),
        "egress": egress.shown(egress.of(account.pk)),
        "coverage": coverage(account, readings),
        "spot_gates": gates.closed(account),
        "stale": {one.kind for one in reports.freshness_of(readings).readings.values() if one.stale},
    }
    return htmx.render(request, "connections/connection.jinja", context, partial="connections/state.jinja")


@require_POST
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the exchange who the key is and what it may do; a refused account is read again if it works."""
    account = access.account_write(request, pk)
    result = jobs.test(account)
    _tell(request, account, result)
    if result.ok:
        jobs.resume(account)
        tasks.hint_account(account.pk)
    return redirect("connection", pk=account.pk)


@secret_form
@sensitive_variables("form", "data")
@form_view
def rotate(request: HttpRequest, pk: int) -> HttpResponse:
    """Put another key in the place of the one in use."""
    account = access.account_write(request, pk)
    if asked := access.asked_again(request):
        return asked
    form = KeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            jobs.replace_key(account, **form.cleaned_data)
        except jobs.BadConnection as error:
            form.refuse(error)
        else:
            _tell(request, account, jobs.test(account))
            tasks.hint_account(account.pk)
            return redirect("connection", pk=pk)
    context = {"form": form, "account": account, "venue": _venue(account)}
    return render(request, "connections/rotate.html", context, status=400 if form.errors else 200)


@form_view
def writes(request: HttpRequest, pk: int) -> HttpResponse:
    """The owner's switch for everything that changes something at the exchange. On needs a confirmation."""
    account = access.account_write(request, pk)
    enabled = request.POST.get("enabled") == "1"
    switching_on = enabled if request.method == "POST" else not account.writes_enabled
    if switching_on and (asked := access.asked_again(request)):
        return asked
    if request.method == "POST":
        jobs.set_writes(account, enabled)
        messages.success(request, f"Writing is {'on' if enabled else 'off'} for {account.label}.")
        return redirect("connection", pk=pk)
    return render(request, "connections/writes.html", {"account": account, "venue": _venue(account)})


@form_view
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a connection with its key and everything read through it, after saying what that is."""
    account = access.account_write(request, pk)
    if asked := access.asked_again(request):
        return asked
    if request.method == "POST":
        label = account.label
        try:
            jobs.remove(account)
        except jobs.BadConnection as error:
            messages.error(request, error.sentence)
            return redirect("connection", pk=pk)
        messages.success(request, f"{label} and everything read through it are deleted from this desk.")
        return redirect("connections")
    counts = {
        "orders": account.orders.count(),
        "traders": account.traders.count(),
        "bad": account.bad_records.count(),
    }
    return render(
        request, "connections/remove.html", {"account": account, "venue": _venue(account), "counts": counts}
    )


def _tell(request: HttpRequest, account: Account, result: jobs.TestResult) -> None:
    level = messages.SUCCESS if result.ok else messages.ERROR
    messages.add_message(request, level, " ".join([f"{account.label}: {result.sentence}", *result.details]))
