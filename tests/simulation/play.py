"""One seed from beginning to end: a world, a desk, faults, then quiet, then the judge."""

from __future__ import annotations

import random
from dataclasses import dataclass

from . import changes
from .checker import Watch
from .desk import Desk
from .truth import HOUR, MINUTE
from .workers import HISTORY, NOBODY, OPEN, PLAN, TRADERS, Job, Worker
from .world import World

# After the last event: a daily sweep comes round in it, and one more reading of everything.
QUIET = 32 * HOUR


@dataclass
class Outcome:
    """What a seed came to. `violations` is empty when all held."""

    violations: list[str]
    figures: dict[str, int]
    trace: list[str] | None


def play(seed: int, bugs: frozenset[str] = frozenset(), *, traced: bool = False) -> Outcome:
    """The same seed (and bugs) always plays the same."""
    world = World(seed)
    desk = Desk(world, random.Random(f"desk {seed}"), bugs, [] if traced else None)
    watch = desk.watch = Watch(desk)
    desk.store.watch = watch.committed
    now = desk.now()
    for account in world.accounts:
        for kind in (OPEN, HISTORY, TRADERS):
            desk.store.put(
                "jobs", (account.key, kind), Job(account.key, kind, now, desk.bounds(kind)[0] * 1000)
            )
    desk.store.put("jobs", (NOBODY, PLAN), Job(NOBODY, PLAN, now + MINUTE, max(MINUTE, world.cap)))
    for account in world.accounts:
        for _ in range(desk.rng.randrange(3)):
            at = world.begin + desk.rng.randrange(world.span)
            desk.at(at, lambda key=account.key: changes.confirm(desk, key))
    desk.run(world.end + QUIET, lambda process: Worker(desk, process).work())
    watch.end()
    orders = sum(len(account.orders) for account in world.accounts)
    figures = {
        "seeds": 1, "orders": orders, "events": desk.events, "calls": world.calls, "commits": desk.store.commits,
        "crashes": desk.crashes, "hours": (world.span + QUIET) // HOUR, "429 by others": world.other_429s,
        "changes": len(desk.store["changes"]), "lost window": sum(
            1 for stored in desk.store["orders"].values() if stored.lost_since
        ),
    }  # fmt: skip
    return Outcome(watch.violations, figures, desk.trace)
