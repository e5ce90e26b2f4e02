"""docs/running.md names every variable that the code reads, and nothing that it does not."""

from __future__ import annotations

import re

from .conftest import ROOT

SOURCES = [
    path
    for folder in ("dashboard", "copytrade", "ops")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "sandbox" not in path.parts
]
READS = re.compile(
    r"""(?:\benv\.\w+\(|environ(?:\.get\(|\[)|\bport\()\s*["']([A-Z][A-Z_]+)["']""",
)
SYSTEM = {"XDG_RUNTIME_DIR", "PATH"}


def read_by_the_code() -> set[str]:
    return {name for path in SOURCES for name in READS.findall(path.read_text())} - SYSTEM


def documented() -> set[str]:
    rows = [line for line in (ROOT / "docs/running.md").read_text().splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([A-Z][A-Z_]+)`", row.split("|")[1])}


def test_every_variable_that_is_read_is_documented() -> None:
    found = read_by_the_code()
    assert len(found) > 25
    assert found - documented() == set()


def test_no_variable_is_documented_that_nobody_reads() -> None:
    words = "".join(path.read_text() for path in SOURCES)
    assert {name for name in documented() if f'"{name}"' not in words} == set()


def test_every_command_of_run_is_documented() -> None:
    script = (ROOT / "run").read_text()
    text = (ROOT / "docs/running.md").read_text()
    commands = set(re.findall(r"^\./run (\w+)", script, re.MULTILINE))
    assert commands == {"bench", "faults", "simulate", "test", "check", "manage", "sandbox"}
    assert all(f"`./run {name}" in text for name in commands)


def test_our_manage_commands_are_documented() -> None:
    text = (ROOT / "docs/running.md").read_text()
    folders = [ROOT / package / "management" / "commands" for package in ("copytrade", "dashboard")]
    names = {path.stem for folder in folders for path in folder.glob("*.py")} - {"__init__"}
    assert names
    assert {name for name in names if f"`{name}`" not in text} == set()
