"""The rows of the world, against the interface's table and against each other."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pytest

from copytrade.rules import CopySettings, TraceConfig
from copytrade.sandbox.world import World

from .moments import (
    DAY,
    DECIMAL,
    HOUR,
    MINUTE,
    NORTHWIND,
    QUIET,
    SEED,
    START,
    lively_world,
    quiet_world,
    total,
)  # fmt: skip

FOLLOWER = "follower"
INTEGERS = {
    "trackingNo", "openOrderId", "closeOrderId", "traderID", "openLeverage", "openTime", "createdTime", "updateTime",
}  # fmt: skip
NUMBERS = {
    "openPriceAvg", "openSize", "openFee", "openMarginAmount", "openFillSize", "closeSize", "realizedPnl",
    "profitRate", "netProfit",
}  # fmt: skip
WORDS = {"traderName", "symbol", "positionSide", "status"}
SOMETIMES = {"tpTriggerPrice", "slTriggerPrice", "closeAvgPrice", "closeTime"}


@pytest.fixture(scope="module")
def world() -> World:
    lively = lively_world()
    lively.advance(START + 30 * MINUTE)
    return lively


@pytest.fixture(scope="module")
def rows(world) -> list[dict]:
    return world.open_orders(FOLLOWER) + world.closed_orders(FOLLOWER)


def test_every_field_is_there_with_its_type(rows):
    for row in rows:
        assert set(row) == INTEGERS | NUMBERS | WORDS | SOMETIMES
        assert all(type(row[name]) is int for name in INTEGERS)
        assert all(DECIMAL.fullmatch(row[name]) for name in NUMBERS)
        assert all(row[name] for name in WORDS)
        assert all(row[name] == "" or DECIMAL.fullmatch(row[name]) for name in SOMETIMES)
        assert row["positionSide"] in ("LONG", "SHORT")


def test_open_rows_have_empty_close_fields(world):
    rows = world.open_orders(FOLLOWER)
    assert len(rows) > 10
    for row in rows:
        assert row["status"] == "HAVE_OPEN"
        assert (row["closeOrderId"], row["closeTime"], row["closeAvgPrice"]) == (0, "", "")
        assert (row["closeSize"], row["realizedPnl"], row["netProfit"]) == ("0", "0", "0")


def test_closed_rows_are_closed_whole_and_after_they_opened(world):
    for row in world.closed_orders(FOLLOWER):
        assert row["status"] == "CLOSED"
        assert row["closeSize"] == row["openFillSize"]
        assert int(row["closeTime"]) >= row["openTime"]
        assert row["updateTime"] >= int(row["closeTime"])
        assert row["closeOrderId"] > 2**53


def test_ids_are_above_what_a_float_can_hold_and_never_repeat(rows):
    ids = [row[name] for row in rows for name in ("trackingNo", "openOrderId", "closeOrderId") if row[name]]
    assert all(2**53 < number < 2**63 for number in ids)
    assert len(ids) == len(set(ids))
    assert any(int(float(number)) != number for number in ids)


def test_margin_and_fee_follow_price_size_and_leverage(rows):
    cent = Decimal("0.00000001")
    for row in rows:
        notional = Decimal(row["openPriceAvg"]) * Decimal(row["openFillSize"])
        margin = (notional / row["openLeverage"]).quantize(cent, ROUND_HALF_UP)
        assert Decimal(row["openMarginAmount"]) == margin
        assert Decimal(row["openFee"]) == (notional * Decimal("0.0006")).quantize(cent, ROUND_HALF_UP)
        assert 0 < Decimal(row["openFillSize"]) <= Decimal(row["openSize"])
    assert any(row["openFillSize"] != row["openSize"] for row in rows)


def test_results_follow_the_prices_and_never_beat_the_costs(world):
    for row in world.closed_orders(FOLLOWER):
        sign = 1 if row["positionSide"] == "LONG" else -1
        move = (Decimal(row["closeAvgPrice"]) - Decimal(row["openPriceAvg"])) * sign
        gross = Decimal(row["realizedPnl"])
        assert abs(move * Decimal(row["openFillSize"]) - gross) < Decimal("0.00000001")
        rate = gross / Decimal(row["openMarginAmount"])
        assert abs(Decimal(row["profitRate"]) - rate) <= Decimal("0.0000005")
        if int(row["closeTime"]) - row["openTime"] < HOUR:
            fees = 2 * Decimal(row["openFee"]) * Decimal("0.9")
            funding = Decimal(row["openFee"]) / 5
            assert Decimal(row["netProfit"]) < gross - fees + funding


def test_lists_are_newest_first(world):
    opened = [(row["openTime"], row["trackingNo"]) for row in world.open_orders(FOLLOWER)]
    closed = [(int(row["closeTime"]), row["trackingNo"]) for row in world.closed_orders(FOLLOWER)]
    assert opened == sorted(opened, reverse=True)
    assert closed == sorted(closed, reverse=True)


def test_rows_are_the_callers_to_change(world):
    world.closed_orders(FOLLOWER)[0]["netProfit"] = "spoiled"
    world.open_orders(FOLLOWER)[0]["status"] = "spoiled"
    assert world.closed_orders(FOLLOWER)[0]["netProfit"] != "spoiled"
    assert world.open_orders(FOLLOWER)[0]["status"] == "HAVE_OPEN"


@pytest.mark.parametrize("later", [0, 7 * HOUR, 3 * DAY])
def test_balances_agree_with_the_orders(later):
    world = quiet_world()
    world.advance(START + later)
    closed, opened = world.closed_orders(FOLLOWER), world.open_orders(FOLLOWER)
    for trader in world.my_traders(FOLLOWER):
        mine = [row for row in closed if row["traderID"] == trader["traderId"]]
        held = total([row for row in opened if row["traderID"] == trader["traderId"]], "openMarginAmount")
        profit, invested = Decimal(trader["traceTotalProfit"]), Decimal(trader["totalInvestment"])
        assert profit == total(mine, "netProfit")
        assert Decimal(trader["copyTradingBalance"]) == invested + profit
        assert Decimal(trader["availableBalance"]) == invested + profit - held
        assert 0 <= Decimal(trader["transferableBalance"]) <= Decimal(trader["availableBalance"])
        assert 2_000 <= invested <= 10_000
        assert type(trader["traderId"]) is int


def test_the_sums_agree_while_the_stream_runs(world):
    closed = world.closed_orders(FOLLOWER)
    for trader in world.my_traders(FOLLOWER):
        mine = [row for row in closed if row["traderID"] == trader["traderId"]]
        assert Decimal(trader["traceTotalProfit"]) == total(mine, "netProfit")


def test_the_profit_share_is_settled_once_at_midnight():
    world = lively_world()
    midnight = START // DAY * DAY + DAY
    world.advance(midnight - 1)
    before = {row["trackingNo"]: row for row in world.closed_orders(FOLLOWER)}
    today = {n for n, row in before.items() if int(row["closeTime"]) >= midnight - DAY}
    world.advance(midnight)
    after = {row["trackingNo"]: row for row in world.closed_orders(FOLLOWER)}
    changed = {number for number, row in before.items() if after[number] != row}
    assert len(changed) > 20 and changed <= today
    for number in changed:
        differing = {name for name in before[number] if before[number][name] != after[number][name]}
        assert differing == {"netProfit", "updateTime"}
        assert after[number]["updateTime"] == midnight
        assert Decimal(after[number]["netProfit"]) > Decimal(before[number]["netProfit"])
    world.advance(midnight + 3 * DAY)
    settled = {row["trackingNo"]: row for row in world.closed_orders(FOLLOWER)}
    assert all(settled[number] == after[number] for number in today)


def test_triggers_of_open_copies_are_edited_and_say_so():
    world = lively_world()
    seen: dict[int, tuple[str, str, int]] = {}
    edits = 0
    for second in range(0, 600, 5):
        world.advance(START + second * 1_000)
        for row in world.open_orders(FOLLOWER):
            state = (row["tpTriggerPrice"], row["slTriggerPrice"], row["updateTime"])
            known = seen.setdefault(row["trackingNo"], state)
            if known != state:
                edits += 1
                assert state[2] > known[2] and state[:2] != known[:2]
                seen[row["trackingNo"]] = state
    assert edits > 10


@pytest.mark.parametrize("room", [60, 250])
def test_no_more_is_held_than_the_limit_allows(room):
    world = lively_world()

    def held() -> Decimal:
        mine = [row for row in world.open_orders(FOLLOWER) if row["traderID"] == NORTHWIND]
        return total(mine, "openMarginAmount")

    limit = held() + room
    config = TraceConfig(
        None, world.symbols, "amount", Decimal(90), limit, leverage_type="trader", margin_type="trader"
    )
    world.write_settings(FOLLOWER, NORTHWIND, CopySettings("unified", (config,)), START)
    peak = Decimal(0)
    for minute in range(1, 40):
        world.advance(START + minute * MINUTE)
        peak = max(peak, held())
    assert limit * Decimal("0.6") < peak <= limit
    skipped = [item for item in world.truth(FOLLOWER)["skipped"] if item["time"] > START]
    assert any(item["reason"] == "max_hold" for item in skipped)


def test_the_silent_traders_position_stays_open():
    world = quiet_world()
    ids = [row["trackingNo"] for row in world.open_orders(FOLLOWER) if row["traderID"] == QUIET]
    world.advance(START + 200 * DAY)
    assert len(ids) == 1
    assert ids == [row["trackingNo"] for row in world.open_orders(FOLLOWER) if row["traderID"] == QUIET]


def test_the_lead_reads_his_own_orders():
    world = World(SEED, START, speed=1.0)
    world.advance(START + 20 * MINUTE)
    rows = world.lead_history("lead")
    assert len(rows) > 200
    names = {
        "trackingNo", "symbol", "openOrderId", "openLeverage", "openPriceAvg", "openTime", "openSize", "openFee",
        "openMarginAmount", "openFillSize", "positionSide", "status", "tpTriggerPrice", "slTriggerPrice",
        "realizedPnl", "profitRate", "netProfit", "followCount", "createdTime", "updateTime",
    }  # fmt: skip
    for row in rows:
        assert set(row) == names
        assert type(row["followCount"]) is int and row["followCount"] > 0
        assert row["trackingNo"] > 2**53 and row["status"] == "CLOSED"
        assert row["openTime"] < row["updateTime"] <= START + 20 * MINUTE
    assert [row["updateTime"] for row in rows] == sorted((row["updateTime"] for row in rows), reverse=True)
    assert world.lead_history(FOLLOWER) == []
    copies = {row["trackingNo"] for row in world.closed_orders(FOLLOWER)}
    assert not copies & {row["trackingNo"] for row in rows}
