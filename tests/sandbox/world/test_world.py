"""The world as the sandbox asks it: the same for the same seed and changes, coherent, and always with its facts."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade.rules import CopySettings, TraceConfig, from_answer
from copytrade.sandbox.world import TRADERS, World

from .moments import (
    DAY,
    DOUBLE,
    EMBER,
    GAMMA,
    HOUR,
    LANTERN,
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


def amount(value: int, *, symbols: tuple[str, ...] | None = None, **more: object) -> CopySettings:
    config = TraceConfig(
        None, symbols or World.symbols, "amount", Decimal(value), margin_type="trader", leverage_type="fixed",
        long_leverage=4, short_leverage=4, **more,
    )  # fmt: skip
    return CopySettings("unified", (config,))


CHANGES = (
    (2 * MINUTE, NORTHWIND, amount(77)),
    (5 * MINUTE, GAMMA, amount(33, symbols=("BTCUSDT", "ETHUSDT", "SOLUSDT"))),
    (25 * MINUTE, NORTHWIND, amount(55, max_hold=Decimal(150))),
    (26 * MINUTE, QUIET, amount(40)),
)


def lived(steps: list[int], until: int = 40 * MINUTE) -> dict:
    """The truth of a lively world with CHANGES, asked at each of `steps` on its way."""
    world = lively_world()
    marks = [(step, None) for step in steps] + [(at, (trader, value)) for at, trader, value in CHANGES]
    for moment, change in sorted(marks, key=lambda mark: mark[0]):
        world.advance(START + moment)
        if change is None:
            world.open_orders(FOLLOWER)
            world.closed_orders(FOLLOWER)
        else:
            world.write_settings(FOLLOWER, *change, START + moment)
    world.advance(START + until)
    return world.truth(FOLLOWER)


@pytest.fixture(scope="module")
def in_one_jump() -> dict:
    return lived([])


@given(st.lists(st.integers(0, 40 * MINUTE), max_size=40))
@settings(max_examples=12, deadline=None)
def test_many_steps_lead_to_where_one_jump_leads(in_one_jump, steps):
    assert lived(steps) == in_one_jump


def test_steps_over_midnights_lead_to_where_one_jump_leads():
    jumped, stepped = quiet_world(), quiet_world()
    for hours in range(0, 24 * 6, 5):
        stepped.advance(START + hours * HOUR)
        stepped.my_traders(FOLLOWER)
    for world in (jumped, stepped):
        world.advance(START + 6 * DAY)
    assert jumped.truth(FOLLOWER) == stepped.truth(FOLLOWER)


def test_a_restart_with_the_settings_log_gives_the_same_world(in_one_jump):
    first = lively_world()
    for moment, trader, value in CHANGES:
        first.advance(START + moment)
        first.write_settings(FOLLOWER, trader, value, START + moment)
    log = json.loads(json.dumps(first.settings_log()))
    second = lively_world()
    second.load(log)
    second.advance(START + 40 * MINUTE)
    assert second.truth(FOLLOWER) == in_one_jump
    assert second.settings_log() == log


def test_another_seed_tells_another_story():
    one, other = quiet_world(SEED), quiet_world(SEED + 1)
    assert one.closed_orders(FOLLOWER) != other.closed_orders(FOLLOWER)


def test_time_never_goes_back():
    world = quiet_world()
    world.advance(START + DAY)
    later = world.truth(FOLLOWER)
    world.advance(START)
    assert world.truth(FOLLOWER) == later


def test_a_fresh_world_knows_nothing_of_what_was_done():
    world = lively_world()
    before = world.truth(FOLLOWER)
    world.advance(START + 10 * MINUTE)
    world.write_settings(FOLLOWER, NORTHWIND, amount(99), START + 10 * MINUTE)
    world.advance(START + 20 * MINUTE)
    world.open_orders(FOLLOWER)
    assert world.fresh().truth(FOLLOWER) == before


@pytest.mark.parametrize("seed", [SEED, 1, 2, 3])
@pytest.mark.parametrize("later", [0, 9 * DAY, 120 * DAY])
def test_what_is_always_there_is_there(seed, later):
    world = quiet_world(seed)
    world.advance(START + later)
    assert world.price("BTCUSDT", START + later) > 1_000
    assert len(world.symbols) >= 12
    assert world.open_orders(FOLLOWER)
    closed = world.closed_orders(FOLLOWER)
    ages = [(START + later - int(row["closeTime"])) / DAY for row in closed]
    assert sum(age < 89 for age in ages) > 50
    assert any(40 < age < 60 for age in ages)
    assert max(ages) > 200


@pytest.mark.parametrize("seed", [SEED, 1, 2, 3])
def test_the_past_of_the_follower_is_long_and_of_a_readable_size(seed):
    closed = quiet_world(seed).closed_orders(FOLLOWER)
    assert 600 <= len(closed) <= 1_700
    assert {row["traderID"] for row in closed} == {trader.trader_id for trader in TRADERS}


def test_the_traders_results_are_those_of_their_characters():
    world = quiet_world()
    rows = world.closed_orders(FOLLOWER)

    def net(trader_id: int) -> Decimal:
        return total([row for row in rows if row["traderID"] == trader_id], "netProfit")

    def gross(trader_id: int) -> Decimal:
        return total([row for row in rows if row["traderID"] == trader_id], "realizedPnl")

    doubles = [Decimal(row["netProfit"]) for row in rows if row["traderID"] == DOUBLE]
    assert net(NORTHWIND) > 1_000
    assert net(DOUBLE) < 0 and sum(result > 0 for result in doubles) / len(doubles) > 0.9
    assert abs(net(GAMMA)) < 150 and gross(GAMMA) - net(GAMMA) > 300
    assert 0 < net(QUIET) < 500


def test_live_events_come_every_few_seconds():
    world = lively_world()
    events, known = 0, {}
    for second in range(60, 360):
        world.advance(START + second * 1_000)
        now = {row["trackingNo"]: row["updateTime"] for row in world.open_orders(FOLLOWER)}
        if second > 60:
            events += sum(known.get(number) != updated for number, updated in now.items())
            events += sum(number not in now for number in known)
        known = now
    assert 60 < events < 400


def test_accounts_have_names_and_numbers():
    world = World(SEED, START, speed=0.0, load_accounts=2_000)
    names = world.follower_names()
    assert names[:2] == [FOLLOWER, "load-000001"] and names[-1] == "load-002000"
    uids = {world.uid(name) for name in [*names, "lead", "affiliate"]}
    assert len(uids) == 2_003
    assert world.my_traders("lead") == world.my_traders("affiliate") == []
    assert world.open_orders("lead") == world.closed_orders("affiliate") == []


def test_an_unknown_account_is_a_key_error():
    world = quiet_world(load_accounts=3)
    for ask in (world.open_orders, world.my_traders, world.uid, world.truth, world.lead_history):
        with pytest.raises(KeyError):
            ask("load-000004")


def test_load_accounts_have_settings_and_a_small_history_of_their_own():
    world = quiet_world(load_accounts=40)
    names = world.follower_names()[1:]
    histories = [world.closed_orders(name) for name in names]
    assert sum(5 < len(rows) < 400 for rows in histories) > 30
    traders = {tuple(row["traderId"] for row in world.my_traders(name)) for name in names}
    assert len(traders) > 4
    values = {world.settings(name, NORTHWIND)[0]["traceValue"] for name in names}
    assert len(values) > 5
    numbers = [row["trackingNo"] for rows in histories for row in rows]
    assert len(numbers) == len(set(numbers))


def test_a_load_account_is_the_same_whenever_it_is_first_asked():
    early, late = (World(SEED, START, load_accounts=5) for _ in range(2))
    early.open_orders("load-000002")
    for world in (early, late):
        world.advance(START + 15 * MINUTE)
    assert early.truth("load-000002") == late.truth("load-000002")


def test_the_settings_of_all_modes_and_kinds_are_there():
    world = quiet_world()

    def shown(trader: int) -> CopySettings:
        items = world.settings(FOLLOWER, trader)
        assert items and all(item["copyEnable"] is True for item in items)
        return from_answer(items)

    steady, double, gamma, quiet = (shown(trader) for trader in (NORTHWIND, DOUBLE, GAMMA, QUIET))
    assert steady.configs[0].leverage_type == "specify"
    assert {item.symbol for item in steady.configs[0].custom_leverages} == set(steady.configs[0].symbols)
    assert double.configs[0].leverage_type == "fixed" and double.configs[0].trace_type == "amount"
    assert gamma.mode == "per_symbol" and {c.symbol for c in gamma.configs} == set(world.symbols)
    assert quiet.configs[0].leverage_type == "trader"


def test_a_trader_nobody_knows_has_no_settings_and_one_never_copied_has_defaults():
    world = quiet_world(load_accounts=1)
    assert world.settings(FOLLOWER, 12345) is None
    with pytest.raises(KeyError):
        world.write_settings(FOLLOWER, 12345, amount(50), START)
    never = world.settings("lead", DOUBLE)
    assert [item["copyEnable"] for item in never] == [False]


def test_traders_that_were_left_are_gone_but_for_their_orders():
    world = quiet_world()
    listed = [row["traderId"] for row in world.my_traders(FOLLOWER)]
    assert listed == [NORTHWIND, DOUBLE, GAMMA, QUIET]
    for left in (EMBER, LANTERN):
        assert all(item["copyEnable"] is False for item in world.settings(FOLLOWER, left))
        rows = [row for row in world.closed_orders(FOLLOWER) if row["traderID"] == left]
        assert len(rows) > 20
        assert all(START - int(row["closeTime"]) > 60 * DAY for row in rows)


def test_settings_written_for_a_trader_that_was_left_are_kept_and_copy_nothing():
    world = lively_world()
    world.write_settings(FOLLOWER, EMBER, amount(44), START)
    world.write_settings("lead", GAMMA, amount(45), START)
    world.advance(START + 30 * MINUTE)
    assert world.settings(FOLLOWER, EMBER)[0]["traceValue"] == "44"
    assert world.settings("lead", GAMMA)[0]["traceValue"] == "45"
    assert world.settings("lead", GAMMA)[0]["copyEnable"] is False
    assert all(row["traderID"] != EMBER for row in world.open_orders(FOLLOWER))
    assert world.open_orders("lead") == []


def test_new_settings_rule_what_opens_after_them_and_nothing_before():
    world = lively_world()
    world.advance(START + 5 * MINUTE)
    before = {row["trackingNo"]: row for row in world.open_orders(FOLLOWER)}
    closed = world.closed_orders(FOLLOWER)
    world.write_settings(FOLLOWER, NORTHWIND, amount(61, symbols=("BTCUSDT", "LTCUSDT")), START + 5 * MINUTE)
    assert {row["trackingNo"]: row for row in world.open_orders(FOLLOWER)} == before
    assert world.closed_orders(FOLLOWER) == closed
    world.advance(START + 15 * MINUTE)
    rows = world.open_orders(FOLLOWER) + world.closed_orders(FOLLOWER)
    new = [r for r in rows if r["traderID"] == NORTHWIND and r["openTime"] > START + 5 * MINUTE + 1_000]
    assert len(new) >= 3
    assert min(row["openTime"] for row in new) < START + 8 * MINUTE
    for row in new:
        assert row["symbol"] in ("BTCUSDT", "LTCUSDT") and row["openLeverage"] == 4
        wanted = Decimal(row["openSize"]) * Decimal(row["openPriceAvg"]) / 4
        assert 50 < wanted <= 61
    reasons = {
        item["reason"] for item in world.truth(FOLLOWER)["skipped"] if item["time"] > START + 5 * MINUTE
    }
    assert "symbol" in reasons
