"""2,000 accounts on one address: `./run bench load [--minutes 10]`. First in a simulated clock, then for real."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402

from . import load_model, load_real  # noqa: E402
from .ratios import table  # noqa: E402


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run bench load", description=__doc__)
    parser.add_argument("result", type=Path)
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="real minutes; 0 for the simulation alone"
    )
    given = parser.parse_args(arguments)
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    rows = load_model.simulated()
    if given.minutes:
        with tempfile.TemporaryDirectory(prefix="copydesk-bench-") as folder:
            rows += load_real.real(Path(folder), given.minutes)
    text = table(rows)
    given.result.write_text(text)
    print(text)
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
