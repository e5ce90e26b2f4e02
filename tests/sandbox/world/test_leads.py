"""The lead traders: each as his character says, whoever follows him."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest

from copytrade.sandbox.world import TRADERS
from copytrade.sandbox.world.leads import LeadOrder
from copytrade.sandbox.world.prices import Market
from copytrade.sandbox.world.tape import Tape
from copytrade.sandbox.world.traders import DOUBLE, GAMMA, NORTHWIND, QUIET, Trader

from .moments import DAY, HOUR, MINUTE, SEED, START

MARKET = Market(SEED, START)


def orders(trader: Trader, *, until: int = START, speed: float = 0.0, seed: int = SEED) -> list[LeadOrder]:
    tape = Tape(trader, MARKET if seed == SEED else Market(seed, START), seed, START, speed)
    found, index = [], 0
    while (order := tape.ahead(index)) is not None and order.open_ms <= until:
        found.append(order)
        index += 1
    return found


def gains(closed: list[LeadOrder]) -> list[Decimal]:
    signs = {"LONG": 1, "SHORT": -1}
    return [(o.end.price - o.price) / o.price * signs[o.side] for o in closed if o.end is not None]


@pytest.mark.parametrize("trader", TRADERS, ids=lambda trader: trader.name)
def test_orders_are_complete_and_in_opening_order(trader):
    tape = orders(trader, until=START + 20 * DAY, speed=0.2)
    assert all(before.open_ms < after.open_ms for before, after in pairwise(tape))
    for order in tape:
        assert order.symbol in trader.symbols
        assert order.size > 0 and order.leverage >= 2
        assert order.end is None or order.end.ms > order.open_ms


def test_the_steady_one_always_has_a_stop_or_low_leverage_and_gains():
    tape = orders(NORTHWIND)
    assert all(order.stop_loss is not None or order.leverage == 3 for order in tape)
    assert sum(gains(tape)) > 0


def test_the_martingale_wins_nearly_always_and_loses_big():
    tape = orders(DOUBLE)
    results = gains(tape)
    wins, losses = [g for g in results if g > 0], [g for g in results if g < 0]
    assert len(wins) / len(results) > 0.88
    assert max(-g for g in losses) > 8 * sum(wins) / len(wins)
    assert all(order.stop_loss is None for order in tape)


def test_the_martingale_adds_to_what_goes_wrong():
    tape = orders(DOUBLE)
    adds = [
        (first, later)
        for at, first in enumerate(tape)
        for later in tape[at + 1 : at + 6]
        if later.symbol == first.symbol and first.end and later.end and later.end.ms == first.end.ms
    ]
    assert adds
    for first, later in adds:
        worse = later.price < first.price if first.side == "LONG" else later.price > first.price
        assert worse and later.side == first.side


def test_the_scalper_trades_often_briefly_and_on_eight_symbols():
    tape = orders(GAMMA)
    held = sorted(order.end.ms - order.open_ms for order in tape if order.end is not None)
    days = (START - tape[0].open_ms) / DAY
    assert len(tape) / days > 4
    assert held[len(held) // 2] < 40 * MINUTE
    assert len({order.symbol for order in tape}) == 8


def test_the_quiet_one_fell_silent_weeks_ago_and_left_a_position_open():
    tape = orders(QUIET, until=START + 300 * DAY, speed=1.0)
    last = tape[-1]
    assert START - 40 * DAY < last.open_ms < START - 30 * DAY
    assert last.end is None
    assert all(order.end is not None for order in tape[:-1])


def test_live_orders_begin_just_before_the_start_and_follow_the_speed():
    def live(speed: float) -> list[LeadOrder]:
        return [order for order in orders(GAMMA, until=START + 10 * MINUTE, speed=speed) if order.live]

    assert live(0.0) == []
    assert all(order.open_ms > START - 5 * MINUTE for order in live(1.0))
    assert any(order.open_ms < START for order in live(1.0))
    assert 15 < len(live(1.0)) < 65
    assert 3 * len(live(1.0)) < len(live(5.0)) < 8 * len(live(1.0))


def test_the_speed_does_not_change_what_is_not_live():
    slow, quick = (
        [order for order in orders(NORTHWIND, until=START + 2 * DAY, speed=speed) if not order.live]
        for speed in (0.0, 1.0)
    )
    assert [(o.symbol, o.side, o.size, o.price) for o in slow] == [
        (o.symbol, o.side, o.size, o.price) for o in quick
    ]


def test_live_orders_get_rarer_when_the_world_runs_long():
    late = [o for o in orders(GAMMA, until=START + 30 * HOUR, speed=1.0) if o.live]
    first_hour = sum(o.open_ms < START + HOUR for o in late)
    last_hour = sum(o.open_ms > START + 29 * HOUR for o in late)
    assert last_hour < first_hour / 3
    assert last_hour > 5
