"""Connections that keep to a deadline from the name's resolution to the last byte.

The library's time-outs are for each read, each address, and not at all for the resolver: a server that drips a byte
at a time would hold a call for ever. Here every step gets what is left of the whole call's time.
"""

from __future__ import annotations

import errno
import io
import socket
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPResponse
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

CONNECT_SECONDS = 5.0  # for each address


@dataclass(frozen=True)
class Way:
    """The way out: by which of the machine's addresses, or through which proxy (http://user:password@host:port).

    `name` is what an error calls it. The proxy's address may hold a password: it is in no repr and no error.
    """

    name: str = "default"
    source: str | None = None
    proxy: str | None = field(default=None, repr=False)


class NoSuchSource(OSError):
    """The machine has not got the address that the connection should leave from."""


class Call(threading.local):
    """What the sockets of this thread's current call must know."""

    deadline = 0.0
    sent = False  # some of the request may have left
    idle_allowed = 0.0  # seconds that a connection may have been idle

    def left(self) -> float:
        """Seconds; raises TimeoutError when there are none."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the call's time is over")
        return left

    def over(self) -> bool:
        return time.monotonic() >= self.deadline


call = Call()


class _TimedReader(socket.SocketIO):
    """A socket's read side: each read may take what is left of the call's deadline."""

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(call.left())  # type: ignore[attr-defined]
        return super().readinto(buffer)


class _TimedSocket:
    """What http.client needs of a socket to read an answer."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock

    def makefile(self, mode: str = "rb", buffering: int | None = None) -> Any:
        raw = _TimedReader(self._sock, "r")
        self._sock._io_refs += 1  # as socket.makefile does, so that closing waits for the reader
        return io.BufferedReader(raw)


class _TimedResponse(HTTPResponse):
    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(_TimedSocket(sock), *args, **kwargs)  # type: ignore[arg-type]


class _Timed:
    """Shared by both connection classes."""

    response_class: Any = _TimedResponse
    sock: Any
    port: int
    source_address: Any
    socket_options: Any
    _dns_host: str
    last_used = 0.0
    _tunnelling = False

    @property
    def is_connected(self) -> bool:
        """Asked by the pool before it hands out an idle connection."""
        if time.monotonic() - self.last_used > call.idle_allowed:
            return False
        return bool(super().is_connected)  # type: ignore[misc]

    def _new_conn(self) -> socket.socket:
        """A connected socket, to the first address that answers."""
        failed: OSError = OSError("the name has no address")
        for family, kind, protocol, _, address in self.addresses():
            if self.source_address and (":" in self.source_address[0]) != (family == socket.AF_INET6):
                continue
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(min(CONNECT_SECONDS, call.left()))
                if self.source_address:
                    self._bind(sock)
                sock.connect(address)
                for option in self.socket_options or ():
                    sock.setsockopt(*option)
                sock.settimeout(call.left())  # for what follows at once: the TLS handshake
            except OSError as error:
                sock.close()
                failed = error
            else:
                return sock
        raise failed

    def addresses(self) -> list[Any]:
        """Those to try, in this order."""
        return resolve(self._dns_host, self.port)

    def _bind(self, sock: socket.socket) -> None:
        try:
            sock.bind(self.source_address)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise NoSuchSource(error.errno, error.strerror) from None
            raise

    def _tunnel(self) -> None:
        """What goes to a proxy to ask for the way through is not yet the request."""
        self._tunnelling = True
        try:
            super()._tunnel()  # type: ignore[misc]
        finally:
            self._tunnelling = False

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()  # type: ignore[attr-defined]
        self.sock.settimeout(call.left())
        call.sent = call.sent or not self._tunnelling
        self.last_used = time.monotonic()
        super().send(data)  # type: ignore[misc]


def resolve(host: str, port: int) -> list[Any]:
    """The addresses of a host. The system's resolver knows no time-out, so it is asked in a thread of its own."""
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        pass  # a name, not an address
    found: list[Any] = []

    def ask() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            found.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(call.left())
    if not found:
        raise TimeoutError("the resolver did not answer")
    if isinstance(found[0], OSError):
        raise found[0]
    return list(found[0])


class PlainConnection(_Timed, HTTPConnection):
    pass


class SecureConnection(_Timed, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = PlainConnection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = SecureConnection


class Adapter(HTTPAdapter):
    """Our connections, by the way that is given."""

    def __init__(self, way: Way) -> None:
        self._source = way.source
        super().__init__(pool_connections=4, pool_maxsize=8, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        if self._source:
            kwargs["source_address"] = (self._source, 0)
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        """The same connections to a proxy: it is given the exchange's name and resolves it itself."""
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        return manager
