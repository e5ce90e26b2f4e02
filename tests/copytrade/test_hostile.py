"""What a hostile or broken exchange may write into texts: kept as far as it can be, and nothing else is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from copytrade import connections, ledger
from copytrade.exchange.jsontext import parse
from copytrade.exchange.operations import OPERATIONS
from copytrade.models import Account, SyncRun, TrackingOrder, Trader, User
from copytrade.sync import run

SAMPLES = Path(__file__).parent.parent / "contract"
TEXTS = {
    "NUL": r"a\u0000b",
    "NUL spelled out": r"a\\u0000b",
    "a backslash before it": r"a\\\\u0000",
    "half a pair": r"a\ud800b",
    "the other half": r"\udc00",
    "a whole pair": r"\ud83d\ude00",
    "markup": r"<script>alert(1)</script>'\"><img src=x onerror=alert(2)>",
    "from right to left": r"\u202egnp.exe",
    "template": r"{{ settings.SECRET_KEY }}{% debug %}",
    "slashes": r"../../BTC/USDT?x=1&y=2#z",
    "line breaks": r"a\r\nSet-Cookie: b=c",
    "long": "x" * 1_000_000,
}
EVERY_TEXT = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


@pytest.fixture
def answers(settings: Any, redis_client: object) -> Iterator[dict[str, list[bytes]]]:
    """An exchange that answers the bytes of this dict, by the last part of the path, the last again and again."""
    told: dict[str, list[bytes]] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            left = told.get(urlsplit(self.path).path.rsplit("/", 1)[-1], [b'{"code":-1150,"msg":"no"}'])
            body = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(400 if body.startswith(b'{"code":-') else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_address[1]}"
    venue = settings.VENUES["sandbox"] | {"spot": root, "contract": root}
    settings.VENUES = settings.VENUES | {"sandbox": venue}
    yield told
    server.shutdown()
    server.server_close()


@pytest.fixture
def account(alice: User, answers: dict[str, list[bytes]]) -> Account:
    return connections.add(alice, label="Main", venue="sandbox", key="k-1234", secret="s", passphrase="p")


def sample(name: str, **changed: str) -> bytes:
    """A sample answer with texts as they stand in JSON, and an extra field with the same text."""
    text = (SAMPLES / f"{name}.json").read_text()
    for field, value in changed.items():
        before, _, after = text.partition(f'"{field}": "')
        text = f'{before}"{field}": "{value}"{after[after.index(chr(34)) + 1 :]}'
    return text.encode()


@EVERY_TEXT
def test_any_text_can_be_kept_as_json(text: str) -> None:
    kept = ledger.jsonable({"value": parse(f'"{text}"'), json.loads(f'"{text}"'): [{"deeper": text}]})
    json.dumps(kept, ensure_ascii=False).encode()
    assert "\x00" not in str(kept)


def last(name: str) -> str:
    """The last part of an operation's path."""
    return OPERATIONS[name].path.rsplit("/", 1)[-1]


@EVERY_TEXT
def test_no_text_of_the_exchange_stops_the_readings_or_breaks_a_page(
    account: Account, answers: dict[str, list[bytes]], client_of: Callable[[User], Client], text: str
) -> None:
    name = text[:150]
    extra = f'"items": "{text}", "{name}": {{"a": ["{name}"]}}, "trackingNo"'.encode()
    history = sample("tracking_order_history", traderName=name).replace(b"true", b"false")
    order = sample("open_tracking_orders", traderName=name).replace(b'"trackingNo"', extra)
    answers[last("my_traders")] = [sample("my_traders", traderName=text)]
    answers[last("open_tracking_orders")] = [order, b"[]"]
    answers[last("tracking_order_history")] = [history, b'{"list": [], "nextFlag": false}']
    answers[last("follower_settings")] = [sample("follower_settings", productType=text, marginType=name)]
    assert run.sync_account(account.pk) == dict.fromkeys(run.ALL, "")
    assert Trader.objects.filter(copied=True).count() == 2
    assert TrackingOrder.objects.filter(closed=False).count() == 1
    client = client_of(account.owner)
    pages = [reverse(n) for n in ("overview", "traders", "open_orders", "history", "activity", "connections")]
    pages += [reverse("trader", args=[row.pk]) for row in Trader.objects.all()]
    pages += [reverse("order", args=[row.pk]) for row in TrackingOrder.objects.all()]
    pages += [reverse("copy_settings", args=[row.pk]) for row in Trader.objects.all()]
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200, page
        assert b"<script>alert" not in answer.content and b"<img src=x" not in answer.content
        assert len(answer.content) < 400_000, page


@EVERY_TEXT
def test_no_message_of_a_refusal_stops_the_desk(
    account: Account, answers: dict[str, list[bytes]], client_of: Callable[[User], Client], text: str
) -> None:
    answers[last("my_traders")] = [f'{{"code":-1140,"msg":"{text}"}}'.encode()]
    run.sync_account(account.pk, ["traders"])
    assert SyncRun.objects.filter(error_code="-1140").count() == 1
    for page in (reverse("activity"), reverse("connections")):
        answer = client_of(account.owner).get(page)
        assert answer.status_code == 200 and b"<script>alert" not in answer.content


def test_a_name_cannot_turn_the_figures_around_it() -> None:
    """A trader chooses his own name: marks of writing direction would show 1500 as 0051, here and behind it."""
    name = "\u202eNorth\u2066wind\u200f\x1b[2J"
    assert str(Trader(trader_id=7, name=name)) == "Northwind[2J"
    assert str(Trader(trader_id=7, name="\u202e")) == "7"
    assert str(Trader(trader_id=7, name="شمال 👩‍🚀 é")) == "شمال 👩‍🚀 é"
