"""The scenarios of reading under faults: each brings one fault about and returns; healing and judging come after it.

Those of Redis and PostgreSQL stand in sync_servers.py.
"""

from __future__ import annotations

import json
import signal
from typing import Any

from django.db import transaction
from django.utils import timezone

from copytrade import connections, ledger
from copytrade.models import Account, BadRecord, SyncJob
from copytrade.sandbox.faults import KINDS

from .sync_battery import HISTORY, JOB, OPEN, READINGS, Scene, scenario


@scenario("nothing at all")
def undisturbed(scene: Scene) -> None:
    scene.others_go_on(5)


# --- kill -9, at each step of a reading

# What a fence writes of its job, and nobody else of one that is held: not the hints, and not we who reset its cursor.
FENCED = "NEW.lease_token = OLD.lease_token AND NEW.lease_until IS DISTINCT FROM OLD.lease_until"


def _steps(scene: Scene) -> dict[str, tuple[str, str]]:
    """Which of the victim's jobs, and the write of it that stands for each step."""
    return {
        "before the claim": (
            "open", "NEW.lease_token IS NOT NULL AND NEW.lease_token IS DISTINCT FROM OLD.lease_token",
        ),
        "in the transaction of a page": ("history", FENCED),
        "before the release": ("open", "OLD.lease_token IS NOT NULL AND NEW.lease_token IS NULL"),
    }  # fmt: skip


def _kill_at_gate(scene: Scene, step: str, whom: str) -> None:
    kind, condition = _steps(scene)[step]
    with scene.gate(JOB, f"NEW.id = {scene.job(kind).pk} AND {condition}") as keeper:
        if kind == "history":
            scene.walk_again()
        parent, child = scene.at_gate(keeper)
        if whom == "a child":
            scene.kill_child(child)
        else:
            scene.parent(parent).kill()
    scene.others_go_on()


def _kill_while_held(scene: Scene, step: str, whom: str) -> None:
    """At these steps the worker waits for the exchange; which one it is cannot be told, so all of them die."""
    if step == "after the claim":
        held = scene.fault(OPEN, "timeout_before", seconds=60)
    else:
        scene.walk_again()
        held = scene.fault(HISTORY, "timeout_before", seconds=60, after=1)
    scene.until(lambda: scene.used(held), "a worker waits for the exchange")
    for part in scene.stack.workers:
        if whom == "a child":
            for pid in part.children():
                scene.kill_child(pid)
        else:
            part.kill()
    if whom == "the parent":
        for part in scene.stack.workers:
            part.start()
    scene.sandbox.clear_faults()
    scene.everybody_goes_on()


def _kills() -> None:
    ways = {
        "before the claim": _kill_at_gate, "after the claim": _kill_while_held,
        "in the transaction of a page": _kill_at_gate, "between two pages": _kill_while_held,
        "before the release": _kill_at_gate,
    }  # fmt: skip
    for whom in ("a child", "the parent"):
        for step, way in ways.items():
            scenario(f"kill -9 of {whom} {step}", others=way is _kill_at_gate)(
                lambda scene, way=way, step=step, whom=whom: way(scene, step, whom)
            )


_kills()


# --- messages


@scenario("every message delivered five times")
def duplicates(scene: Scene) -> None:
    scene.make_due()
    for part in scene.stack.workers:
        part.signal(signal.SIGSTOP)
    scene.send_hints(10)
    for part in scene.stack.workers:
        part.signal(signal.SIGCONT)
    for _ in range(4):
        scene.send_hints(10)
        scene.pass_time(0.1, 0.3)
    scene.others_go_on()


@scenario("messages given out again after 1 s")
def short_sight(scene: Scene) -> None:
    slow = scene.fault(OPEN, "slow_drip", seconds=1.5, times=3)
    third = scene.third_worker(STACK_VISIBILITY="1")
    scene.until(lambda: scene.used(slow), "a reading takes longer than a message lives")
    scene.others_go_on(3)
    third.end()


# --- beat


@scenario("no beat")
def beat_dead(scene: Scene) -> None:
    scene.stack.beats[0].kill()
    scene.others_go_on(4)
    scene.everybody_goes_on()


@scenario("five beats")
def five_beats(scene: Scene) -> None:
    for beat in scene.stack.beats[1:]:
        beat.start()
    scene.others_go_on(6)


# --- clocks


@scenario("the exchange's clock jumps 10 minutes ahead", others=False)
def clock_ahead(scene: Scene) -> None:
    scene.sandbox.advance(seconds=600)
    scene.everybody_goes_on()


@scenario("the exchange's clock falls back by 10 minutes, for a while", others=False)
def clock_back(scene: Scene) -> None:
    scene.sandbox.fault("*", "clock_skew", seconds=-600)
    scene.everybody_goes_on()


@scenario("our clock jumps 10 minutes ahead", others=False)
def our_clock_ahead(scene: Scene) -> None:
    """All that was stored before lies ten minutes further back: leases have run out under their holders."""
    scene.shift_stored_times(minutes=-10)
    scene.everybody_goes_on()


@scenario("our clock falls back by 10 minutes", others=False)
def our_clock_back(scene: Scene) -> None:
    """All that was stored before lies in the future: due times, leases, and when the next plan is made."""
    scene.shift_stored_times(minutes=10)
    scene.everybody_goes_on()


@scenario("a worker whose clock is 10 minutes ahead")
def worker_ahead(scene: Scene) -> None:
    third = scene.third_worker(STACK_CLOCK="600")
    scene.others_go_on(3)
    third.end()


