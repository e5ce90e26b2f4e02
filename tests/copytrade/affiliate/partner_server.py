"""An exchange whose commissions a test writes down: with either reading of a window's ends, page by page."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.support.telling import PLENTY

Row = dict[str, Any]
Within = Callable[[int, int, int], bool]


def both_ends(at: int, start: int, end: int) -> bool:
    return start <= at <= end


def without_the_end(at: int, start: int, end: int) -> bool:
    return start <= at < end


def without_the_beginning(at: int, start: int, end: int) -> bool:
    return start < at <= end


def no_ends_at_all(at: int, start: int, end: int) -> bool:
    return True


class PartnerServer:
    """Answers getAffiliateCommission from `rows`. `before`: called with each request's parameters first."""

    def __init__(self, rows: list[Row], within: Within = both_ends) -> None:
        self.rows, self.within = rows, within
        self.asked: list[dict[str, int]] = []
        self.before: Callable[[dict[str, int]], None] = lambda asked: None
        partner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = json.dumps(partner.answer(parse_qs(urlsplit(self.path).query))).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                for header in PLENTY.items():
                    self.send_header(*header)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Nothing: pytest's output is the test's."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, query: dict[str, list[str]]) -> Row:
        asked = {name: int(query[name][0]) for name in ("startTime", "endTime", "page", "pageSize")}
        self.asked.append(asked)
        self.before(asked)
        product = query["productType"][0]
        found = [
            row
            for row in self.rows
            if row["productType"] == product
            and self.within(row["date"], asked["startTime"], asked["endTime"])
        ]
        found.sort(key=lambda row: -row["date"])
        size, page = asked["pageSize"], asked["page"]
        return {
            "pages": -(-len(found) // size),
            "pageSize": size,
            "total": len(found),
            "channelCommissionInfoItems": found[(page - 1) * size : page * size],
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def commission(at: int, amount: str = "1.5", uid: int = 7, **more: Any) -> Row:
    return {
        "uid": str(uid), "date": at, "coin": "USDT", "productType": "SPOT", "fee": "3", "commission": amount,
        "rate": "0.5", "symbol": "BTCUSDT", "sourceType": 1, "takerAmount": "100", "makerAmount": "0",
    } | more  # fmt: skip
