"""What a full page of 100 closed orders costs from the socket to the commit, and how fast the past is loaded.

Beside it, in turn and on the same server: requests, json and COPY of the same 100 rows into the same table; and
COPY alone. A database does its work in a process of its own, so its processor time is counted too.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median

import requests
from django.db import connection, transaction

from copytrade import ledger
from copytrade.clients import client_for
from copytrade.models import Account, SyncJob, Trader, User
from copytrade.sync import run
from copytrade.sync.history import PAGES_TOGETHER

from . import canned, desk
from .ratios import Ratio

ROUNDS = 21
COLUMNS = (
    "account_id", "trader_id", "tracking_no", "generation", "trader_name", "symbol", "position_side", "status",
    "open_order_id", "close_order_id", "open_leverage", "open_price_avg", "open_time", "open_size", "open_fill_size",
    "open_fee", "open_margin_amount", "tp_trigger_price", "sl_trigger_price", "close_avg_price", "close_size",
    "close_time", "realized_pnl", "profit_rate", "net_profit", "created_time", "update_time", "extras", "closed",
    "first_seen_at",
)  # fmt: skip
COPY = f"COPY copytrade_trackingorder ({', '.join(COLUMNS)}) FROM STDIN"
_numbers = count(1)


@dataclass(frozen=True)
class Cost:
    """Seconds: by the clock, of this process's processor, of the database session's."""

    wall: float
    here: float
    there: float

    @property
    def cpu(self) -> float:
        return self.here + self.there


@contextmanager
def canned_exchange(*options: str) -> Iterator[str]:
    """The address of bench/canned.py in a process of its own; the desk's sandbox venue points there."""
    command = [sys.executable, "-m", "bench.canned", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert process.stdout
        url = f"http://127.0.0.1:{int(process.stdout.readline())}"
        desk.venue_at(url)
        yield url
    finally:
        process.kill()
        process.wait()


def somebody() -> User:
    """An owner of a measurement's accounts."""
    name = f"owner-of-pages-{next(_numbers)}"
    return User.objects.create_user(name, f"{name}@example.com")


def new_account(owner) -> Account:
    """A connection whose history was never read, tested and ready."""
    account = desk.connection_of(owner, f"Pages {next(_numbers)}")
    Account.objects.filter(pk=account.pk).update(state=Account.State.ACTIVE, uid=4412067359)
    account.refresh_from_db()
    Trader.objects.bulk_create(
        Trader(account=account, trader_id=uid, name="Northwind Steady", copied=True) for uid in canned.TRADERS
    )
    return account


def cost_of(work: Callable[[], object]) -> Cost:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    gc.collect()
    wall, here, there = time.perf_counter(), time.process_time(), _computed(backend)
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - here, _computed(backend) - there)


def _computed(pid: int) -> float:
    """Seconds that a process has computed, to the nanosecond (Linux)."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def pages() -> list[Ratio]:
    """Both ratios, from the medians of rounds in turn."""
    gc.freeze()  # as dashboard/celery.py does in each of a worker's processes
    owner, ours, bare, merged, copied = somebody(), [], [], [], []
    with canned_exchange() as url:
        session = requests.Session()
        session.trust_env = False
        for _ in range(ROUNDS + 1):
            account = new_account(owner)
            ours.append(cost_of(lambda account=account: backfill(account)))
            account = new_account(owner)
            bare.append(cost_of(lambda account=account: fetch_and_copy(session, url, account)))
            records = decoded(new_account(owner))
            account = new_account(owner)
            merged.append(cost_of(lambda account=account, records=records: merge_all(account, records)))
            account = new_account(owner)
            traders = dict(account.traders.values_list("trader_id", "pk"))
            rows = [row for page in fetched(session, url) for row in rows_of(page, account, traders)]
            copied.append(cost_of(lambda rows=rows: copy(rows)))
    return [_per_page(ours[1:], bare[1:]), _bulk(merged[1:], copied[1:], ours[1:])]


def backfill(account: Account) -> None:
    """The desk's own first reading of a past of 40 pages, as a worker does it."""
    said = run.sync_account(account.pk, [SyncJob.Kind.HISTORY])
    stored = account.orders.count()
    assert stored == canned.PAGES * canned.SIZE, (said, stored)


