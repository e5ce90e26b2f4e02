"""Five connections of one person, read from an exchange that tells given texts in every text it has."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from copytrade import connections
from copytrade.affiliate import KINDS
from copytrade.affiliate.asking import ask
from copytrade.affiliate.fetching import MORE, read
from copytrade.exchange.decoding import Drift, decode_each
from copytrade.exchange.envelopes import BatchResult
from copytrade.exchange.jsontext import parse
from copytrade.exchange.records import BatchItem, Record, SpotOrder
from copytrade.models import Account, AffiliateReport, AffiliateStanding, SpotTicket, User
from copytrade.spot import lookups, results, tickets
from copytrade.sync import run
from tests.support import telling
from tests.support.spot_orders import allow, confirmed, limit
from tests.support.telling import Telling, between, cursored, numbered, said

DAY = 86_400_000
FOLLOWED = 25  # traders whose settings are read, with 20 texts each
READINGS: dict[str, list[str]] = {
    "Copies": ["traders", "open", "history"],
    "Settings": ["traders", "settings"],
    "Account": ["account", "bills", "funding", "lead"],
}


def trader_id(number: int) -> int:
    return 702345678901000000 + number


def tell_of_copies(exchange: Telling, texts: list[str], now: int) -> None:
    traders = said("my_traders", texts, traderId=trader_id)
    opened = said("open_tracking_orders", texts, traderID=trader_id, trackingNo=lambda i: 9_000_000 + i)
    closed = said(
        "tracking_order_history",
        texts,
        traderID=trader_id,
        trackingNo=lambda i: 8_000_000 + i,
        openTime=lambda i: now - DAY - i * 1000 - 9000,
        closeTime=lambda i: str(now - DAY - i * 1000),
    )

    def my_traders(asked: dict[str, Any]) -> dict[str, Any]:
        rows, page, size = numbered(traders, asked, "pageNo", "pageSize", 100)
        return {"list": rows, "nextFlag": page * size < len(traders), "total": len(traders)}

    exchange.tell["my_traders"] = my_traders
    exchange.tell["open_tracking_orders"] = lambda asked: numbered(opened, asked, "page", "limit", 100)[0]
    exchange.tell["tracking_order_history"] = lambda asked: cursored(closed, asked, "closeTime")


def tell_of_settings(exchange: Telling, texts: list[str]) -> None:
    """A few traders, each with his share of the texts: one item a text, the mode told as it is."""
    share = len(texts) // FOLLOWED
    traders = said("my_traders", texts[::share], traderId=trader_id)
    items = said("follower_settings", texts, sane=("settingMode",), settingMode=lambda i: "per_symbol")

    def settings(asked: dict[str, Any]) -> list[dict[str, Any]]:
        start = (int(asked["traderId"]) - trader_id(0)) * share
        return items[start : start + share]

    exchange.tell["my_traders"] = lambda asked: {"list": traders, "nextFlag": False, "total": len(traders)}
    exchange.tell["follower_settings"] = settings


def tell_of_the_account(exchange: Telling, texts: list[str], now: int) -> None:
    kept = list(dict.fromkeys(text[:64] for text in texts))

    def coin(number: int) -> str:
        return texts[number if number % 50 else 0]  # ten bills of one asset: they have a line

    account = telling.sample("account") | {
        "accountType": texts[0],
        "permissions": texts,
        "balances": [{"asset": text, "free": "1", "locked": "2", "extra": text} for text in kept],
        "symbolCommissions": {text: {"maker": text, "taker": {"deeper": text}} for text in kept},
        "unheardOf": texts[1],
    }
    bills = said(
        "bills",
        texts,
        coinName=coin,
        billId=lambda i: f"{i} {texts[i][:60]}",
        cTime=lambda i: str(now - i * 60_000),
    )
    funding = said(
        "funding_bills",
        texts,
        coinName=coin,
        billId=lambda i: str(9000 + i),
        cTime=lambda i: str(now - i * 60_000),
    )
    led = said(
        "lead_order_history",
        texts,
        trackingNo=lambda i: 7_000_000 + i,
        updateTime=lambda i: now - DAY - i * 1000,
        openTime=lambda i: now - DAY - i * 1000 - 9000,
    )

    def fund(asked: dict[str, Any]) -> dict[str, Any]:
        found = between(funding, asked, "cTime", "startTime", "endTime")
        rows, page, size = numbered(found, asked, "pageIndex", "pageSize", 10)
        pages = -(-len(found) // size)
        more = page < pages
        return {
            "total": len(found),
            "pageSize": size,
            "pages": pages,
            "page": page,
            "hasNextPage": more,
            "items": rows,
        }

    exchange.tell["account"] = lambda asked: account
    exchange.tell["bills"] = lambda asked: between(bills, asked, "cTime", "after", "before")[
        : asked.get("limit", 10)
    ]
    exchange.tell["funding_bills"] = fund
    exchange.tell["lead_order_history"] = lambda asked: cursored(led, asked, "updateTime")


def tell_of_affiliates(exchange: Telling, texts: list[str], now: int) -> None:
    commissions = said("affiliate_commissions", texts, date=lambda i: now - i * 1000)
    users = said("affiliate_users", texts, uid=lambda i: str(4_400_000_000 + i))
    moved = said(
        "internal_withdrawals",
        texts,
        withdrawId=lambda i: f"{i} {texts[i][:60]}",
        createTime=lambda i: now - i * 1000,
    )
    below = said("sub_affiliates", texts, subAffiliateUid=lambda i: str(4_500_000_000 + i))

    def listed(rows: list[dict], name: str, page: str = "page") -> Callable[[dict[str, Any]], dict[str, Any]]:
        def answer(asked: dict[str, Any]) -> dict[str, Any]:
            found, number, size = numbered(rows, asked, page, "pageSize", 100)
            pages = -(-len(rows) // size)
            told = {"total": len(rows), "pages": pages, "pageSize": size, "size": size, "page": number}
            return told | {"current": number, "hasNextPage": number < pages, name: found}

        return answer

    exchange.tell["affiliate_commissions"] = listed(commissions, "channelCommissionInfoItems")
    exchange.tell["affiliate_users"] = listed(users, "channelUserInfoItemList")
    exchange.tell["internal_withdrawals"] = listed(moved, "items")
    exchange.tell["sub_affiliates"] = listed(below, "records", "pageNum")


def read_affiliates(user: User, exchange: Telling, texts: list[str], now: int) -> None:
    """A fourth connection, an affiliate's, and its reports, fetched as a worker does it."""
    account = connections.add(
        user, label="Affiliate", venue="sandbox", key="k-1234", secret="s", passphrase="p"
    )
    AffiliateStanding.objects.update_or_create(
        account=account, defaults={"key_set_at": account.key_set_at, "may": True}
    )
    exchange.tell.clear()
    tell_of_affiliates(exchange, texts, now)
    for slug in ("commissions", "users", "withdrawals", "sub-affiliates"):
        report = ask(account, KINDS[slug], {"product_type": "FUTURES"})
        while read(report.pk) == MORE:
            pass
        report.refresh_from_db()
        assert (report.state, report.rows) == (AffiliateReport.State.DONE, len(texts)), report.error


