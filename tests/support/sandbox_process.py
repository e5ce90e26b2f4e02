"""The sandbox exchange as a real process, and its control routes as methods."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[2]
READY = re.compile(rb"sandbox ready at http://127\.0\.0\.1:(\d+)")


class Sandbox:
    """A running `python -m copytrade.sandbox`. Use as a context manager, or call close()."""

    def __init__(self, log: Path, *arguments: str) -> None:
        self.log = log
        command = [sys.executable, "-m", "copytrade.sandbox", "--port", "0", *arguments]
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )
        self.port = self._wait_until_ready()
        self.url = f"http://127.0.0.1:{self.port}"

    def _wait_until_ready(self, seconds: float = 30) -> int:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := READY.search(self.log.read_bytes()):
                return int(found[1])
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.close()
        raise RuntimeError(f"The sandbox did not start:\n{self.log.read_text(errors='replace')[-3000:]}")

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def control(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """One control call, e.g. control("POST", "faults", {...}); the decoded JSON, or None when empty."""
        url = f"{self.url}/sandbox/{path}" + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} /sandbox/{path}: {error.code} {error.read()[:500]!r}") from None
        return json.loads(text) if text else None

    def reset(self, **settings: Any) -> Any:
        """Back to the first state of the world: no faults, no written settings, clock not advanced."""
        return self.control("POST", "reset", settings)

    def fault(self, operation: str, kind: str, **more: Any) -> Any:
        """Let the next answers of an operation ("*": of all) fail in a way of docs/sandbox.md."""
        return self.control("POST", "faults", {"operation": operation, "kind": kind, **more})

    def clear_faults(self) -> Any:
        return self.control("DELETE", "faults")

    def advance(self, *, seconds: float) -> Any:
        """Move the exchange's clock forward; the world catches up."""
        return self.control("POST", "advance", {"seconds": seconds})

    def truth(self, account: str = "follower") -> Any:
        """Every order and setting of an account as it really is."""
        return self.control("GET", "truth", account=account)

    def calls(self) -> Any:
        """What the exchange received since the last reset: operation, key, time, status, body."""
        return self.control("GET", "calls")

    def clock(self) -> Any:
        return self.control("GET", "clock")
