"""The wire: a small threaded HTTP/1.1 server with keep-alive, on the standard library.

Werkzeug's own server closes the connection after every answer and cannot leave one half-sent; a
client of this exchange must keep connections alive, and the faults need the raw socket.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn

MAX_BODY = 1_000_000
DROP = "drop"  # close without an answer
RESET = "reset"  # the same, by a reset (RST)
TRUNCATE = "truncate"  # promise the whole body, send half of it
DRIP = "drip"  # send it in small pieces


@dataclass(frozen=True)
class Request:
    """One request as it arrived: `target` is the raw path and query, byte for byte (latin-1)."""

    method: str
    target: str
    headers: dict[str, str]  # lower-case names
    body: bytes
    peer: str

    def header(self, name: str) -> str | None:
        return self.headers.get(name)

    def raw_target(self) -> bytes:
        """Path and query as sent. An absolute target (`GET http://host/path`) loses scheme and host."""
        target = self.target
        if not target.startswith("/") and "://" in target:
            target = "/" + target.split("://", 1)[1].partition("/")[2]
        return target.encode("latin-1")

    @property
    def raw_path(self) -> str:
        return self.raw_target().decode("latin-1").partition("?")[0]

    @property
    def raw_query(self) -> str:
        return self.raw_target().decode("latin-1").partition("?")[2]


@dataclass
class Answer:
    """What to send, and how: `delivery` is one of DROP, RESET, TRUNCATE, DRIP, or "" for normally."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delivery: str = ""
    drip_seconds: float = 0.0
    before: Callable[[], None] | None = None  # run just before sending, with no lock held


class Server(ThreadingMixIn, TCPServer):
    """Listens, and gives every request to `application`. A thread per connection."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, host: str, port: int, application: Callable[[Request], Answer]) -> None:
        self.application = application
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no event; anything else is a mistake of ours."""
        if not isinstance(sys.exc_info()[1], OSError):
            traceback.print_exc(file=sys.stderr)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "copydesk-sandbox"
    sys_version = ""
    disable_nagle_algorithm = True
    timeout = 600
    server: Server

    def log_message(self, *args: object) -> None:
        """Calls are logged by the sandbox itself, without secrets."""

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):  # every method, known or not, is answered by the application
            return self.serve
        raise AttributeError(name)

    def serve(self) -> None:
        body = self._body()
        if body is None:
            return
        request = Request(
            self.command,
            self.path,
            {name.lower(): value for name, value in self.headers.items()},
            body,
            str(self.client_address[0]),
        )
        self._send(self.server.application(request))

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "0").strip()
        if self.headers.get("Transfer-Encoding"):
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
        elif not (length.isascii() and length.isdigit()):
            self.send_error(HTTPStatus.BAD_REQUEST)
        elif int(length) > MAX_BODY:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            body = self.rfile.read(int(length))
            return body if len(body) == int(length) else None
        self.close_connection = True
        return None

    def _send(self, answer: Answer) -> None:
        if answer.before:
            answer.before()
        if answer.delivery in (DROP, RESET):
            self._abandon(reset=answer.delivery == RESET)
            return
        if self.headers.get("Connection", "").lower() == "close":
            self.close_connection = True
        head = self._head(answer)
        body = b"" if self.command == "HEAD" else answer.body
        if answer.delivery == TRUNCATE:
            self._write(head + body[: len(body) // 2])
            self._abandon(reset=False)
        elif answer.delivery == DRIP:
            self._drip(head + body, answer.drip_seconds)
        else:
            self._write(head + body)

    def _head(self, answer: Answer) -> bytes:
        reason = HTTPStatus(answer.status).phrase if answer.status in HTTPStatus._value2member_map_ else ""
        lines = [
            f"HTTP/1.1 {answer.status} {reason}",
            f"Server: {self.server_version}",
            f"Date: {formatdate(usegmt=True)}",
            f"Content-Type: {answer.content_type}",
            f"Content-Length: {len(answer.body)}",
            *(f"{name}: {value}" for name, value in answer.headers.items()),
            f"Connection: {'close' if self.close_connection or answer.delivery == TRUNCATE else 'keep-alive'}",
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _write(self, data: bytes) -> None:
        self.wfile.write(data)  # unbuffered: head and body leave in one piece

    def _drip(self, data: bytes, seconds: float) -> None:
        pieces = 20
        size = max(1, -(-len(data) // pieces))
        for start in range(0, len(data), size):
            self._write(data[start : start + size])
            time.sleep(seconds / pieces)

    def _abandon(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()  # it holds the socket open
            self.connection.close()
            return
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other side was quicker
