"""What an answer, or the lack of one, means: data, or the one right exception.

Failure is an HTTP status other than 200 with a negative code; a 200 with a negative code is one too; a plain
success may carry the code "200". Source: interface.md "Errors", open-points.md "Errors".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .errors import ExchangeError, Malformed, OutcomeUnknown, RateLimited, Rejected, Unauthorized, Unreachable
from .jsontext import parse
from .operations import Operation
from .transport import Reply, TooLarge, TransportFailure

CLOCK_CODES = (-1043, -1046)
SYSTEM_CODES = (-1000, -1054)
PAUSE_SECONDS = 10.0  # after a 429 without Retry-After
LONGEST_PAUSE = 3600.0


@dataclass(frozen=True)
class Meaning:
    """One code: which error, what is at fault, and the sentence."""

    kind: type[ExchangeError]
    fault: str
    sentence: str


_BUG = (
    "Copydesk sent a request that the exchange could not read. This is a fault of Copydesk; please report it."
)
_WRONG = "The exchange refused a value of this request. Check it and try again."

CODES: dict[int, Meaning] = {
    **dict.fromkeys((-1040, -1041, -1042, -1045, -1135), Meaning(Rejected, "ours", _BUG)),
    **dict.fromkeys(
        CLOCK_CODES,
        Meaning(
            Rejected, "clock",
            "The exchange finds the time of this request too far from its own. "
            "Set this machine's clock right and try again.",
        ),
    ),
    -1044: Meaning(
        Unauthorized, "key",
        "The exchange does not know this API key. Check the key; one made in the last 15 minutes may still be "
        "on its way.",
    ),
    -1047: Meaning(
        Unauthorized, "secret",
        "The exchange refused the signature, so the secret does not belong to this key. Enter the secret again.",
    ),
    -1049: Meaning(
        Unauthorized, "passphrase",
        "The exchange refused the key or its passphrase. Enter the passphrase that you chose with this key.",
    ),
    -1050: Meaning(Unauthorized, "account", "The exchange has restricted this account. Look at it on the exchange."),
    -1055: Meaning(
        Unauthorized, "account",
        "The exchange asks for two-factor sign-in on this account first. Switch it on there, then test again.",
    ),
    -1056: Meaning(
        Unauthorized, "address",
        "The key may not be used from this server's address. Add the address to the key's list on the exchange.",
    ),
    -1057: Meaning(Unauthorized, "account", "The exchange has locked this account. Look at it on the exchange."),
    -1190: Meaning(Unauthorized, "account", "The exchange forbids access for this key. Look at it on the exchange."),
    **dict.fromkeys((-1051, -1052, -1058, -3235), Meaning(Rejected, "permission", "")),
    -1053: Meaning(Rejected, "permission", "This account may not trade this pair. Choose another pair."),
    -3236: Meaning(Rejected, "permission", ""),
    **dict.fromkeys(
        (-1115, -1116, -1117, -1121, -1128, -1140, -1141, -1142, -1160, -1180, -3313),
        Meaning(Rejected, "field", _WRONG),
    ),
    -1150: Meaning(Rejected, "operation", "The exchange does not offer this operation here. Nothing was changed."),
    -1170: Meaning(Rejected, "range", "The exchange does not go back that far, or not so long at once."),
    -1171: Meaning(Rejected, "range", "The start of the time range is after its end."),
    -2007: Meaning(Rejected, "symbol", "The exchange does not know this spot symbol."),
    -2200: Meaning(Rejected, "order", "The exchange does not know this order."),
    -1000: Meaning(Unreachable, "exchange", "The exchange had an internal error. Try again in a while."),
    -1054: Meaning(
        Unreachable, "exchange",
        "The exchange had an internal error, or refused a number or an id. Check them, or try again in a while.",
    ),
}  # fmt: skip

_PERMISSIONS = {
    "Readonly": "The key lacks the permission Readonly. Add it to the key on the exchange.",
    "Spot": "The key lacks the permission Spot, which this needs. Add it to the key on the exchange.",
    "Futures": "The key lacks the permission Futures, which this needs. Add it to the key on the exchange.",
    "copy-trade key": "Only a copy-trade key may ask for this. Use the key of the lead trader's account.",
    "affiliate account": "Only the key of an affiliate account may ask for this.",
}


def read(reply: Reply, operation: Operation) -> Any:
    """The data of an answer, or raise."""
    if reply.status == 429:
        seconds = retry_after(reply)
        raise RateLimited(
            f"The exchange asks to slow down; the next call may go in {seconds:.0f} seconds.",
            retry_after=seconds, http_status=429, operation=operation.name, message=_peek(reply)[1],
        )  # fmt: skip
    data, readable = _parse(reply)
    code = failure_code(data)
    if reply.status == 200 and readable and code is None:
        return data
    if code is not None:
        raise _coded(operation, code, _message(data), reply.status)
    raise _uncoded(operation, reply, readable)


def failure_code(data: Any) -> int | None:
    """The negative code of a failure, as a number or as its text; None for anything else."""
    code = data.get("code") if isinstance(data, dict) else None
    if isinstance(code, str) and re.fullmatch(r"-[0-9]{1,9}", code.strip()):
        code = int(code)
    return code if isinstance(code, int) and not isinstance(code, bool) and code < 0 else None


def retry_after(reply: Reply) -> float:
    """Seconds to stop for: Retry-After when it is sent in seconds, else 10."""
    said = reply.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", said):
        return min(max(float(said), 0.0), LONGEST_PAUSE)
    return PAUSE_SECONDS


def lost(failure: TransportFailure, operation: Operation) -> ExchangeError:
    """The error of a call that got no whole answer."""
    if failure.sent and not operation.retry_safe:
        return unknown(operation, failure.reason)
    if isinstance(failure, TooLarge):
        return Malformed(
            "The exchange's answer is larger than any real one, so it was not read.", operation=operation.name
        )
    return Unreachable(
        f"The exchange could not be reached: {failure.reason}. Nothing was changed; try again in a while.",
        operation=operation.name, fault="network",
    )  # fmt: skip


def unknown(operation: Operation, reason: str, /, **facts: Any) -> OutcomeUnknown:
    """A write without a readable answer."""
    return OutcomeUnknown(
        f"The request was sent, but its outcome is not known: {reason}. "
        "It may have been applied: look at what the exchange holds before doing it again.",
        **{"operation": operation.name, "fault": "network", **facts},
    )


def _parse(reply: Reply) -> tuple[Any, bool]:
    try:
        return parse(reply.body), True
    except ValueError:
        return None, False


def _peek(reply: Reply) -> tuple[int | None, str]:
    data, _ = _parse(reply)
    return failure_code(data), _message(data)


def _message(data: Any) -> str:
    message = data.get("msg") if isinstance(data, dict) else None
    return message if isinstance(message, str) else ""


def _coded(operation: Operation, code: int, message: str, status: int) -> ExchangeError:
    facts: dict[str, Any] = {
        "code": code,
        "message": message,
        "http_status": status,
        "operation": operation.name,
    }
    meaning = CODES.get(code) or _unlisted(code, status)
    if code in SYSTEM_CODES or status >= 500:
        return _system(operation, meaning, facts, refused=400 <= status < 500 and code == -1054)
    if meaning.fault == "permission":
        return _permission(operation, code, meaning.sentence, facts)
    sentence = _with_message(meaning.sentence, message if meaning.fault in ("field", "exchange") else "")
    if meaning.kind is Rejected:
        return Rejected(sentence, field=named_field(message, operation), fault=meaning.fault, **facts)
    return meaning.kind(sentence, fault=meaning.fault, **facts)


def _unlisted(code: int, status: int) -> Meaning:
    if status == 401:
        return Meaning(Unauthorized, "key", f"The exchange refused this key (code {code}). Check it there.")
    if status >= 500:
        return Meaning(Unreachable, "exchange", CODES[-1000].sentence)
    return Meaning(Rejected, "exchange", f"The exchange refused the request with code {code}.")


def _system(operation: Operation, meaning: Meaning, facts: dict[str, Any], *, refused: bool) -> ExchangeError:
    """-1000, -1054 and 5xx. A 4xx with -1054 is a refusal: a shortfall or a bad id."""
    if refused:
        balance = "balance" in facts["message"].lower() or "margin" in facts["message"].lower()
        sentence = _with_message("The exchange refused the request.", facts["message"])
        return Rejected(sentence, fault="balance" if balance else "exchange", **facts)
    if not operation.retry_safe:
        return unknown(operation, "the exchange had an internal error", **facts)
    return Unreachable(meaning.sentence or CODES[-1000].sentence, fault="exchange", **facts)


def _permission(operation: Operation, code: int, sentence: str, facts: dict[str, Any]) -> Rejected:
    if code == -1053:
        return Rejected(sentence, fault="permission", **facts)
    needed = operation.permission
    if code == -3236:
        needed = "copy-trade key"
    elif operation.key_kind and code == -1051:
        needed = operation.key_kind
    return Rejected(_PERMISSIONS[needed], permission=needed, fault="permission", **facts)


def named_field(message: str, operation: Operation) -> str | None:
    """The parameter that a message names, if it names one of this operation's (or of the settings body)."""
    words: set[str] = set(re.findall(r"[A-Za-z][A-Za-z0-9]*(?:\[\d+\])?(?:\.[A-Za-z0-9\[\]]+)*", message))
    names = {parameter.name for parameter in operation.parameters}
    for word in sorted(words, key=len, reverse=True):
        if word in names or word.startswith(("unifiedTraceConfig", "symbolTraceConfigs", "orderList[")):
            return word
    return None


def _with_message(sentence: str, message: str) -> str:
    return f"{sentence} It says: “{message[:200]}”." if message else sentence


def _uncoded(operation: Operation, reply: Reply, readable: bool) -> ExchangeError:
    """No code to go by: a gateway's page, an empty body, an unknown path."""
    facts: dict[str, Any] = {"http_status": reply.status, "operation": operation.name}
    what = (
        "an answer without a code"
        if readable
        else "a page that is not an answer"
        if reply.body
        else "nothing"
    )
    # A 4xx says that the request was refused; 408 alone leaves it open.
    refused = 400 <= reply.status < 500 and reply.status != 408
    if not operation.retry_safe and not refused:
        return unknown(operation, f"the exchange sent {what} (HTTP {reply.status})", **facts)
    if reply.status >= 500 or reply.status == 408:
        return Unreachable(
            f"The exchange is not available (HTTP {reply.status}). Try again in a while.",
            fault="exchange",
            **facts,
        )
    where = "The address of the exchange may be wrong, or a gateway stands before it."
    return Malformed(f"The exchange sent {what} (HTTP {reply.status}). {where}", **facts)
