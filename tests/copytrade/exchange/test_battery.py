"""THE BATTERY: all 18 operations, the client against the sandbox over HTTP, in success and in every failure."""

from dataclasses import replace
from decimal import Decimal

import pytest

from copytrade.exchange import (
    OPERATIONS,
    ExchangeError,
    Rejected,
    Unauthorized,
)
from copytrade.rules import same

from .battery import AFFILIATE, CALLS, CLIENT_ORDER, PER_SYMBOL_TRADER, READS, TRADER, WRITES, rows
from .test_calls import Skewed
from .test_outcomes import CASES

everything = pytest.mark.parametrize("name", OPERATIONS)
reads = pytest.mark.parametrize("name", READS)
writes = pytest.mark.parametrize("name", WRITES)


def failure(desk, name, client=None):
    with pytest.raises(ExchangeError) as error:
        desk.call(name, client)
    return error.value


# --- success ------------------------------------------------------------------------------------------------


@everything
def test_it_succeeds_and_nothing_in_the_answer_is_odd(desk, name):
    answer = desk.call(name)
    assert rows(answer)
    assert answer.drift == []
    assert not getattr(answer, "bad", [])
    calls = desk.received(name)
    assert calls[-1]["status"] == 200
    if name not in ("follower_settings", "place_order"):
        assert len(calls) == 1


def test_a_batch_places_what_it_can(desk):
    good, bad = desk.call("place_orders").results
    assert good.accepted
    assert good.client_order_id == CLIENT_ORDER
    assert (bad.accepted, bad.error_code, bad.order_id) == (False, "INSUFFICIENT_BALANCE", None)


def test_an_order_is_found_by_either_id(desk):
    placed = desk.call("place_order")
    client = desk.client()
    assert client.order(order_id=placed.order_id) == client.order(orig_client_order_id=CLIENT_ORDER)


def test_the_same_client_order_id_makes_no_second_order(desk):
    assert desk.call("place_order").order_id == desk.call("place_order").order_id


@pytest.mark.parametrize("trader", [TRADER, PER_SYMBOL_TRADER, 703118842905517391])
def test_settings_are_read_back_as_they_were_written(desk, trader):
    client = desk.client()
    before = client.follower_settings(trader_id=trader).settings
    wanted = replace(
        before, configs=tuple(replace(one, stop_loss=Decimal("0.123")) for one in before.configs)
    )
    symbols = {
        config.symbol for config in client.follower_settings(trader_id=PER_SYMBOL_TRADER).settings.configs
    }
    assert client.update_follower_settings(trader_id=trader, settings=wanted, supported=symbols).code == "200"
    assert same(client.follower_settings(trader_id=trader).settings, wanted)


def test_all_history_is_walked_and_equals_the_truth(desk):
    client = desk.client()
    now = client.server_time()
    walked = [order for _, _, page in client.iter_history_windows(now, limit=100) for order in page.records]
    closed = {o["trackingNo"]: o for o in desk.sandbox.truth("follower")["closed"]}
    assert {order.tracking_no for order in walked} == set(closed)
    for order in walked:
        true = closed[order.tracking_no]
        assert (str(order.net_profit), order.trader_id) == (str(Decimal(true["netProfit"])), true["traderID"])


def test_open_orders_are_walked_and_equal_the_truth(desk):
    pages = list(desk.client().iter_open_tracking_orders(limit=2))
    true = {order["trackingNo"] for order in desk.sandbox.truth("follower")["open"]}
    assert {order.tracking_no for page in pages for order in page.records} == true
    assert all(
        order.close_order_id == 0 and order.close_time is None for page in pages for order in page.records
    )


# --- codes --------------------------------------------------------------------------------------------------


