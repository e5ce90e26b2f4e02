"""Copy settings of every copied trader, and now and then of those left: versions, and drift from outside."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from copytrade import versions
from copytrade.exchange.errors import Rejected
from copytrade.models import SettingsVersion, Trader

from .reading import Reading

# Settings of a trader who was left can hardly change: read at first sight, then this seldom.
FORMER_EVERY = timedelta(hours=6)
FORMER_AT_ONCE = 5


def read(reading: Reading) -> None:
    """Read each trader's settings. One that is refused leaves the others to be read; those that are as they were
    are noted together at the end, and seldom."""
    same: list[SettingsVersion] = []
    try:
        for trader in _wanted(reading):
            _read(reading, trader, same)
    finally:
        versions.seen_again(same)


def _read(reading: Reading, trader: Trader, same: list[SettingsVersion]) -> None:
    began = timezone.now()
    try:
        answer = reading.client.follower_settings(trader_id=trader.trader_id)
    except Rejected as error:
        if error.fault in ("permission", "clock"):
            raise
        reading.trouble = f"Settings of {trader}: {error.sentence}"
        with reading.fenced():
            Trader.objects.filter(pk=trader.pk).update(settings_read_at=reading.began)
        return
    finally:
        reading.pages += 1
    reading.seen += 1
    known = versions.known(trader, answer.items, answer.copy_enable)
    if known is not None:
        same.append(known)
        reading.keep_the_lease()
        return
    with reading.fenced():
        before = versions.latest(trader)
        version = versions.record(trader, answer.items, answer.copy_enable, began)
    reading.changed += before is None or before.pk != version.pk


def _wanted(reading: Reading) -> list[Trader]:
    traders = Trader.objects.filter(account=reading.account).select_related("account")
    stale = Q(settings_read_at=None) | Q(settings_read_at__lt=reading.began - FORMER_EVERY)
    former = traders.filter(stale, copied=False).order_by("settings_read_at", "pk")[:FORMER_AT_ONCE]
    return [*traders.filter(copied=True).order_by("pk"), *former]
