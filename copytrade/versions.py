"""Settings versions: each reading that differs from the last stored one becomes a row with its author."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from . import rules, symbols
from .exchange.client import ExchangeClient
from .models import SettingsChange, SettingsVersion, Trader

# A change that was not seen may still arrive: until then a reading equal to it is ours, not "outside".
LATE_ARRIVAL = timedelta(days=1)


def latest(trader: Trader) -> SettingsVersion | None:
    """The settings last known to be in force."""
    return trader.versions.order_by("-first_seen_at", "-id").first()


def settings_of(version: SettingsVersion) -> rules.CopySettings:
    """The stored answer as settings. ValueError when the exchange's answer cannot be understood."""
    return rules.from_answer(version.answer)


def read(trader: Trader, client: ExchangeClient) -> SettingsVersion:
    """Fetch the settings of a trader and store them; the version now in force. Exchange errors pass through."""
    began = timezone.now()
    answer = client.follower_settings(trader_id=trader.trader_id)
    return record(trader, answer.items, answer.copy_enable, began)


def record(trader: Trader, items: list[dict], copy_enable: bool | None, began: datetime) -> SettingsVersion:
    """Store what a reading that began at `began` answered. Two readers at once leave one version."""
    items = json.loads(json.dumps(items, default=str))
    found = understood(items)
    mark = rules.fingerprint(found) if found else _raw_mark(items)
    if found and found.mode == rules.PER_SYMBOL:
        symbols.learn(trader.account.venue, [config.symbol for config in found.configs if config.symbol])
    with transaction.atomic():
        Trader.objects.select_for_update().get(pk=trader.pk)
        now, last = timezone.now(), latest(trader)
        Trader.objects.filter(pk=trader.pk).update(settings_read_at=now)
        if last and (last.fingerprint, last.copy_enable) == (mark, copy_enable):
            SettingsVersion.objects.filter(pk=last.pk).update(last_seen_at=now)
            last.last_seen_at = now
            return last
        if last and last.first_seen_at > began:
            return last  # this reading is older than what is stored: it would bring the past back
        change = _change_behind(trader, found, now) if found and last and last.fingerprint != mark else None
        return SettingsVersion.objects.create(
            trader=trader,
            mode=found.mode if found else "",
            answer=items,
            fingerprint=mark,
            copy_enable=copy_enable,
            author=_author(last, change),
            change=change,
            first_seen_at=now,
            last_seen_at=now,
        )


def understood(items: list[dict]) -> rules.CopySettings | None:
    """The answer as settings, or None where it cannot be understood (it is stored as it came all the same)."""
    try:
        return rules.from_answer(items)
    except ValueError:
        return None


def _raw_mark(items: list[dict]) -> str:
    return hashlib.sha256(json.dumps(items, sort_keys=True).encode()).hexdigest()


def _author(last: SettingsVersion | None, change: SettingsChange | None) -> str:
    if last is None:
        return SettingsVersion.Author.FIRST
    return SettingsVersion.Author.ME if change else SettingsVersion.Author.OUTSIDE


def _change_behind(trader: Trader, found: rules.CopySettings, now: datetime) -> SettingsChange | None:
    """Our own change that explains these settings, if any; one thought lost has then arrived late."""
    states = SettingsChange.State
    candidates = trader.changes.filter(
        state__in=[states.SENDING, states.UNKNOWN, states.NOT_SEEN], sent_at__gte=now - LATE_ARRIVAL
    ).order_by("-sent_at")
    for change in candidates:
        if change.accepted and change.state != states.NOT_SEEN:
            return change  # the exchange took it a moment ago, even where it kept something else
        if rules.same(rules.from_body(change.body), found):
            SettingsChange.objects.filter(pk=change.pk, state=states.NOT_SEEN).update(
                state=states.APPLIED, resolved_at=now, error_code="", error_message=""
            )
            return change
    return None