def decoded(account: Account) -> list[list]:
    """The same pages as records, read by the desk's client."""
    client, pages, cursor = client_for(account), [], None
    for _ in range(canned.PAGES):
        page = client.tracking_order_history(cursor=cursor)
        pages.append(page.records)
        cursor = page.next
    return pages


def merge_all(account: Account, pages: list[list]) -> None:
    """In the batches in which a worker reads the past."""
    for start in range(0, len(pages), PAGES_TOGETHER):
        records = [record for page in pages[start : start + PAGES_TOGETHER] for record in page]
        with transaction.atomic():
            ledger.merge(account, records, source=ledger.HISTORY)


def fetched(session: requests.Session, url: str) -> Iterator[list[dict]]:
    key = ""
    for _ in range(canned.PAGES):
        answer = session.get(f"{url}/capi/v3/copy/follower/historyOrders?limit=100{key}", timeout=30)
        page = json.loads(answer.content)
        yield page["list"]
        if page["nextKey"]:
            key = f"&nextKeyId={page['nextKey']['nextKeyId']}&nextKeyTime={page['nextKey']['nextKeyTime']}"


def fetch_and_copy(session: requests.Session, url: str, account: Account) -> None:
    """The least that any program must do: ask, parse, COPY, commit; page by page."""
    traders = dict(account.traders.values_list("trader_id", "pk"))
    for page in fetched(session, url):
        copy(rows_of(page, account, traders))


def rows_of(page: list[dict], account: Account, traders: dict[int, int]) -> Iterator[tuple]:
    now = datetime.now(UTC)
    for order in page:
        yield (
            account.pk, traders[order["traderID"]], order["trackingNo"], 0, order["traderName"], order["symbol"],
            order["positionSide"], order["status"], order["openOrderId"], order["closeOrderId"], order["openLeverage"],
            order["openPriceAvg"] or None, moment(order["openTime"]), order["openSize"] or None,
            order["openFillSize"] or None, order["openFee"] or None, order["openMarginAmount"] or None,
            order["tpTriggerPrice"] or None, order["slTriggerPrice"] or None, order["closeAvgPrice"] or None,
            order["closeSize"] or None, moment(order["closeTime"]), order["realizedPnl"] or None,
            order["profitRate"] or None, order["netProfit"] or None, moment(order["createdTime"]),
            moment(order["updateTime"]), "{}", True, now,
        )  # fmt: skip


def moment(ms: int | str) -> datetime:
    return datetime.fromtimestamp(int(ms) / 1000, UTC)


def copy(rows) -> None:
    with transaction.atomic(), connection.cursor() as cursor, cursor.copy(COPY) as into:
        for row in rows:
            into.write_row(row)


def _per_page(ours: list[Cost], bare: list[Cost]) -> Ratio:
    ratios = [one.cpu / other.cpu for one, other in zip(ours, bare, strict=True)]
    here = median(one.here / other.here for one, other in zip(ours, bare, strict=True))
    told = f"{_ms(one.cpu for one in ours)} against {_ms(one.cpu for one in bare)}; of the client alone {here:.2f}"
    what = "CPU per full page of 100 orders, socket to commit / (requests + json + COPY)"
    return Ratio(what, median(ratios), 2.5, "most", f"client and database together: {told}")


def _bulk(merged: list[Cost], copied: list[Cost], whole: list[Cost]) -> Ratio:
    rows = canned.PAGES * canned.SIZE
    ratio = median(other.wall / one.wall for one, other in zip(merged, copied, strict=True))
    all_the_way = median(other.wall / one.wall for one, other in zip(whole, copied, strict=True))
    speed = [rows / median(one.wall for one in costs) for costs in (merged, copied)]
    told = f"{speed[0]:,.0f} rows/s in transactions of {PAGES_TOGETHER} pages against {speed[1]:,.0f} in one COPY"
    return Ratio(
        "bulk backfill / COPY, same table and indexes, rows per second", ratio, 0.4, "least",
        f"{told}; with the exchange's answers fetched and decoded {all_the_way:.2f}",
    )  # fmt: skip


def _ms(costs) -> str:
    return f"{1000 * median(costs) / canned.PAGES:.2f} ms"
