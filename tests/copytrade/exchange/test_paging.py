"""Lists are walked to their end: never in a circle, whatever the exchange answers."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from copytrade.exchange import OPERATIONS, Cursor, Malformed, Page, Rejected, Unreachable
from copytrade.exchange.paging import anonymous, cursored, numbered, windows

from .samples import NOW, sample
from .scripted import ScriptedServer, answer, refusal


class Source:
    """A list of numbers, in pages; `script` says what comes per request, the last entry for ever."""

    def __init__(self, *script):
        self.script = list(script)
        self.asked = []

    def __call__(self, where):
        self.asked.append(where)
        page = self.script[min(len(self.asked), len(self.script)) - 1]
        if isinstance(page, Exception):
            raise page
        return Page(list(page[0]), **page[1])


def told(records, following=None, **more):
    return (records, {"next": following, "more": following is not None, **more})


def same(number):
    return number


def walk(source, way=numbered):
    return [record for page in way(source, same) for record in page.records]


def test_pages_are_walked_to_the_last():
    source = Source(told([1, 2], 2), told([3, 4], 3), told([5]))
    assert walk(source) == [1, 2, 3, 4, 5]
    assert source.asked == [1, 2, 3]


def test_a_list_that_moves_gives_each_record_once():
    assert walk(Source(told([1, 2], 2), told([2, 3], 3), told([3]))) == [1, 2, 3]


def test_a_record_that_comes_twice_in_a_page_is_given_once():
    assert walk(Source(told([1, 1, 2, 1], 2), told([3]))) == [1, 2, 3]


def test_a_record_that_changed_meanwhile_is_given_again():
    pages = numbered(Source(told([("a", 1)], 2), told([("a", 2)])), lambda record: record[0])
    assert [page.records for page in pages] == [[("a", 1)], [("a", 2)]]


def test_an_empty_page_ends_the_walk_whatever_it_says():
    source = Source(told([1], 2), told([], None, more=True))
    assert walk(source) == [1]


def test_an_exchange_that_ignores_the_page_number_does_not_hold_us():
    source = Source(told([1, 2], 2))
    assert walk(source) == [1, 2]
    assert len(source.asked) == 2


def test_a_page_that_comes_again_is_no_end_while_records_are_missing():
    source = Source(told([1, 2], 2, total=5), told([1, 2], 3, total=5), told([5], None, total=5))
    with pytest.raises(Malformed, match="twice"):
        walk(source)
    assert len(source.asked) == 2


def test_a_page_that_comes_again_after_all_was_read_is_an_end():
    assert walk(Source(told([1, 2], 2, total=2))) == [1, 2]
    half_bad = [told([1], 2, bad=["broken"], total=2), told([1], 3, total=2)]
    assert walk(Source(*half_bad)) == [1]


def test_a_page_of_bad_records_does_not_end_the_walk():
    source = Source(told([], 2, bad=["broken"]), told([1]))
    assert walk(source) == [1]


def test_records_without_identity_are_all_given():
    source = Source(told([1, 1], 2), told([1, 2], 3), told([2]))
    assert [record for page in anonymous(source) for record in page.records] == [1, 1, 1, 2, 2]


def test_records_without_identity_end_when_a_page_repeats():
    source = Source(told([1, 2], 2))
    assert [page.records for page in anonymous(source)] == [[1, 2]]


# --- cursors ------------------------------------------------------------------------------------------------


def at(identity, time=0):
    return Cursor(identity, time)


def test_cursors_are_followed_and_handed_back_as_they_came():
    source = Source(told([1, 2], at(9, 90)), told([3], at(8, 80)), told([4]))
    assert walk(source, cursored) == [1, 2, 3, 4]
    assert source.asked == [None, at(9, 90), at(8, 80)]


@pytest.mark.parametrize(
    "cursors",
    [
        [at(9, 90), at(9, 90)],
        [at(9, 90), at(8, 80), at(9, 90)],
        [at(9, 90), at(8, 80), at(7, 70), at(8, 80)],
        [at(9, 90), at(8, 80), at(10, 100)],
        [at(1, 10), at(2, 20), at(1, 5)],
    ],
)
def test_a_cursor_that_stands_still_or_goes_back_is_malformed(cursors):
    source = Source(*[told([n], cursor) for n, cursor in enumerate(cursors)], told([99]))
    with pytest.raises(Malformed, match=r"stands still|turned round"):
        walk(source, cursored)
    assert len(source.asked) == len(cursors)


@pytest.mark.parametrize(
    "cursors",
    [
        [at(9, 90), at(8, 80), at(7, 70)],
        [at(1, 10), at(2, 20), at(3, 30)],
        [at(9, 90), at(5, 80), at(7, 70)],
        [at(9, 90), at(8, 95), at(7, 70)],
        [at(9, 90), at(8, 90), at(7, 90)],
    ],
    ids=["newest first", "oldest first", "by time only", "by id only", "ties in time"],
)
def test_either_order_is_an_order(cursors):
    source = Source(*[told([n], cursor) for n, cursor in enumerate(cursors)], told([99]))
    assert walk(source, cursored) == [*range(len(cursors)), 99]


def test_the_same_records_again_and_again_are_malformed():
    class Endless(Source):
        def __call__(self, where):
            self.asked.append(where)
            return Page([1, 2], next=at(10_000 - len(self.asked), 0), more=True)

    source = Endless()
    with pytest.raises(Malformed, match="again and again"):
        walk(source, cursored)
    assert len(source.asked) == 3


def test_more_without_a_cursor_is_malformed_after_the_page_was_given():
    pages = cursored(Source(([1], {"more": True})), same)
    assert next(pages).records == [1]
    with pytest.raises(Malformed, match="where it goes on"):
        next(pages)


def test_empty_pages_with_cursors_that_lead_on_are_followed_a_little():
    source = Source(told([1], at(9, 9)), told([], at(8, 8)), told([2]))
    assert walk(source, cursored) == [1, 2]


def test_a_failure_in_the_middle_comes_out_and_what_was_read_stays():
    pages = cursored(Source(told([1], at(9, 9)), Unreachable("gone")), same)
    assert next(pages).records == [1]
    with pytest.raises(Unreachable):
        next(pages)


# --- windows ------------------------------------------------------------------------------------------------


def history(*filled, error_at=None):
    """A walk that has a record in the windows with these numbers, counted back from now."""
    asked = []

    def one(start, end):
        number = len(asked)
        asked.append((start, end))
        if number == error_at:
            raise Rejected("too old", code=-1170)
        yield Page([number] if number in filled else [])

    return one, asked


def test_history_is_walked_back_in_windows_of_at_most_90_days_that_touch():
    source, asked = history(0, 1)
    seen = [(start, end) for start, end, _ in windows(source, NOW)]
    assert seen == asked
    assert asked[0] == (NOW - timedelta(days=90), NOW)
    assert all(earlier[1] == later[0] for later, earlier in itertools.pairwise(asked))


def test_four_empty_windows_in_a_row_end_the_walk_and_a_gap_does_not():
    source, asked = history(0, 4)
    found = [page.records for _, _, page in windows(source, NOW) if page.records]
    assert found == [[0], [4]]
    assert len(asked) == 9


def test_the_walk_ends_where_the_exchange_goes_back_no_further():
    source, asked = history(0, 1, error_at=2)
    assert len(list(windows(source, NOW))) == 2
    assert len(asked) == 3


def test_a_refusal_of_the_first_window_is_an_error():
    source, _ = history(error_at=0)
    with pytest.raises(Rejected):
        list(windows(source, NOW))


def test_other_refusals_come_out():
    def source(start, end):
        raise Rejected("no", code=-1142)
        yield

    with pytest.raises(Rejected):
        list(windows(source, NOW))


# --- through the client -------------------------------------------------------------------------------------


def test_open_orders_stop_at_a_short_page():
    order = sample("open_tracking_orders")[0]
    full = answer([order | {"trackingNo": number} for number in range(1, 4)])
    with ScriptedServer(full, answer([order | {"trackingNo": 3}, order | {"trackingNo": 4}])) as server:
        pages = list(server.client().iter_open_tracking_orders(limit=3, symbol="BTCUSDT"))
        targets = [request.target for request in server.received]
    assert [order.tracking_no for page in pages for order in page.records] == [1, 2, 3, 4]
    assert targets == [f"/capi/v3/copy/follower/openOrders?symbol=BTCUSDT&limit=3&page={n}" for n in (1, 2)]


def test_history_passes_its_range_and_cursor_on():
    first, last = sample("tracking_order_history"), {"list": [], "nextFlag": False, "nextKey": None}
    with ScriptedServer(answer(first), answer(last)) as server:
        list(server.client().iter_history(datetime(2026, 11, 1, tzinfo=UTC), NOW, limit=50))
        one, two = (request.target for request in server.received)
    assert (
        one == "/capi/v3/copy/follower/historyOrders?limit=50&startTime=1793491200000&endTime=1795219200000"
    )
    assert two == one + "&nextKeyId=701816980655571100&nextKeyTime=1762993600123"


def test_a_lead_history_is_walked_in_windows_too():
    empty = answer({"list": [], "nextFlag": False, "nextKey": None})
    with ScriptedServer(answer(sample("lead_order_history")), empty, refusal(-1170)) as server:
        steps = list(server.client().iter_lead_history_windows(NOW))
    assert [len(page.records) for _, _, page in steps] == [1, 0]


@pytest.mark.parametrize(
    ("name", "data", "arguments"),
    [
        ("iter_affiliate_commissions", "affiliate_commissions", {}),
        ("iter_affiliate_users", "affiliate_users", {}),
        ("iter_affiliate_trades_and_assets", "affiliate_trades_and_assets", {}),
        ("iter_internal_withdrawals", "internal_withdrawals", {}),
        ("iter_sub_affiliates", "sub_affiliates", {"product_type": "SPOT", "start_time": None}),
        ("iter_funding_bills", "funding_bills", {}),
        ("iter_my_traders", "my_traders", {}),
    ],
)
def test_a_list_that_claims_to_go_on_for_ever_ends(name, data, arguments):
    endless = sample(data) | {"pages": 1_000_000, "hasNextPage": True, "nextFlag": True}
    endless["total"] = len(endless[OPERATIONS[data].rows])
    with ScriptedServer(answer(endless)) as server:
        pages = list(getattr(server.client(), name)(**arguments))
        assert len(server.received) == 2
    assert sum(len(page.records) for page in pages) == pages[0].size
