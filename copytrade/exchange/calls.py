"""One call from arguments to data: limiter, signature, transport, retries, clock, within one deadline.

Reads are repeated with back-off after a lost answer, a 5xx, -1000 or -1054; a write never is. A refused clock
(-1046, -1043) refuses before anything is done, so either kind is repeated once with the offset learned.
"""

from __future__ import annotations

import ipaddress
import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from . import outcomes, signing
from .connections import Way
from .errors import (
    ExchangeError,
    LocalRefusal,
    Malformed,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)
from .kinds import EPOCH
from .limits import Grant, Limiter
from .operations import CONTRACT, SERVER_TIME, SERVER_TIME_WEIGHT, SPOT, Operation
from .signing import Credentials
from .transport import Reply, TransportFailure, shared
from .windows import told

ATTEMPTS = 4
FIRST_PAUSE = 0.2  # seconds, doubled each time, with jitter
JSON_TYPE = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Roots:
    """The two address roots of a venue: scheme and host, no path. https, or http to this machine only."""

    spot: str
    contract: str

    def __post_init__(self) -> None:
        for name in (SPOT, CONTRACT):
            object.__setattr__(self, name, _origin(name, getattr(self, name)))

    def origin(self, root: str) -> str:
        return self.spot if root == SPOT else self.contract


def _origin(name: str, address: str) -> str:
    parts = urlsplit(address.strip())
    host = parts.hostname or ""
    plain = parts.path in ("", "/") and not (
        parts.query or parts.fragment or parts.username or parts.password
    )
    if parts.scheme not in ("https", "http") or not host or not plain:
        raise LocalRefusal.of(
            name, "format", f"The {name} address must be https:// and a host, nothing more."
        )
    if parts.scheme == "http" and not is_loopback(host):
        raise LocalRefusal.of(
            name, "choice", f"The {name} address must be https://; http:// is for this machine only."
        )
    return f"{parts.scheme}://{parts.netloc}"


def is_loopback(host: str) -> bool:
    """This machine, by its usual names."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Clock:
    """The exchange's time: ours plus what was learned."""

    def __init__(self, now: Callable[[], float], offset_ms: int) -> None:
        self.now = now
        self.offset_ms = offset_ms

    def ms(self) -> int:
        return int(self.now() * 1000) + self.offset_ms

    def moment(self) -> datetime:
        return EPOCH + timedelta(milliseconds=self.ms())


@dataclass(frozen=True)
class Observed:
    """One call as it went, for whoever counts: `result` is "ok", "refused <code>", "rate_limited" (the exchange's
    429), "limit_here" (ours, nothing sent), "unreachable", "outcome_unknown", "malformed" or "broken_off".
    `weight` as sent; `seconds` from sending to the decoded answer."""

    operation: str
    result: str
    weight: int
    seconds: float


