"""python -m bench.weight TABLE: what each page weighs in a browser that is new here, and in one that is not."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.browser.places import places
from tests.support.traffic import Fetched, Traffic

from .running import browser_at, demo_desk, told

FIRST, FIRST_REQUESTS = 80_000, 10
AGAIN, AGAIN_REQUESTS = 15_000, 2


@dataclass(frozen=True)
class Weight:
    """A page's first view with an empty cache, and its second."""

    name: str
    first: Fetched
    again: Fetched

    @property
    def ok(self) -> bool:
        return (
            self.first.size <= FIRST
            and self.first.requests <= FIRST_REQUESTS
            and self.again.size <= AGAIN
            and self.again.requests <= AGAIN_REQUESTS
            and not self.first.strangers + self.again.strangers
        )


def table(weights: Sequence[Weight]) -> str:
    """Heaviest first load first."""
    lines = [
        f"| Page | First load (limit {FIRST // 1000} kB) | Requests ({FIRST_REQUESTS}) | "
        f"Again ({AGAIN // 1000} kB) | Requests ({AGAIN_REQUESTS}) | From elsewhere | Held |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for weight in sorted(weights, key=lambda one: -one.first.size):
        first, again = weight.first, weight.again
        strangers = len(first.strangers + again.strangers)
        cells = [weight.name, kb(first.size), first.requests, kb(again.size), again.requests, strangers]
        lines.append(f"| {' | '.join(map(str, cells))} | {'yes' if weight.ok else '**no**'} |")
    return "\n".join(lines)


def kb(size: int) -> str:
    return f"{size / 1000:.1f} kB"


def main(result: Path) -> int:
    weights = []
    with (
        tempfile.TemporaryDirectory(prefix="copydesk-weight-") as folder,
        demo_desk(Path(folder)) as url,
        browser_at(url) as (_, context),
    ):
        page = context.new_page()
        traffic = Traffic(page)
        for name, address in places(page).items():
            weights.append(Weight(name, traffic.first(address), traffic.view(address)))
            print(f"{name}: {kb(weights[-1].first.size)}, again {kb(weights[-1].again.size)}", flush=True)
    result.write_text(table(weights))
    return 0 if all(weight.ok for weight in weights) else 1


if __name__ == "__main__":
    sys.exit(told(lambda: main(Path(sys.argv[1]))))
