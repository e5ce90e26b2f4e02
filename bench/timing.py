"""Times of a call, and the table that tells them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Times:
    """Seconds that each of several calls took, and what this process computed in them (None: others did)."""

    seconds: Sequence[float]
    cpu: Sequence[float] | None = None

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def p95(self) -> float:
        return quantiles(self.seconds, n=20, method="inclusive")[-1]


@dataclass(frozen=True)
class Row:
    """One line of the table. `limit` in seconds holds for `held`, a figure of the times."""

    what: str
    times: Times
    bare: Times
    bare_name: str
    limit: float | None = None
    held: str = "p95"
    less: float = 0.0  # seconds that do not count: the exchange's own

    @property
    def figure(self) -> float:
        return getattr(self.times, self.held) - self.less

    @property
    def ok(self) -> bool:
        return self.limit is None or self.figure < self.limit


def timed(call: Callable[[], object], times: int, *, warm: int = 3) -> Times:
    """Call it so often, after a few calls that do not count."""
    for _ in range(warm):
        call()
    seconds, cpu = [], []
    for _ in range(times):
        started, computed = time.perf_counter(), time.process_time()
        call()
        seconds.append(time.perf_counter() - started)
        cpu.append(time.process_time() - computed)
    return Times(seconds, cpu)


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| What | Median | p95 | CPU of this process, median | Ratio of the medians to the bare one | Limit | Held |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        limit = "" if row.limit is None else f"{row.limit * 1000:g} ms"
        verdict = "" if row.limit is None else ("yes" if row.ok else "**no**")
        less = f" (less the exchange: {ms(row.figure)})" if row.less else ""
        ratio = f"{row.times.median / row.bare.median:.1f} x {row.bare_name} ({ms(row.bare.median)})"
        cpu = ms(median(row.times.cpu)) if row.times.cpu else ""
        cells = [row.what, ms(row.times.median), f"{ms(row.times.p95)}{less}", cpu, ratio, limit, verdict]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"
