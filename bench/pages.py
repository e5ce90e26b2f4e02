"""How long the desk's own pages take with 10,000, 100,000 and 1,000,000 closed copies of one user: `./run bench pages`.

--orders N     the largest ledger (1,000,000 unless given)

Three databases stand beside each other and are asked in turn, so that what else the machine does falls on all alike.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles

import django

django.setup()

import requests  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from django.urls import reverse  # noqa: E402
from django.utils import timezone  # noqa: E402

from copytrade import rollups  # noqa: E402
from copytrade.models import Account, TrackingOrder, Trader, User  # noqa: E402
from copytrade.rollups import counted, read  # noqa: E402
from dashboard.settling import settle  # noqa: E402
from tests.support.signed_in import signed_in  # noqa: E402

from . import ledgers  # noqa: E402
from .load_real import web  # noqa: E402
from .ratios import Ratio, table  # noqa: E402

ROUNDS, CALLS, BY_HTTP, READS, REMAKES = 4, 15, 40, 60, 3
EXPORTED = 100_000
SIGNED_IN, PAGE_QUERIES, PART_QUERIES = 1, 6, 3  # the session with its user; the most of others
PART = {"HX-Request": "true"}


@dataclass
class Desk:
    """A database with so many closed copies of alice's, and a browser in which she is signed in."""

    orders: int
    name: str
    alice: User
    client: Client
    trader: int
    pair: list[int]
    order: int
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    queries: dict[str, int] = field(default_factory=dict)
    by_http: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    planned: list[str] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run bench pages", description=__doc__)
    parser.add_argument("result", type=Path)
    parser.add_argument("--orders", type=int, default=1_000_000)
    given = parser.parse_args(arguments)
    settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
    call_command("migrate", verbosity=0)
    desks = [desk(number) for number in (given.orders // 100, given.orders // 10, given.orders)]
    said("databases made")
    settle()  # as the real server
    for _ in range(ROUNDS):
        for one in desks:
            in_process(one)
    said("pages in-process")
    for one in (desks[0], desks[-1]):
        through_granian(one)
    said("pages through granian")
    use(desks[-1].name)
    rows = [*limits(desks), *summary_read(desks[-1]), *recomputed(desks[-1].name)]
    said("summaries")
    rows += exported(desks)
    text = "\n\n".join([table(rows), pages_table(desks)])
    given.result.write_text(text)
    print(text)
    return 0 if all(row.ok for row in rows) else 1


def said(what: str) -> None:
    print(f"{time.monotonic() - BEGAN:.0f} s: {what}", file=sys.stderr, flush=True)


def use(name: str) -> None:
    """From here on this process talks to that database."""
    connection.close()
    connection.settings_dict["NAME"] = name


def desk(orders: int) -> Desk:
    """A database of its own, copied from the empty one, filled and summed up."""
    empty = BASE
    name = f"{empty}_{orders}"
    use("postgres")
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{empty}"')
    use(name)
    alice = User.objects.create_user("alice", "alice@example.com", "alice-password-of-20")
    traders = ledgers.fill(alice, orders)
    ledgers.counted(alice)
    newest = TrackingOrder.objects.filter(account__owner=alice, closed=True).order_by("-close_time").first()
    assert newest
    keys = [trader.pk for trader in traders]
    return Desk(orders, name, alice, signed_in(alice), keys[0], keys[:2], newest.pk)


def addresses(one: Desk) -> Iterator[tuple[str, str, dict[str, str]]]:
    """(name, address, headers) of every page and part that shows the ledger or stands beside it."""
    trader = reverse("trader", args=[one.trader])
    history = reverse("history")
    pair = "&".join(f"trader={key}" for key in one.pair)
    yield "Overview, 90 days", reverse("overview"), {}
    yield "Overview, all", reverse("overview") + "?period=all", {}
    yield "Traders", reverse("traders"), {}
    yield "Traders, 30 days, part", reverse("traders") + "?period=30", PART
    yield "Trader, 90 days", trader, {}
    yield "Trader, all", trader + "?period=all", {}
    yield "Trader, all, part", trader + "?period=all", PART
    yield "Trader, own range", f"{trader}?period=range&from={day_before(250)}&to={day_before(40)}", {}
    yield "Compare", f"{reverse('compare')}?{pair}", {}
    yield "Open orders", reverse("open_orders"), {}
    yield "Open orders, part", reverse("open_orders"), PART
    yield "History", history, {}
    yield "History, part", history, PART
    yield "History of a trader", f"{history}?trader={one.trader}", {}
    yield "History of a symbol", f"{history}?symbol=BTCUSDT", {}
    yield "History, losses of shorts", f"{history}?side=SHORT&result=loss", {}
    yield "Order", reverse("order", args=[one.order]), {}
    yield "Connection", reverse("connection", args=[one.alice.accounts.order_by("pk")[0].pk]), {}
    yield "Activity", reverse("activity"), {}
    yield "Alerts", reverse("alerts"), {}
    yield "Data issues", reverse("issues"), {}


def day_before(days: int) -> str:
    return (timezone.now() - timedelta(days=days)).date().isoformat()


def in_process(one: Desk) -> None:
    use(one.name)
    for name, address, headers in addresses(one):
        BARE.append(bare())
        one.client.get(address, headers=headers)
        one.queries[name] = queries(one, address, headers) - SIGNED_IN
        gc.collect()
        for _ in range(CALLS):
            started = time.perf_counter()
            answer = one.client.get(address, headers=headers)
            one.times[name].append(time.perf_counter() - started)
            assert answer.status_code == 200, (name, answer.status_code)
    one.planned = planned_anew()


def bare() -> float:
    """Seconds of some Python that never changes: how steady the machine is while pages are asked."""
    started, seen = time.perf_counter(), {}
    for number in range(20_000):
        seen[number % 97] = f"{number}x"
    return time.perf_counter() - started


def planned_anew() -> list[str]:
    """The statements of this connection that the database plans at each view, as it finds no plan that serves for all
    values: for a page of a few milliseconds that may be the longest part."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT statement FROM pg_prepared_statements WHERE generic_plans = 0 AND custom_plans > 10"
        )
        return [statement for (statement,) in cursor.fetchall()]


def queries(one: Desk, address: str, headers: dict[str, str]) -> int:
    with CaptureQueriesContext(connection) as captured:
        one.client.get(address, headers=headers)
    return len(captured)


def through_granian(one: Desk) -> None:
    use(one.name)
    pages = list(addresses(one))
    before = os.environ["DATABASE_URL"]
    os.environ["DATABASE_URL"] = re.sub(
        rf"/{BASE}(?=\?|$)", f"/{one.name}", before
    )  # not the user of that name
    try:
        with (
            tempfile.TemporaryDirectory(prefix="copydesk-bench-") as folder,
            web(Path(folder), "http://127.0.0.1:9") as url,
            requests.Session() as session,
        ):
            session.trust_env = False
            session.cookies.update({name: morsel.value for name, morsel in one.client.cookies.items()})
            for name, address, headers in pages:
                for turn in range(BY_HTTP + 10):  # each of the server's threads comes to the page once before
                    started = time.perf_counter()
                    answer = session.get(url + address, headers=headers, allow_redirects=False, timeout=60)
                    if turn >= 10:
                        one.by_http[name].append(time.perf_counter() - started)
                    assert answer.status_code == 200, (name, answer.status_code)
    finally:
        os.environ["DATABASE_URL"] = before


def p95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20, method="inclusive")[-1]


def limits(desks: list[Desk]) -> list[Ratio]:
    small, large = desks[0], desks[-1]
    heaviest = max(large.times, key=lambda name: p95(large.times[name]))
    slowest = p95(large.times[heaviest])
    growth = max(large.times, key=lambda name: median(large.times[name]) / median(small.times[name]))
    most = {
        kind: max((n, name) for name, n in large.queries.items() if name.endswith("part") is (kind == "part"))
        for kind in ("page", "part")
    }
    unsteady = [name for name in large.queries if large.queries[name] != small.queries[name]]
    grown = median(large.times[growth]) / median(small.times[growth])
    return [
        Ratio(
            f"heaviest page ({heaviest}) at {large.orders:,} orders, p95, ms of server time", 1000 * slowest, 25,
            "most", f"median {1000 * median(large.times[heaviest]):.1f} ms",
        ),
        Ratio(
            f"the same page, p95 at {large.orders:,} / p95 at {small.orders:,}",
            slowest / p95(small.times[heaviest]), 1.2, "most", f"{1000 * p95(small.times[heaviest]):.1f} ms there",
        ),
        Ratio(
            f"any page, the one that grows most ({growth}), median / median", grown, None, "most",
            f"{1000 * median(small.times[growth]):.1f} to {1000 * median(large.times[growth]):.1f} ms",
        ),
        Ratio(
            "a bare loop of Python, timed between the pages, p95 / the quickest", p95(BARE) / min(BARE), None, "most",
            f"{1000 * p95(BARE):.2f} ms against {1000 * min(BARE):.2f} ms: what the machine itself adds to each p95",
        ),
        Ratio(f"queries of a page beside session and user ({most['page'][1]})", most["page"][0], PAGE_QUERIES),
        Ratio(f"queries of a part beside session and user ({most['part'][1]})", most["part"][0], PART_QUERIES),
        Ratio(
            "pages whose number of queries differs between the ledgers", len(unsteady), 0, "most", ", ".join(unsteady)
        ),
        Ratio(
            "statements of pages that the database plans anew at each view", len(desks[-1].planned), 0, "most",
            "; ".join(" ".join(statement.split())[:60] for statement in desks[-1].planned),
        ),
    ]  # fmt: skip


def summary_read(large: Desk) -> list[Ratio]:
    """The rows of the traders table, and the same columns by a bare cursor."""
    keys = [large.alice.pk, "all"]

    def bare() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                """SELECT t.*, a.label, s.closed_copies, s.net, s.net_before, s.figures, s.spark, s.computed_at
                FROM copytrade_trader t JOIN copytrade_account a ON a.id = t.account_id
                LEFT JOIN copytrade_periodsummary s ON s.trader_id = t.id AND s.period = %s
                WHERE a.owner_id = %s ORDER BY t.copied DESC, t.name, t.id""",
                keys[::-1],
            )
            cursor.fetchall()

    def ours() -> None:
        assert len(read.period_rows(large.alice, "all")) == ledgers.TRADERS

    ratio, mine, other = in_turn(ours, bare, READS)
    return [
        Ratio(
            "summary read / the same rows by raw SQL, medians", ratio, 2.0, "most",
            f"{1000 * mine:.2f} ms against {1000 * other:.2f} ms, {ledgers.TRADERS} traders",
        )
    ]  # fmt: skip


def recomputed(name: str) -> list[Ratio]:
    """All daily sums, summaries and details of the ledger, beside one GROUP BY of the same sums.

    PostgreSQL spreads the one over its processes. The desk spreads the other over its workers, a connection each at a
    time: here by two processes, for two cores; and by one.
    """
    accounts = list(Account.objects.values_list("pk", flat=True))
    rows = []
    with get_context("spawn").Pool(len(accounts), use, [name]) as pool:
        ways = {
            f"{len(accounts)} processes": lambda: pool.map(remake, accounts, chunksize=1),
            "one process": lambda: [remake(account) for account in accounts],
        }
        for told, everything in ways.items():
            ratio, ours, plain = in_turn(everything, grouped, REMAKES)
            limit = 6.0 if len(rows) == 0 else None
            label = (
                "full recomputation (daily sums, summaries, details) / one plain GROUP BY of the daily sums"
            )
            rows.append(
                Ratio(f"{label}, {told}", ratio, limit, "most", f"{ours:.1f} s against {plain:.2f} s")
            )
    return rows


def remake(account: int) -> None:
    """Everything that is kept beside the ledger of an account, made again from its orders."""
    rollups.rebuild(Account.objects.get(pk=account))
    rollups.summarise(Trader.objects.filter(account=account).values_list("pk", flat=True))


def grouped() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT o.trader_id, (o.close_time AT TIME ZONE 'UTC')::date, o.symbol, {counted.SUMS}
            FROM copytrade_trackingorder o WHERE {counted.COUNTS} GROUP BY 1, 2, 3"""
        )
        cursor.fetchall()


def in_turn(one: Callable[[], None], other: Callable[[], None], times: int) -> tuple[float, float, float]:
    """(median of the ratios, median seconds of the one, of the other), after a call of each that does not count."""
    seconds: list[tuple[float, float]] = []
    for turn in range(times + 1):
        pair = []
        for call in (one, other):
            started = time.perf_counter()
            call()
            pair.append(time.perf_counter() - started)
        if turn:
            seconds.append((pair[0], pair[1]))
    firsts, seconds_ = zip(*seconds, strict=True)
    return median(a / b for a, b in seconds), median(firsts), median(seconds_)


def exported(desks: list[Desk]) -> list[Ratio]:
    """A file of the history through the whole server side, read to its end; memory as the kernel tells its height."""
    rows = []
    for form, label in (("csv", "CSV"), ("jsonl", "JSON Lines")):
        grown, seconds, lines = [], 0.0, 0
        for one in desks[:2]:
            use(one.name)
            with grows() as mebibytes:
                started = time.perf_counter()
                answer = one.client.get(reverse("history_export", args=[form]))
                lines = sum(part.count(b"\n") for part in answer)
                seconds = time.perf_counter() - started
            grown.append(mebibytes[0])
        told = f"{lines:,} lines; memory grew by {grown[1]:.1f} MiB, for a tenth of the rows by {grown[0]:.1f} MiB"
        rows.append(
            Ratio(f"export of {desks[1].orders:,} rows as {label}, seconds", seconds, 3.0, "most", told)
        )
    return rows


@contextmanager
def grows() -> Iterator[list[float]]:
    """By how many MiB this process's highest resident size rises inside."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before, found = _resident("VmRSS"), [0.0]
    yield found
    found[0] = max(0.0, (_resident("VmHWM") - before) / 1024)


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def pages_table(desks: list[Desk]) -> str:
    sizes = " | ".join(f"{one.orders:,}" for one in desks)
    lines = [
        f"| Page, p95 in ms with so many orders | Queries | {sizes} | Median growth | Through granian: "
        f"{desks[0].orders:,} | {desks[-1].orders:,} |",
        "|---|---:" + "|---:" * (len(desks) + 3) + "|",
    ]
    for name in desks[0].times:
        times = " | ".join(f"{1000 * p95(one.times[name]):.1f}" for one in desks)
        growth = median(desks[-1].times[name]) / median(desks[0].times[name])
        http = " | ".join(f"{1000 * p95(one.by_http[name]):.1f}" for one in (desks[0], desks[-1]))
        lines.append(f"| {name} | {desks[-1].queries[name]} | {times} | {growth:.2f} | {http} |")
    return "\n".join(lines)


BEGAN = time.monotonic()
BARE: list[float] = []
BASE = connection.settings_dict["NAME"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
