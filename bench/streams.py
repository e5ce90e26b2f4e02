"""The desk's real workers reading for a while: how much of the quota they use, and how they grow with processes and
addresses. What was read is counted at the exchange, by its own log.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median

import redis
from django.conf import settings
from django.db.models import F, Sum
from django.db.models.functions import Coalesce, Greatest, Now

from copytrade import egress
from copytrade.clients import limiter_at
from copytrade.exchange.limits import RESERVE
from copytrade.exchange.windows import LENT
from copytrade.models import COPY_KINDS, OWN_KINDS, Account, Chore, SyncJob, SyncRun
from tests.support.sandbox_process import Sandbox

from . import desk
from .accounts import load_accounts
from .ratios import Ratio
from .stack import Counted, Worker, weight_of

LIMIT, WINDOW = 500, 10.0  # weight in so many seconds, of each address
KEPT = RESERVE * (1 - LENT)  # for what a person asks, while nobody does; readings may use the rest
ADDRESSES = {f"a{number}": {"source": f"127.0.0.{number}"} for number in range(2, 10)}
# So many that each of eight addresses has more due than it may read while it is measured.
ACCOUNTS = 480
# Seconds: until the first plan holds and a part of the reserve is lent; then whole windows.
SETTLE, MEASURED = 40.0, 30.0
FIRST_READINGS = 180.0  # seconds that reading all accounts once may take
TURNS = 2
SLOW, SLOW_SETTLE, SLOW_MEASURED = 0.2, 6.0, 12.0


@dataclass
class Stream:
    """What the exchange saw in some seconds, and what the desk made of it."""

    seconds: float
    calls: list[dict]
    readings: float
    weight: int
    computed: float

    @property
    def refused(self) -> int:
        return sum(call["status"] == 429 for call in self.calls)

    @property
    def rate(self) -> float:
        """Answered copy calls per second."""
        return sum(call["status"] == 200 and "/copy/" in call["path"] for call in self.calls) / self.seconds


def streams(folder: Path) -> list[Ratio]:
    Account.objects.all().delete()  # the other parts' accounts are none of this exchange's
    load_accounts(ACCOUNTS, spread=False)
    # Copies are what is measured: what accounts say of themselves has been read, and comes again tomorrow.
    SyncJob.objects.filter(kind__in=OWN_KINDS).update(due_at=Now() + timedelta(days=1))
    _read_once(folder)
    return [*_addresses(folder), _workers(folder)]


def _read_once(folder: Path) -> None:
    """First readings store what later ones find unchanged: nobody is compared by them."""
    with sandbox(folder, "--limit", "1000000") as exchange:
        _as_if_new(sorted(ADDRESSES))
        unread = SyncJob.objects.filter(kind__in=COPY_KINDS, last_success_at=None)
        with Worker(folder, exchange.url, None, COPYDESK_EGRESS=_spoken(sorted(ADDRESSES))):
            until = time.monotonic() + FIRST_READINGS
            while unread.exists():
                if time.monotonic() > until:
                    raise SystemExit(
                        f"{unread.count()} first readings were not made in {FIRST_READINGS:.0f} s."
                    )
                time.sleep(0.5)


def _spoken(names: list[str]) -> str:
    return ",".join(f"{name}=source:{ADDRESSES[name]['source']}" for name in names)


def _addresses(folder: Path) -> list[Ratio]:
    """One address and eight in turn, limits on. One address alone tells of weight and quota."""
    one, eight = [], []
    for _ in range(TURNS):
        for names, found in ((["a2"], one), (sorted(ADDRESSES), eight)):
            with sandbox(folder, "--limit", str(LIMIT)) as exchange:
                found.append(_stream(folder, exchange, names, None, SETTLE, MEASURED))
    return [_weight(one), *_quota(one, eight), _linear_addresses(one, eight)]


def _workers(folder: Path) -> Ratio:
    """One process and four in turn, limits off, every answer taking 200 ms."""
    found: dict[int, list[Stream]] = {1: [], 4: []}
    for _ in range(TURNS):
        for processes, list_ in found.items():
            with sandbox(folder, "--limit", "1000000") as exchange:
                exchange.fault("*", "slow_drip", seconds=SLOW, times=0)
                list_.append(_stream(folder, exchange, ["a2"], processes, SLOW_SETTLE, SLOW_MEASURED))
    ones, fours = ([stream.rate for stream in found[processes]] for processes in (1, 4))
    ratio = median(four / (4 * one) for one, four in zip(ones, fours, strict=True))
    told = f"{median(ones):.2f} and {median(fours):.2f} readings per second; exchange answers in 200 ms"
    return Ratio("1 to 4 workers, latency-bound: speed / (4 x one)", ratio, 0.95, "least", told)


@contextmanager
def sandbox(folder: Path, *options: str) -> Iterator[Sandbox]:
    """A sandbox whose world stands still, and the desk's venue pointing to it."""
    with Sandbox(folder / "sandbox.log", "--speed", "0", "--accounts", str(ACCOUNTS), *options) as exchange:
        desk.venue_at(exchange.url)
        yield exchange


