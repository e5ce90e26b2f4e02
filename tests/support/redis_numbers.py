"""A Redis database number of one's own for each test process, so that parallel runs share a server, not data."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from pathlib import Path
from typing import IO

NUMBERS = range(1, 16)  # 0 is left to whoever looks by hand; a stock Redis has 16


class Claim:
    """One claimed number. The lock goes with the process, also when it is killed."""

    def __init__(self, url: str) -> None:
        folder = self._folder(url)
        folder.mkdir(mode=0o700, exist_ok=True)
        self.number, self._file = self._first_free(folder)

    @staticmethod
    def _folder(url: str) -> Path:
        """One for each server: beside its socket, whose folder goes with it, or named after its address."""
        if url.startswith("unix:"):
            return Path(url.removeprefix("unix://").split("?")[0]).parent / "claims"
        digest = hashlib.sha256(with_number(url, 0).encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"copydesk-redis-{os.getuid()}-{digest}"

    @staticmethod
    def _first_free(folder: Path) -> tuple[int, IO[str]]:
        for number in NUMBERS:
            file = (folder / f"{number}.lock").open("w")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                continue
            return number, file
        raise RuntimeError(
            "All 15 Redis databases are in use by other test runs. Wait until one of them ends."
        )

    def release(self) -> None:
        self._file.close()


def with_number(url: str, number: int) -> str:
    """The same server, another database: redis://host:port/3 or unix:///path?db=3."""
    if url.startswith("unix:"):
        return f"{url.split('?')[0]}?db={number}"
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.split('/')[0]}/{number}"
