"""A request's way through the sandbox: limits, who is calling, what is asked, the answer; and its faults."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from . import control, home, keys, parameters, signing, twists, wire
from .calls import CallLog
from .catalogue import ROUTES, TIME_ROUTES, Operation
from .errors import Refusal
from .faults import INSTEAD, PAGES, ROWS, SERVER_TIME, Fault, Faults
from .limits import Limits
from .operations import HANDLERS, Call
from .venue import Options, Venue
from .wire import Answer, Request

GATEWAY_PAGE = b"<!doctype html><title>Gateway</title><h1>The service cannot be reached right now</h1>"
HTML = "text/html; charset=utf-8"


class Exchange:
    """The whole sandbox, without the socket: `handle` turns a Request into an Answer."""

    def __init__(self, options: Options) -> None:
        self.venue = Venue(options)
        self.limits = Limits(options.limit, options.order_limit)
        self.faults = Faults()
        self.calls = CallLog()

    def reset(self, changes: dict[str, Any]) -> None:
        """Everything as at the start: world, clock, limits, faults, log."""
        self.faults.clear()
        self.venue.reset(changes)
        self.limits = Limits(self.venue.options.limit, self.venue.options.order_limit)
        self.calls.clear()

    def handle(self, request: Request) -> Answer:
        path = unquote(request.raw_path, "latin-1")
        try:
            if path.startswith("/sandbox/"):
                return control.handle(self, request, path)
            if path in ROUTES or path in TIME_ROUTES:
                return self._api(request, path)
            return home.handle(self, request, path)
        except Exception:  # a mistake of ours: the client sees what an exchange would show
            traceback.print_exc(file=sys.stderr)
            return refused(Refusal(-1000))

    # -- the API

    def _api(self, request: Request, path: str) -> Answer:
        operation = ROUTES.get(path, {}).get(request.method)
        is_time = path in TIME_ROUTES and request.method == "GET"
        root = TIME_ROUTES.get(path) or next(iter(ROUTES[path].values())).root
        name = operation.name if operation else SERVER_TIME if is_time else f"{request.method} {path}"
        now = self.venue.clock.now_ms()
        fault = self.faults.take(name, request.header("access-key"), now)
        entry = self.calls.begin(request, name, now, fault)
        headers: dict[str, str] = {}
        try:
            headers |= self.limits.spend_weight(root, request.peer, operation.weight if operation else 1, now)
            answer = self._answer(request, operation, is_time, fault, headers)
        except Refusal as refusal:
            answer = refused(refusal)
        if fault:
            answer = self._delivered(answer, fault)
        answer.headers = {**self.limits.weight_headers(root, request.peer, now), **headers, **answer.headers}
        self.calls.end(entry, answer)
        return answer

    def _answer(
        self,
        request: Request,
        operation: Operation | None,
        is_time: bool,
        fault: Fault | None,
        headers: dict[str, str],
    ) -> Answer:
        if fault and fault.kind in INSTEAD:
            return self._instead(fault)
        if fault and fault.kind == "reset" and not fault.more.get("applied"):
            return Answer(delivery=wire.RESET)
        if is_time:
            skew = self.faults.skew_ms(SERVER_TIME, None, self.venue.clock.now_ms())
            return _success({"serverTime": self.venue.clock.now_ms() + skew}, fault, {})
        if operation is None:
            raise Refusal(-1150)
        call = self._checked(request, operation, headers)
        if fault and fault.kind == "apply_late":
            return self._late(operation, call, fault)
        if fault and fault.kind in PAGES:
            call = replace(call, params=twists.page_before(call.params))
        with self.venue.lock:
            call = self._at_now(call)
            value = HANDLERS[operation.name](call)
            return _success(value, fault, call.params)

    def _checked(self, request: Request, operation: Operation, headers: dict[str, str]) -> Call:
        """Signature, permission, counts, form: everything that does not need the world."""
        now = self.venue.clock.now_ms()
        skew = self.faults.skew_ms(operation.name, request.header("access-key"), now)
        accounts = self.venue.options.accounts
        key = signing.authenticate(request, lambda key_id: keys.find(key_id, accounts), now + skew)
        _permit(operation, key)
        if operation.orders:
            try:
                self.limits.spend_orders(key.account, operation.orders, now)
            finally:
                headers |= self.limits.order_headers(key.account, now)
        body: dict[str, Any] = {}
        if operation.method == "GET":
            params = parameters.from_query(operation, request.raw_query)
        else:
            content_type = (request.header("content-type") or "").partition(";")[0].strip().lower()
            if request.body and content_type != "application/json":
                raise Refusal(-1045)
            body = parameters.parse_body(request.body)
            is_settings = operation.name == "update_follower_settings"  # rules.py reads that body
            params = {} if is_settings else parameters.from_body(operation.params, body)
        return Call(self.venue, key, params, body, now)

    def _at_now(self, call: Call) -> Call:
        return Call(call.venue, call.key, call.params, call.body, self.venue.now())

    # -- faults

    def _instead(self, fault: Fault) -> Answer:
        more = fault.more
        if fault.kind == "timeout_before":
            self.faults.hold(fault.seconds)
            return Answer(delivery=wire.DROP)
        if fault.kind == "code":
            return refused(Refusal(more["code"], more.get("msg"), http=more.get("http")))
        if fault.kind == "key_pending":
            return refused(Refusal(more.get("code", -1044), more.get("msg")))
        if fault.kind == "rate_limit":
            answer = refused(Refusal(-1003, more.get("msg")))
            answer.headers |= {"Retry-After": str(more["retry_after"])} if "retry_after" in more else {}
            return answer
        if fault.kind == "html_200":
            return Answer(200, GATEWAY_PAGE, HTML)
        status = more.get("http", 503)
        body = {"html": GATEWAY_PAGE, "empty": b""}.get(
            more.get("body", "html"), str(more.get("body", "")).encode()
        )
        return Answer(status, body, HTML)

    def _delivered(self, answer: Answer, fault: Fault) -> Answer:
        """A whole answer, success or refusal, that is lost or spoiled on its way."""
        if fault.kind == "reset":
            answer.delivery = wire.RESET
        elif fault.kind == "timeout_after":
            answer.delivery = wire.DROP
            answer.before = lambda: self.faults.hold(fault.seconds)
        elif fault.kind == "truncated":
            answer.delivery = wire.TRUNCATE
        elif fault.kind == "slow_drip":
            answer.delivery, answer.drip_seconds = wire.DRIP, fault.seconds
        return answer

    def _late(self, operation: Operation, call: Call, fault: Fault) -> Answer:
        """Nothing now; the call takes effect `seconds` later, unless the sandbox was reset by then."""
        generation = self.venue.generation
        run = self._applied_if(generation, HANDLERS[operation.name], call)
        timer = threading.Timer(fault.seconds, run)
        timer.daemon = True
        timer.start()
        if fault.more.get("answer") == "error":
            return refused(Refusal(-1000))
        answer = Answer(delivery=wire.DROP)
        if fault.more.get("answer") == "timeout":
            answer.before = lambda: self.faults.hold(fault.seconds + 30)
        return answer

    def _applied_if(self, generation: int, handler: Callable[[Call], Any], call: Call) -> Callable[[], None]:
        def run() -> None:
            with self.venue.lock:
                if self.venue.generation == generation:
                    try:
                        handler(self._at_now(call))
                    except Refusal:
                        pass  # refused late: nobody is there to be told

        return run


def _success(value: Any, fault: Fault | None, params: dict[str, Any]) -> Answer:
    if fault and fault.kind in ROWS:
        value = twists.twist(value, fault, params)
    return Answer(200, twists.encode(value))


def refused(refusal: Refusal) -> Answer:
    return Answer(refusal.http, twists.encode({"code": refusal.code, "msg": refusal.message}))


def _permit(operation: Operation, key: keys.Key) -> None:
    if operation.needs not in key.permissions:
        raise Refusal(-1052, f"The API key lacks the permission {operation.needs}.")
    if operation.only == "copy-trade" and key.kind != keys.COPY_TRADE:
        raise Refusal(-3236)
    if operation.only == "affiliate" and key.account != "affiliate":
        raise Refusal(-1051, "Only affiliate accounts may call this operation.")
