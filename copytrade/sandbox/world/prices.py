"""Prices: one path for each contract, the same for the same seed and start, without beginning or end.

The log price is a mean-reverting walk of hourly steps from the origin (the UTC midnight before the start),
where it has the contract's level, forwards and backwards. Between the hours lies a bridge of 64 pieces whose distance
from the straight line is bounded, so that a search for a crossing may skip most hours. A small wiggle of
five-second pieces makes the price move between the pieces.
"""

from __future__ import annotations

import math
from array import array
from decimal import Decimal
from random import Random
from typing import NamedTuple

from .symbols import CONTRACTS, Contract

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_PIECES = 64
_PIECE = HOUR / _PIECES
_WIGGLE = 5 * SECOND
_PULL = 0.0006  # of the distance from the level, an hour
_AMPLITUDE = math.sqrt(3) / 2  # of the first displacement, in sigmas; halves in variance each level
_BOUND = _AMPLITUDE / (1 - math.sqrt(0.5))  # the most a bridge can leave its line, in sigmas
_KEPT = 4_000  # bridges in memory, of each contract
_SHIFT = 1 << 40  # keeps hours before the origin positive
_MASK = (1 << 64) - 1


def origin_of(start_ms: int) -> int:
    """The UTC midnight before the start. A seed's past is one story, told up to this midnight: a world that is
    started again on the same day has the same past, and on another day the same one, days later."""
    return start_ms // DAY * DAY


def mix(value: int) -> int:
    """A well-mixed 64-bit number from an integer (the finaliser of splitmix64)."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


class Bridge(NamedTuple):
    """The path within an hour: 65 nodes, both ends included, and their range."""

    nodes: array[float]
    low: float
    high: float


class _Weather:
    """What all contracts share on a day: how restless it is, and 24 steps of the market."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._days: dict[int, tuple[float, list[float]]] = {}

    def day(self, day: int) -> tuple[float, list[float]]:
        """(restlessness, steps) of a day, counted from the origin."""
        known = self._days.get(day)
        if known is None:
            rng = Random(f"{self._seed}:market:{day}")
            restless = math.exp(rng.gauss(-0.05, 0.32))
            known = self._days[day] = (restless, [rng.gauss(0, 1) for _ in range(24)])
        return known


