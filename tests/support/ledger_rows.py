"""Rows as the sync would have stored them, for tests of pages: an account, traders, open and closed copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from copytrade import rollups, rules
from copytrade.models import Account, SettingsVersion, SyncJob, TrackingOrder, Trader, User
from copytrade.rules import CopySettings, TraceConfig

BIG = 702345678901234567  # above 2**53, as the exchange's ids are
UNIFIED = CopySettings(
    "unified",
    (
        TraceConfig(
            symbol=None,
            symbols=("BTCUSDT", "ETHUSDT"),
            trace_type="amount",
            trace_value=Decimal(100),
            max_hold=Decimal(1000),
            take_profit=Decimal("0.5"),
            stop_loss=Decimal("0.2"),
            slippage=Decimal("0.005"),
            margin_type="cross",
            leverage_type="fixed",
            long_leverage=5,
            short_leverage=5,
        ),
    ),
)


def account_of(user: User, label: str = "Main") -> Account:
    """A connection whose four kinds of reading succeeded just now, with a ledger complete for a year."""
    account = Account.objects.create(
        owner=user, label=label, venue="sandbox", state="active", writes_enabled=True
    )
    now = timezone.now()
    for kind in SyncJob.Kind.values:
        SyncJob.objects.create(
            account=account,
            kind=kind,
            last_success_at=now,
            complete_from=now - timedelta(days=365) if kind == "history" else None,
            cursor={"until": now.isoformat()} if kind == "history" else {},
        )
    return account


def trader_of(account: Account, number: int = 0, name: str = "Northwind Steady", **more: Any) -> Trader:
    values = {
        "copied": True,
        "copy_trading_balance": Decimal("1500.5"),
        "total_investment": Decimal(1000),
        "trace_total_profit": Decimal(0),
        "balances_at": timezone.now(),
    }
    return Trader.objects.create(account=account, trader_id=BIG + number, name=name, **values | more)


def open_copy(trader: Trader, number: int, **more: Any) -> TrackingOrder:
    """An open copy: 10 units at 20 with 5x, so 40 USDT of margin and 200 USDT of notional."""
    values: dict[str, Any] = {
        "symbol": "BTCUSDT",
        "position_side": "LONG",
        "status": "HAVE_OPEN",
        "trader_name": trader.name,
        "open_order_id": BIG + 10_000 + number,
        "open_leverage": 5,
        "open_price_avg": Decimal(20),
        "open_time": timezone.now() - timedelta(hours=2),
        "open_size": Decimal(10),
        "open_fill_size": Decimal(10),
        "open_fee": Decimal("0.12"),
        "open_margin_amount": Decimal(40),
        "update_time": timezone.now() - timedelta(hours=2),
    }
    return TrackingOrder.objects.create(
        account=trader.account, trader=trader, tracking_no=BIG + number, **values | more
    )


def closed_copy(
    trader: Trader, number: int, net: str = "5", days_ago: float = 1, **more: Any
) -> TrackingOrder:
    """A copy that was held for an hour and closed `days_ago`, with the sums and summaries of its trader."""
    copy = _closed(trader, number, net, days_ago, **more)
    _summed(trader, [copy])
    return copy


def closed_copies(trader: Trader, *copies: tuple[int, str, float, str]) -> list[TrackingOrder]:
    """Several of them, each (number, net, days ago, symbol), summed once: for tests that need many."""
    made = [_closed(trader, number, net, days_ago, symbol=symbol) for number, net, days_ago, symbol in copies]
    _summed(trader, made)
    return made


@contextmanager
def summed_once() -> Iterator[None]:
    """Copies that are closed in it are summed together at its end, in the same way but for the cost."""
    outer = _summing.copies
    made = _summing.copies = []
    try:
        yield
    finally:
        _summing.copies = outer
    by_trader: dict[Trader, list[TrackingOrder]] = {}
    for copy in made:
        by_trader.setdefault(copy.trader, []).append(copy)
    for trader, copies in by_trader.items():
        _summed(trader, copies)


class _Summing:
    """The copies that the innermost `summed_once` has yet to sum; None outside of one."""

    copies: list[TrackingOrder] | None = None


_summing = _Summing()


def winner_and_loser(account: Account) -> Trader:
    """A trader with six closed copies in the last three months, +10, +10, -5, 0, +5, and one of -2 long ago."""
    trader = trader_of(account, trace_total_profit=Decimal(18))
    copies = [("10", 40), ("10", 30), ("-5", 20), ("0", 10), ("5", 5), ("-2", 200)]
    with summed_once():
        for number, (net, days) in enumerate(copies):
            closed_copy(trader, number, net, days, symbol="ETHUSDT" if number % 2 else "BTCUSDT")
    return trader


def _closed(trader: Trader, number: int, net: str, days_ago: float, **more: Any) -> TrackingOrder:
    closed = timezone.now() - timedelta(days=days_ago)
    values: dict[str, Any] = {
        "status": "CLOSED",
        "closed": True,
        "open_time": closed - timedelta(hours=1),
        "close_time": closed,
        "close_order_id": BIG + 20_000 + number,
        "close_avg_price": Decimal("20.6"),
        "close_size": Decimal(10),
        "realized_pnl": Decimal(net) + Decimal("1.2"),
        "net_profit": Decimal(net),
        "profit_rate": Decimal(net) / 40,
        "update_time": closed,
    }
    return open_copy(trader, number, **values | more)


def _summed(trader: Trader, copies: list[TrackingOrder]) -> None:
    if _summing.copies is not None:
        _summing.copies += copies
        return
    rollups.refresh_cells(trader.account, [(trader.pk, copy.close_time, copy.symbol) for copy in copies])
    rollups.summarise([trader.pk])


def version_of(
    trader: Trader, settings: CopySettings = UNIFIED, *, copy_enable: bool = True
) -> SettingsVersion:
    return SettingsVersion.objects.create(
        trader=trader,
        mode=settings.mode,
        answer=rules.to_answer(settings, copy_enable=copy_enable),
        fingerprint=rules.fingerprint(settings),
        copy_enable=copy_enable,
        author=SettingsVersion.Author.FIRST,
    )


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
