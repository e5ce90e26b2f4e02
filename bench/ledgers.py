"""A desk whose one user has so many closed copies through twenty traders, made by the database itself in seconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import cycle
from typing import Any

from django.db import connection
from django.utils import timezone

from copytrade import rollups, rules
from copytrade.models import (
    COPY_KINDS,
    Account,
    Alert,
    DataIssue,
    SettingsVersion,
    SyncJob,
    SyncRun,
    Trader,
    TraderNote,
    User,
)
from tests.support.ledger_rows import UNIFIED

TRADERS, ACCOUNTS, DAYS, OPEN = 20, 2, 400, 60
RUNS, ALERTS, ISSUES, NOTES = 100, 60, 40, 3  # runs of each account, notes of each trader
BIG = 702_345_678_901_234_567  # above 2**53, as the exchange's numbers are
SYMBOLS = ("BTC", "ETH", "SOL", "XRP", "DOGE", "ADA", "LINK", "AVAX", "LTC", "BNB", "DOT", "TRX")

# Copy i of n: trader i mod 20, closed evenly over the days before now, held for minutes to days, with results that
# scatter around a small gain. Every number has the places that the exchange sends.
_CLOSED = """
INSERT INTO copytrade_trackingorder (
    account_id, trader_id, tracking_no, generation, trader_name, symbol, position_side, status, open_order_id,
    close_order_id, open_leverage, open_price_avg, open_time, open_size, open_fill_size, open_fee,
    open_margin_amount, close_avg_price, close_size, close_time, realized_pnl, profit_rate, net_profit,
    created_time, update_time, extras, closed, first_seen_at)
SELECT t.account_id, t.id, %(big)s + i, 0, t.name, s.symbol, CASE i %% 3 WHEN 0 THEN 'SHORT' ELSE 'LONG' END,
    'CLOSED', %(big)s + 100000000 + i, %(big)s + 200000000 + i, 1 + i %% 60, p.price, c.at - c.held, z.size, z.size,
    round(p.price * z.size * 0.0006, 8), round(p.price * z.size / (1 + i %% 60), 4),
    round(p.price * 1.01, 2), z.size, c.at, r.net + round(p.price * z.size * 0.0013, 8), round(r.net / 50, 6), r.net,
    c.at - c.held, c.at, '{}', true, c.at
FROM generate_series(1, %(n)s) i
JOIN unnest(%(traders)s::bigint[]) WITH ORDINALITY AS k(id, place) ON k.place = 1 + i %% %(many)s
JOIN copytrade_trader t ON t.id = k.id
CROSS JOIN LATERAL (SELECT (%(symbols)s::text[])[1 + abs(hashint4(i) %% 12)] || 'USDT') s(symbol)
CROSS JOIN LATERAL (SELECT round((20000 + hashint4(i + 7) %% 9000)::numeric, 2)) p(price)
CROSS JOIN LATERAL (SELECT round((5 + abs(hashint4(i + 3) %% 90))::numeric / 1000, 4)) z(size)
CROSS JOIN LATERAL (SELECT round((hashint4(i + 1) %% 4000 + 150)::numeric / 97, 8)) r(net)
CROSS JOIN LATERAL (SELECT
    date_trunc('milliseconds', %(now)s::timestamptz - (%(days)s * interval '1 day') * (%(n)s - i) / %(n)s) AS at,
    interval '1 ms' * (300000 + abs(hashint4(i + 2)::bigint) * 40 %% 172800000) AS held) c
ORDER BY c.at
"""
_OPENED = """
INSERT INTO copytrade_trackingorder (
    account_id, trader_id, tracking_no, generation, trader_name, symbol, position_side, status, open_order_id,
    open_leverage, open_price_avg, open_time, open_size, open_fill_size, open_fee, open_margin_amount, created_time,
    update_time, extras, closed, first_seen_at)
SELECT t.account_id, t.id, %(big)s + 300000000 + i, 0, t.name, (%(symbols)s::text[])[1 + i %% 12] || 'USDT', 'LONG',
    'HAVE_OPEN', %(big)s + 400000000 + i, 5, 20000, %(now)s::timestamptz - interval '1 hour' * i, 0.01, 0.01, 0.12, 40,
    %(now)s::timestamptz - interval '1 hour' * i, %(now)s, '{}', false, %(now)s
