"""How often something changes, told from readings that only say "changed" or "unchanged". PURE: no Django, no clock.

Two numbers per job are kept: `changes` (how many there were) and `exposure` (over how many seconds). Several
changes between two readings look like one. So a reading that found something counts as the number to be expected
of a Poisson process of the rate known so far, given that it is not none: x / (1 - exp(-x)), x = rate * seconds.

Both numbers are forgotten in two ways: by time, half of them a day, and by each change. The latter makes a rate
rest on the last few changes: that is precise enough (intervals go with the square root of it), and an account that
comes to life after a month of silence is believed after a handful of readings, not after a day.
"""

from __future__ import annotations

from math import exp, expm1

HALF_LIFE = 86_400.0
# What one change leaves of all that was known before it.
KEPT_AT_A_CHANGE = 0.8
# Nothing seen yet: a fifth of a change in a hundred seconds. Weak, so that it does not hold the lively ones back.
PRIOR_CHANGES, PRIOR_EXPOSURE = 0.2, 100.0
# Readings follow each other by seconds: faster changes cannot be told apart, nor need they be.
FASTEST = 1.0
_LN2 = 0.6931471805599453


def rate(changes: float, exposure: float) -> float:
    """Changes per second, above 0; a job that was never read gets the prior's."""
    return min((changes + PRIOR_CHANGES) / (exposure + PRIOR_EXPOSURE), FASTEST)


def observed(changes: float, exposure: float, seconds: float, *, changed: bool) -> tuple[float, float]:
    """`changes` and `exposure` after one more reading, `seconds` after the one before it."""
    seconds = max(seconds, 0.0)
    kept = exp(-_LN2 * seconds / HALF_LIFE)
    found = 0.0
    if changed:
        found = hidden(rate(changes, exposure) * seconds)
        kept *= KEPT_AT_A_CHANGE
    return changes * kept + found, exposure * kept + seconds


def hidden(expected: float) -> float:
    """The mean number of events where `expected` were to be expected and at least one came."""
    return 1.0 if expected < 1e-9 else expected / -expm1(-expected)
