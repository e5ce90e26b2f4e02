"""The state file: what must survive a restart, written so that a kill at any moment leaves it whole."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

VERSION = 1
FIELDS = {"seed", "start_ms", "offset_ms", "settings", "books"}


def read(path: str) -> dict[str, Any] | None:
    """What the file keeps; None when there is none, or when it could not be read and was set aside."""
    try:
        kept = json.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        set_aside(path, f"it cannot be read ({error})")
        return None
    if not isinstance(kept, dict) or kept.get("version") != VERSION or not set(kept) >= FIELDS:
        set_aside(path, "it is not a state file of this version")
        return None
    return kept


def write(path: str, state: dict[str, Any]) -> None:
    """Replace the file in one step: a temporary file beside it, flushed to disk, then renamed."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(target.name + ".new")
    with open(beside, "w", encoding="utf-8") as file:
        json.dump({"version": VERSION, **state}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, target)


def set_aside(path: str, reason: str) -> None:
    """Keep a file that cannot be used under another name, and say so."""
    kept_as = f"{path}.unusable-{time.strftime('%Y%m%d-%H%M%S')}"
    os.replace(path, kept_as)
    print(  # noqa: T201
        f"sandbox: the state file {path} is not used: {reason}. It was kept as {kept_as}; "
        "the sandbox starts from the seed.",
        file=sys.stderr,
        flush=True,
    )
