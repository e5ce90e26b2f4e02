"""Settings versions: each reading that differs from the last stored one becomes a row with its author."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from . import rules, symbols
from .exchange.client import ExchangeClient
from .models import SettingsChange, SettingsVersion, SyncJob, Trader

# A change that was not seen may still arrive: until then a reading equal to it is ours, not "outside".
LATE_ARRIVAL = timedelta(days=1)
# Settings that stay as they are: that they were read again is noted no more often than this.
NOTED_EVERY = timedelta(minutes=10)


def latest(trader: Trader) -> SettingsVersion | None:
    """The settings last known to be in force."""
    return trader.versions.order_by("-first_seen_at", "-id").first()


def settings_of(version: SettingsVersion) -> rules.CopySettings:
    """The stored answer as settings. ValueError when the exchange's answer cannot be understood."""
    return rules.from_answer(version.answer)


def wanted(change: SettingsChange) -> rules.CopySettings:
    """What the exchange is to hold after this change: its body, with what the exchange fills in."""
    return rules.apply_defaults(rules.from_body(change.body))


def in_force(trader: Trader, when: datetime) -> SettingsVersion | None:
    """The newest version first seen at or before `when`; None before the first reading."""
    return trader.versions.filter(first_seen_at__lte=when).order_by("-first_seen_at", "-id").first()


def certain(version: SettingsVersion, when: datetime) -> bool:
    """Whether a reading after `when` still showed the version: else it may have been replaced unseen by then."""
    return version.first_seen_at <= when <= version.last_seen_at


def read(trader: Trader, client: ExchangeClient) -> SettingsVersion:
    """Fetch the settings of a trader and store them; the version now in force. Exchange errors pass through."""
    began = timezone.now()
    answer = client.follower_settings(trader_id=trader.trader_id)
    return record(trader, answer.items, answer.copy_enable, began)


def record(trader: Trader, items: list[dict], copy_enable: bool | None, began: datetime) -> SettingsVersion:
    """Store what a reading that began at `began` answered. Two readers at once leave one version."""
    items, found, mark = _marked(items)
    if found and found.mode == rules.PER_SYMBOL:
        symbols.learn(trader.account.venue, [config.symbol for config in found.configs if config.symbol])
    with transaction.atomic():
        Trader.objects.select_for_update(no_key=True).get(pk=trader.pk)
        now, last = timezone.now(), latest(trader)
        Trader.objects.filter(pk=trader.pk).update(settings_read_at=now)
        if last and (last.fingerprint, last.copy_enable) == (mark, copy_enable):
            SettingsVersion.objects.filter(pk=last.pk).update(last_seen_at=now)
            last.last_seen_at = now
            return last
        if last and last.first_seen_at > began:
            return last  # this reading is older than what is stored: it would bring the past back
        change = (
            _change_behind(trader, found, last, now) if found and last and last.fingerprint != mark else None
        )
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


def known(trader: Trader, items: list[dict], copy_enable: bool | None) -> SettingsVersion | None:
    """The version that an answer equals, where that is the newest: there is nothing to store then. Locks nothing."""
    mark, last = _marked(items)[2], latest(trader)
    return last if last and (last.fingerprint, last.copy_enable) == (mark, copy_enable) else None


def seen_again(found: Sequence[SettingsVersion]) -> None:
    """Note that these versions were read again, for those that nobody noted lately. A few statements, or none."""
    now = timezone.now()
    late = [one for one in found if not timedelta() <= now - one.last_seen_at <= NOTED_EVERY]
    if not late:
        return
    with transaction.atomic():
        traders = Trader.objects.filter(pk__in=[one.trader_id for one in late])
        # In the order of their keys, as whoever writes several does.
        list(traders.select_for_update(no_key=True).order_by("pk").values_list("pk"))
        SettingsVersion.objects.filter(pk__in=[one.pk for one in late]).update(last_seen_at=now)
        traders.update(settings_read_at=now)


def read_at(trader: Trader) -> datetime | None:
    """When this trader's settings were last read: as noted with him, or by a later reading of the account that had
    no trouble with anybody and found them unchanged."""
    noted = trader.settings_read_at
    if noted is None or not trader.copied:
        return noted
    job = SyncJob.objects.filter(account=trader.account_id, kind=SyncJob.Kind.SETTINGS, last_error="").first()
    return max(noted, job.last_success_at) if job and job.last_success_at else noted


def _marked(items: list[dict]) -> tuple[list[dict], rules.CopySettings | None, str]:
    """The items as they are stored, as settings if they can be understood, and by what they are told apart."""
    items = json.loads(json.dumps(items, default=str))
    found = understood(items)
    return items, found, rules.fingerprint(found) if found else _raw_mark(items)


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


def _change_behind(
    trader: Trader, found: rules.CopySettings, last: SettingsVersion, now: datetime
) -> SettingsChange | None:
    """Our own change that explains these settings, if any; one thought lost has then arrived late."""
    states = SettingsChange.State
    candidates = trader.changes.filter(
        state__in=[states.SENDING, states.UNKNOWN, states.NOT_SEEN, states.CONFLICT],
        sent_at__gte=now - LATE_ARRIVAL,
    ).order_by("-sent_at")
    for change in candidates:
        under_way = change.state in (states.SENDING, states.UNKNOWN)
        if change.accepted and under_way:
            return change  # the exchange took it a moment ago, even where it kept something else
        if rules.same(wanted(change), found) and (under_way or _arrived_late(change, last, now)):
            return change
    return None


def _arrived_late(change: SettingsChange, last: SettingsVersion, now: datetime) -> bool:
    """Whether a change that was given up is what has just been read: it is then APPLIED after all.

    One in conflict only where nothing else was read since it was sent: later, its settings are an edit made elsewhere.
    """
    states = SettingsChange.State
    if change.state == states.CONFLICT and last.pk != change.base_id:
        return False
    late = SettingsChange.objects.filter(pk=change.pk, state=change.state)
    return bool(
        late.update(state=states.APPLIED, resolved_at=now, error_code="", error_message="", not_kept=[])
    )
