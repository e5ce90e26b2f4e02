"""2,000 load accounts on one address, for some real minutes: the desk's own processes, and somebody who looks at it.

The exchange, the worker with four processes and the web server share this machine. Ages are read from the database,
pages are asked for by HTTP with a signed-in session, one after the other, while all of it runs.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

import requests
from django.conf import settings
from django.db.models import F, Max
from django.db.models.functions import Now
from django.urls import reverse

from copytrade.models import COPY_KINDS, Account, SyncJob, User
from tests.support.sandbox_process import Sandbox
from tests.support.signed_in import signed_in

from .accounts import USUAL, load_accounts, world_of
from .ratios import Ratio
from .stack import ROOT, Counted, Worker, weight_of

ACCOUNTS, LIMIT = 2_000, 500
# Of the demo's pace, at which a trader opens every half minute: here a few times a day, some ten closes a day for
# each account, as in the model, and a thousand accounts that see the same close.
SPEED = 0.0015
LOOK_EVERY, SAMPLE_EVERY = 0.5, 10.0
WARM = USUAL["open"] + 25
PAGES = ("overview", "open_orders", "history", "traders", "activity")


@dataclass
class Seen:
    """What came out: the worst ages in seconds by kind, page times in seconds, calls by status, weight spent."""

    ages: Counter = field(default_factory=Counter)
    ahead: Counter = field(default_factory=Counter)
    late: float = 0.0
    pages: list[tuple[str, float]] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    weight: Counter = field(default_factory=Counter)  # by operation
    seconds: float = 0.0
    making: float = 0.0


def real(folder: Path, minutes: float) -> list[Ratio]:
    seen = Seen()
    options = ("--accounts", str(ACCOUNTS), "--limit", str(LIMIT), "--speed", str(SPEED))
    with Sandbox(folder / "sandbox.log", *options) as sandbox, web(folder, sandbox.url) as url:
        began = time.monotonic()
        load_accounts(ACCOUNTS, world=world_of(sandbox, ACCOUNTS))
        seen.making = time.monotonic() - began
        with Worker(folder, sandbox.url, 4):
            watch(sandbox, url, minutes * 60, seen)
    return told(seen, minutes)


@contextmanager
def web(folder: Path, sandbox_url: str) -> Iterator[str]:
    """The desk's web server as ./run starts it, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = os.environ | {
        "REDIS_URL": settings.REDIS_URL, "SANDBOX_URL": sandbox_url, "COPYDESK_ENV": "local",
        "DJANGO_SETTINGS_MODULE": "dashboard.settings", "LOG_LEVEL": "WARNING",
    }  # fmt: skip
    words = [
        "--interface",
        "wsgi",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--blocking-threads",
        "4",
        "--no-ws",
    ]
    with (folder / "web.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "granian", *words, "dashboard.wsgi:application"],
            cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        _until_it_answers(url, folder / "web.log")
        yield url
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _until_it_answers(url: str, log: Path, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            requests.get(f"{url}/healthz", timeout=5)
            return
        except requests.RequestException:
            if time.monotonic() > until:
                raise RuntimeError(f"The web server did not start:\n{log.read_text()[-3000:]}") from None
            time.sleep(0.2)


def watch(sandbox: Sandbox, url: str, seconds: float, seen: Seen) -> None:
    """Look at pages and ages until the time is over. The first of each page does not count."""
    person = User.objects.get(username="owner-000")
    session = requests.Session()
    session.cookies.set(
        settings.SESSION_COOKIE_NAME, signed_in(person).cookies[settings.SESSION_COOKIE_NAME].value
    )
    addresses = [url + reverse(name) for name in PAGES]
    for address in addresses:
        _page(session, address)
    # Until each open list was read once, no close can be found by one: a desk that has run for days is past that.
    time.sleep(WARM)
    counted, began, sampled = Counted(sandbox), time.monotonic(), 0.0
    number = 0
    while (now := time.monotonic() - began) < seconds:
        place = number % len(PAGES)
        seen.pages.append((PAGES[place], _page(session, addresses[place])))
        number += 1
        if now - sampled >= SAMPLE_EVERY:
            sampled = now
            _sample(seen)
            _count(counted, seen)
        time.sleep(max(0.0, LOOK_EVERY - (time.monotonic() - began - now)))
    _sample(seen)
    _count(counted, seen)
    seen.seconds = time.monotonic() - began


def _page(session: requests.Session, address: str) -> float:
    began = time.perf_counter()
    answer = session.get(address, timeout=30, allow_redirects=False)
    took = time.perf_counter() - began
    assert answer.status_code == 200, (address, answer.status_code)
    return took


def _sample(seen: Seen) -> None:
    """The oldest reading of each kind now, and the oldest that each kind will be when it falls due."""
    # What an account says of itself gives way to these, and is no part of the plan.
    rows = SyncJob.objects.filter(account__state=Account.State.ACTIVE, kind__in=COPY_KINDS)
    rows = rows.values("kind").order_by("kind")
    for row in rows.annotate(
        age=Max(Now() - F("last_success_at")), ahead=Max(F("due_at") - F("last_success_at")),
        late=Max(Now() - F("due_at")),
    ):  # fmt: skip
        kind = row["kind"]
        seen.ages[kind] = max(seen.ages[kind], row["age"].total_seconds())
        seen.ahead[kind] = row["ahead"].total_seconds()  # of the last sample: the plan has settled
        if kind != SyncJob.Kind.HISTORY:
            seen.late = max(seen.late, row["late"].total_seconds())


def _count(counted: Counted, seen: Seen) -> None:
    for call in counted.take():
        seen.statuses[call["status"]] += 1
        if call["status"] != 429:
            seen.weight[call["operation"]] += weight_of(call["operation"])


def _spent(seen: Seen) -> str:
    parts = [f"{name} {weight / seen.seconds:.1f}" for name, weight in seen.weight.most_common(5)]
    return f"{seen.weight.total() / seen.seconds:.1f} ({', '.join(parts)})"


def told(seen: Seen, minutes: float) -> list[Ratio]:
    times = [took for _, took in seen.pages]
    p95 = quantiles(times, n=20, method="inclusive")[-1]
    answers = ", ".join(f"{number} x {status}" for status, number in sorted(seen.statuses.items(), key=str))
    rows = [
        Ratio(
            "accounts made, seconds", seen.making, None,
            told=f"{ACCOUNTS:,} with keys, traders, their balances and jobs, in bulk",
        ),
        Ratio(
            "oldest open list in the run, seconds", seen.ages["open"], 600, "most",
            f"{minutes:g} real minutes; weight per second: {_spent(seen)}",
        ),
    ]  # fmt: skip
    for kind in ("traders", "settings"):
        worst = seen.ahead[kind] + max(seen.late, 0.0)
        rows.append(
            Ratio(
                f"oldest {kind} to be expected, seconds", worst, 7200, "most",
                f"extrapolated: the longest of last reading to due time, and {max(seen.late, 0.0):.0f} s that the "
                f"worst was late; oldest seen {seen.ages[kind]:,.0f} s",
            )
        )  # fmt: skip
    each = ", ".join(
        f"{name} {1000 * median(took for one, took in seen.pages if one == name):.0f}" for name in PAGES
    )
    pages = f"{len(times)} signed-in pages by HTTP, median {1000 * median(times):.0f} ms ({each})"
    return [
        *rows,
        Ratio("web pages meanwhile, p95, ms", 1000 * p95, 100, "most", pages),
        Ratio("own 429s", seen.statuses[429], 0, "most", f"answers: {answers}"),
    ]
