"""./run faults [--seeds N]: the fault battery of settings changes, and its table in docs/reliability.md."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import testing
from .children import Failure
from .console import say
from .folders import ROOT

BATTERY = "tests/faults/test_settings_faults.py"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- faults: written by ./run faults -->", "<!-- end of faults -->"
MOST_SEEDS = 1000
ENDS = {"applied": "APPLIED", "not_seen": "NOT_SEEN", "conflict": "CONFLICT", "rejected": "REJECTED"}

Run = dict[str, Any]


def faults(arguments: list[str]) -> int:
    """The battery with N seeds (5). The table is written only when every run held."""
    seeds = asked(arguments)
    with tempfile.TemporaryDirectory(prefix="copydesk-faults-") as folder:
        report = Path(folder) / "runs.jsonl"
        report.touch()
        started = time.monotonic()
        status = testing.on_fleeting_servers(
            testing.pytest([BATTERY, "-q"]),
            {"COPYDESK_FAULT_SEEDS": str(seeds), "COPYDESK_FAULT_REPORT": str(report)},
        )
        runs = [json.loads(line) for line in report.read_text().splitlines()]
    if status or not runs:
        say("The table in docs/reliability.md was left as it is.")
        return status or 1
    PAGE.write_text(
        replaced(PAGE.read_text(), [*table(runs), "", summed(runs, seeds, time.monotonic() - started)])
    )
    say(f"{len(runs)} runs held; the table stands in {PAGE.relative_to(ROOT)}.")
    return 0


def asked(arguments: list[str]) -> int:
    """How many seeds. Failure when that is no number of use."""
    words = [word for argument in arguments for word in argument.split("=", 1)]
    if not words:
        return 5
    if len(words) != 2 or words[0] != "--seeds" or not words[1].isdecimal() or len(words[1]) > 4:
        raise Failure("Usage: ./run faults [--seeds N]")
    if not 1 <= int(words[1]) <= MOST_SEEDS:
        raise Failure(f"--seeds takes 1 to {MOST_SEEDS}.")
    return int(words[1])


def table(runs: Iterable[Run]) -> list[str]:
    """A line per scenario, in the order of the battery's first seed."""
    by_name: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run["scenario"], run["seed"])):
        by_name.setdefault(run["scenario"], []).append(run)
    head = ["Scenario", "Runs", "Bodies per change, at most", "Were UNKNOWN", "Ended as", "False APPLIED"]
    lines = [f"| {' | '.join(head)} |", "|---|---:|---:|---:|---|---:|"]
    for name, rows in by_name.items():
        most, unknown = max(row["most"] for row in rows), sum(row["unknown"] for row in rows)
        false = sum(row["false_applied"] for row in rows)
        lines.append(f"| {name} | {len(rows)} | {most:g} | {unknown} | {ended(rows)} | {false} |")
    return lines


def ended(rows: Iterable[Run]) -> str:
    """ "3 APPLIED, 2 CONFLICT"; drafts, which never were confirmed, are not told."""
    ends = [end for row in rows for end in row["ends"]]
    counts = [(ends.count(end), shown) for end, shown in ENDS.items()]
    return ", ".join(f"{count} {shown}" for count, shown in counts if count) or "nothing sent"


def summed(runs: list[Run], seeds: int, seconds: float) -> str:
    unknown = sum(run["unknown"] for run in runs)
    wrong = sum(run["against_truth"] for run in runs)
    bodies, most = sum(run["bodies"] for run in runs), max(run["most"] for run in runs)
    return (
        f"{len(runs)} runs with {seeds} seed{'s' if seeds > 1 else ''} in {seconds:.0f} s: {bodies} bodies "
        f"arrived, at most {most:g} per confirmed change. {unknown} outcomes were UNKNOWN for a while; "
        f"{wrong} ended against the exchange's truth."
    )


def replaced(page: str, lines: list[str]) -> str:
    """The page with other lines between its two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise Failure(f"docs/reliability.md has lost its marks: {BEGIN} and {END}")
    return "\n".join([before + BEGIN, "", *lines, "", END + after])