@everything
def test_every_code_has_its_policy(desk, name):
    """Each code of the open points, at its HTTP status, from the wire to the exception."""
    arguments = desk.arguments(name)
    for code, status, reading, writing in CASES:
        if code in (-1043, -1046):
            continue  # learned, not raised: below
        desk.sandbox.clear_faults()
        desk.sandbox.fault(name, "code", code=code, times=0)
        before = len(desk.received(name))
        with pytest.raises(ExchangeError) as error:
            getattr(desk.client(name, deadline=0.2), name)(**arguments)
        assert type(error.value) is (reading if name in READS else writing), code
        assert (error.value.code, error.value.http_status, error.value.operation) == (code, status, name)
        if name in WRITES:
            assert len(desk.received(name)) == before + 1, f"{code}: a write is sent once"


@reads
@pytest.mark.parametrize("code", [-1000, -1054])
def test_a_read_recovers_from_a_passing_system_error(desk, name, code):
    desk.sandbox.fault(name, "code", code=code, times=1)
    assert rows(desk.call(name))


@everything
def test_an_unknown_key_is_said(desk, name):
    error = (
        failure(desk, name, desk.client(name, key="nobody-key"))
        if name != "order"
        else stranger(desk, key="x")
    )
    assert (type(error), error.code, error.fault) == (Unauthorized, -1044, "key")


@everything
def test_a_wrong_secret_is_said(desk, name):
    error = (
        failure(desk, name, desk.client(name, secret="wrong"))
        if name != "order"
        else stranger(desk, secret="x")
    )
    assert (type(error), error.code, error.fault) == (Unauthorized, -1047, "secret")


@everything
def test_a_wrong_passphrase_is_said(desk, name):
    error = (
        failure(desk, name, desk.client(name, passphrase="wrong"))
        if name != "order"
        else stranger(desk, passphrase="x")
    )
    assert (type(error), error.code, error.fault) == (Unauthorized, -1049, "passphrase")


def stranger(desk, **changes):
    with pytest.raises(ExchangeError) as error:
        desk.client("order", **changes).order(order_id=1)
    return error.value


@everything
def test_a_new_key_that_is_not_active_yet_is_refused_as_unknown(desk, name):
    arguments = desk.arguments(name)
    desk.sandbox.fault(name, "key_pending")
    with pytest.raises(Unauthorized, match="15 minutes"):
        getattr(desk.client(name), name)(**arguments)


@everything
def test_a_clock_that_is_off_by_an_hour_is_learned(desk, name):
    client = desk.client(name, clock=Skewed(3600))
    assert rows(desk.call(name, client))
    assert client.clock_offset_ms == pytest.approx(-3_600_000, abs=2000)


@everything
def test_an_exchange_whose_clock_is_off_is_followed(desk, name):
    arguments = desk.arguments(name)
    desk.sandbox.fault("*", "clock_skew", seconds=-120)
    client = desk.client(name)
    assert rows(getattr(client, name)(**arguments))
    assert client.clock_offset_ms == pytest.approx(-120_000, abs=2000)


@everything
@pytest.mark.parametrize("code", [-1046, -1043])
def test_a_clock_that_stays_refused_is_surfaced(desk, name, code):
    arguments = desk.arguments(name)
    desk.sandbox.fault(name, "code", code=code, times=0)
    before = len(desk.received(name))
    with pytest.raises(Rejected) as error:
        getattr(desk.client(name), name)(**arguments)
    assert (error.value.code, error.value.fault) == (code, "clock")
    assert len(desk.received(name)) == before + 2


# --- permissions --------------------------------------------------------------------------------------------


@writes
def test_a_key_that_may_only_read_may_not_write(desk, name):
    key = {"key": "readonly-key", "secret": "readonly-secret"}
    error = failure(desk, name, desk.client(name, **key))
    assert (type(error), error.code) == (Rejected, -1052)
    assert error.permission == {"contract": "Futures", "spot": "Spot"}[OPERATIONS[name].root]
    assert not desk.applied(name)


