"""An exchange that tells whatever a test gives it: filtered and paged as the interface says, texts as they come."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from copytrade.exchange.kinds import text as text_kind
from copytrade.exchange.kinds import texts as texts_kind
from copytrade.exchange.operations import OPERATIONS

SAMPLES = Path(__file__).parent.parent / "contract"
Asked = dict[str, Any]
Teller = Callable[[Asked], Any]
# What the desk keeps of a text that the exchange owns; a longer one makes a bad record, as every tenth here does.
ROOM = {"positionSide": 32, "symbol": 64, "status": 64}
# Headers of an exchange that gives as much as anybody asks for: a test waits for no limit.
PLENTY = {"X-USED-WEIGHT-10S": "1", "X-REMAINING-WEIGHT-10S": "1000000"}
REFUSED = {"code": -1150, "msg": "not supported"}


class Telling:
    """`tell[operation]`: what it answers, made of the parameters it was asked with. The rest is refused."""

    def __init__(self) -> None:
        self.tell: dict[str, Teller] = {}
        self.root = ""

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, bytes]:
        parts = urlsplit(target)
        if parts.path.endswith("/time"):
            return 200, json.dumps({"serverTime": int(time.time() * 1000)}).encode()
        name = next(
            (n for n, row in OPERATIONS.items() if (row.method, row.path) == (method, parts.path)), ""
        )
        asked = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        if body:
            asked |= json.loads(body)
        told = self.tell.get(name, lambda _: REFUSED)(asked)
        refused = isinstance(told, dict) and isinstance(told.get("code"), int)
        return 400 if refused else 200, json.dumps(
            told
        ).encode()  # ASCII: half a surrogate pair is spelled out


@contextmanager
def telling() -> Iterator[Telling]:
    """A Telling behind HTTP, at `root`."""
    found = Telling()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = found.answer(self.command, self.path, body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            for header in PLENTY.items():
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found.root = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


def sample(operation: str) -> dict[str, Any]:
    """The first record of an operation's sample answer."""
    answer = json.loads((SAMPLES / f"{operation}.json").read_text())
    rows = OPERATIONS[operation].rows
    listed = answer[rows] if rows else answer
    return listed[0] if isinstance(listed, list) else listed


def text_fields(operation: str) -> list[str]:
    """The fields of an operation's record that are text to us, shown as it came."""
    fields = dataclasses.fields(OPERATIONS[operation].answer)
    return [f.metadata["wire"] for f in fields if f.metadata.get("kind") is text_kind]


def lists_of_text(operation: str) -> list[str]:
    fields = dataclasses.fields(OPERATIONS[operation].answer)
    return [f.metadata["wire"] for f in fields if f.metadata.get("kind") is texts_kind]


def said(
    operation: str, texts: list[str], sane: tuple[str, ...] = (), **each: Callable[[int], Any]
) -> list[dict]:
    """A record for each text: the text in every field that is text (but those of `sane`), in a field that nobody
    knows, and as such a field's name. `each`: other fields, made of the record's number."""
    made = []
    for number, text in enumerate(texts):
        room = {} if number % 10 == 9 else ROOM
        row = sample(operation) | {f: text[: room.get(f)] for f in text_fields(operation) if f not in sane}
        row |= {f: [text] for f in lists_of_text(operation)} | {
            name: make(number) for name, make in each.items()
        }
        made.append(row | {"unheardOf": text, f"unheard {text[:200]}": {"deeper": [text[:200]]}})
    return made


def numbered(rows: list[dict], asked: Asked, page: str, size: str, most: int) -> tuple[list[dict], int, int]:
    """A page by its number: (rows, page, size)."""
    here, length = int(asked.get(page) or 1), int(asked.get(size) or most)
    return rows[(here - 1) * length : here * length], here, length


def between(rows: list[dict], asked: Asked, when: str, low: str, high: str) -> list[dict]:
    """The rows of a stretch of time, newest first."""
    first, last = int(asked.get(low) or 0), int(asked.get(high) or 2**62)
    return sorted((r for r in rows if first <= int(r[when]) <= last), key=lambda r: -int(r[when]))


def cursored(rows: list[dict], asked: Asked, when: str) -> dict[str, Any]:
    """A page of a history, by its cursor."""
    found = between(rows, asked, when, "startTime", "endTime")
    start, length = int(asked.get("nextKeyId") or 0), int(asked.get("limit") or 100)
    more = start + length < len(found)
    key = {"nextKeyId": start + length, "nextKeyTime": int(time.time() * 1000)} if more else None
    return {"list": found[start : start + length], "nextFlag": more, "nextKey": key}
