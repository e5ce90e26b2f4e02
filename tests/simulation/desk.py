"""The desk around the workers: clocks, wake messages that get lost or doubled, crashes, the shared limiter.

Workers are generators. Whatever they yield is how many ms they sleep; between any two of their steps one may be
killed, others go on, the world moves.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from copytrade.exchange.windows import LocalPool

from .store import Crash, Store
from .truth import DAY, HOUR, MINUTE, SECOND
from .world import World

if TYPE_CHECKING:
    from .checker import Watch

Steps = Generator[int, None, None]
IDLE = -1  # yielded by a worker that waits for a message
TICK = 4 * SECOND
SHARE = 0.9  # of the weight, for background calls


@dataclass(eq=False)
class Process:
    """A worker's process: its steps, and whether it waits for a message."""

    name: int
    steps: Steps | None = None
    idle: bool = False
    age: int = 0  # counts starts and wakings, so that what was planned for an earlier one is passed over


@dataclass
class Desk:
    """Everything that the processes share, and the loop that lets them take turns."""

    world: World
    rng: random.Random
    bugs: frozenset[str]
    trace: list[str] | None = None
    skew: int = 0  # ms by which the desk's clock is ahead of the world's
    crashes: int = 0
    events: int = 0
    messages: int = 0
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        rng, world = self.rng, self.world
        self.store = Store(self._strike)
        self.pool = self._new_pool()
        self.offset = 0  # ms that the client adds to the desk's clock to have the exchange's
        self.wealth = rng.choice((0.6, 1.0, 1.5, 3.0))
        self.crash_rate = rng.choice((0.0, 0.002, 0.01, 0.03))
        self.stall_rate = rng.choice((0.0, 0.004, 0.08))
        self.loss_rate = rng.choice((0.0, 0.1, 0.4))
        self.processes = [Process(name) for name in range(rng.randint(2, 4))]
        self.tokens, self.tickets, self._sequence = count(1), count(1), count()
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._letters: int = 0
        self._next_tick = self._told_until = 0
        self.dark: list[tuple[int, int]] = []  # when all workers were dead
        for _ in range(rng.choice((0, 0, 1))):
            start = world.begin + rng.randrange(world.span)
            self.dark.append(
                (start, min(world.end, start + rng.randrange(MINUTE, max(HOUR, world.span // 2))))
            )

    # ---- clocks and marks ------------------------------------------------------------------------------------

    def now(self) -> int:
        """The time as the desk's clock tells it."""
        return self.world.now + self.skew

    def exchange_now(self) -> int:
        """The exchange's time as far as the desk knows it."""
        return self.now() + self.offset

    def answered(self) -> None:
        """A request with a wrong time was refused, the clock looked up, the request repeated: in one call."""
        if abs(self.exchange_now() - self.world.now) > 5 * SECOND:
            self.offset = -self.skew

    def bounds(self, kind: str) -> tuple[float, float]:
        """The shortest and longest interval of a kind, in seconds."""
        if self.world.now >= self.world.end:  # nothing happens any more: seldom is often enough
            return 7200.0, 14400.0
        cap = self.world.cap / SECOND
        return {"open": (cap / 5, cap), "traders": (cap, 4 * cap), "history": (cap, 3 * cap)}[kind]

    def budget(self) -> float:
        """Weight per second that there is for all readings: sometimes too little, sometimes plenty."""
        jobs = [job for job in self.store["jobs"].values() if job.account >= 0]
        return self.wealth * sum(10 / self.bounds(job.kind)[1] for job in jobs)

    def note(self, *words: object) -> None:
        if self.trace is not None:
            hours, rest = divmod(self.world.now - self.world.begin, HOUR)
            self.trace.append(f"{hours:4d}:{rest / MINUTE:06.3f} " + " ".join(map(str, words)))

    # ---- the loop --------------------------------------------------------------------------------------------

    def run(self, until: int, work: Callable[[Process], Steps]) -> None:
        """Let everything happen until `until`, by the world's clock."""
        self._work = work
        for process in self.processes:
            self._start(process)
        self._plan_faults()
        self._tick()
        while self._queue and self._queue[0][0] <= until:
            at, _, what = heapq.heappop(self._queue)
            self.world.now = max(self.world.now, at)
            self.events += 1
            what()
        self.world.now = until

    def at(self, when: int, what: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (when, next(self._sequence), what))

    def _plan_faults(self) -> None:
        """What befalls the desk while the world is awake."""
        rng, world = self.rng, self.world
        for start, end in self.dark:
            self.at(start, lambda end=end: self._kill_all(end))
        for _ in range(rng.choice((0, 1, 3))):
            # Best when much is going on: at the beginning everything is due.
            self.at(
                world.begin + rng.choice((rng.randrange(5 * SECOND), rng.randrange(world.span))), self._flush
            )
        for _ in range(rng.choice((0, 0, 1, 2))):
            self.watch.jumpy = 40 * MINUTE
            jump = rng.choice((-10 * MINUTE, 10 * MINUTE, -3 * SECOND, 40 * SECOND))
            self.at(world.begin + rng.randrange(world.span), lambda jump=jump: self._set_clock(jump))
        self.at(world.end, lambda: self._set_clock(0))
        self.at(world.end, self._calm)

    def _set_clock(self, skew: int) -> None:
        self.note("the desk's clock is now off by", skew, "ms")
        self.skew = skew
        self._tick()

    def _calm(self) -> None:
        self.note("quiet: from now on nothing fails")
        self.crash_rate = self.loss_rate = 0.0

    def _flush(self) -> None:
        """Redis loses everything: messages, and what the limiter had counted. One window is waited out."""
        self.note("Redis flushed")
        self._letters = 0
        self.pool = self._new_pool()
        if "the limiter forgets when Redis does" not in self.bugs:
            self.pool.block(10.0)

    def _new_pool(self) -> LocalPool:
        return LocalPool({10_000: self.world.limit}, clock=lambda: self.world.now / 1000)

    # ---- processes -------------------------------------------------------------------------------------------

    def _start(self, process: Process) -> None:
        process.age += 1
        process.steps, process.idle = self._work(process), False
        self._resume_at(process, self.world.now)

    def _resume_at(self, process: Process, when: int) -> None:
        age = process.age
        self.at(when, lambda: self._resume(process) if process.age == age else None)

    def _resume(self, process: Process) -> None:
        if self.crash_rate and self.rng.random() < self.crash_rate:
            return self._kill(process)
        assert process.steps
        try:
            pause = next(process.steps)
        except Crash:
            return self._kill(process)
        except StopIteration:
            return self._kill(process)
        process.idle = pause == IDLE
        if not process.idle:
            self._resume_at(process, self.world.now + pause)
        elif self._letters:
            self._letters -= 1
            self._wake(process)
        return None

    def _kill(self, process: Process, back_at: int = 0) -> None:
        self.crashes += 1
        self.note("worker", process.name, "is killed")
        if process.steps:
            process.steps.close()
        process.steps, process.idle = None, False
        process.age += 1
        age = process.age
        back = back_at or self.world.now + self.rng.randrange(SECOND, MINUTE)
        self.at(back, lambda: self._start(process) if process.age == age else None)

    def _kill_all(self, end: int) -> None:
        self.note("every worker is killed for", (end - self.world.now) // SECOND, "s")
        for process in self.processes:
            self._kill(process, end)

    def _strike(self) -> None:
        """A crash within a transaction."""
        if self.crash_rate and self.rng.random() < self.crash_rate / 4:
            raise Crash

    # ---- messages --------------------------------------------------------------------------------------------

    def alarm(self, when: int) -> None:
        """See to a tick soon after `when` (the desk's clock), by whichever process is alive then."""
        at = max(self.world.now, when - self.skew) + self.rng.randrange(TICK)
        if at < self._next_tick:
            self._tick_at(at)

    def _tick_at(self, when: int) -> None:
        self._next_tick = when
        self.at(when, lambda: self._tick() if self._next_tick == when else None)

    def _tick(self) -> None:
        """What is due gets messages, one each, as many as there are workers. They get lost and doubled."""
        now, told = self.now(), self._told_until
        due, fresh, first = 0, 0, now + DAY
        for when in self._dues():
            if when <= now:
                due += 1
                fresh += when > told
            elif when < first:
                first = when
        once = "a message is the only memory" in self.bugs
        self._told_until = max(told, now)
        for _ in range(min(fresh if once else due, len(self.processes))):
            times = self.rng.choice((0, 2)) if self.rng.random() < self.loss_rate else 1
            for _ in range(times):
                self._deliver()
        alive = any(process.steps for process in self.processes)
        if due:
            pause = TICK if alive else MINUTE
        else:
            pause = max(TICK, first - now)
        self._tick_at(self.world.now + pause)

    def _dues(self) -> list[float]:
        """When each reading, and each change that waits, is to be looked at."""
        jobs = self.store["jobs"].values()
        dues = [job.due if job.until is None or job.until < job.due else job.until for job in jobs]
        return dues + [one.look_at for one in self.store["changes"].values() if one.waits]

    def _deliver(self) -> None:
        self.messages += 1
        idle: Iterator[Process] = (process for process in self.processes if process.idle)
        process = next(idle, None)
        if process is None:
            self._letters = min(self._letters + 1, len(self.processes))
        else:
            self._wake(process)

    def _wake(self, process: Process) -> None:
        process.idle = False
        process.age += 1
        self._resume_at(process, self.world.now + self.rng.randrange(50))
