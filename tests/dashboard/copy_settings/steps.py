"""What a person does at the settings form, and what the exchange really holds."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from html import unescape

from django.test import Client
from django.urls import reverse

from copytrade import changes, rules, symbols, versions
from copytrade.clients import client_for
from copytrade.models import Account, SettingsChange, Trader, User
from tests.support.ledger_rows import UNIFIED, trader_of, version_of
from tests.support.sandbox_process import Sandbox


def of_mode(account: Account, mode: str) -> Trader:
    return next(t for t in account.traders.filter(copied=True) if t.versions.get().mode == mode)


def url(trader: Trader, name: str = "copy_settings") -> str:
    return reverse(name, args=[trader.pk])


def page(answer: object) -> str:
    return unescape(answer.content.decode()).replace("\u202f", " ")  # type: ignore[attr-defined]


def typed(html: str) -> dict[str, list[str]]:
    """What a browser would send back of this page's form, untouched."""
    form = re.search(r'<form id="settings-form".*?</form>', html, flags=re.DOTALL)
    assert form
    data: dict[str, list[str]] = {}
    for tag in re.findall(r"<input [^>]*>", form[0]):
        attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        unticked = attributes.get("type") in ("checkbox", "radio") and not re.search(r"\bchecked\b", tag)
        if "name" in attributes and not unticked:
            data.setdefault(attributes["name"], []).append(unescape(attributes.get("value", "")))
    for select, options in re.findall(r'<select [^>]*name="([^"]+)"[^>]*>(.*?)</select>', form[0]):
        chosen = re.search(r'value="([^"]*)" selected', options) or re.search(r'value="([^"]*)"', options)
        assert chosen
        data[select] = [chosen[1]]
    return data


def form_of(client: Client, trader: Trader) -> dict[str, list[str]]:
    return typed(client.get(url(trader)).content.decode())


def switched(client: Client, trader: Trader, mode: str) -> dict[str, list[str]]:
    """The form after the other mode was chosen and shown, as a browser without JavaScript gets it."""
    answer = client.post(url(trader, "copy_settings_check"), form_of(client, trader) | {"mode": [mode]})
    return typed(answer.content.decode())


def review(client: Client, trader: Trader, **changed: str | list[str]) -> object:
    data = form_of(client, trader) | {name.replace("__", "."): value for name, value in changed.items()}
    return client.post(url(trader, "copy_settings_review"), data)


def press_send(client: Client, trader: Trader, **more: str) -> object:
    """Send the review of the newest change as a browser would: key and mark as the page shows them."""
    change = SettingsChange.objects.latest("pk")
    where = reverse("copy_settings_change", args=[trader.pk, change.key])
    fields = {"key": str(change.key), "seen": changes.body_mark(change)}
    return client.post(where, fields | more, follow=True)


def confirm(client: Client, trader: Trader, **more: str) -> object:
    """Send it, let the worker do its part, and look at the page again."""
    change = SettingsChange.objects.latest("pk")
    answer = press_send(client, trader, **more)
    if answer.status_code != 200:
        return answer
    changes.proceed(change.pk)
    return client.get(reverse("copy_settings_change", args=[trader.pk, change.key]))


def held(sandbox: Sandbox, trader: Trader) -> rules.CopySettings:
    """What the exchange really holds."""
    return rules.from_answer(sandbox.truth()["settings"][str(trader.trader_id)])


def writes(sandbox: Sandbox) -> int:
    return sum(call["operation"] == "update_follower_settings" for call in sandbox.calls()["calls"])


def stored(alice: User, **changed: object) -> Trader:
    """A trader of a connection without a key: the page shows the stored settings."""
    account = Account.objects.create(owner=alice, label="Keyless", venue="sandbox", writes_enabled=True)
    trader = trader_of(account)
    version_of(trader, replace(UNIFIED, configs=(replace(UNIFIED.configs[0], **changed),)))
    return trader


def elsewhere(trader: Trader, value: str) -> None:
    """Somebody changes the size on the exchange's own page."""
    settings = versions.settings_of(trader.versions.first())
    config = replace(settings.configs[0], trace_type="amount", trace_value=Decimal(value))
    client_for(trader.account, interactive=True).update_follower_settings(
        trader_id=trader.trader_id,
        settings=replace(settings, configs=(config,)),
        supported=symbols.supported(trader.account.venue),
    )


def former_id(sandbox: Sandbox) -> int:
    truth = sandbox.truth()["settings"]
    return next(int(key) for key, items in truth.items() if items and items[0]["copyEnable"] is False)
