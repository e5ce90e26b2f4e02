"""Copied traders with the money put to each; who was left is known only after a complete pass."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from copytrade import ledger
from copytrade.exchange.records import CopiedTrader
from copytrade.locks import alone_with_ledger
from copytrade.models import SyncJob, Trader, TraderDay
from copytrade.statistics.exact import EXACT, ZERO, total

from .reading import Reading

MONEY = (
    "copy_trading_balance",
    "trace_total_profit",
    "total_investment",
    "available_balance",
    "transferable_balance",
)
KEPT_DAILY = ("copy_trading_balance", "trace_total_profit", "total_investment")
OPERATION = "my_traders"
# Balances that stay as they are: that they were read again is noted no more often than this.
NOTED_EVERY = timedelta(minutes=10)


def read(reading: Reading) -> None:
    """One pass over my traders. Who joined or left makes settings and history due, and another total the history
    alone, where the closes in the ledger do not explain it: a name or a balance says of no close. A pass that finds
    everything as it was writes nothing."""
    present: dict[int, CopiedTrader] = {}
    for page in reading.client.iter_my_traders():
        bad = [(record.raw, record.reason) for record in page.bad]
        present |= {record.trader_id: record for record in page.records}
        if bad:
            with reading.fenced():
                reading.bad += ledger.keep_bad(reading.account, OPERATION, bad, reading.began)
        reading.pages += 1
        reading.seen += page.size
    if _as_it_was(reading, present):
        return
    with reading.fenced():
        alone_with_ledger(reading.account.pk)
        known = _known(reading, locked=True)
        closed = any(
            uid in known and _says_of_a_close(known[uid], record, reading.began)
            for uid, record in present.items()
        )
        joined = [_take(reading, known.get(uid), record) for uid, record in present.items()]
        left = _left(reading, known, present)
        for trader in left:
            trader.copied, trader.left_at = False, reading.began
            trader.save(update_fields=["copied", "left_at"])
        _note_day(reading, present)
        if any(joined) or left:
            reading.owe(SyncJob.Kind.SETTINGS, SyncJob.Kind.HISTORY)
        elif closed:
            reading.owe(SyncJob.Kind.HISTORY)
    reading.changed += len(left)
    reading.pay()


def _known(reading: Reading, *, locked: bool = False) -> dict[int, Trader]:
    """By UID. `locked`: to the end of the transaction, in the order of their keys, as whoever writes several does."""
    rows = Trader.objects.filter(account=reading.account).order_by("pk")
    if locked:
        rows = rows.select_for_update(no_key=True)
    return {trader.trader_id: trader for trader in rows}


def _left(reading: Reading, known: dict[int, Trader], present: dict[int, CopiedTrader]) -> list[Trader]:
    """Those copied until now and not on the list. Nobody, where a record of the list could not be read."""
    return [] if reading.bad else [t for uid, t in known.items() if t.copied and uid not in present]


def _says_of_a_close(trader: Trader, record: CopiedTrader, began: datetime) -> bool:
    """Whether the total changed by anything but the copies that closed since it was read and are in the ledger."""
    before, now = trader.trace_total_profit, record.trace_total_profit
    if before == now:
        return False
    if before is None or now is None or trader.balances_at is None:
        return True
    since = trader.orders.filter(closed=True, close_time__gt=trader.balances_at, close_time__lte=began)
    nets = since.values_list("net_profit", flat=True)
    return EXACT.subtract(now, before) != total(net or ZERO for net in nets)


def _as_it_was(reading: Reading, present: dict[int, CopiedTrader]) -> bool:
    """Does the database hold all of this already, today's balances and a recent time of reading included?"""
    known = _known(reading)
    if _left(reading, known, present):
        return False
    for uid, record in present.items():
        trader = known.get(uid)
        if trader is None or not trader.copied or _told(record, trader) != _held(trader):
            return False
        if trader.balances_at is None or reading.began - trader.balances_at > NOTED_EVERY:
            return False
    days = TraderDay.objects.filter(trader__account=reading.account, day=_today(reading))
    return set(days.values_list("trader__trader_id", flat=True)) >= present.keys()


def _held(trader: Trader) -> tuple:
    return (*(getattr(trader, name) for name in MONEY), trader.name, trader.extras)


def _told(record: CopiedTrader, trader: Trader) -> tuple:
    """What an entry says, as `_held` of the trader would be."""
    name = (record.trader_name or trader.name).replace("\x00", "")
    return (*(getattr(record, name) for name in MONEY), name[:200], ledger.jsonable(record.extras))


def _take(reading: Reading, trader: Trader | None, record: CopiedTrader) -> bool:
    """Store one entry; True when the trader was not copied before."""
    trader = trader or Trader(
        account=reading.account, trader_id=record.trader_id, first_seen_at=reading.began
    )
    joined = not trader.copied
    before, told = _held(trader), _told(record, trader)
    money = len(MONEY)
    if before[:money] != told[:money] or joined:
        reading.changed += 1
    stale = trader.balances_at is None or reading.began - trader.balances_at > NOTED_EVERY
    if trader.pk and not joined and before == told:
        if stale:
            Trader.objects.filter(pk=trader.pk).update(balances_at=reading.began)
        return False
    for name, value in zip((*MONEY, "name", "extras"), told, strict=True):
        setattr(trader, name, value)
    trader.copied, trader.left_at, trader.balances_at = True, None, reading.began
    if trader.pk:
        trader.save(update_fields=[*MONEY, "name", "extras", "copied", "left_at", "balances_at"])
    else:
        trader.save()
    return joined


def _today(reading: Reading):
    return reading.began.astimezone(UTC).date()


def _note_day(reading: Reading, present: dict[int, CopiedTrader]) -> None:
    """The balances of today (UTC), overwritten until the day is over; only where they differ."""
    day = _today(reading)
    traders = Trader.objects.filter(account=reading.account, trader_id__in=present)
    held = {
        row.trader_id: tuple(getattr(row, name) for name in KEPT_DAILY)
        for row in TraderDay.objects.filter(trader__in=traders, day=day)
    }
    rows = [
        TraderDay(trader=trader, day=day, **{name: getattr(trader, name) for name in KEPT_DAILY})
        for trader in traders
        if held.get(trader.pk) != tuple(getattr(trader, name) for name in KEPT_DAILY)
    ]
    TraderDay.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["trader", "day"], update_fields=list(KEPT_DAILY)
    )
