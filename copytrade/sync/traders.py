"""Copied traders with the money put to each; who was left is known only after a complete pass."""

from __future__ import annotations

from datetime import UTC

from copytrade import ledger
from copytrade.exchange.records import CopiedTrader
from copytrade.models import SyncJob, Trader, TraderDay

from .leases import make_due
from .reading import Reading

MONEY = (
    "copy_trading_balance",
    "trace_total_profit",
    "total_investment",
    "available_balance",
    "transferable_balance",
)
OPERATION = "my_traders"


def read(reading: Reading) -> None:
    """One pass over my traders. A new trader, or another total, makes settings and history due."""
    present: dict[int, CopiedTrader] = {}
    for page in reading.client.iter_my_traders():
        bad = [(record.raw, record.reason) for record in page.bad]
        present |= {record.trader_id: record for record in page.records}
        with reading.fenced():
            reading.bad += ledger.keep_bad(reading.account, OPERATION, bad, reading.began)
        reading.pages += 1
        reading.seen += page.size
    with reading.fenced():
        ledger.alone_with(reading.account)
        known = {trader.trader_id: trader for trader in Trader.objects.filter(account=reading.account)}
        joined = [_take(reading, known.get(uid), record) for uid, record in present.items()]
        left = [] if reading.bad else [t for uid, t in known.items() if t.copied and uid not in present]
        for trader in left:
            trader.copied, trader.left_at = False, reading.began
            trader.save(update_fields=["copied", "left_at"])
        _note_day(reading, present)
    reading.changed += len(left)
    if any(joined) or left:
        make_due(reading.account, SyncJob.Kind.SETTINGS)
    if reading.changed:
        make_due(reading.account, SyncJob.Kind.HISTORY)


def _take(reading: Reading, trader: Trader | None, record: CopiedTrader) -> bool:
    """Store one entry; True when the trader was not copied before."""
    trader = trader or Trader(
        account=reading.account, trader_id=record.trader_id, first_seen_at=reading.began
    )
    joined = not trader.copied
    before = {name: getattr(trader, name) for name in MONEY}
    after = {name: getattr(record, name) for name in MONEY}
    if before != after or joined:
        reading.changed += 1
    for name, value in after.items():
        setattr(trader, name, value)
    trader.name = (record.trader_name or trader.name).replace("\x00", "")[:200]
    trader.copied, trader.left_at, trader.balances_at = True, None, reading.began
    trader.extras = ledger.jsonable(record.extras)
    trader.save()
    return joined


def _note_day(reading: Reading, present: dict[int, CopiedTrader]) -> None:
    """The balances of today (UTC), overwritten until the day is over."""
    day = reading.began.astimezone(UTC).date()
    kept = ("copy_trading_balance", "trace_total_profit", "total_investment")
    traders = Trader.objects.filter(account=reading.account, trader_id__in=present)
    rows = [
        TraderDay(trader=trader, day=day, **{name: getattr(trader, name) for name in kept})
        for trader in traders
    ]
    TraderDay.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["trader", "day"], update_fields=list(kept)
    )
