"""Ratios with their limits, and the table that tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SIGNS = {"most": "at most", "least": "at least"}


@dataclass(frozen=True)
class Ratio:
    """One line of the table: what was measured, the figure, and the limit that it is to keep ("most" or "least").

    `told`: the figures that it comes from, so that a reader can judge it. `limit` None: for information alone."""

    what: str
    figure: float
    limit: float | None
    side: str = "most"
    told: str = ""

    @property
    def ok(self) -> bool:
        if self.limit is None:
            return True
        return self.figure <= self.limit if self.side == "most" else self.figure >= self.limit


def table(rows: Sequence[Ratio]) -> str:
    lines = ["| What | Figure | Limit | Held | From |", "|---|---:|---:|---|---|"]
    for row in rows:
        limit = "" if row.limit is None else f"{SIGNS[row.side]} {row.limit:g}"
        held = "" if row.limit is None else ("yes" if row.ok else "**no**")
        lines.append(f"| {row.what} | {shown(row.figure)} | {limit} | {held} | {row.told} |")
    return "\n".join(lines)


def shown(figure: float) -> str:
    """Three digits after the point below 2, where limits of some hundredths are judged."""
    return f"{figure:.3f}" if figure < 2 else f"{figure:,.2f}" if figure < 1000 else f"{figure:,.0f}"
