"""A server that says exactly the bytes it is told, one reply per request, and keeps what it received."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from copytrade.exchange import Credentials, ExchangeClient, Roots

HUNG = 30.0  # seconds: what has not ended by then does not end by its deadline of less than one
KEY, SECRET, PASSPHRASE = "k-visible-nowhere", "s-visible-nowhere", "p-visible-nowhere"
Reply = bytes | Callable[[socket.socket], None]


@dataclass(frozen=True)
class Received:
    """One request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int


def answer(data: Any, status: int = 200, **headers: str) -> bytes:
    """A whole HTTP answer. bytes and str are sent as they are, anything else as JSON."""
    body = (
        data
        if isinstance(data, bytes)
        else data.encode()
        if isinstance(data, str)
        else json.dumps(data).encode()
    )
    lines = [f"HTTP/1.1 {status} Some Reason", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def refusal(code: int, status: int = 400, message: str = "no") -> bytes:
    return answer({"code": code, "msg": message}, status)


def reset(connection: socket.socket) -> None:
    """Break the connection with RST instead of an answer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raise ConnectionAbortedError


def silence(connection: socket.socket) -> None:
    """Say nothing until the client gives up."""
    connection.settimeout(10)
    with contextlib.suppress(OSError):
        connection.recv(1)
    raise ConnectionAbortedError


def drip(data: bytes, seconds: float) -> Callable[[socket.socket], None]:
    """One byte at a time."""

    def send(connection: socket.socket) -> None:
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(seconds)

    return send


def cut(data: bytes) -> Callable[[socket.socket], None]:
    """All but the last bytes, then the end."""

    def send(connection: socket.socket) -> None:
        connection.sendall(data[:-5])
        raise ConnectionAbortedError

    return send


class ScriptedServer:
    """Replies in order; the last one again and again."""

    def __init__(self, *replies: Reply) -> None:
        self.replies: list[Reply] = list(replies)
        self.received: list[Received] = []
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection, contextlib.suppress(OSError):
            stream = connection.makefile("rb")
            while request := self._read(stream, number):
                self.received.append(request)
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                if callable(reply):
                    reply(connection)
                else:
                    connection.sendall(reply)
            stream.close()

    def _read(self, stream: Any, number: int) -> Received | None:
        first = stream.readline()
        if not first:
            return None
        headers = {}
        while line := stream.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", 0)))
        method, target, _ = first.decode("latin-1").split(" ")
        return Received(method, target, headers, body, number)

    def hang_up(self) -> None:
        """Close every connection from this side, as a server does with idle ones."""
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # close alone leaves a waiting accept() listening
        self._listener.close()
        self.hang_up()

    def client(self, **options: Any) -> ExchangeClient:
        return client_of(self.url, **options)


def client_of(url: str, key: str = KEY, secret: str = SECRET, **options: Any) -> ExchangeClient:
    passphrase = options.pop("passphrase", PASSPHRASE)
    credentials = Credentials(key, secret, passphrase)
    return ExchangeClient(Roots(url, url), credentials, **{"deadline": 5.0, "allow_writes": True, **options})
