"""Readings of the open list: who left it is missing; nobody is while it moves or cannot be understood."""

from __future__ import annotations

from copytrade.exchange.decoding import BadRecord as Unread
from copytrade.models import Account, DataIssue, TrackingOrder
from tests.support.listed_exchange import DAY, NOW, Exchange, issues, job, read
from tests.support.told_orders import order

# --- the open list ------------------------------------------------------------------------------------------


def test_an_order_that_left_a_list_of_one_page_is_missing_at_once(
    account: Account, exchange: Exchange
) -> None:
    exchange.open = [order(1), order(2)]
    read(account, exchange, "open")
    exchange.open.pop()
    account.jobs.filter(kind="history").update(due_at=NOW + DAY)
    reading = read(account, exchange, "open")
    assert TrackingOrder.objects.get(tracking_no=2).missing_since and reading.changed == 1
    assert job(account, "history").due_at < NOW + DAY
    assert exchange.calls == 2


def test_a_longer_list_that_holds_still_is_read_twice_only_when_somebody_is_missing(
    account: Account, exchange: Exchange
) -> None:
    exchange.open = [order(n) for n in range(150)]
    read(account, exchange, "open")
    assert exchange.calls == 2 and job(account, "open").cursor["digest"]
    exchange.open.pop(20)
    read(account, exchange, "open")
    assert exchange.calls == 6
    assert [o.tracking_no for o in TrackingOrder.objects.exclude(missing_since=None)] == [20]
    assert job(account, "open").partial_since is None
    read(account, exchange, "open")
    assert exchange.calls == 8, "the pass before agrees with this one"


def test_a_list_that_moves_while_it_is_read_makes_nobody_missing_and_is_told_as_partial(
    account: Account, exchange: Exchange
) -> None:
    exchange.open = [order(n) for n in range(250)]
    read(account, exchange, "open")

    def shift(page: int) -> None:
        if page == 2:  # what stood at the head of the next page slips to the one that was read
            exchange.open.pop(0)

    exchange.before_page = shift
    reading = read(account, exchange, "open")
    assert reading.changed == 0 and not TrackingOrder.objects.exclude(missing_since=None).exists()
    assert job(account, "open").partial_since and issues("partial_open") == {"open": "open"}
    read(account, exchange, "open")
    assert DataIssue.objects.get(kind="partial_open").times == 1, "told once, not at every reading"
    exchange.before_page = lambda page: None
    read(account, exchange, "open")
    assert job(account, "open").partial_since is None and issues("partial_open") == {"open": "resolved"}
    present = {one.tracking_no for one in exchange.open}
    gone = set(TrackingOrder.objects.exclude(missing_since=None).values_list("tracking_no", flat=True))
    assert gone == set(range(250)) - present


def test_pages_that_never_end_are_partial_and_end(account: Account, exchange: Exchange) -> None:
    exchange.open = [order(n) for n in range(150)]
    exchange.ignores_pages = True
    read(account, exchange, "open")
    assert job(account, "open").partial_since and TrackingOrder.objects.count() == 100


def test_an_unread_record_without_a_number_makes_nobody_missing(account: Account, exchange: Exchange) -> None:
    exchange.open = [order(1), order(2)]
    read(account, exchange, "open")
    exchange.open, exchange.unread = [], [Unread("{}", "trackingNo: missing")]
    read(account, exchange, "open")
    assert not TrackingOrder.objects.exclude(missing_since=None).exists()
    exchange.unread = [Unread('{"trackingNo": 2}', "symbol: missing")]
    read(account, exchange, "open")
    assert [o.tracking_no for o in TrackingOrder.objects.exclude(missing_since=None)] == [1]
