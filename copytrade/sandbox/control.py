"""Control for tests and demos, under /sandbox/, for callers on this machine only."""

from __future__ import annotations

import ipaddress
import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from .catalogue import OPERATIONS, TIME_ROUTES
from .errors import Refusal
from .home import not_found
from .operations.copying import checked_settings
from .twists import encode
from .wire import Answer, Request

if TYPE_CHECKING:
    from .exchange import Exchange

Body = dict[str, Any]
RESETTABLE: dict[str, tuple[type, ...]] = {
    "seed": (int,),
    "speed": (int, float),
    "limit": (int,),
    "order_limit": (int,),
    "accounts": (int,),
    "history_by": (str,),
}
MOST_ADVANCE_MS = 10 * 365 * 86_400_000


def handle(exchange: Exchange, request: Request, path: str) -> Answer:
    """Answer a control call; 404 for callers elsewhere, so that nobody learns that it is there."""
    if not _is_near(request):
        return not_found(path)
    found = ROUTES.get((request.method, path))
    if found is None:
        known = ", ".join(f"{method} {route}" for method, route in ROUTES)
        return _answer(404, {"error": f"There is no control {request.method} {path}. There is: {known}."})
    try:
        body = json.loads(request.body or b"{}", parse_constant=_no_constant)
        if not isinstance(body, dict):
            raise ValueError("The body must be a JSON object.")
        query = {name: values[-1] for name, values in parse_qs(request.raw_query).items()}
        return _answer(200, found(exchange, {**query, **body}))
    except Refusal as refusal:
        return _answer(400, {"error": refusal.message, "code": refusal.code})
    except ValueError as error:
        return _answer(400, {"error": str(error)})


def faults(exchange: Exchange, body: Body) -> Any:
    return {"faults": exchange.faults.shown()}


def add_fault(exchange: Exchange, body: Body) -> Any:
    return exchange.faults.add(body, exchange.venue.clock.now_ms()).shown()


def clear_faults(exchange: Exchange, body: Body) -> Any:
    exchange.faults.clear()
    return {"faults": []}


def advance(exchange: Exchange, body: Body) -> Any:
    """Move the clock forward by {ms} or {seconds}; the world catches up before the answer."""
    milliseconds = (
        body.get("ms", 0) + body.get("seconds", 0) * 1000 if _numbers(body, "ms", "seconds") else -1
    )
    if not 0 <= milliseconds <= MOST_ADVANCE_MS:
        raise ValueError("Give ms or seconds: a number from 0 to ten years.")
    with exchange.venue.lock:
        exchange.venue.clock.advance(math.ceil(milliseconds))
        exchange.venue.now()
        exchange.venue.save()
    return clock(exchange, body)


def clock(exchange: Exchange, body: Body) -> Any:
    venue = exchange.venue
    return {"serverTime": venue.clock.now_ms(), "offset": venue.clock.offset_ms, "start": venue.start_ms}


def truth(exchange: Exchange, body: Body) -> Any:
    """Everything about an account as it really is: the world's view, spot orders, balances, bills."""
    account = body.get("account", "follower")
    with exchange.venue.lock:
        exchange.venue.now()
        book = exchange.venue.book(_account(exchange, account))
        spot = {
            "balances": book.balances(),
            "orders": book.state()["orders"],
            "bills": book.spot.bills,
            "fundingBills": book.funding.bills,
        }
        return {**exchange.venue.world.truth(account), "spot": spot}


def settings(exchange: Exchange, body: Body) -> Any:
    """Change settings as if it was done elsewhere: {account, settings: <the body of the POST>}."""
    account = _account(exchange, body.get("account", "follower"))
    with exchange.venue.lock:
        now = exchange.venue.now()
        trader_id, wanted = checked_settings(body.get("settings") or {}, exchange.venue.world, account)
        exchange.venue.write_settings(account, trader_id, wanted, now)
        return {"settings": exchange.venue.world.settings(account, trader_id)}


def reset(exchange: Exchange, body: Body) -> Any:
    """Everything as at the start; {seed, speed, limit, order_limit, accounts, history_by} may change."""
    for name, value in body.items():
        if name not in RESETTABLE or not isinstance(value, RESETTABLE[name]) or isinstance(value, bool):
            raise ValueError(f"reset takes {', '.join(RESETTABLE)}, numbers all but the last; not {name}.")
    if min((value for name, value in body.items() if name not in ("seed", "history_by")), default=0) < 0:
        raise ValueError("speed, limit, order_limit and accounts cannot be negative.")
    if body.get("accounts", 0) > 2_000:
        raise ValueError("There can be 2000 accounts at most.")
    if body.get("history_by", "close") not in ("close", "open"):
        raise ValueError("history_by is close or open.")
    exchange.reset(body)
    return clock(exchange, body)


def calls(exchange: Exchange, body: Body) -> Any:
    return {"calls": exchange.calls.shown(body.get("operation"), int(body.get("after", 0)))}


def clear_calls(exchange: Exchange, body: Body) -> Any:
    exchange.calls.clear()
    return {"calls": []}


def routes(exchange: Exchange, body: Body) -> Any:
    """What is served: operations with weights and labels, and the two public server-time routes."""
    operations = [
        {
            "name": row.name,
            "method": row.method,
            "path": row.path,
            "root": row.root,
            "label": row.label,
            "weight": row.weight,
            "orders": row.orders,
            "params": [param.name for param in row.params],
        }
        for row in OPERATIONS
    ]
    return {"operations": operations, "time": TIME_ROUTES}


ROUTES: dict[tuple[str, str], Callable[[Exchange, Body], Any]] = {
    ("GET", "/sandbox/faults"): faults,
    ("POST", "/sandbox/faults"): add_fault,
    ("DELETE", "/sandbox/faults"): clear_faults,
    ("POST", "/sandbox/advance"): advance,
    ("GET", "/sandbox/clock"): clock,
    ("GET", "/sandbox/truth"): truth,
    ("POST", "/sandbox/settings"): settings,
    ("POST", "/sandbox/reset"): reset,
    ("GET", "/sandbox/calls"): calls,
    ("DELETE", "/sandbox/calls"): clear_calls,
    ("GET", "/sandbox/routes"): routes,
}


def _is_near(request: Request) -> bool:
    """From this machine, and not from a web page of somebody else's that a browser here has open."""
    peer = ipaddress.ip_address(request.peer.partition("%")[0])
    mapped = getattr(peer, "ipv4_mapped", None)
    return (mapped or peer).is_loopback and request.header("origin") is None


def _account(exchange: Exchange, name: Any) -> str:
    try:
        exchange.venue.world.uid(name)
    except (KeyError, TypeError):
        raise ValueError("account must be follower, lead, affiliate or a load account.") from None
    return str(name)


def _numbers(body: Body, *names: str) -> bool:
    given = [body[name] for name in names if name in body]
    return bool(given) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in given
    )


def _answer(status: int, value: Any) -> Answer:
    return Answer(status, encode(value))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON.")
