"""An exchange whose answers lie ready: 40 pages of 100 closed orders, one open list. `python -m bench.canned`.

It checks no signature and counts no weight: what is measured against it is the desk alone. The newest page of the
history and the open list tell a new price in one order each time they are asked for, where `--moving` asks for it.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from itertools import count
from random import Random

PAGES, SIZE = 40, 100
STEP_MS = 30 * 60_000  # between the closes of two orders: 4,000 of them reach 83 days back
TRADERS = (702345678901234567, 704560917733280453, 705518823377001123)
SYMBOLS = ("BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "DOGEUSDT", "ADAUSDT", "LINKUSDT", "AVAXUSDT")
OPEN_SIZE = 99  # not 100: a full page would be followed by an empty one
FIRST_NO = 800_000_000_000_000_000
# So much weight is left that nobody has to wait.
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-USED-WEIGHT-10S: 10\r\n"
    b"X-REMAINING-WEIGHT-10S: 99999990\r\nContent-Length: %d\r\n\r\n"
)
_STAMP = 1_999_999_999_999  # stands where a moving answer writes the time


def history(now_ms: int, rng: Random) -> list[list[dict]]:
    """Pages of closed orders, newest first."""
    orders = [closed(number, now_ms - (number + 1) * STEP_MS, rng) for number in range(PAGES * SIZE)]
    return [orders[start : start + SIZE] for start in range(0, len(orders), SIZE)]


def closed(number: int, at: int, rng: Random) -> dict:
    price, size, pnl = rng.uniform(0.05, 90_000), rng.uniform(0.001, 50), rng.uniform(-40, 50)
    return opened(number, at - rng.randrange(600_000, 90_000_000), rng) | {
        "status": "CLOSED",
        "closeOrderId": FIRST_NO + number * 64 + 2,
        "closeAvgPrice": f"{price:.4f}",
        "closeSize": f"{size:.4f}",
        "closeTime": str(at),
        "realizedPnl": f"{pnl:.8f}",
        "profitRate": f"{pnl / 200:.6f}",
        "netProfit": f"{pnl - 0.8:.8f}",
        "updateTime": at + 400,
    }


def opened(number: int, at: int, rng: Random) -> dict:
    price, size = rng.uniform(0.05, 90_000), rng.uniform(0.001, 50)
    return {
        "trackingNo": FIRST_NO + number * 64,
        "traderName": "Northwind Steady",
        "openOrderId": FIRST_NO + number * 64 + 1,
        "closeOrderId": 0,
        "traderID": TRADERS[number % len(TRADERS)],
        "symbol": rng.choice(SYMBOLS),
        "openLeverage": rng.randrange(2, 21),
        "openPriceAvg": f"{price:.4f}",
        "openTime": at,
        "openSize": f"{size:.4f}",
        "openFee": f"{size * 0.05:.6f}",
        "openMarginAmount": f"{rng.uniform(20, 400):.4f}",
        "openFillSize": f"{size:.4f}",
        "positionSide": rng.choice(("LONG", "SHORT")),
        "status": "HAVE_OPEN",
        "tpTriggerPrice": "",
        "slTriggerPrice": f"{price * 0.9:.4f}",
        "closeAvgPrice": "",
        "closeSize": "",
        "closeTime": "",
        "realizedPnl": "",
        "profitRate": "",
        "netProfit": "",
        "createdTime": at,
        "updateTime": at,
    }


class Answers:
    """The body of each path; `moving` ones carry the time of asking in one order."""

    def __init__(self, moving: bool) -> None:
        rng, now = Random(4), int(time.time() * 1000)
        pages = history(now, rng)
        self.pages = [self._page(rows, number + 1) for number, rows in enumerate(pages)]
        self.open = [opened(10**6 + number, now - number * 60_000, rng) for number in range(OPEN_SIZE)]
        self.moving = moving
        self.stamps = count(now)
        if moving:
            for row in (pages[0][0], self.open[0]):
                row["updateTime"] = _STAMP
            self.pages[0] = self._page(pages[0], 1)
        self.open_body = json.dumps(self.open).encode()
        traders = [
            {"traderId": uid, "traderName": "Northwind Steady", "copyTradingBalance": "8216.2",
             "traceTotalProfit": "16.2", "totalInvestment": "6000", "availableBalance": "7475.79",
             "transferableBalance": "7475.79"}
            for uid in TRADERS
        ]  # fmt: skip
        self.traders = json.dumps({"list": traders, "nextFlag": False, "total": len(traders)}).encode()

    @staticmethod
    def _page(rows: list[dict], following: int) -> bytes:
        more = following < PAGES
        key = {"nextKeyId": rows[-1]["trackingNo"], "nextKeyTime": following} if more else None
        return json.dumps({"list": rows, "nextFlag": more, "nextKey": key}).encode()

    def to(self, target: str) -> bytes:
        path, _, query = target.partition("?")
        if path.endswith("/time"):
            return b'{"serverTime": %d}' % (time.time() * 1000)
        if path.endswith("/historyOrders"):
            return self._stamped(self._history(query))
        if path.endswith("/openOrders"):
            return self._stamped(self.open_body)
        if path.endswith("/myTraders"):
            return self.traders
        return b'{"uid": 4412067359, "balances": [], "permissions": []}'

    def _history(self, query: str) -> bytes:
        """The newest 90 days hold everything; a window that ends before that is empty."""
        asked = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", query)}
        if "nextKeyTime" in asked:
            return self.pages[asked["nextKeyTime"]]
        if asked.get("endTime", 2**62) < time.time() * 1000 - 86_400_000:
            return b'{"list": [], "nextFlag": false, "nextKey": null}'
        return self.pages[0]

    def _stamped(self, body: bytes) -> bytes:
        if not self.moving:
            return body
        return body.replace(b"%d" % _STAMP, b"%d" % next(self.stamps))


def serve(connection: socket.socket, answers: Answers) -> None:
    """Requests of one connection, which have no body."""
    waiting = b""
    while True:
        while b"\r\n\r\n" not in waiting:
            got = connection.recv(65536)
            if not got:
                return
            waiting += got
        head, _, waiting = waiting.partition(b"\r\n\r\n")
        body = answers.to(head.split(b" ", 2)[1].decode())
        connection.sendall(HEAD % len(body) + body)


def main() -> None:
    answers = Answers(moving="--moving" in sys.argv)
    listening = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listening.getsockname()[1], flush=True)
    while True:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(connection, answers), daemon=True).start()


if __name__ == "__main__":
    main()
