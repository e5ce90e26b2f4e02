"""python -m tests.simulation [--seeds N] [--first N] [--report FILE]: what ./run simulate starts.

Plays the seeds on all processors, then each planted bug until a seed catches it. A seed that fails is played
again with its trace.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from .bugs import BUGS, seeds_to_catch
from .play import Outcome, play

BATCH = 25
SHOWN_LINES = 60
MOST_SEEDS_PER_BUG = 400


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run simulate", description="Play seeds of the simulated desk.")
    parser.add_argument("--seeds", type=int, default=10_000, help="how many (10000)")
    parser.add_argument("--first", type=int, default=0, help="the first one (0)")
    parser.add_argument("--report", type=Path, help="write the figures to this file as JSON")
    asked = parser.parse_args()
    # Counting references frees all of a world once its seed is over (300 seeds need no more memory without the
    # collector than with it), and looking for circles again and again is a tenth of the time.
    gc.disable()
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        begun = time.monotonic()
        sums, wrong = _play_all(pool.imap_unordered(_batch, _batches(asked.first, asked.seeds)))
        seconds = time.monotonic() - begun
        print(
            f"{sums['seeds']} seeds in {seconds:.0f} s, {sums['seeds'] / seconds:.0f} a second: {dict(sums)}"
        )
        if wrong is not None:
            _show(wrong)
            return 1
        caught = dict(pool.imap(_hunt, sorted(BUGS), chunksize=1))
    for name, seeds in caught.items():
        print(f"planted: {name}: " + (f"caught after {seeds} seeds" if seeds else "NOT CAUGHT"))
    if asked.report:
        figures = {"seconds": seconds, **sums, "bugs": caught}
        asked.report.write_text(json.dumps(figures))
    return 0 if all(caught.values()) else 1


def _batches(first: int, seeds: int) -> Iterator[range]:
    for start in range(first, first + seeds, BATCH):
        yield range(start, min(start + BATCH, first + seeds))


def _batch(seeds: range) -> tuple[Counter[str], int | None]:
    """The figures of these seeds, and the first one that failed."""
    sums: Counter[str] = Counter()
    for seed in seeds:
        outcome = play(seed)
        sums.update(outcome.figures)
        if outcome.violations:
            return sums, seed
    return sums, None


def _play_all(batches: Iterable[tuple[Counter[str], int | None]]) -> tuple[Counter[str], int | None]:
    sums: Counter[str] = Counter()
    for figures, wrong in batches:
        sums.update(figures)
        if wrong is not None:
            return sums, wrong
    return sums, None


def _hunt(name: str) -> tuple[str, int]:
    return name, seeds_to_catch(name, MOST_SEEDS_PER_BUG)


def _show(seed: int) -> None:
    outcome: Outcome = play(seed, traced=True)
    lines = outcome.trace or []
    wrong = next((place for place, line in enumerate(lines) if "WRONG" in line), len(lines))
    print(f"Seed {seed} fails. Its trace up to there, {SHOWN_LINES} lines of {wrong}:")
    print("\n".join(lines[max(0, wrong - SHOWN_LINES) : wrong + 1]))
    print("\n".join(f"  {violation}" for violation in outcome.violations))


if __name__ == "__main__":
    raise SystemExit(main())
