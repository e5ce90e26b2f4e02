"""How fresh, how thrifty and how fast reading is: `./run bench sync`. Ratios, each in one run, its two sides in turn.

--pages N      pages of the memory measurement (5,000 unless given; the claim is about 100,000)
--only NAME    one part alone: delay, pages, streams, memory
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402

from . import backfill, delay, memory, streams  # noqa: E402
from .ratios import Ratio, table  # noqa: E402

SEEDS = (1, 2, 3)


def delays() -> list[Ratio]:
    """Both bounds, the median of three worlds."""
    to_best, to_robin, means, bests = [], [], [], []
    for seed in SEEDS:
        known = delay.true_rates(Random(seed))
        best, _ = delay.optimum(known)
        found = delay.scheduled(known, seed)
        to_best.append(found.mean / best)
        to_robin.append(found.mean / delay.round_robin())
        means.append(found.mean)
        bests.append(best)
    told = (
        f"{median(means):.1f} s on average against {median(bests):.1f} s; {delay.ACCOUNTS:,} accounts, "
        f"a day to learn, half a day measured, {len(SEEDS)} worlds"
    )
    robin = f"round robin needs {delay.round_robin():.1f} s with the same quota, never above the same cap"
    return [
        Ratio("mean delay of a close / optimum that knows the rates", median(to_best), 1.15, "most", told),
        Ratio("mean delay of a close / round robin", median(to_robin), 0.55, "most", robin),
    ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run bench sync", description=__doc__)
    parser.add_argument("result", type=Path)
    parser.add_argument("--pages", type=int, default=memory.PAGES)
    parser.add_argument("--only", choices=("delay", "pages", "streams", "memory"))
    given = parser.parse_args(arguments)
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory(prefix="copydesk-bench-") as folder:
        parts: dict[str, Callable[[], list[Ratio]]] = {
            "delay": delays,
            "pages": backfill.pages,
            "memory": lambda: memory.memory(given.pages),
            "streams": lambda: streams.streams(Path(folder)),
        }
        rows = [
            row for name, part in parts.items() if given.only in (None, name) for row in timed(name, part)
        ]
    text = table(rows)
    given.result.write_text(text)
    print(text)
    return 0 if all(row.ok for row in rows) else 1


def timed(name: str, part: Callable[[], list[Ratio]]) -> list[Ratio]:
    began = time.monotonic()
    rows = part()
    print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(table(rows), file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
