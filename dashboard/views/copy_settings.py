"""Copy settings of one trader: the editor, its live checks, and the draft that comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from copytrade import changes, rules, symbols, versions
from copytrade.clients import NoKey
from copytrade.exchange.errors import ExchangeError
from copytrade.models import SettingsVersion, Trader
from copytrade.rules import CopySettings, from_body
from copytrade.vault import VaultError
from dashboard import access, htmx
from dashboard.errors import Explained, explain
from dashboard.forms.copy_settings import SettingsForm
from dashboard.forms.mode_switch import losses


@dataclass(frozen=True)
class Reading:
    """The settings to edit: the version in force, what it says, and why it could not be read again, if so."""

    version: SettingsVersion | None
    settings: CopySettings | None
    failed: Explained | None = None


@require_GET
def copy_settings(request: HttpRequest, pk: int) -> HttpResponse:
    """The form, on settings read from the exchange just now; on the stored ones when it does not answer."""
    trader = access.trader_write(request, pk)
    reading = _read(trader)
    if reading.settings is None:
        status = reading.failed.status if reading.failed else 200
        return render(
            request, "copy_settings/unreadable.html", {"trader": trader, "reading": reading}, status=status
        )
    known = _known(trader)
    form = SettingsForm.from_settings(_started_from(request, trader, reading.settings), **known)
    form.base = reading.settings
    form.check()
    return render(request, "copy_settings/form.html", _context(trader, reading, form))


@require_POST
def check(request: HttpRequest, pk: int) -> HttpResponse:
    """What was typed, with every message: parts of the page for htmx, the whole form without JavaScript."""
    trader = access.trader_write(request, pk)
    reading, form = _typed(request, trader)
    form.check()
    form.answer_for(request.headers.get("HX-Trigger", ""))
    return htmx.render(request, "copy_settings/form.html", _context(trader, reading, form), partial="checked")


@require_POST
def review(request: HttpRequest, pk: int) -> HttpResponse:
    """Check on submit. What holds becomes a draft with its own page; what does not is shown again, as typed."""
    trader = access.trader_write(request, pk)
    reading, form = _typed(request, trader)
    context = _context(trader, reading, form)
    newest = versions.latest(trader)
    if newest and reading.version and newest.fingerprint != reading.version.fingerprint:
        form.check()
        context |= _changed_meanwhile(reading, newest)
    elif form.check():
        try:
            draft = changes.draft(trader, form.settings(), access.person(request))
            return redirect("copy_settings_change", pk=trader.pk, key=draft.key)
        except changes.ChangeInvalid as invalid:
            form.errors += [violation.message for violation in invalid.violations]
        except changes.ChangeRefused as refused:
            context["refused"] = str(refused)
    return render(request, "copy_settings/form.html", context, status=422)


def _read(trader: Trader) -> Reading:
    failed = None
    try:
        version: SettingsVersion | None = changes.read_settings(trader)
    except ExchangeError as error:
        failed, version = explain(error), versions.latest(trader)
    except (NoKey, VaultError) as error:
        failed = Explained(
            "This connection cannot be used", str(error), "Enter its key again on the Connections page."
        )
        version = versions.latest(trader)
    return Reading(version, versions.understood(version.answer) if version else None, failed)


def _started_from(request: HttpRequest, trader: Trader, read: CopySettings) -> CopySettings:
    """The settings as read, or those of an earlier change of this trader, to go on with (`?change=<key>`)."""
    key = request.GET.get("change", "")
    earlier = next((row for row in trader.changes.all()[:20] if str(row.key) == key), None)
    return from_body(earlier.body) if earlier else read


def _known(trader: Trader) -> dict[str, Any]:
    supported = symbols.supported(trader.account.venue)
    return {
        "trader_id": trader.trader_id,
        "supported": None if supported is None else sorted(supported),
        "offered": [] if supported else symbols.proposals(trader),
    }


def _typed(request: HttpRequest, trader: Trader) -> tuple[Reading, SettingsForm]:
    """The posted form, on the version that it was built on."""
    number = request.POST.get("base", "")
    version = (
        trader.versions.filter(pk=int(number)).first() if number.isdecimal() and len(number) < 19 else None
    )
    version = version or versions.latest(trader)
    settings = versions.understood(version.answer) if version else None
    return Reading(version, settings), SettingsForm.from_post(request.POST, base=settings, **_known(trader))


def _context(trader: Trader, reading: Reading, form: SettingsForm) -> dict[str, Any]:
    base = reading.settings
    return {
        "trader": trader,
        "reading": reading,
        "version": reading.version,
        "form": form,
        "losses": losses(base, form.supported) if base and form.supported is not None else [],
        "open_copies": trader.orders.filter(closed=False).count(),
        "symbols_unknown": form.supported is None,
    }


def _changed_meanwhile(reading: Reading, newest: SettingsVersion) -> dict[str, Any]:
    """The exchange holds something newer than the form was built on: show it, and build on it from here."""
    theirs = versions.understood(newest.answer)
    differences = rules.differences(reading.settings, theirs) if reading.settings and theirs else []
    return {"version": newest, "meanwhile": differences, "changed_meanwhile": True}
