"""A real HTTP proxy, small: CONNECT for https, absolute addresses for http, a user and password if it wants them."""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
from typing import Self
from urllib.parse import urlsplit

from .scripted import answer


class SmallProxy:
    """`asked` are the first lines that it got; `leaves` is how many connections it opened to others."""

    def __init__(self, *, user: str = "", password: str = "", refuses: int = 0, silent: bool = False) -> None:
        self.asked: list[str] = []
        self.connections = self.leaves = 0
        self._wanted = base64.b64encode(f"{user}:{password}".encode()).decode() if user else ""
        self._refuses, self._silent = refuses, silent
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.at = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError):
            while head := self._head(connection):
                lines = head.decode("latin-1").split("\r\n")
                self.asked.append(lines[0])
                method, target, _ = lines[0].split(" ")
                if self._silent:
                    connection.recv(1)
                    return
                if (
                    self._wanted
                    and f"proxy-authorization: basic {self._wanted}".lower() not in head.decode().lower()
                ):
                    connection.sendall(answer("who are you", 407))
                    return
                if self._refuses:
                    connection.sendall(answer("no", self._refuses))
                    return
                if method == "CONNECT":
                    self._tunnel(connection, target)
                    return
                self._forward(connection, lines, target)

    def _head(self, connection: socket.socket) -> bytes:
        head = b""
        while b"\r\n\r\n" not in head:
            more = connection.recv(1)
            if not more:
                return b""
            head += more
        return head

    def _connected(self, target: str) -> socket.socket:
        host, port = target.rsplit(":", 1)
        self.leaves += 1
        outward = socket.create_connection((host, int(port)), timeout=30)
        self._open.append(outward)
        return outward

    def _tunnel(self, connection: socket.socket, target: str) -> None:
        outward = self._connected(target)
        connection.sendall(b"HTTP/1.1 200 Here you are\r\n\r\n")
        back = threading.Thread(target=_pour, args=(outward, connection), daemon=True)
        back.start()
        _pour(connection, outward)

    def _forward(self, connection: socket.socket, lines: list[str], target: str) -> None:
        parts = urlsplit(target)
        length = next(
            (int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")), 0
        )
        body = b""
        while len(body) < length:
            body += connection.recv(length - len(body))
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        kept = [line for line in lines[1:] if not line.lower().startswith(("proxy-", "connection:"))]
        first = f"{lines[0].split(' ')[0]} {path} HTTP/1.1"
        with self._connected(parts.netloc) as outward:
            outward.sendall("\r\n".join([first, "Connection: close", *kept]).encode("latin-1") + body)
            outward.settimeout(30)
            reply = self._head(outward)
            connection.sendall(reply)
            rest = next(
                int(line.split(b":")[1])
                for line in reply.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            )
            while rest and (piece := outward.recv(min(rest, 65536))):
                connection.sendall(piece)
                rest -= len(piece)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def _pour(source: socket.socket, into: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            into.sendall(piece)
    with contextlib.suppress(OSError):
        into.shutdown(socket.SHUT_WR)
