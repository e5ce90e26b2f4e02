"""One HTTP exchange with a total deadline: keep-alive, no redirects, no proxy but the one given, bounded
answers.

It also knows whether the request was sent at all, which decides between "not sent" and "outcome unknown" for a
write.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
import urllib3

from .connections import Adapter, NoSuchSource, Way, call

LARGEST_ANSWER = 32 * 1024 * 1024
CHUNK = 64 * 1024
IDLE_BEFORE_WRITE = 3.0  # seconds; an older connection may be closed by the peer just as the write leaves
IDLE_BEFORE_READ = 300.0
AGENT = "copydesk"
DIRECT = Way()


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
    body: bytes = field(repr=False)


class Transport:
    """A keep-alive session. May be shared by threads. largest_answer: in bytes, unpacked."""

    def __init__(
        self,
        way: Way = DIRECT,
        *,
        largest_answer: int = LARGEST_ANSWER,
        idle_before_write: float = IDLE_BEFORE_WRITE,
    ) -> None:
        self._largest_answer = largest_answer
        self._idle_before_write = idle_before_write
        self._way = way
        self.session = requests.Session()
        self.session.trust_env = False  # no proxies, no netrc, no certificate paths from the environment
        self.session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, Adapter(way))
        if way.proxy:
            self.session.proxies = {"http": way.proxy, "https": way.proxy}

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
        call.deadline, call.sent = time.monotonic() + seconds, False
        call.idle_allowed = self._idle_before_write if method == "POST" else IDLE_BEFORE_READ
        failure = None
        try:
            return self._exchange(_prepared(method, origin, target, headers, body))
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            failure = _explain(error, self._way)
        # Raised out here so that no exception of the library, which holds the request, hangs on ours.
        raise TransportFailure(failure, sent=call.sent)

    def _exchange(self, prepared: requests.PreparedRequest) -> Reply:
        answer = self.session.send(prepared, stream=True, allow_redirects=False, timeout=call.left())
        try:
            body = bytearray()
            for chunk in answer.iter_content(CHUNK):
                body += chunk
                if len(body) > self._largest_answer:
                    raise TooLarge("the answer is too large", sent=True)
                call.left()
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


def _prepared(
    method: str, origin: str, target: str, headers: Mapping[str, str], body: bytes
) -> requests.PreparedRequest:
    """Made apart from the session, so that nothing of its own is added."""
    sent = {"User-Agent": AGENT, **headers}
    prepared = requests.Request(method, origin + target, headers=sent, data=body or None).prepare()
    if prepared.path_url != target or (prepared.body or b"") != body:
        raise TransportFailure("the request would not be sent as it was signed", sent=False)
    return prepared


def shared(way: Way) -> Transport:
    """The transport of this process for an egress address: its connections are kept alive from client to client,
    since the exchange counts new ones (300 in 5 minutes). Never shared with a forked child."""
    return _shared(os.getpid(), way)


@lru_cache(maxsize=64)
def _shared(process: int, way: Way) -> Transport:
    return Transport(way)


def _explain(error: BaseException, way: Way) -> str:
    """What happened, in words that hold no header or parameter, and of addresses only our own."""
    chain = _causes(error)
    if any(isinstance(e, NoSuchSource) for e in chain):
        return f"this machine has not got the address {way.source} of the egress '{way.name}'"
    if way.proxy and (said := _proxy_said(chain, call.sent)):
        return f"the proxy of the egress '{way.name}' {said}"
    if call.over() or any(isinstance(e, (TimeoutError, requests.Timeout)) for e in chain):
        return "no answer in time"
    if any(isinstance(e, socket.gaierror) for e in chain):
        return "its name could not be resolved"
    if any(isinstance(e, (urllib3.exceptions.SSLError, requests.exceptions.SSLError)) for e in chain):
        return "the secure connection was refused"
    if any(isinstance(e, ConnectionRefusedError) for e in chain):
        return "the connection was refused"
    return "the connection broke" if call.sent else "no connection could be made"


def _proxy_said(chain: list[BaseException], sent: bool) -> str:
    """What went wrong before the exchange was reached; nothing when it was not the proxy."""
    for error in chain:
        if found := re.search(r"Tunnel connection failed: (\d{3})", str(error)):
            status = int(found[1])
            return "refused its user and password" if status == 407 else f"refused the way (HTTP {status})"
    if sent or call.over() or not any(isinstance(e, requests.exceptions.ProxyError) for e in chain):
        return ""
    return "could not be reached"


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
