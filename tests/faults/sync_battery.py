"""What every scenario of reading under faults stands on: accounts of which one is the victim, and the course of a run.

A run: everything is well; the scenario brings its fault about and, while it is in force, sees that the other accounts
are still read; everything is made well again; the desk catches up by itself; the judge speaks.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection
from django.db.models import F
from django.utils import timezone

from copytrade import connections, rollups
from copytrade.models import Account, Chore, DataIssue, SyncJob, User
from dashboard.celeryconfig import broker_address

from .stack import WEIGHT_LIMIT, Part, Stack, wait
from .stack_pace import SECONDS
from .sync_judge import Facts, Truth, behind, judged, rows_of

REPORT = os.environ.get("COPYDESK_SYNC_FAULT_REPORT", "")
NAMES = [f"load-{number:06d}" for number in range(1, 5)]
TIGHT, ROOMY = 1000, WEIGHT_LIMIT
SPEED = 2.0  # of the world: each account opens or closes an order every few seconds
READINGS = ("open_tracking_orders", "tracking_order_history", "my_traders", "follower_settings")
OPEN, HISTORY = READINGS[:2]
JOB = "copytrade_syncjob"
GATE = 4711  # the advisory lock at which workers are made to wait
HINTS = {"tick": "desk", "work": "readings.default"}  # tasks by name, and their queues
KEYS = {"global_keyprefix": "celery:"}
MONTHS_OLD = timedelta(days=60)


@dataclass(frozen=True)
class Scenario:
    """`others`: whether the fault leaves the other accounts alone, so that they must be read meanwhile. `limit`: the
    exchange's, in weight per 10 s; ROOMY lets no reading wait, TIGHT is about what all of them spend, so that who
    forgets what was spent is refused."""

    play: Callable[[Scene], None]
    others: bool
    speed: float = SPEED
    limit: int = ROOMY

    @property
    def world(self) -> tuple[float, int]:
        return self.speed, self.limit


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    sentence: str, *, others: bool = True, speed: float = SPEED, limit: int = ROOMY
) -> Callable[..., Any]:
    def keep(function: Callable[[Scene], None]) -> Callable[[Scene], None]:
        SCENARIOS[sentence] = Scenario(function, others, speed, limit)
        return function

    return keep


class Scene:
    """One scenario with one seed, on the stack that it shares with the others."""

    def __init__(self, stack: Stack, name: str, seed: int) -> None:
        self.stack, self.name, self.seed = stack, name, seed
        assert stack.sandbox
        self.sandbox = stack.sandbox
        self.random = random.Random(f"{name} {seed}")
        self.accounts = inhabited(stack, seed, *SCENARIOS[name].world)
        self.victim_name = self.random.choice(NAMES)
        self.began, self.since = timezone.now(), self.last_call()
        self.marks = [self.since]

    # --- who

    @property
    def victim(self) -> Account:
        return self.accounts[self.victim_name]

    @property
    def others(self) -> list[str]:
        return [name for name in self.accounts if name != self.victim_name]

    def job(self, kind: str, name: str = "") -> SyncJob:
        return self.accounts[name or self.victim_name].jobs.get(kind=kind)

    # --- the exchange

    def fault(self, operation: str, kind: str, **more: Any) -> int:
        """A fault that hits the victim alone; its number."""
        return self.sandbox.fault(operation, kind, key=self.victim_name, **more)["id"]

    def used(self, *numbers: int) -> bool:
        """Has each of these faults hit?"""
        now = {fault["id"]: fault["used"] for fault in self.sandbox.control("GET", "faults")["faults"]}
        return all(now.get(number) for number in numbers)

    def calls(self, after: int) -> list[dict]:
        return self.sandbox.control("GET", "calls", after=after)["calls"]

    def last_call(self) -> int:
        found = self.calls(0)
        return found[-1]["n"] if found else 0

    def readings(self, name: str, after: int, operation: str = "open_tracking_orders") -> list[dict]:
        """The calls of an account that were answered well."""
        return [
            call
            for call in self.calls(after)
            if call["key"] == name and call["operation"] == operation and call["status"] == 200
        ]

    # --- what is seen

    def until(self, condition: Callable[[], object], what: str) -> None:
        wait(condition, f"{what} ({self.name}, victim {self.victim_name})", *self.stack.more)

    def others_go_on(self, times: int = 2) -> None:
        """While the fault is in force every other account is read, and read again."""
        here = self.last_call()
        for name in self.others:
            self.until(lambda name=name: len(self.readings(name, here)) >= times, f"{name} is read meanwhile")
        self.marks.append(self.last_call())

    def everybody_goes_on(self) -> None:
        here = self.last_call()
        for name in self.accounts:
            self.until(lambda name=name: len(self.readings(name, here)) >= 2, f"{name} is read")

    def pass_time(self, least: float = 0.3, most: float = 1.0) -> None:
        """A moment that the seed chooses."""
        time.sleep(self.random.uniform(least, most))

    # --- time that need not be waited for

    def make_due(self, *kinds: str) -> None:
        """The pause of the victim's readings passes."""
        self.victim.jobs.filter(kind__in=kinds or SECONDS).update(due_at=timezone.now())

    def make_everything_due(self) -> None:
        """The pause of everybody's readings passes."""
        SyncJob.objects.update(due_at=timezone.now())

    def walk_again(self) -> None:
        """The victim's history is read from its beginning, page by page."""
        self.victim.jobs.filter(kind="history").update(cursor={}, due_at=timezone.now())

    @staticmethod
    def shift_stored_times(minutes: float) -> None:
        """What a jump of the database's clock the other way does to the times it has stored."""
        by, times = timedelta(minutes=minutes), ("due_at", "lease_until", "last_success_at")
        for model in (SyncJob, Chore):
            model.objects.update(**{name: F(name) + by for name in times})

    # --- messages

    def send_hints(self, times: int) -> None:
        """Messages to the workers, each several times: whatever wakes them."""
        from copytrade import tasks
        from dashboard.celery import app

        with app.connection_for_write(broker_address(self.stack.broker.url), transport_options=KEYS) as line:
            for name, queue in HINTS.items():
                for _ in range(times):
                    getattr(tasks, name).apply_async(connection=line, queue=queue, task_id=f"{name}-again")

    def third_worker(self, **env: str) -> Part:
        """One more worker, ready, with other ways than the usual two."""
        ready = self.stack.folder / "third.ready"
        ready.unlink(missing_ok=True)
        part = self.stack.worker("third", READY_FILE=str(ready), **env)
        part.start()
        self.until(ready.exists, "the third worker is ready")
        return part

    # --- steps of a worker

    @contextmanager
    def gate(self, table: str, condition: str, then: str = "") -> Iterator[psycopg.Connection]:
        """Workers that come to write such a row stand still, until the block ends or `release` is called.

        `then`: a statement of PL/pgSQL instead of standing still."""
        url = self.stack.server.url
        with psycopg.connect(url, autocommit=True, application_name="gate") as keeper:
            keeper.execute("SELECT pg_advisory_lock(%s)", [GATE])
            keeper.execute(
                "CREATE OR REPLACE FUNCTION stand() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                f"{then or f'PERFORM pg_advisory_xact_lock_shared({GATE})'}; RETURN NEW; END $$"
            )
            keeper.execute(
                f"CREATE TRIGGER stand BEFORE INSERT OR UPDATE ON {table} "
                f"FOR EACH ROW EXECUTE FUNCTION stand()"
                if not condition
                else f"CREATE TRIGGER stand BEFORE UPDATE ON {table} FOR EACH ROW "
                f"WHEN ({condition}) EXECUTE FUNCTION stand()"
            )
            try:
                yield keeper
            finally:
                keeper.execute("SELECT pg_advisory_unlock_all()")
                keeper.execute(f"DROP TRIGGER stand ON {table}")

    def at_gate(self, keeper: psycopg.Connection) -> tuple[int, int]:
        """(pid of the parent, pid of the child) of the worker process that stands at the gate."""
        found: list[str] = []

        def look() -> bool:
            rows = keeper.execute(
                "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) "
                "WHERE locktype = 'advisory' AND objid = %s AND NOT granted AND application_name LIKE 'worker %%'",
                [GATE],
            ).fetchall()
            found[:] = [row[0] for row in rows]
            return bool(found)

        self.until(look, "a worker stands at the step")
        _, parent, child = found[0].split()
        return int(parent), int(child)

    @staticmethod
    def kill_child(pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def parent(self, pid: int) -> Part:
        return next(part for part in self.stack.workers if pid in part.family()[:1])


# --- the world


def inhabited(stack: Stack, seed: int, speed: float, limit: int) -> dict[str, Account]:
    """The accounts of this seed's world, all read once; made anew when the last scenario was in another world."""
    stack.restore()
    if stack.world != (seed, speed, limit):
        for account in Account.objects.all():
            connections.remove(account)
        assert stack.sandbox
        stack.sandbox.reset(seed=seed, speed=speed, limit=limit)
        alice, _ = User.objects.get_or_create(username="alice")
        stack.accounts = {
            name: connections.add(
                alice, label=name, venue="sandbox", key=name, secret="load-secret", passphrase="sandbox"
            )
            for name in NAMES
        }
        Account.objects.update(key_set_at=timezone.now() - MONTHS_OLD)
        stack.world = (seed, speed, limit)
    SyncJob.objects.update(due_at=timezone.now())
    jobs, now = SyncJob.objects.filter(kind__in=("open", "history", "traders")), timezone.now()
    wait(
        lambda: jobs.filter(last_success_at__gt=now, failures=0).count() == 3 * len(NAMES)
        and not SyncJob.objects.filter(kind="history", cursor__has_key="back").exists(),
        "the desk is as it should be before the fault", *stack.more,
    )  # fmt: skip
    return {name: Account.objects.get(pk=account.pk) for name, account in stack.accounts.items()}


def played(stack: Stack, name: str, seed: int) -> dict[str, Any]:
    """Play a scenario and judge it; what there is to tell of it. One that fails leaves its world to nobody."""
    scene = Scene(stack, name, seed)
    stack.world = None
    began, opened = time.monotonic(), _events(scene)
    SCENARIOS[name].play(scene)
    lasted = time.monotonic() - began
    stack.restore()
    connection.close()
    healed, before = timezone.now(), {each: scene.sandbox.truth(each) for each in scene.accounts}
    caught_up(scene, before, healed)
    took = (timezone.now() - healed).total_seconds()
    facts = all_judged(scene, before)
    if facts.differing:
        # What the fault made an answer say stands in the ledger until the next reading of the history.
        with suppress(AssertionError):
            scene.until(
                lambda: not all_judged(scene, before).differing, "the ledger says what the exchange says"
            )
        facts = all_judged(scene, before)
    facts_429 = own_429s(scene)
    told = {
        "scenario": name, "seed": seed, "events": _events(scene) - opened, "lasted": lasted, "caught_up": took,
        "lost": len(facts.lost) + len(facts.unclosed), "doubled": len(facts.doubled),
        "invented": len(facts.invented) + len(facts.invented_closes), "differing": len(facts.differing),
        "own_429s": facts_429, "gaps": gaps(scene) if SCENARIOS[name].others else [],
    }  # fmt: skip
    if REPORT:
        with Path(REPORT).open("a") as report:
            report.write(json.dumps(told) + "\n")
    assert not facts.wrong(), f"{name}, seed {seed}: {facts.wrong()}"
    assert facts_429 == 0, f"{name}, seed {seed}: the desk spent more than the exchange allows"
    assert wrong_sums(scene) == [], f"{name}, seed {seed}: the daily sums are not those of the orders"
    stack.world = seed, *SCENARIOS[name].world
    return told


def all_judged(scene: Scene, before: dict[str, Truth]) -> Facts:
    """Every account's ledger against the exchange. `before`: what there was when the fault was over."""
    facts = Facts()
    for name, account in scene.accounts.items():
        rows = rows_of(account)
        facts.add(judged(account, before[name], scene.sandbox.truth(name), rows))
    return facts


def caught_up(scene: Scene, truth: dict[str, Truth], healed: datetime) -> None:
    """The desk has everything that there was when the fault was over, and reads every account again. Fails with
    what is missing."""
    missing: dict[str, Any] = {}
    again = SyncJob.objects.filter(kind="open", last_success_at__gt=healed, account__state="active")

    def look() -> bool:
        # The quick question first: until everybody was read again, there is nothing to compare.
        if again.count() < len(scene.accounts):
            return False
        compare()
        return not missing

    def compare() -> None:
        missing.clear()
        for name, account in scene.accounts.items():
            if wrong := behind(rows_of(account), truth[name]).wrong():
                missing[name] = wrong

    try:
        scene.until(look, "the desk has caught up")
    except AssertionError as error:
        compare()
        jobs = list(SyncJob.objects.filter(account=scene.victim).values())
        raise AssertionError(f"{missing}\n{jobs}\n{error}") from None


def own_429s(scene: Scene) -> int:
    """Calls that the exchange refused for the limit, and not because a fault said so."""
    return sum(call["status"] == 429 and not call["fault"] for call in scene.calls(scene.since))


def gaps(scene: Scene) -> list[float]:
    """Seconds between readings of the others' open lists while the fault was in force."""
    found = []
    calls = scene.calls(scene.since)
    for name in scene.others:
        times = [
            call["time"]
            for call in calls
            if call["key"] == name
            and call["operation"] == "open_tracking_orders"
            and call["n"] <= scene.marks[-1]
        ]
        found += [(later - earlier) / 1000 for earlier, later in itertools.pairwise(times)]
    return found


def wrong_sums(scene: Scene) -> list[str]:
    """Daily sums that are not those of the orders, now or, found and mended by the desk, since the fault began."""
    found = [rollups.verify(account) for account in scene.accounts.values()]
    told = DataIssue.objects.filter(kind=DataIssue.Kind.ROLLUP, last_seen_at__gte=scene.began)
    return [str(row) for wrong in found for row in wrong.sample] + [issue.sentence for issue in told]


def _events(scene: Scene) -> int:
    """Orders opened and closed at the exchange so far."""
    truths = [scene.sandbox.truth(name) for name in scene.accounts]
    return sum(len(truth["open"]) + 2 * len(truth["closed"]) for truth in truths)
