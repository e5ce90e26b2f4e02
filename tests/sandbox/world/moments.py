"""Moments and worlds that the tests of this package share."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal

from copytrade.sandbox.world import World

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
START = int(datetime(2026, 11, 21, 9, 40, tzinfo=UTC).timestamp() * 1000)
SEED = 7

NORTHWIND = 702345678901234567
DOUBLE = 703118842905517391
GAMMA = 704560917733280453
QUIET = 705902214468071629
EMBER = 706077345120998743
LANTERN = 707441906358127865

DECIMAL = re.compile(r"-?\d+(\.\d+)?")


def quiet_world(seed: int = SEED, **options: int) -> World:
    """A world without the live stream: only the traders' normal, sparse schedule."""
    return World(seed, START, speed=0.0, **options)


def lively_world(seed: int = SEED) -> World:
    """A world as in the demo."""
    return World(seed, START, speed=1.0)


def total(rows: list[dict], field: str) -> Decimal:
    return sum((Decimal(row[field]) for row in rows), Decimal(0))