class _Path:
    """The log distance from the level of one contract, by the hour, and its bridges."""

    def __init__(self, seed: int, contract: Contract, anchor: int, weather: _Weather) -> None:
        self.contract = contract
        self.salt = Random(f"{seed}:{contract.symbol}").getrandbits(60)
        self._seed = seed
        self._anchor = anchor
        self._weather = weather
        self._ahead = array("d", [0.0])
        self._behind = array("d", [0.0])
        self._bridges: dict[int, Bridge] = {}

    def _steps(self, day: int) -> list[float]:
        restless, market = self._weather.day(day)
        gauss = Random(f"{self._seed}:{self.contract.symbol}:{day}").gauss
        rho = self.contract.rho
        own = math.sqrt(1 - rho * rho)
        scale = self.contract.sigma * restless
        return [scale * (rho * common + own * gauss(0, 1)) for common in market]

    def node(self, hour: int) -> float:
        """The log distance at the beginning of an hour (counted from the epoch)."""
        index = hour - self._anchor
        if index >= 0:
            while index >= len(self._ahead):
                for step in self._steps((len(self._ahead) - 1) // 24):
                    self._ahead.append(self._ahead[-1] * (1 - _PULL) + step)
            return self._ahead[index]
        while -index >= len(self._behind):
            for step in self._steps(-len(self._behind) // 24):
                self._behind.append(self._behind[-1] * (1 - _PULL) - step)
        return self._behind[-index]

    def sigma(self, hour: int) -> float:
        return self.contract.sigma * self._weather.day((hour - self._anchor) // 24)[0]

    def bridge(self, hour: int) -> Bridge:
        """The path within an hour."""
        known = self._bridges.get(hour)
        if known is not None:
            return known
        nodes = array("d", bytes(8 * (_PIECES + 1)))
        nodes[0], nodes[_PIECES] = self.node(hour), self.node(hour + 1)
        draw = Random(self.salt ^ (hour - self._anchor + _SHIFT)).random
        swing = self.sigma(hour) * _AMPLITUDE
        step = _PIECES
        while step > 1:
            half = step // 2
            for i in range(half, _PIECES, step):
                nodes[i] = (nodes[i - half] + nodes[i + half]) / 2 + swing * (2 * draw() - 1)
            swing *= math.sqrt(0.5)
            step = half
        if len(self._bridges) >= _KEPT:
            self._bridges.clear()
        made = self._bridges[hour] = Bridge(nodes, min(nodes), max(nodes))
        return made

    def wiggle(self, at_ms: int) -> float:
        left, part = divmod(at_ms - self._anchor * HOUR, _WIGGLE)
        first = mix(self.salt ^ (left * 2 + 1)) / _MASK - 0.5
        second = mix(self.salt ^ (left * 2 + 3)) / _MASK - 0.5
        return 0.05 * self.contract.sigma * (first + (second - first) * part / _WIGGLE)


class Market:
    """All paths of a world. Pure: the answers depend on (seed, day of start) and the question alone."""

    def __init__(self, seed: int, start_ms: int) -> None:
        anchor = origin_of(start_ms) // HOUR
        weather = _Weather(seed)
        self._paths = {
            symbol: _Path(seed, contract, anchor, weather) for symbol, contract in CONTRACTS.items()
        }

    def log(self, symbol: str, at_ms: int) -> float:
        """The log distance from the contract's level, without the wiggle."""
        hour, part = divmod(at_ms, HOUR)
        nodes = self._paths[symbol].bridge(hour).nodes
        piece, rest = divmod(part / _PIECE, 1)
        i = int(piece)
        return nodes[i] + (nodes[i + 1] - nodes[i]) * rest

    def price(self, symbol: str, at_ms: int) -> Decimal:
        """The price at a moment (ms), a multiple of the tick. KeyError for an unknown symbol."""
        path = self._paths[symbol]
        distance = self.log(symbol, at_ms) + path.wiggle(at_ms)
        return path.contract.price(path.contract.level * math.exp(distance))

    def crossing(
        self, symbol: str, start_ms: int, end_ms: int, upper: Decimal | None, lower: Decimal | None
    ) -> tuple[int, Decimal] | None:
        """The first moment in [start, end) at which the price is at `upper` or above, or at `lower` or below.

        Returns (ms, the level reached), or None when neither is; None for a level: not looked for.
        """
        path = self._paths[symbol]
        high = math.log(float(upper) / path.contract.level) if upper is not None else math.inf
        low = math.log(float(lower) / path.contract.level) if lower is not None else -math.inf
        for hour in range(start_ms // HOUR, (end_ms - 1) // HOUR + 1):
            first, last = path.node(hour), path.node(hour + 1)
            reach = _BOUND * path.sigma(hour)
            if max(first, last) + reach < high and min(first, last) - reach > low:
                continue
            bridge = path.bridge(hour)
            if bridge.high < high and bridge.low > low:
                continue
            found = _scan(bridge.nodes, hour * HOUR, start_ms, end_ms, high, low)
            level = None if found is None else upper if found[1] else lower
            if found is not None and level is not None:
                return found[0], level
        return None


def _scan(
    nodes: array[float], hour_ms: int, start_ms: int, end_ms: int, high: float, low: float
) -> tuple[int, bool] | None:
    """The first crossing within an hour's bridge, or None."""
    i = max(0, int((start_ms - hour_ms) / _PIECE))
    part = max(0.0, (start_ms - hour_ms) / _PIECE - i)
    value = nodes[i] + (nodes[i + 1] - nodes[i]) * part
    if value >= high or value <= low:
        return start_ms, value >= high
    for k in range(i, _PIECES):
        value, after = nodes[k], nodes[k + 1]
        if after >= high or after <= low:
            barrier = high if after >= high else low
            moment = hour_ms + math.ceil((k + (barrier - value) / (after - value)) * _PIECE)
            moment = max(moment, start_ms)
            return (moment, after >= high) if moment < end_ms else None
        if hour_ms + (k + 1) * _PIECE >= end_ms:
            return None
    return None
