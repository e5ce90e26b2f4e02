"""A Chromium for the browser tests: found, or installed, or a clear failure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .children import Failure
from .console import say

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Nothing that a browser does on its own: no updates, no sync, no look-ups.
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def flags() -> list[str]:
    """What it is started with; root must go without the sandbox."""
    return FLAGS + (["--no-sandbox"] if os.geteuid() == 0 else [])


def works(path: str) -> bool:
    """Some systems have a file of that name that only tells how to install the real one."""
    try:
        return (
            subprocess.run([path, "--version"], capture_output=True, timeout=30, check=False).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def playwrights_own() -> list[str]:
    home = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    return [str(path) for path in sorted(home.glob("chromium-*/chrome-linux*/chrome"), reverse=True)]


def find() -> str | None:
    """The path of a Chromium that starts, or None. $CHROMIUM comes first."""
    named = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), *playwrights_own()]
    return next((path for path in named if path and works(path)), None)


def _attempt(*commands: list[str]) -> bool:
    for command in commands:
        say("  " + " ".join(command))
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        if subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, check=False).returncode:
            return False
    return True


def find_or_install() -> str:
    if found := find():
        return found
    say("No Chromium was found; installing one for the browser tests.")
    if os.geteuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"]
        if _attempt(["apt-get", "update", "-q"], install) and (found := find()):
            return found
    if _attempt([sys.executable, "-m", "playwright", "install", "chromium"]) and (found := find()):
        return found
    raise Failure(
        "The tests need a Chromium, none is here, and none could be installed. "
        "Install one (on Debian: apt-get install chromium), or set CHROMIUM to its path, and run ./run test again."
    )