@scenario("a worker whose clock is 10 minutes behind")
def worker_behind(scene: Scene) -> None:
    third = scene.third_worker(STACK_CLOCK="-600")
    scene.others_go_on(3)
    third.end()


# --- what the sandbox exchange can do, one after the other: its own list

WAYS: dict[str, dict[str, Any]] = {
    "http": {"http": 502},
    "rate_limit": {"retry_after": 1},
    "timeout_before": {"seconds": 3},
    "timeout_after": {"seconds": 3},
    "apply_late": {"seconds": 0.2},
    "slow_drip": {"seconds": 1},
    "clock_skew": {"seconds": 400},
    "code": {"code": -1000},
}
CODES = (-1000, -1054, -1128, -1160, -1180, -1190)


def _way(scene: Scene, kind: str) -> dict[str, Any]:
    more = dict(WAYS.get(kind, {}))
    draw = scene.random
    if kind == "code":
        more["code"] = draw.choice(CODES)
    if kind == "http":
        more |= {"http": draw.choice([500, 502, 503, 504]), "body": draw.choice(["html", "empty", "{}"])}
    if kind == "clock_skew":
        more["seconds"] = draw.choice([-1, 1]) * draw.randint(40, 900)
    if kind == "missing_fields":
        more["fields"] = draw.sample(
            ["trackingNo", "symbol", "openTime", "updateTime", "netProfit", "status"], 2
        )
    return more


def _sandbox_faults() -> None:
    for kind in sorted(KINDS):

        def play(scene: Scene, kind: str = kind) -> None:
            # A key refused three times is not tried again: that is a scenario of its own.
            more, times = _way(scene, kind), 1 if kind == "key_pending" else scene.random.randint(1, 2)
            numbers = [scene.fault(operation, kind, times=times, **more) for operation in (OPEN, HISTORY)]
            scene.until(lambda: scene.used(*numbers), f"{kind} hits both lists")
            if kind != "rate_limit":  # that one stops the address for everybody, as it has to
                scene.others_go_on()

        scenario(f"sandbox: {kind}", others=kind != "rate_limit")(play)


_sandbox_faults()


# --- one account is poison

UNREADABLE = (
    "null", '"a text"', "[[1]]", '{"list": 7}', "[" * 100_000, '{"list": [' + "9" * 5_000 + "]}", "\x00", "{",
    json.dumps({"list": [{"trackingNo": 5, "traderName": "\ud800"}]}), '[{"trackingNo": 5, "traderName": "\\ud800"}]',
)  # fmt: skip


@scenario("one account's answers cannot be understood")
def unreadable(scene: Scene) -> None:
    def told(kind: str) -> bool:
        aside = BadRecord.objects.filter(account=scene.victim, operation=ledger.OPERATIONS[kind])
        return bool(scene.job(kind).failures) or aside.exists()

    for operation in READINGS:
        body = scene.random.choice(UNREADABLE)
        scene.fault(operation, "http", http=200, body=body, times=0)
    scene.until(
        lambda: all(map(told, ("open", "history"))), "its readings fail, or set aside what they cannot read"
    )
    scene.others_go_on(3)


@scenario("one account's readings raise inside the desk")
def raising(scene: Scene) -> None:
    jobs = ", ".join(str(pk) for pk in scene.victim.jobs.values_list("pk", flat=True))
    condition = f"NEW.id IN ({jobs}) AND {FENCED}"
    with scene.gate(JOB, condition, then="RAISE EXCEPTION 'poison'"):
        scene.walk_again()
        scene.until(lambda: scene.job("history").failures >= 1, "its reading fails")
        scene.others_go_on(3)


# --- keys


@scenario("a key revoked, until its owner acts")
def key_revoked(scene: Scene) -> None:
    scene.fault("*", "code", code=-1044, times=0)
    scene.until(lambda: _state(scene) == Account.State.REFUSED, "the desk stops asking with it")
    scene.others_go_on()
    scene.sandbox.clear_faults()
    connections.resume(Account.objects.get(pk=scene.victim.pk))


@scenario("a key replaced in the middle of a reading")
def key_replaced(scene: Scene) -> None:
    slow = scene.fault(OPEN, "slow_drip", seconds=1.5)
    scene.until(lambda: scene.used(slow), "a reading is under way")
    _replace(scene)
    scene.others_go_on()


@scenario("a new key that is not active yet")
def key_pending(scene: Scene) -> None:
    scene.fault("*", "key_pending")
    _replace(scene)
    scene.until(lambda: _state(scene) == Account.State.PENDING, "the desk waits for the key")
    scene.others_go_on()
    scene.sandbox.clear_faults()
    scene.make_due()
    scene.until(lambda: _state(scene) == Account.State.ACTIVE, "the key works")


def _state(scene: Scene) -> str:
    return Account.objects.get(pk=scene.victim.pk).state


def _replace(scene: Scene) -> None:
    with transaction.atomic():
        account = Account.objects.get(pk=scene.victim.pk)
        connections.replace_key(account, key=scene.victim_name, secret="load-secret", passphrase="sandbox")


# --- all at once, and for days


@scenario("everything due at once, five times over", others=False)
def burst(scene: Scene) -> None:
    for _ in range(5):
        SyncJob.objects.update(due_at=timezone.now())
        scene.pass_time(0.1, 0.4)


@scenario("the exchange away for three days", others=False, speed=0.05)
def away_for_days(scene: Scene) -> None:
    scene.sandbox.fault("*", "maintenance")
    for _ in range(6):
        scene.sandbox.advance(seconds=scene.random.randint(40_000, 46_000))
        scene.pass_time(0.1, 0.4)
    scene.sandbox.clear_faults()
    scene.make_everything_due()
