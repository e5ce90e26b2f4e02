"""What a person at the console reads."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """One message. A console that went away (closed terminal, broken pipe) must not stop the desk."""
    try:
        print(text, flush=True)
    except (OSError, ValueError):
        pass


def complain(text: str) -> None:
    """A message about something that went wrong, on standard error."""
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass
