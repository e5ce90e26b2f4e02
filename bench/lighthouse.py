"""python -m bench.lighthouse TABLE [--runs N]: Lighthouse 12 on the main pages, as a phone and as a desktop."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from ops import chromium
from ops.children import Failure
from ops.folders import Data
from tests.browser.places import places

from .running import PORTS, demo_desk, enter, told

PACKAGE = "lighthouse@12"  # newer ones need a newer Node
PAGES = ("Overview", "Traders", "Trader", "Copy settings", "Open orders")
PRESETS = {"phone": [], "desktop": ["--preset=desktop"]}
CATEGORIES = {"performance": 98, "accessibility": 100, "best-practices": 100}
BLOCKING = 60  # milliseconds, on the phone
SECONDS = 240  # for one run
TRIES = 3


@dataclass(frozen=True)
class Report:
    """The median of a page's runs with one preset. `findings`: what cost accessibility or best practices."""

    page: str
    preset: str
    scores: dict[str, int]
    blocking: float
    paint: float
    shift: float
    findings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        enough = all(self.scores[name] >= least for name, least in CATEGORIES.items())
        return enough and (self.preset != "phone" or self.blocking <= BLOCKING)


def lighthouse() -> str:
    """The program: $LIGHTHOUSE, or the one that npm puts into the data folder."""
    if given := os.environ.get("LIGHTHOUSE"):
        return given
    folder = Data.from_environment().folder / "lighthouse"
    program = folder / "node_modules" / ".bin" / "lighthouse"
    if program.exists():
        return str(program)
    npm = shutil.which("npm")
    if npm is None:
        raise Failure(
            "Lighthouse needs npm, and there is none here. Install Node.js (18.20 or newer) with npm, or set "
            "LIGHTHOUSE to the program of a Lighthouse 12 that is already here."
        )
    folder.mkdir(parents=True, exist_ok=True)
    words = ["install", "--prefix", str(folder), "--no-audit", "--no-fund", "--no-package-lock", PACKAGE]
    if subprocess.run([npm, *words], check=False).returncode or not program.exists():
        raise Failure("npm could not install Lighthouse; the reason stands above.")
    return str(program)


@contextmanager
def signed_in(url: str, profile: Path) -> Iterator[dict[str, str]]:
    """A Chromium whose own cookie jar holds the demo's session, open to Lighthouse on a port; yields the pages."""
    flags = [*chromium.flags(), f"--remote-debugging-port={PORTS[1]}"]
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium.find_or_install(), headless=True, args=flags, base_url=url
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        enter(page)
        found = places(page)
        page.goto("about:blank")
        yield {name: f"{url}{found[name]}" for name in PAGES}
        context.close()


def run(program: str, address: str, preset: str, folder: Path) -> dict[str, Any]:
    """One report of Lighthouse, as it writes it. A recording that it lost now and then is made again, twice at most."""
    for _ in range(TRIES):
        report = _run(program, address, preset, folder)
        if not (trouble := report.get("runtimeError")):
            return report
    raise Failure(f"Lighthouse failed at {address}, {TRIES} times: {trouble['message']}")


def _run(program: str, address: str, preset: str, folder: Path) -> dict[str, Any]:
    path = folder / "report.json"
    path.unlink(missing_ok=True)
    words = [address, f"--port={PORTS[1]}", "--output=json", f"--output-path={path}", "--quiet"]
    words += [f"--only-categories={','.join(CATEGORIES)}", *PRESETS[preset]]
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=SECONDS, check=False)
    if not path.exists():
        raise Failure(f"Lighthouse made no report of {address}:\n{done.stdout}{done.stderr}")
    report: dict[str, Any] = json.loads(path.read_text())
    return report


def summed(page: str, preset: str, reports: Sequence[dict[str, Any]]) -> Report:
    return Report(
        page,
        preset,
        {
            name: round(100 * median(one["categories"][name]["score"] or 0 for one in reports))
            for name in CATEGORIES
        },
        *(_figure(reports, name) for name in ("total-blocking-time", "largest-contentful-paint")),
        shift=_figure(reports, "cumulative-layout-shift"),
        findings=tuple(sorted({finding for report in reports for finding in _findings(report)})),
    )


def _figure(reports: Sequence[dict[str, Any]], audit: str) -> float:
    return float(median(one["audits"][audit]["numericValue"] for one in reports))


def _findings(report: dict[str, Any]) -> Iterator[str]:
    for category in ("accessibility", "best-practices"):
        for ref in report["categories"][category]["auditRefs"]:
            audit = report["audits"][ref["id"]]
            if ref["weight"] and audit["score"] is not None and audit["score"] < 1:
                nodes = [
                    item.get("node", {}).get("snippet", "") or item.get("description", "")
                    for item in (audit.get("details") or {}).get("items", [])[:2]
                ]
                yield f"{ref['id']}: {audit['title']} {' '.join(nodes)}".strip()


def table(reports: Sequence[Report], version: str) -> str:
    lines = [
        f"Lighthouse {version}.",
        "",
        f"| Page | As | Performance ({CATEGORIES['performance']}) | Accessibility (100) | Best practices (100) | "
        f"Blocking time (phone: {BLOCKING} ms) | Largest paint | Layout shift | Held |",
        "|---|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for one in reports:
        scores = " | ".join(str(one.scores[name]) for name in CATEGORIES)
        figures = f"{one.blocking:.0f} ms | {one.paint / 1000:.2f} s | {one.shift:.3f}"
        lines.append(
            f"| {one.page} | {one.preset} | {scores} | {figures} | {'yes' if one.ok else '**no**'} |"
        )
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run bench lighthouse")
    parser.add_argument("table", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args(arguments)
    program, reports, version = lighthouse(), [], ""
    with (
        tempfile.TemporaryDirectory(prefix="copydesk-lighthouse-") as name,
        demo_desk(Path(name)) as url,
        signed_in(url, Path(name) / "profile") as pages,
    ):
        for preset in PRESETS:
            for page, address in pages.items():
                made = [run(program, address, preset, Path(name)) for _ in range(options.runs)]
                version = made[0]["lighthouseVersion"]
                reports.append(summed(page, preset, made))
                print(f"{page}, {preset}: {reports[-1].scores}, {reports[-1].blocking:.0f} ms", flush=True)
                print("".join(f"  {finding}\n" for finding in reports[-1].findings), end="", flush=True)
    options.table.write_text(table(reports, version))
    return 0 if all(report.ok for report in reports) else 1


if __name__ == "__main__":
    sys.exit(told(lambda: main(sys.argv[1:])))