def decoded(kind: type[Record], operation: str, texts: list[str], **each: Callable[[int], Any]) -> list[Any]:
    """The records of an operation as the client makes them of an answer with these texts; each can be read."""
    rows = parse(json.dumps(said(operation, texts, **each)))
    good, bad = decode_each(kind, rows, Drift())
    assert not bad
    return good


def placed(
    account: Account, texts: list[str], answer: Callable[[str, int, str], dict[str, Any]]
) -> SpotTicket:
    """A batch of an order for each text, under way, and what the exchange answered to it."""
    ticket = confirmed(account, *[limit()] * len(texts), way="batch")
    ticket.orders.update(state="sending")
    orders = tickets.lines(ticket)
    rows = [answer(order.client_order_id, order.pk, text) for order, text in zip(orders, texts, strict=True)]
    items, _ = decode_each(BatchItem, parse(json.dumps(rows)), Drift())
    results.sort(orders, BatchResult(items, [], []))
    return ticket


def read_spot(user: User, texts: list[str]) -> None:
    """A fifth connection, with batches that were taken and looked up, and some that were refused in those words."""
    account = allow(
        connections.add(user, label="Spot", venue="sandbox", key="k-1234", secret="s", passphrase="p")
    )
    told = decoded(SpotOrder, "order", texts, orderId=lambda i: 6_000_000 + i)
    for start in range(0, len(texts), 10):
        ticket = placed(
            account,
            texts[start : start + 10],
            lambda ours, pk, text: {"symbol": text, "clientOrderId": ours, "orderId": pk, "unheardOf": text},
        )
        for order, found in zip(tickets.lines(ticket), told[start : start + 10], strict=True):
            assert lookups.take(order, found)
    for start in range(0, len(texts), 50):
        placed(
            account,
            texts[start : start + 50 : 5],
            lambda ours, _, text: {"clientOrderId": ours, "errorCode": text or "X", "errorMsg": text},
        )


def tell(exchange: Telling, label: str, texts: list[str], now: int) -> None:
    """Let the exchange tell the texts in all answers that the readings of this connection ask for."""
    exchange.tell.clear()
    if label == "Copies":
        tell_of_copies(exchange, texts, now)
    elif label == "Settings":
        tell_of_settings(exchange, texts)
    else:
        tell_of_the_account(exchange, texts, now)


def read_all(user: User, exchange: Telling, texts: list[str]) -> dict[str, dict[str, str]]:
    """Connections of a person: for copies, for settings, for the account itself, an affiliate's, and for spot."""
    now, outcomes = int(time.time() * 1000), {}
    for label, kinds in READINGS.items():
        account = connections.add(
            user, label=label, venue="sandbox", key="k-1234", secret="s", passphrase="p"
        )
        tell(exchange, label, texts, now)
        outcomes[label] = run.sync_account(account.pk, kinds)
    read_affiliates(user, exchange, texts, now)
    read_spot(user, texts)
    return outcomes