class Caller:
    """What every method of the client goes through."""

    def __init__(
        self,
        roots: Roots,
        credentials: Credentials,
        limiter: Limiter,
        clock: Clock,
        *,
        deadline: float,
        interactive: bool,
        way: Way,
        observer: Callable[[Observed], None] | None,
    ) -> None:
        self.roots = roots
        self.clock = clock
        self.deadline = deadline
        self.interactive = interactive
        self._credentials = credentials
        self._limiter = limiter
        self._transport = shared(way)
        self._observer = observer

    def call(self, operation: Operation, parameters: dict[str, Any]) -> Any:
        """The decoded JSON of a successful call; raises the errors of errors.py."""
        until = time.monotonic() + self.deadline
        target, body = encode(operation, parameters)
        learned = False
        attempt = 0
        told: ExchangeError | None = (
            None  # the failure to tell of: running out of time must not hide its reason
        )
        while True:
            try:
                return self._once(operation, target, body, until)
            except RateLimited as error:
                if error.local and told is not None:
                    raise told from None
                raise
            except (Unreachable, Rejected) as error:
                failed: ExchangeError = error
            if failed.code in outcomes.CLOCK_CODES and not learned:
                learned = True
                self._learn_offset(operation.root, until)
                continue
            told = failed if told is None or failed.http_status is not None else told
            attempt += 1
            pause = FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311 (jitter)
            if not _repeatable(operation, failed) or attempt >= ATTEMPTS or time.monotonic() + pause >= until:
                raise told
            time.sleep(pause)

    def _once(self, operation: Operation, target: str, body: str, until: float) -> Any:
        grants = self._granted(operation, until)
        headers = signing.headers(self._credentials, self.clock.ms(), operation.method, target, body)
        if body:
            headers |= JSON_TYPE
        left = until - time.monotonic()
        # A read may be tried again, so one lost answer must not eat the whole deadline.
        seconds = left if not operation.retry_safe else max(left / 2, min(left, 2.0))
        return self._asked(operation, target, headers, body, seconds, grants)

    def _granted(self, operation: Operation, until: float) -> list[Grant]:
        """Wait for leave to send. Raises RateLimited when there is none in time."""
        grants: list[Grant] = []
        try:
            if operation.orders_10s:
                left = until - time.monotonic()
                grants.append(
                    self._limiter.acquire_orders(self.order_pool(), operation.orders_10s, timeout=left)
                )
            left = until - time.monotonic()
            pool = self._pool(operation.root)
            grants.append(self._limiter.acquire(pool, operation.weight, self.interactive, timeout=left))
        except RateLimited as error:
            self._settle(grants, {})
            self._tell(operation, _word(error), 0, 0.0)
            raise
        return grants

    def _asked(
        self,
        operation: Operation,
        target: str,
        headers: dict[str, str],
        body: str,
        seconds: float,
        grants: list[Grant],
    ) -> Any:
        """Send, tell limiter and observer how it went, and read the answer."""
        began, result = time.monotonic(), "broken_off"
        told_headers: Mapping[str, str] = {}
        try:
            try:
                reply = self._send(operation, target, headers, body, seconds)
                told_headers = reply.headers
            finally:
                self._settle(grants, told_headers)
            data = self._read(operation, self._pool(operation.root), reply)
            result = "ok"
        except ExchangeError as error:
            result = _word(error)
            raise
        finally:
            self._tell(operation, result, operation.weight, time.monotonic() - began)
        return data

    def _settle(self, grants: list[Grant], headers: Mapping[str, str]) -> None:
        for grant in grants:
            self._limiter.settle(grant, headers)

    def _tell(self, operation: Operation, result: str, weight: int, seconds: float) -> None:
        if self._observer:
            self._observer(Observed(operation.name, result, weight, seconds))

    def _send(
        self, operation: Operation, target: str, headers: dict[str, str], body: str, seconds: float
    ) -> Reply:
        if seconds <= 0:
            raise Unreachable(
                "There was no time left to ask the exchange. Try again in a while.",
                operation=operation.name, fault="network",
            )  # fmt: skip
        origin = self.roots.origin(operation.root)
        try:
            return self._transport.send(
                operation.method, origin, target, headers, body.encode(), seconds=seconds
            )
        except TransportFailure as failure:
            error = outcomes.lost(failure, operation)
        raise error

    def _read(self, operation: Operation, pool: str, reply: Reply) -> Any:
        try:
            return outcomes.read(reply, operation)
        except ExchangeError as error:
            if isinstance(error, RateLimited):
                self._pause(operation, pool, reply, error.retry_after)
            error.hide(self._credentials.key, self._credentials.secret, self._credentials.passphrase)
            raise

    def _pause(self, operation: Operation, pool: str, reply: Reply, seconds: float) -> None:
        """After a 429. An order operation may be over its account's count while the address has weight left."""
        if operation.orders_10s:
            self._limiter.penalise_orders(self.order_pool(), seconds)
            if any(window.remaining for window in told(reply.headers, "weight")):
                return
        self._limiter.penalise(pool, seconds)

    def server_time_ms(self, root: str, seconds: float) -> int:
        """Server time of a root; public, unsigned, weight 1."""
        operation = Operation(
            "server_time",
            "GET",
            SERVER_TIME[root],
            root,
            None,
            SERVER_TIME_WEIGHT,
            dict,
            "one",
            "open-points, Signing",
        )
        grants = self._granted(operation, time.monotonic() + seconds)
        data = self._asked(operation, operation.path, {}, "", seconds, grants)
        value = data.get("serverTime") if isinstance(data, dict) else None
        if isinstance(value, str) and value.isdigit() and value.isascii():
            value = int(value[:20])
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 10**14:
            raise Malformed(
                "The exchange's time cannot be understood. Try again later.", operation="server_time"
            )
        return value

    def _learn_offset(self, root: str, until: float) -> None:
        before = self.clock.now()
        server = self.server_time_ms(root, max(0.001, until - time.monotonic()))
        after = self.clock.now()
        self.clock.offset_ms = round(server - (before + after) / 2 * 1000)

    def _pool(self, root: str) -> str:
        """The weight pool: per root, and per venue, since the sandbox must not slow the real exchange down."""
        return pool_of(root, self.roots.origin(root))

    def order_pool(self) -> str:
        return f"{self._credentials.fingerprint}@{urlsplit(self.roots.spot).netloc}"

    def close(self) -> None:
        self._transport.close()


def pool_of(root: str, origin: str) -> str:
    """The name of a weight pool."""
    return f"{root}@{urlsplit(origin).netloc}"


def _word(error: ExchangeError) -> str:
    """How an error is counted (Observed.result)."""
    if isinstance(error, RateLimited):
        return "limit_here" if error.local else "rate_limited"
    if isinstance(error, (Unauthorized, Rejected)):
        return f"refused {error.code}" if error.code is not None else "refused"
    return {Unreachable: "unreachable", OutcomeUnknown: "outcome_unknown"}.get(type(error), "malformed")


def _repeatable(operation: Operation, failed: ExchangeError) -> bool:
    """Reads only: no answer, 5xx, or the exchange's own trouble."""
    if not operation.retry_safe:
        return False
    return isinstance(failed, Unreachable) or failed.code in outcomes.SYSTEM_CODES


def encode(operation: Operation, parameters: dict[str, Any]) -> tuple[str, str]:
    """(target, body) exactly as they are signed and sent.

    Everything but unreserved characters is percent-encoded, which no library on the way rewrites. A list repeats
    its key.
    """
    if operation.method == "POST":
        return operation.path, json.dumps(parameters, separators=(",", ":"))
    pairs = []
    for name, value in parameters.items():
        for item in value if isinstance(value, list) else [value]:
            pairs.append(f"{quote(name, safe='')}={quote(str(item), safe='')}")
    return operation.path + ("?" + "&".join(pairs) if pairs else ""), ""