@pytest.mark.parametrize("name", [name for name in READS if name != "order"])
def test_a_key_that_may_only_read_reads(desk, name):
    account = "readonly" if name not in (*AFFILIATE, "lead_order_history") else None
    options = {"account": account} if account else {}
    assert rows(getattr(desk.client(name, **options), name)(**CALLS[name]))


def test_only_copy_trade_keys_read_the_traders_side(desk):
    error = failure(desk, "lead_order_history", desk.client(account="follower"))
    assert (type(error), error.code, error.permission) == (Rejected, -3236, "copy-trade key")


def test_only_affiliates_read_sub_affiliates(desk):
    error = failure(desk, "sub_affiliates", desk.client(account="follower"))
    assert (type(error), error.code, error.permission) == (Rejected, -1051, "affiliate account")


@pytest.mark.parametrize("name", [name for name in AFFILIATE if name != "sub_affiliates"])
def test_a_key_that_is_no_affiliates_sees_an_empty_page(desk, name):
    page = desk.call(name, desk.client(account="follower"))
    assert (page.records, page.bad, page.next) == ([], [], None)


# --- refused by the exchange itself -------------------------------------------------------------------------


def raw(desk, name, **changes):
    """Wire parameters past our own checks: the exchange must refuse what we refuse."""
    client = desk.client(name)
    with pytest.raises(Rejected) as error:
        client._caller.call(OPERATIONS[name], changes)
    return error.value.code


NOW_MS, DAY = 1_763_000_000_000, 86_400_000
PAGED = [(row.name, p.name) for row in OPERATIONS.values() for p in row.parameters if p.arg == "page"]
SIZED = [
    (row.name, p) for row in OPERATIONS.values() for p in row.parameters if p.arg in ("page_size", "limit")
]
NEEDED = {"sub_affiliates": {"productType": "SPOT"}}


@pytest.mark.parametrize(("name", "parameter"), PAGED)
def test_the_exchange_too_refuses_page_0(desk, name, parameter):
    assert raw(desk, name, **NEEDED.get(name, {}), **{parameter: 0}) == -1140


@pytest.mark.parametrize(("name", "parameter"), SIZED, ids=[name for name, _ in SIZED])
def test_the_exchange_too_refuses_a_size_out_of_bounds(desk, name, parameter):
    assert raw(desk, name, **NEEDED.get(name, {}), **{parameter.name: 0}) == -1140
    if parameter.most:
        assert raw(desk, name, **{parameter.name: parameter.most + 1}) == -1140


@pytest.mark.parametrize("name", [row.name for row in OPERATIONS.values() if row.span and row.span.days])
def test_the_exchange_too_refuses_a_range_too_long_or_turned_round(desk, name):
    now = int(desk.client().server_time().timestamp() * 1000)
    assert raw(desk, name, startTime=now - 91 * DAY, endTime=now) == -1170
    assert raw(desk, name, startTime=now, endTime=now - DAY) == -1171


@pytest.mark.parametrize(
    ("name", "parameters", "code"),
    [
        ("follower_settings", {}, -1128),
        ("follower_settings", {"traderId": 5}, -1142),
        ("order", {}, -1128),
        ("order", {"orderId": 5}, -2200),
        ("place_order", {"symbol": "BTCUSDT", "side": "BUY", "type": "LIMIT", "quantity": "1"}, -1128),
        ("place_order", {"symbol": "NOPEUSDT", "side": "BUY", "type": "MARKET", "quantity": "1"}, -2007),
        ("update_follower_settings", {"traderId": TRADER, "settingType": "unified"}, -1128),
    ],
)
def test_the_exchange_refuses_in_its_own_words(desk, name, parameters, code):
    assert raw(desk, name, **parameters) == code


def test_an_order_without_the_money_is_refused_for_certain(desk):
    with pytest.raises(Rejected) as error:
        desk.client().place_order(symbol="BTCUSDT", side="SELL", type="MARKET", quantity=Decimal(1000))
    assert (error.value.code, error.value.fault) == (-1054, "balance")
