"""Where things lie: the data folder, its lock, and short private folders for sockets."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, Any

from .children import Failure

ROOT = Path(__file__).resolve().parents[1]
SOCKETS_PREFIX = "copydesk-"
LONGEST_SOCKET_FOLDER = 60  # a socket's path is cut at about 100 bytes, silently


def private_folder() -> Path:
    """A new folder that only we may enter, with a path short enough for sockets."""
    for parent in (os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", tempfile.gettempdir()):
        if parent and len(parent) <= LONGEST_SOCKET_FOLDER and os.access(parent, os.W_OK | os.X_OK):
            return Path(tempfile.mkdtemp(prefix=SOCKETS_PREFIX, dir=parent))
    raise Failure(
        "No writable temporary folder with a short path was found. Make /tmp writable, or set TMPDIR."
    )


def write_private(path: Path, text: str) -> None:
    """Write a file that only we may read, whole or not at all."""
    fresh = path.with_name(path.name + ".new")
    with contextlib.suppress(FileNotFoundError):
        fresh.unlink()
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


class Data:
    """The folder of $COPYDESK_DATA. One desk at a time holds its lock; the lock goes with the process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.was_killed = False  # did the last desk here end without taking leave?
        self._lock: IO[str] | None = None
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.logs.mkdir(mode=0o700, exist_ok=True)
            (folder / "lock").touch(mode=0o600)
        except OSError as error:
            raise Failure(
                f"The data folder {folder} cannot be used: {error.strerror}. "
                "Make it writable, or set COPYDESK_DATA to another folder."
            ) from error

    @classmethod
    def from_environment(cls) -> Data:
        return cls(Path(os.environ.get("COPYDESK_DATA") or ROOT / "var").expanduser().absolute())

    @property
    def logs(self) -> Path:
        return self.folder / "log"

    @property
    def _state(self) -> Path:
        return self.folder / "running.json"

    def lock(self) -> bool:
        """Take the folder for this process. False when another desk has it."""
        self._lock = (self.folder / "lock").open("w")
        os.set_inheritable(self._lock.fileno(), False)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            return False
        self._clear_leftovers()
        return True

    def _clear_leftovers(self) -> None:
        """A killed desk left its socket folder behind."""
        state = self.state()
        self.was_killed = bool(state)
        old = Path(state.get("sockets", ""))
        if old.name.startswith(SOCKETS_PREFIX) and old.is_dir() and old.stat().st_uid == os.getuid():
            shutil.rmtree(old, ignore_errors=True)
        self.forget()

    def announce(self, **facts: Any) -> None:
        """Tell other commands (`./run manage`) how to reach what runs here."""
        write_private(self._state, json.dumps({**self.state(), **facts}))

    def state(self) -> dict[str, Any]:
        """What a running desk announced; {} when there is none."""
        try:
            state = json.loads(self._state.read_text())
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def forget(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._state.unlink()