FROM generate_series(1, %(open)s) i
JOIN unnest(%(traders)s::bigint[]) WITH ORDINALITY AS k(id, place) ON k.place = 1 + i %% %(many)s
JOIN copytrade_trader t ON t.id = k.id
"""


def fill(owner: User, n: int) -> list[Trader]:
    """The owner's connections, traders and n closed copies, and what a desk has noted beside them; the traders. No sums
    are made yet: see counted()."""
    traders = stored(owner, n)
    _noted(owner, traders)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE copytrade_trackingorder")
    return traders


def stored(owner: User, n: int, opened: int = OPEN) -> list[Trader]:
    """The same within a transaction, where nothing can be vacuumed."""
    now = timezone.now()
    accounts = [_account(owner, place, now) for place in range(ACCOUNTS)]
    traders = [_trader(accounts[place % ACCOUNTS], place) for place in range(TRADERS)]
    values: dict[str, Any] = {
        "n": n, "big": BIG, "now": now, "days": DAYS, "many": TRADERS, "open": opened,
        "symbols": list(SYMBOLS), "traders": [trader.pk for trader in traders],
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_CLOSED, values)
        cursor.execute(_OPENED, values)
    return traders


def _noted(owner: User, traders: list[Trader]) -> None:
    """More runs, alerts and issues than their pages show at once, and some notes on each trader."""
    now = timezone.now()
    accounts = list(Account.objects.filter(owner=owner))
    SyncRun.objects.bulk_create(
        SyncRun(
            account=account, kind=COPY_KINDS[hours % len(COPY_KINDS)], first_at=now - timedelta(hours=hours + 1),
            last_at=now - timedelta(hours=hours), times=700, pages=700, seen=4200, changed=hours % 7, weight=7000,
        )
        for account in accounts for hours in range(RUNS)
    )  # fmt: skip
    Alert.objects.bulk_create(
        Alert(
            owner=owner, kind=Alert.Kind.LOSS, key=f"bench {hours}", account=trader.account, trader=trader,
            sentence=f"A copy of {trader} closed with a loss of 12.34 USDT, more than you set.",
            created_at=now - timedelta(hours=hours), read_at=now if hours % 3 else None,
        )
        for hours, trader in zip(range(ALERTS), cycle(traders), strict=False)
    )  # fmt: skip
    DataIssue.objects.bulk_create(
        DataIssue(
            account=accounts[number % len(accounts)], kind=DataIssue.Kind.LOST_WINDOW, subject=f"copy {number}",
            sentence="A copy closed beyond the exchange's history. Its result is not known.",
        )
        for number in range(ISSUES)
    )  # fmt: skip
    TraderNote.objects.bulk_create(
        TraderNote(trader=trader, day=(now - timedelta(days=30 * n)).date(), text=f"Thought no. {n} of them.")
        for trader in traders for n in range(NOTES)
    )  # fmt: skip


def counted(owner: User) -> None:
    """Daily sums and summaries, as a desk has them that has read all this."""
    for account in Account.objects.filter(owner=owner):
        rollups.rebuild(account)
    rollups.summarise(Trader.objects.filter(account__owner=owner).values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _account(owner: User, place: int, now: datetime) -> Account:
    account = Account.objects.create(
        owner=owner, label=f"Account {place + 1}", venue="sandbox", state=Account.State.ACTIVE, uid=BIG + place,
        writes_enabled=True,
    )  # fmt: skip
    SyncJob.objects.bulk_create(
        SyncJob(
            account=account, kind=kind, last_success_at=now, due_at=now + timedelta(days=1), interval=60.0,
            complete_from=datetime(2024, 1, 1, tzinfo=UTC) if kind == SyncJob.Kind.HISTORY else None,
            cursor={"until": now.isoformat()} if kind == SyncJob.Kind.HISTORY else {},
        )
        for kind in COPY_KINDS
    )  # fmt: skip
    return account


def _trader(account: Account, place: int) -> Trader:
    trader = Trader.objects.create(
        account=account, trader_id=BIG + place, name=f"Trader {place + 1}", copied=place % 5 != 4,
        copy_trading_balance=Decimal(1500), total_investment=Decimal(1000), trace_total_profit=Decimal(100),
        balances_at=timezone.now(),
    )  # fmt: skip
    SettingsVersion.objects.create(
        trader=trader, mode=UNIFIED.mode, answer=rules.to_answer(UNIFIED, copy_enable=True),
        fingerprint=rules.fingerprint(UNIFIED), copy_enable=True, author=SettingsVersion.Author.FIRST,
    )  # fmt: skip
    return trader
