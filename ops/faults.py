"""./run faults [--seeds N]: the batteries of settings changes and of reading, their tables in docs/reliability.md."""

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
SYNC_BATTERY = "tests/faults/test_sync_faults.py"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- faults: written by ./run faults -->", "<!-- end of faults -->"
SYNC_BEGIN, SYNC_END = (
    "<!-- reading under faults: written by ./run faults -->",
    "<!-- end of reading under faults -->",
)
QUIET = "nothing at all"  # the scenario without a fault, against which the others' waiting is held
MOST_SEEDS, MOST_OLDER = 1000, 5  # percent
ENDS = {"applied": "APPLIED", "not_seen": "NOT_SEEN", "conflict": "CONFLICT", "rejected": "REJECTED"}

Run = dict[str, Any]


def faults(arguments: list[str]) -> int:
    """Both batteries with N seeds (5). The tables are written only when every run held."""
    seeds = asked(arguments)
    with tempfile.TemporaryDirectory(prefix="copydesk-faults-") as folder:
        reports = {name: Path(folder) / f"{name}.jsonl" for name in ("settings", "sync")}
        for report in reports.values():
            report.touch()
        started = time.monotonic()
        status = testing.on_fleeting_servers(
            testing.pytest([BATTERY, SYNC_BATTERY, "-q"]),
            {
                "COPYDESK_FAULT_SEEDS": str(seeds),
                "COPYDESK_FAULT_REPORT": str(reports["settings"]),
                "COPYDESK_SYNC_FAULT_REPORT": str(reports["sync"]),
            },
        )
        runs, readings = (
            [json.loads(line) for line in report.read_text().splitlines()] for report in reports.values()
        )
    if status or not runs or not readings:
        say("The tables in docs/reliability.md were left as they are.")
        return status or 1
    seconds = time.monotonic() - started
    page = replaced(PAGE.read_text(), [*table(runs), "", summed(runs, seeds, seconds)])
    lines = [*sync_table(readings), "", sync_summed(readings, seeds)]
    PAGE.write_text(replaced(page, lines, SYNC_BEGIN, SYNC_END))
    say(f"{len(runs) + len(readings)} runs held; the tables stand in {PAGE.relative_to(ROOT)}.")
    if (more := older(readings) or 0.0) > MOST_OLDER:
        say(
            f"But the accounts that no fault held were {more:.1f} % older meanwhile, of at most {MOST_OLDER} %."
        )
        return 1
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
        f"{len(runs)} runs with {seeds} seed{'s' if seeds > 1 else ''}: {bodies} bodies "
        f"arrived, at most {most:g} per confirmed change. {unknown} outcomes were UNKNOWN for a while; "
        f"{wrong} ended against the exchange's truth. With the readings below all of it took {seconds:.0f} s."
    )


def sync_table(runs: Iterable[Run]) -> list[str]:
    """A line per scenario of reading, in the order in which they were played first."""
    by_name: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        by_name.setdefault(run["scenario"], []).append(run)
    head = ["Scenario", "Runs", "Opened, closed meanwhile", "Lost", "Twice", "Invented", "Wrong", "Own 429s"]
    lines = [
        f"| {' | '.join([*head, 'Caught up after, at most', 'Others read every'])} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, rows in by_name.items():
        counts = [
            sum(row[key] for row in rows)
            for key in ("events", "lost", "doubled", "invented", "differing", "own_429s")
        ]
        told = " | ".join(map(str, counts))
        after = max(row["caught_up"] for row in rows)
        lines.append(f"| {name} | {len(rows)} | {told} | {after:.1f} s | {every(rows)} |")
    return lines


def every(rows: Iterable[Run]) -> str:
    """The mean time between two readings of an account that the fault was not meant for."""
    gaps = [gap for row in rows for gap in row["gaps"]]
    return f"{sum(gaps) / len(gaps):.2f} s" if gaps else ""


def sync_summed(runs: list[Run], seeds: int) -> str:
    wrong = sum(run[key] for run in runs for key in ("lost", "doubled", "invented", "differing"))
    refused, events = sum(run["own_429s"] for run in runs), sum(run["events"] for run in runs)
    more, against = older(runs), ""
    if more is not None:
        against = f" While a fault held one account, what was stored of the others was {more:+.1f} % older."
    return (
        f"{len(runs)} runs with {seeds} seed{'s' if seeds > 1 else ''}: {events} orders opened or closed while they "
        f"ran; {wrong} ended other than the exchange says, and {refused} calls went over its limit.{against}"
    )


def older(runs: Iterable[Run]) -> float | None:
    """By how many percent what was stored of the others was older while a fault held one account, over all runs: a
    single one is too short to tell. None without runs of both kinds."""
    runs = list(runs)
    quiet = [gap for run in runs if run["scenario"] == QUIET for gap in run["gaps"]]
    loud = [gap for run in runs if run["scenario"] != QUIET for gap in run["gaps"]]
    return 100 * (_age(loud) / _age(quiet) - 1) if quiet and loud else None


def _age(gaps: list[float]) -> float:
    """The mean age, at any moment, of what is read anew after such gaps."""
    return sum(gap * gap for gap in gaps) / (2 * sum(gaps))


def replaced(page: str, lines: list[str], begin: str = BEGIN, end: str = END) -> str:
    """The page with other lines between its two marks."""
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise Failure(f"docs/reliability.md has lost its marks: {begin} and {end}")
    return "\n".join([before + begin, "", *lines, "", end + after])