def _stream(
    folder: Path, exchange: Sandbox, names: list[str], processes: int | None, settle: float, measured: float
) -> Stream:
    _as_if_new(names)
    with Worker(folder, exchange.url, processes, COPYDESK_EGRESS=_spoken(names)) as worker:
        time.sleep(settle)
        # As much as the addresses let through is what is measured, not what happens to be due.
        SyncJob.objects.filter(kind__in=COPY_KINDS).update(due_at=Now())
        if measured >= 2 * WINDOW:
            _until_a_window_begins(exchange)
        counted, began = Counted(exchange), time.monotonic()
        before, computed = _readings(), worker.computed()
        calls = []
        while (left := began + measured - time.monotonic()) > 0:
            time.sleep(min(left, 5.0))
            calls += counted.take()
        seconds = time.monotonic() - began
        stream = Stream(seconds, calls, _readings() - before, 0, worker.computed() - computed)
    stream.weight = sum(weight_of(call["operation"]) for call in calls if call["status"] != 429)
    return stream


def _as_if_new(names: list[str]) -> None:
    """Every phase begins alike: all due, nothing planned, no lease, an empty Redis."""
    settings.EGRESS = {name: ADDRESSES[name] for name in names}
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    limiter_at.cache_clear()
    Chore.objects.all().delete()
    pinned: dict[str, list[int]] = {}
    for pk in Account.objects.values_list("pk", flat=True):
        pinned.setdefault(egress.of(pk), []).append(pk)
    for name, accounts in pinned.items():
        SyncJob.objects.filter(account__in=accounts, kind__in=COPY_KINDS).update(
            egress=name, lease_token=None, lease_until=None, interval=None, failures=0, last_error="",
            due_at=Coalesce(F("last_success_at"), Now()),
        )  # fmt: skip


def _until_a_window_begins(exchange: Sandbox) -> None:
    now = exchange.clock()["serverTime"] / 1000
    time.sleep(WINDOW - now % WINDOW)


def _readings() -> float:
    """Pages and traders' settings that the desk has written down as read."""
    pages = SyncRun.objects.filter(error_code="").aggregate(n=Sum(F("times") * Greatest(F("pages"), 1)))
    return float(pages["n"] or 0)


def _weight(one: list[Stream]) -> Ratio:
    ratio = median(stream.weight / (10 * stream.readings) for stream in one)
    told = f"{sum(s.weight for s in one)} weight for {sum(s.readings for s in one):.0f} readings, one address"
    return Ratio("weight spent / (10 x readings)", ratio, 1.10, "most", told)


def _quota(one: list[Stream], eight: list[Stream]) -> list[Ratio]:
    usable = LIMIT * (1 - KEPT) / WINDOW
    used = [stream.weight / stream.seconds for stream in one]
    refused = sum(stream.refused for stream in (*one, *eight))
    told = f"{median(used):.1f} of {usable:.0f} per second (500 in 10 s less what is kept for people), one address"
    statuses = Counter(call["status"] for stream in (*one, *eight) for call in stream.calls)
    answers = ", ".join(f"{number} x {status}" for status, number in sorted(statuses.items(), key=str))
    return [
        Ratio("usable quota used", median(used) / usable, 0.97, "least", told),
        Ratio("own 429s", refused, 0, "most", f"all answers, one address and eight: {answers}"),
    ]


def _linear_addresses(one: list[Stream], eight: list[Stream]) -> Ratio:
    ratio = median(many.rate / (8 * single.rate) for single, many in zip(one, eight, strict=True))
    rates = [median(stream.rate for stream in found) for found in (one, eight)]
    cpu = median(stream.computed / (stream.rate * stream.seconds) for stream in eight)
    told = (
        f"{rates[0]:.2f} and {rates[1]:.2f} readings per second; "
        f"{1000 * cpu:.1f} ms CPU of the workers per reading, limits on"
    )
    return Ratio("8 addresses: speed / (8 x one)", ratio, 0.97, "least", told)
