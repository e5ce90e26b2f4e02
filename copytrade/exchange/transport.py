"""One HTTP exchange with a total deadline: keep-alive, no redirects, no proxies, bounded answers.

A per-read time-out alone lets a server that drips a byte at a time hold a call for ever; here every read from
the socket gets what is left of the whole call's time. The transport also knows whether the request was sent at
all, which decides between "not sent" and "outcome unknown" for a write.
"""

from __future__ import annotations

import io
import os
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPResponse
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

CONNECT_SECONDS = 5.0
LARGEST_ANSWER = 32 * 1024 * 1024
CHUNK = 64 * 1024
IDLE_BEFORE_WRITE = 3.0  # seconds; an older connection may be closed by the peer just as the write leaves
IDLE_BEFORE_READ = 300.0
AGENT = "copydesk"


class TransportFailure(Exception):
    """No whole answer. `sent`: the request, or part of it, may have reached the exchange."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent


class TooLarge(TransportFailure):
    """The answer is larger than any real one."""


@dataclass(frozen=True)
class Reply:
    """A whole HTTP answer. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Call(threading.local):
    """What the sockets of this thread's current call must know."""

    deadline = 0.0
    sent = False
    idle_allowed = 0.0  # seconds that a connection may have been idle

    def left(self) -> float:
        return self.deadline - time.monotonic()


_call = _Call()


class _TimedReader(socket.SocketIO):
    """A socket's read side: each read may take what is left of the call's deadline."""

    def readinto(self, buffer: Any) -> int | None:
        left = _call.left()
        if left <= 0:
            raise TimeoutError("the call's time is over")
        self._sock.settimeout(left)  # type: ignore[attr-defined]
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
    """Shared by both connection classes: the deadline while connecting, and whether anything was sent."""

    response_class: Any = _TimedResponse
    sock: Any
    timeout: Any
    last_used = 0.0

    @property
    def is_connected(self) -> bool:
        """Asked by the pool before it hands out an idle connection."""
        if time.monotonic() - self.last_used > _call.idle_allowed:
            return False
        return bool(super().is_connected)  # type: ignore[misc]

    def connect(self) -> None:
        self.timeout = max(0.001, min(CONNECT_SECONDS, _call.left()))
        super().connect()  # type: ignore[misc]

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        self.sock.settimeout(max(0.001, _call.left()))
        _call.sent = True
        self.last_used = time.monotonic()
        super().send(data)  # type: ignore[misc]


class _Connection(_Timed, HTTPConnection):
    pass


class _SecureConnection(_Timed, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class _Adapter(HTTPAdapter):
    """Our connections, bound to an egress address when one is given."""

    def __init__(self, source_address: str | None) -> None:
        self._source = source_address
        super().__init__(pool_connections=4, pool_maxsize=8, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        if self._source:
            kwargs["source_address"] = (self._source, 0)
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}


class Transport:
    """A keep-alive session. May be shared by threads. largest_answer: in bytes, unpacked."""

    def __init__(
        self,
        source_address: str | None = None,
        *,
        largest_answer: int = LARGEST_ANSWER,
        idle_before_write: float = IDLE_BEFORE_WRITE,
    ) -> None:
        self._largest_answer = largest_answer
        self._idle_before_write = idle_before_write
        self.session = requests.Session()
        self.session.trust_env = False  # no proxies, no netrc, no certificate paths from the environment
        self.session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, _Adapter(source_address))

    def send(
        self,
        method: str,
        origin: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        seconds: float,
    ) -> Reply:
        """Send exactly `target` and `body`; raises TransportFailure. `seconds` is for everything together."""
        request = requests.Request(
            method, origin + target, headers={"User-Agent": AGENT, **headers}, data=body or None
        )
        prepared = request.prepare()
        if prepared.path_url != target or (prepared.body or b"") != body:
            raise TransportFailure("the request would not be sent as it was signed", sent=False)
        _call.deadline, _call.sent = time.monotonic() + seconds, False
        _call.idle_allowed = self._idle_before_write if method == "POST" else IDLE_BEFORE_READ
        failure = None
        try:
            return self._exchange(prepared)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            failure = _explain(error)
        # Raised out here so that no exception of the library, which holds the request, hangs on ours.
        raise TransportFailure(failure, sent=_call.sent)

    def _exchange(self, prepared: requests.PreparedRequest) -> Reply:
        left = max(0.001, _call.left())
        answer = self.session.send(prepared, stream=True, allow_redirects=False, timeout=left)
        try:
            body = bytearray()
            for chunk in answer.iter_content(CHUNK):
                body += chunk
                if len(body) > self._largest_answer:
                    raise TooLarge("the answer is too large", sent=True)
                if _call.left() <= 0:
                    raise TimeoutError("the call's time is over")
        except BaseException:
            # What was not read stays in the connection: it must not be used again.
            if answer.raw is not None:
                answer.raw.close()
            raise
        finally:
            answer.close()
        return Reply(answer.status_code, {k.lower(): v for k, v in answer.headers.items()}, bytes(body))

    def close(self) -> None:
        """Close idle connections; the next call opens a new one."""
        for adapter in self.session.adapters.values():
            adapter.close()


def shared(source_address: str | None) -> Transport:
    """The transport of this process for an egress address: its connections are kept alive from client to client,
    since the exchange counts new ones (300 in 5 minutes). Never shared with a forked child."""
    return _shared(os.getpid(), source_address)


@lru_cache(maxsize=64)
def _shared(process: int, source_address: str | None) -> Transport:
    return Transport(source_address)


def _explain(error: BaseException) -> str:
    """What happened, in words that hold no address, header or parameter."""
    chain = _causes(error)
    if _call.left() <= 0 or any(isinstance(e, (TimeoutError, requests.Timeout)) for e in chain):
        return "no answer in time"
    if any(isinstance(e, urllib3.exceptions.NameResolutionError) for e in chain):
        return "its name could not be resolved"
    if any(isinstance(e, (urllib3.exceptions.SSLError, requests.exceptions.SSLError)) for e in chain):
        return "the secure connection was refused"
    if any(isinstance(e, ConnectionRefusedError) for e in chain):
        return "the connection was refused"
    return "the connection broke" if _call.sent else "no connection could be made"


def _causes(error: BaseException) -> list[BaseException]:
    """The error and everything under it, however the libraries nest it."""
    seen: list[BaseException] = []
    waiting: list[Any] = [error]
    while waiting and len(seen) < 20:
        one = waiting.pop()
        if isinstance(one, BaseException) and one not in seen:
            seen.append(one)
            waiting += [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
    return seen
