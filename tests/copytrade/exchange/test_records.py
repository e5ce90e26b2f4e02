"""Answers become typed records: exact, tolerant of what is odd, and one bad record costs no other."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copytrade.exchange import OPERATIONS, Cursor, Malformed, OutcomeUnknown, envelopes
from copytrade.exchange.decoding import decode_one, wire_names
from copytrade.exchange.jsontext import parse, plain, storable, to_text
from copytrade.exchange.records import AccountInfo, FollowerOrder
from copytrade.rules import SPECIFY, UNIFIED

from .samples import FOLDER, LEAST, NAMES, TRADER, sample
from .scripted import ScriptedServer, answer

OPEN = sample("open_tracking_orders")[0]
LISTS = [name for name, row in OPERATIONS.items() if row.envelope not in ("one", "batch", "settings")]


def page_of(*rows, name="open_tracking_orders"):
    return envelopes.page(OPERATIONS[name], parse(json.dumps(list(rows))), 1, 100)


def one(**changes):
    """The open sample with changes; ... removes a field."""
    row = {key: value for key, value in (OPEN | changes).items() if value is not ...}
    return page_of(row)


def test_there_is_a_sample_for_every_operation():
    assert sorted(OPERATIONS) == NAMES


@pytest.mark.parametrize("name", LISTS)
def test_every_field_of_a_sample_is_read_without_a_note(name):
    text = (FOLDER / f"{name}.json").read_text()
    build = envelopes.deal if name == "deal_data" else lambda row, data: envelopes.page(row, data, 1, 2)
    page = build(OPERATIONS[name], parse(text))
    assert page.records
    assert page.drift == page.bad == []
    rows = sample(name) if OPERATIONS[name].envelope == "list" else sample(name)[OPERATIONS[name].rows]
    for record, row in zip(page.records, rows, strict=True):
        assert set(row) <= set(wire_names(OPERATIONS[name].answer))
        assert record.extras == {}
        for wire, field in wire_names(type(record)).items():
            assert (getattr(record, field) is None) == (row.get(wire) in (None, "")), wire


def test_an_open_order_is_read_exactly():
    order = one().records[0]
    assert order.tracking_no == 701816980655571201
    assert order.trader_id == TRADER
    assert (order.open_price_avg, order.open_size) == (Decimal("91250.1"), Decimal("0.02"))
    assert order.open_time == datetime(2025, 11, 14, 3, 13, 20, tzinfo=UTC)
    assert (order.close_time, order.close_avg_price, order.sl_trigger_price) == (None, None, None)
    assert order.close_order_id == 0
    assert (order.position_side, order.status) == ("LONG", "HAVE_OPEN")


def test_a_closed_order_has_its_closing_time_from_text():
    page = envelopes.page(
        OPERATIONS["tracking_order_history"], parse(json.dumps(sample("tracking_order_history")))
    )
    assert page.records[0].close_time == datetime(2025, 11, 13, 0, 26, 40, 123000, tzinfo=UTC)
    assert page.next == Cursor(701816980655571100, 1762993600123)
    assert page.more is True


def test_a_number_where_text_is_meant_is_taken_exactly_and_told():
    text = json.dumps([OPEN]).replace('"91250.1"', "91250.100000000000000000001")
    page = envelopes.page(OPERATIONS["open_tracking_orders"], parse(text), 1, 100)
    assert page.records[0].open_price_avg == Decimal("91250.100000000000000000001")
    assert page.drift == ["openPriceAvg: a number where a string is meant"]


def test_text_where_a_number_is_meant_is_taken_exactly_and_told():
    page = one(trackingNo="701816980655571201", openTime="1763090000000", openLeverage="20")
    order = page.records[0]
    assert (order.tracking_no, order.open_leverage) == (701816980655571201, 20)
    assert order.open_time == one().records[0].open_time
    assert page.drift == [
        f"{n}: a string where a number is meant" for n in ("trackingNo", "openLeverage", "openTime")
    ]


@pytest.mark.parametrize("number", ["702345678901234567.0", "7.02345678901234567E17"])
def test_an_id_with_a_point_is_still_exact(number):
    text = json.dumps([OPEN]).replace(f'"traderID": {TRADER}', f'"traderID": {number}')
    assert (
        envelopes.page(OPERATIONS["open_tracking_orders"], parse(text), 1, 100).records[0].trader_id == TRADER
    )


def test_a_missing_field_is_none_and_told_once_with_its_count():
    rows = [
        {k: v for k, v in OPEN.items() if k != "openFee"} | {"trackingNo": number} for number in (1, 2, 3)
    ]
    page = page_of(*rows)
    assert [order.open_fee for order in page.records] == [None] * 3
    assert page.drift == ["openFee: missing (3 times)"]


def test_unknown_fields_are_kept_ready_to_be_stored():
    page = one(addedLater={"values": [1, None, 2.50]}, other=True)
    assert page.records[0].extras == {"addedLater": {"values": [1, None, "2.5"]}, "other": True}
    json.dumps(page.records[0].extras)
    assert page.drift == ["addedLater: not in the interface", "other: not in the interface"]


def test_unknown_values_are_kept_verbatim():
    order = one(status="LIQUIDATING", positionSide="HEDGE").records[0]
    assert (order.status, order.position_side) == ("LIQUIDATING", "HEDGE")


BAD = [
    ({"openLeverage": True}, "openLeverage: true is not an integer"),
    ({"trackingNo": None}, "trackingNo: missing"),
    ({"trackingNo": ...}, "trackingNo: missing"),
    ({"trackingNo": 2**63}, "trackingNo: 9223372036854775808 is out of the range of its type"),
    ({"openLeverage": 2**31}, "openLeverage: 2147483648 is out of the range of its type"),
    ({"trackingNo": 1.5}, "trackingNo: 1.5 is not an integer"),
    ({"openFee": "abc"}, 'openFee: "abc" is not a decimal'),
    ({"openFee": "NaN"}, 'openFee: "NaN" is not a decimal'),
    ({"openFee": "١٢"}, 'is not a decimal'),
    ({"openFee": "1e999"}, "is out of any reasonable size"),
    ({"openFee": {}}, "openFee: {} is not a decimal"),
    ({"openFee": False}, "openFee: false is not a decimal"),
    ({"openTime": -5}, "openTime: -5 is not a time in milliseconds"),
    ({"openTime": 10**18}, "is not a time in milliseconds"),
    ({"closeTime": "yesterday"}, 'closeTime: "yesterday" is not an integer'),
    ({"symbol": ["BTCUSDT"]}, 'symbol: ["BTCUSDT"] is not text'),
    ({"status": None}, "status: missing"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "reason"), BAD, ids=[str(changes)[:40] for changes, _ in BAD])
def test_one_bad_record_is_reported_with_its_text_and_the_rest_is_kept(changes, reason):
    row = {key: value for key, value in (OPEN | changes).items() if value is not ...}
    page = page_of(OPEN, row, OPEN | {"trackingNo": 2})
    assert [order.tracking_no for order in page.records] == [701816980655571201, 2]
    assert len(page.bad) == 1
    assert reason in page.bad[0].reason
    assert json.loads(page.bad[0].raw) == row
    assert page.size == 3


@pytest.mark.parametrize("row", [None, 5, "text", ["list"], True])
def test_a_row_that_is_no_object_is_bad(row):
    page = page_of(OPEN, row)
    assert len(page.records) == 1
    assert json.loads(page.bad[0].raw) == row


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1" * 200, "0." + "1" * 200])
def test_numbers_that_are_none_make_one_record_bad_and_keep_their_text(word):
    text = json.dumps([OPEN, OPEN | {"trackingNo": 2}]).replace('"1.0950012"', word, 1)
    page = envelopes.page(OPERATIONS["open_tracking_orders"], parse(text), 1, 100)
    assert [order.tracking_no for order in page.records] == [2]
    assert f'"openFee": {word}' in page.bad[0].raw


DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=4)


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text() | DECIMALS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
))  # fmt: skip
def test_json_text_comes_back_as_it_was(value):
    assert parse(to_text(value)) == storable(value)
    json.dumps(plain(value))


@pytest.mark.parametrize("spelled", [r"a\ud800", r"\udfff\ud83d", r"\u0000", r"a\u0000\ude00"])
def test_text_that_no_database_holds_is_mended_as_it_comes_in(spelled):
    (key,) = read = parse(f'{{"{spelled}": ["{spelled}"]}}'.encode())
    assert read[key] == [key] and "\x00" not in key
    assert key.encode().decode() == key


def test_half_a_surrogate_pair_in_bytes_is_not_json():
    with pytest.raises(ValueError, match="utf-8"):
        parse(b'"\xed\xa0\x80"')


@given(st.integers(-(2**63), 2**63 - 1), st.decimals(-(10**20), 10**20, places=12))
def test_ids_and_money_are_exact_in_either_form(number, money):
    for identity, amount in ((number, str(money)), (str(number), str(money))):
        order = one(trackingNo=identity, netProfit=amount).records[0]
        assert (order.tracking_no, order.net_profit) == (number, money)


def test_absurdly_deep_json_is_refused_like_any_other_text():
    with pytest.raises(ValueError, match="deep"):
        parse("[" * 100_000)


# --- envelopes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("data", [None, 5, "text", {}, {"list": 5}, [5]], ids=repr)
def test_another_envelope_than_described_is_malformed(name, data):
    if OPERATIONS[name].envelope == "list" and isinstance(data, list):
        return  # a list of bad rows is still a list
    with ScriptedServer(answer(data)) as server, pytest.raises(Malformed) as error:
        getattr(server.client(), name)(**LEAST[name])
    assert error.value.operation == name
    assert error.value.retry


def test_the_five_envelopes_tell_their_next_page():
    pages = {
        name: envelopes.page(OPERATIONS[name], sample(name), 1, 2)
        for name in ("affiliate_commissions", "internal_withdrawals", "sub_affiliates", "my_traders")
    }
    assert {name: page.next for name, page in pages.items()} == {
        "affiliate_commissions": 2,
        "internal_withdrawals": 2,
        "sub_affiliates": None,
        "my_traders": None,
    }
    assert (pages["affiliate_commissions"].total, pages["affiliate_commissions"].pages) == (5, 3)
    assert pages["my_traders"].total == 2


def test_counters_that_are_missing_or_text_are_told_and_worked_around():
    data = sample("affiliate_commissions") | {"total": "5", "pages": None}
    page = envelopes.page(OPERATIONS["affiliate_commissions"], data, 1, 2)
    assert page.total == 5
    assert page.next == 2, "a full page may have a next one"
    assert page.drift == ["total: a string where a number is meant"]
    broken = envelopes.page(OPERATIONS["affiliate_commissions"], data | {"pages": "many"}, 1, 3)
    assert broken.next is None
    assert 'pages: "many" is not an integer' in broken.drift


@pytest.mark.parametrize("key", [None, {}, {"nextKeyId": 5}, {"nextKeyId": "x", "nextKeyTime": 3}, 5])
def test_more_history_without_a_usable_key_is_told(key):
    data = sample("tracking_order_history") | {"nextKey": key}
    page = envelopes.page(OPERATIONS["tracking_order_history"], data)
    assert page.more
    assert page.next is None
    assert "nextKey: missing, though nextFlag says that there is more" in page.drift
    assert page.records


def test_deal_data_carries_the_applied_dates():
    page = envelopes.deal(OPERATIONS["deal_data"], sample("deal_data"))
    assert (page.start, page.end) == (date(2026, 11, 14), date(2026, 11, 20))


def test_a_batch_reports_each_order():
    result = envelopes.batch(OPERATIONS["place_orders"], sample("place_orders"), 2)
    assert [item.accepted for item in result.results] == [True, False]
    assert result.results[1].error_code == "INSUFFICIENT_BALANCE"
    assert result.drift == []
    assert envelopes.batch(OPERATIONS["place_orders"], sample("place_orders"), 3).drift == [
        "orderList: 2 results for 3 orders"
    ]


# --- answers that are one record ----------------------------------------------------------------------------


def test_the_account_may_leave_fields_out():
    data = {k: v for k, v in sample("account").items() if k not in ("brokered", "updateTime", "accountType")}
    account = decode_one(AccountInfo, data)
    assert (account.brokered, account.update_time, account.account_type) == (None, None, None)
    assert account.drift == []
    assert account.uid == TRADER
    assert account.balances[0].free == Decimal("4512.339120000000000017")
    assert account.commission_rates.taker == Decimal("0.0010")
    assert account.symbol_commissions == {"BTCUSDT": {"maker": "0.0005", "taker": "0.0007"}}


def test_a_single_record_that_cannot_be_understood_is_malformed():
    with (
        ScriptedServer(answer(sample("order") | {"orderId": None})) as server,
        pytest.raises(Malformed, match="orderId"),
    ):
        server.client().order(order_id=9)


def test_settings_come_raw_and_typed():
    with ScriptedServer(answer(sample("follower_settings"))) as server:
        got = server.client().follower_settings(trader_id=TRADER)
    assert got.items == sample("follower_settings")
    assert got.copy_enable is True
    assert got.settings.mode == UNIFIED
    assert got.settings.configs[0].leverage_type == SPECIFY
    assert got.settings.configs[0].custom_leverages[0].long_leverage == 20
    assert got.drift == []


def test_settings_with_numbers_for_text_are_exact_and_told():
    text = (FOLDER / "follower_settings.json").read_text().replace('"0.35"', "0.350000000000000000001")
    with ScriptedServer(answer(text)) as server:
        got = server.client().follower_settings(trader_id=TRADER)
    assert got.settings.configs[0].take_profit == Decimal("0.350000000000000000001")
    assert got.items[0]["takeProfitRatio"] == "0.350000000000000000001"
    assert got.drift == ["takeProfitRatio: a number where a string is meant"]


def test_settings_that_cannot_be_understood_are_still_shown_raw():
    items = [sample("follower_settings")[0] | {"takeProfitRatio": "a lot"}]
    with ScriptedServer(answer(items)) as server:
        got = server.client().follower_settings(trader_id=TRADER)
    assert got.items == items
    assert got.settings is None
    assert got.drift == ['takeProfitRatio: "a lot" is not a decimal']


@pytest.mark.parametrize("data", [{}, [5], None, "x"])
def test_settings_of_another_shape_are_malformed(data):
    with ScriptedServer(answer(data)) as server, pytest.raises(Malformed):
        server.client().follower_settings(trader_id=TRADER)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("update_follower_settings", {}),
        ("update_follower_settings", []),
        ("update_follower_settings", {"code": "201", "msg": "?"}),
        ("place_order", {"symbol": "BTCUSDT"}),
        ("place_order", []),
        ("place_orders", {"results": []}),
    ],
)
def test_a_write_whose_success_cannot_be_understood_has_an_unknown_outcome(name, data):
    with ScriptedServer(answer(data)) as server, pytest.raises(OutcomeUnknown):
        getattr(server.client(), name)(**LEAST[name])
    assert len(server.received) == 1


def test_records_are_equal_by_their_content():
    assert one().records[0] == one().records[0]
    assert isinstance(one().records[0], FollowerOrder)
