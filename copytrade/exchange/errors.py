"""The errors of the exchange client: an exception's name is its policy.

    ExchangeError
    |-- Unreachable      nothing usable came back and nothing was changed; try again later
    |-- RateLimited      over the weight limit (ours or the exchange's); wait `retry_after` seconds
    |-- Unauthorized     the key, its secret, its passphrase or the account is refused; pause the account
    |-- Rejected         the exchange understood and refused; show it, trying again changes nothing
    |   `-- LocalRefusal   refused by us before any network; the exchange was not asked
    |-- OutcomeUnknown   a write was sent and its answer was lost; read back, never send again
    `-- Malformed        an answer came that cannot be understood

Source: interface.md "Errors", open-points.md "Errors" (codes, meanings, policies).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from copytrade.rules import Violation

MESSAGE_LIMIT = 300  # an exchange's message is shown, a gateway's page is not
SHORTEST_HIDDEN = 4  # characters; hiding less would hide words


class ExchangeError(Exception):
    """Anything that went wrong with one call.

    code: the exchange's negative code, or None. message: its own words. http_status: None when no answer
    came. operation: our operation name. fault: what is to blame, one of FAULTS below. sentence: for a person:
    what happened, what it means, what to do next. retry: may the same call be repeated later as it is.
    """

    retry: ClassVar[bool] = False

    def __init__(
        self,
        sentence: str,
        *,
        code: int | None = None,
        message: str = "",
        http_status: int | None = None,
        operation: str = "",
        fault: str = "exchange",
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code
        self.message = message[:MESSAGE_LIMIT]
        self.http_status = http_status
        self.operation = operation
        self.fault = fault

    def hide(self, *secrets: str) -> None:
        """Take out what must not be shown, should the exchange have repeated it in its message."""
        for secret in secrets:
            if len(secret) >= SHORTEST_HIDDEN:
                self.message = self.message.replace(secret, "…")
                self.sentence = self.sentence.replace(secret, "…")
        self.args = (self.sentence,)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        facts = [self.operation, f"code {self.code}" if self.code is not None else ""]
        facts.append(f"HTTP {self.http_status}" if self.http_status is not None else "")
        shown = ", ".join(fact for fact in facts if fact)
        return f"{self.sentence} ({shown})" if shown else self.sentence


def _rebuild(kind: type[ExchangeError], args: tuple[object, ...], state: dict[str, object]) -> ExchangeError:
    """Pickling rebuilds an exception from its positional arguments; ours are keywords."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


# What `fault` may say.
FAULTS = (
    "key", "secret", "passphrase", "clock", "address", "permission", "account",  # the connection
    "field", "range", "symbol", "order", "operation", "balance",  # the request
    "limit", "exchange", "network", "answer", "ours",  # the rest
)  # fmt: skip


class Unreachable(ExchangeError):
    """No usable answer, and nothing was changed: refused connection, lost read, 5xx on a read."""

    retry = True


class RateLimited(ExchangeError):
    """Over the limit. `retry_after` in seconds. `local` when our own limiter said so before the network."""

    retry = True

    def __init__(self, sentence: str, *, retry_after: float, local: bool = False, **facts: object) -> None:
        super().__init__(sentence, **{"fault": "limit", **facts})  # type: ignore[arg-type]
        self.retry_after = retry_after
        self.local = local


class Unauthorized(ExchangeError):
    """The exchange does not accept the key as it is. Stop calling and tell the owner; `fault` says what to fix."""


class Rejected(ExchangeError):
    """The exchange refused the request. `field`: the parameter at fault, as far as known.
    `permission`: the missing permission (Readonly, Spot, Futures, copy-trade key, affiliate account)."""

    def __init__(
        self, sentence: str, *, field: str | None = None, permission: str | None = None, **facts: object
    ) -> None:
        super().__init__(sentence, **facts)  # type: ignore[arg-type]
        self.field = field
        self.permission = permission


class LocalRefusal(Rejected):
    """Refused before any network. `violations` name every broken rule: parameter, bound, sentence."""

    def __init__(self, violations: Sequence[Violation], *, operation: str = "", fault: str = "field") -> None:
        self.violations = list(violations)
        first = self.violations[0]
        rest = len(self.violations) - 1
        more = f" ({rest} more problem{'s' if rest > 1 else ''})" if rest else ""
        sentence = f"{first.message}{more} Nothing was sent to the exchange."
        super().__init__(sentence, field=first.field, operation=operation, fault=fault)

    @classmethod
    def of(
        cls, field: str, code: str, message: str, *, operation: str = "", fault: str = "field"
    ) -> LocalRefusal:
        """One broken rule."""
        return cls([Violation(field, code, message)], operation=operation, fault=fault)


class OutcomeUnknown(ExchangeError):
    """A write was sent and no readable answer came back. It may or may not have been applied:
    read the state back; never send it again by itself."""


class Malformed(ExchangeError):
    """An answer that is not what the interface describes: HTML, broken JSON, wrong shape, a standing cursor."""

    retry = True

    def __init__(self, sentence: str, **facts: object) -> None:
        super().__init__(sentence, **{"fault": "answer", **facts})  # type: ignore[arg-type]
