"""./run bench NAME: measures, and writes its table in docs/performance.md."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from . import desk, testing
from .children import Failure
from .console import say
from .folders import ROOT

PAGE = ROOT / "docs" / "performance.md"
BENCHES = ("settings", "sync", "load", "pages")
# These start a whole desk of their own, as ./run does, and look at it with a browser.
DESKS = ("weight", "lighthouse")
WITHOUT_OPTIONS = ("settings", "weight")


def bench(arguments: list[str]) -> int:
    """Run one bench. Its table is written also when a limit was missed, and says so; the status tells."""
    if not arguments or arguments[0] not in BENCHES + DESKS:
        raise Failure(f"Usage: ./run bench {' | '.join(BENCHES + DESKS)}")
    name, *options = arguments
    if options and name in WITHOUT_OPTIONS:
        raise Failure(f"./run bench {name} takes no options.")
    with tempfile.TemporaryDirectory(prefix="copydesk-bench-") as folder:
        result = Path(folder) / "table.md"
        command = desk.python("-m", f"bench.{name}", str(result), *options)
        if name in DESKS:
            status = subprocess.run(command, cwd=ROOT, check=False).returncode
        else:
            status = testing.on_fleeting_servers(command, {"DJANGO_SETTINGS_MODULE": "tests.settings"})
        if not result.is_file():
            return status or 1
        PAGE.write_text(replaced(PAGE.read_text(), name, result.read_text()))
    say(f"The table stands in {PAGE.relative_to(ROOT)}.")
    return status


def replaced(page: str, name: str, table: str) -> str:
    """The page with another table between the marks of this bench."""
    begin, end = f"<!-- bench {name}: written by ./run bench {name} -->", f"<!-- end of bench {name} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise Failure(f"docs/performance.md has lost its marks: {begin} and {end}")
    return "\n".join([before + begin, "", table.strip(), "", end + after])
