"""How soon closes are found: the scheduler's own plan and rates in a simulated clock, beside two bounds.

1,000 accounts whose closes are Poisson, with rates that are lognormal with sigma 2. The scheduler learns them from
its readings alone. The optimum is told the true rates and is worked out here, apart from the code under test; the
round robin reads all alike with the same quota.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from math import log, sqrt
from random import Random

from copytrade.scheduling import plan, rates

ACCOUNTS, SIGMA = 1_000, 2.0
MEDIAN_RATE = 6 / 86_400  # closes per second of the account in the middle: six a day
WEIGHT, FLOOR, CAP = 10.0, 5.0, 600.0
BUDGET = 45.0  # weight per second: what the interactive reserve leaves of 500 in 10 s
REPLAN = 180.0  # seconds; the desk plans each 15, but the rates hardly move meanwhile
MOVED = 0.1  # an interval that moved by less is left as it is
LEARNING, MEASURED = 86_400.0, 43_200.0


@dataclass
class Account:
    """The truth of one account (`rate`, `next_close`), and what the desk knows of it."""

    rate: float
    next_close: float
    interval: float
    read_at: float = 0.0
    due: float = 0.0
    changes: float = 0.0
    exposure: float = 0.0


@dataclass
class Found:
    """Closes found in the measured time: how many, how late in all, the worst; and what was spent for it."""

    closes: int = 0
    late: float = 0.0
    worst: float = 0.0
    readings: int = 0
    intervals: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return self.late / self.closes


def true_rates(rng: Random, accounts: int = ACCOUNTS) -> list[float]:
    return [MEDIAN_RATE * rng.lognormvariate(0, SIGMA) for _ in range(accounts)]


def optimum(known: list[float], budget: float = BUDGET) -> tuple[float, list[float]]:
    """(mean delay, intervals) of the best fixed intervals for these rates, by bisection on log c.

    Least sum of rate * T / 2 with sum of weight / T = budget: T = c / sqrt(rate) between floor and cap.
    """

    def intervals(c: float) -> list[float]:
        return [min(max(c / sqrt(rate), FLOOR), CAP) for rate in known]

    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = sqrt(low * high)
        spent = sum(WEIGHT / interval for interval in intervals(middle))
        low, high = (middle, high) if spent > budget else (low, middle)
    best = intervals(high)
    late = sum(rate * interval / 2 for rate, interval in zip(known, best, strict=True))
    return late / sum(known), best


def round_robin(accounts: int = ACCOUNTS, budget: float = BUDGET) -> float:
    """The mean delay when all are read equally often."""
    return accounts * WEIGHT / budget / 2


def scheduled(
    known: list[float], seed: int, *, learning: float = LEARNING, measured: float = MEASURED
) -> Found:
    """What the desk's own planning finds: earliest due first, one reading after the other as the quota lets."""
    rng = Random(seed)
    accounts = [Account(rate, rng.expovariate(rate), CAP) for rate in known]
    queue = [(0.0, number) for number in range(len(accounts))]
    found = Found()
    now, planned, step = 0.0, 0.0, WEIGHT / BUDGET
    while now < learning + measured:
        if now >= planned:
            _replan(accounts)
            queue = [(account.due, number) for number, account in enumerate(accounts)]
            heapq.heapify(queue)
            planned += REPLAN
        due, number = queue[0]
        if due > now:
            now = min(due, planned)  # nobody is due: the quota of this moment is lost, as in the desk
            continue
        account = accounts[number]
        _read(account, now, rng, found if now >= learning else None)
        heapq.heapreplace(queue, (account.due, number))
        now += step
    found.intervals = [account.interval for account in accounts]
    return found


def _read(account: Account, now: float, rng: Random, found: Found | None) -> None:
    """One reading: closes since the last are found, and whether there were any is all that the desk learns."""
    changed = account.next_close <= now
    while account.next_close <= now:
        if found is not None:
            late = now - account.next_close
            found.closes += 1
            found.late += late
            found.worst = max(found.worst, late)
        account.next_close += rng.expovariate(account.rate)
    account.changes, account.exposure = rates.observed(
        account.changes, account.exposure, now - account.read_at, changed=changed
    )
    account.read_at = now
    account.due = now + account.interval
    if found is not None:
        found.readings += 1


def _replan(accounts: list[Account]) -> None:
    """As the planner's chore does: only intervals that moved are written, and the due time goes with them."""
    jobs = [
        plan.Job(rates.rate(account.changes, account.exposure), WEIGHT, FLOOR, CAP) for account in accounts
    ]
    for account, interval in zip(accounts, plan.plan(jobs, BUDGET), strict=True):
        if abs(log(interval / account.interval)) > MOVED:
            account.interval = interval
            account.due = min(account.due, account.read_at + interval)
