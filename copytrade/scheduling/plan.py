"""How often to read what, so that the request weight there is finds changes soonest. PURE: no Django, no clock.

A job whose subject changes `rate` times a second and that is read every T seconds finds a change T / 2 late on
average, and costs `weight` / T. The sum of rate * T / 2 under a budget for the sum of weight / T is least where
T = c * sqrt(weight / rate), with one c for all; floors and caps hold some of them fast, and c makes the rest fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt


@dataclass(frozen=True, slots=True)
class Job:
    """What is read again and again. `rate`: changes per second, 0 for never; `weight`: of one reading;
    `floor` and `cap`: the shortest and the longest interval in seconds, 0 < floor <= cap."""

    rate: float
    weight: float
    floor: float
    cap: float


def plan(jobs: Sequence[Job], budget: float) -> list[float]:
    """The interval of each job in seconds, in their order; `budget` is weight per second, above 0.

    Plenty: all at the floor. Too little even with all at the cap: every cap stretched by the same factor.
    Between the two, the intervals spend the budget exactly, or what is left when all that ever changes is at its floor
    (what never does stays at its cap). The order of the jobs makes no difference.
    """
    if budget <= 0:
        raise ValueError("There is nothing to plan with: the budget has to be above 0.")
    at_cap = fsum(job.weight / job.cap for job in jobs)
    if at_cap >= budget:
        stretch = at_cap / budget
        return [job.cap * stretch for job in jobs]
    if load([job.floor for job in jobs], jobs) <= budget:
        return [job.floor for job in jobs]
    c = _common_factor(jobs, budget)
    return [_interval(job, c) for job in jobs]


def load(intervals: Sequence[float], jobs: Sequence[Job]) -> float:
    """The weight per second that these intervals cost."""
    return fsum(job.weight / interval for job, interval in zip(jobs, intervals, strict=True))


def _interval(job: Job, c: float) -> float:
    if job.rate <= 0:
        return job.cap
    return min(max(c * sqrt(job.weight / job.rate), job.floor), job.cap)


def _common_factor(jobs: Sequence[Job], budget: float) -> float:
    """The c that spends the budget: the stretch between two corners by bisection, c within it exactly.

    A corner is where a job leaves its floor or reaches its cap; between two of them the same jobs are free.
    """
    moving = [(job, sqrt(job.weight / job.rate)) for job in jobs if job.rate > 0]
    if not moving:
        return 0.0
    corners = sorted({corner for job, s in moving for corner in (job.floor / s, job.cap / s)})
    low, high = 0, len(corners) - 1
    if fsum(job.weight / _interval(job, corners[0]) for job in jobs) <= budget:
        return corners[0]
    while high - low > 1:
        middle = (low + high) // 2
        if fsum(job.weight / _interval(job, corners[middle]) for job in jobs) > budget:
            low = middle
        else:
            high = middle
    within = (corners[low] + corners[high]) / 2
    free, held = [], [job.weight / job.cap for job in jobs if job.rate <= 0]
    for job, s in moving:
        interval = _interval(job, within)
        if job.floor < interval < job.cap:
            free.append(job.weight / s)
        else:
            held.append(job.weight / interval)
    left = budget - fsum(held)
    if not free or left <= 0:
        return corners[high]
    return min(max(fsum(free) / left, corners[low]), corners[high])
