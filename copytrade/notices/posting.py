"""One POST to an address that a user typed, to public addresses alone. No Django.

The name is resolved once, every address that it has is looked at, and the connection goes to one of those: a name
that answers differently the second time gains nothing, for there is no second time. TLS still proves the name. The
answer's redirects are not followed, its body is not read, no proxy of the environment is used, and the whole call
has one deadline, from the resolver to the last header.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

import certifi
from urllib3.exceptions import HTTPError

from copytrade.exchange.connections import PlainConnection, SecureConnection, call, resolve

from .addresses import is_public

SECONDS = 10.0
LONGEST = 1000
Finder = Callable[[str, int], list[Any]]


class NotPosted(Exception):
    """It did not arrive, or nobody said that it did. `sentence` names no secret; `gone`: it never will again."""

    def __init__(self, sentence: str, *, gone: bool = False) -> None:
        super().__init__(sentence)
        self.sentence, self.gone = sentence, gone


class BadAddress(ValueError):
    """What was typed is no address for a webhook. The message is a sentence."""


@dataclass(frozen=True)
class Target:
    scheme: str
    host: str
    port: int
    path: str  # with the query

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"


def target_of(url: str, inside: Collection[str] = ()) -> Target:
    """The parts of a typed address. `inside`: "host:port" of those the operator allows in his own network, where
    http will do. Raises BadAddress."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url or len(url) > LONGEST:
        raise BadAddress(f"An address is at most {LONGEST} plain characters, without spaces.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadAddress("This is not an address. It should look like https://example.com/hook.") from None
    scheme = parts.scheme.lower()
    if scheme not in ("https", "http") or not host or host.endswith("."):
        raise BadAddress("This is not an address. It should look like https://example.com/hook.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise BadAddress("Leave out user, password and everything behind #: the signature proves who sends.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    found = Target(scheme, host, port or (443 if scheme == "https" else 80), path)
    if scheme == "http" and found.place not in inside:
        raise BadAddress("The address must begin with https://, so that nobody on the way can read along.")
    return found


class _Checked:
    """Connects to an address that was looked at, and to no other."""

    finder: Finder = staticmethod(resolve)
    anywhere = False
    _dns_host: str
    port: int

    def addresses(self) -> list[Any]:
        found = self.finder(self._dns_host, self.port)
        if not found:
            raise OSError("the name has no address")
        if not self.anywhere and not all(is_public(str(row[4][0])) for row in found):
            raise NotPosted(
                "The address leads into a private network or to this machine, where the desk must not send."
            )
        return found


class _Plain(_Checked, PlainConnection):
    pass


class _Secure(_Checked, SecureConnection):
    pass


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    inside: Collection[str] = (),
    finder: Finder = resolve,
    trusted: str | None = None,
    seconds: float = SECONDS,
) -> int:
    """The status of the answer, 200 to 299. `finder`: the resolver; `trusted`: a file of certificates instead of the
    usual ones. Raises NotPosted for anything else, BadAddress."""
    target = target_of(url, inside)
    call.deadline, call.idle_allowed, call.sent = time.monotonic() + seconds, 0.0, False
    connection = _connection(target, trusted or certifi.where())
    connection.finder, connection.anywhere = finder, target.place in inside
    try:
        connection.request("POST", target.path, body=body, headers=dict(headers), preload_content=False)
        status = int(connection.getresponse().status)
    except (OSError, HTTPException, HTTPError) as error:
        raise NotPosted(_why(error, target, seconds)) from None
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise NotPosted(_said(status), gone=status == 410)
    return status


def _connection(target: Target, certificates: str) -> Any:
    if target.scheme == "http":
        return _Plain(target.host, target.port, timeout=SECONDS)
    return _Secure(
        target.host, target.port, timeout=SECONDS, cert_reqs="CERT_REQUIRED", ca_certs=certificates
    )


def _said(status: int) -> str:
    if 300 <= status < 400:
        return f"The address answered {status}, a redirect, which is not followed. Enter the final address."
    if status == 410:
        return "The address answered 410: it is gone for good."
    return f"The address answered {status} instead of 200 to 299."


def _why(error: Exception, target: Target, seconds: float) -> str:
    """A sentence without the path, which may hold a secret of the receiver."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate of {target.host} could not be verified."
        if isinstance(cause, TimeoutError):
            return f"{target.host} did not answer within {seconds:g} seconds."
        if isinstance(cause, socket.gaierror):
            return f"The name {target.host} is not known."
        if isinstance(cause, ssl.SSLError):
            return f"No secure connection with {target.host}."
        cause = cause.__cause__ or cause.__context__
    return f"{target.host} could not be reached, or broke off ({type(error).__name__})."
