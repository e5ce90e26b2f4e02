"""Prices: one path for a seed, plausible, without gaps, searched exactly."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade.sandbox.world.prices import Market
from copytrade.sandbox.world.symbols import CONTRACTS

from .moments import DAY, HOUR, MINUTE, SEED, START

SHARED = Market(SEED, START)
SYMBOLS = st.sampled_from(sorted(CONTRACTS))


@pytest.fixture(scope="module")
def market() -> Market:
    return Market(SEED, START)


def test_a_price_does_not_depend_on_what_was_asked_before(market):
    moments = [START + step * 7 * HOUR + 12_345 for step in range(-40, 40)]
    asked_backwards = Market(SEED, START)
    late_first = [asked_backwards.price("ETHUSDT", moment) for moment in reversed(moments)]
    assert [market.price("ETHUSDT", moment) for moment in moments] == late_first[::-1]


def test_another_seed_is_another_market(market):
    other = Market(SEED + 1, START)
    moments = range(START - 5 * DAY, START, HOUR)
    assert [market.price("BTCUSDT", m) for m in moments] != [other.price("BTCUSDT", m) for m in moments]


def test_a_world_started_later_on_the_same_day_has_the_same_past(market):
    later = Market(SEED, START + 3 * HOUR)
    moments = range(START - 3 * DAY, START + DAY, 5 * HOUR)
    assert [market.price("SOLUSDT", m) for m in moments] == [later.price("SOLUSDT", m) for m in moments]


@given(SYMBOLS, st.integers(-235 * DAY, 120 * DAY))
@settings(max_examples=150, deadline=None)
def test_prices_are_whole_ticks_of_a_plausible_size(symbol, offset):
    contract = CONTRACTS[symbol]
    price = SHARED.price(symbol, START + offset)
    assert price == price.quantize(Decimal(1).scaleb(-contract.digits))
    assert 0.25 < float(price) / contract.level < 4


@given(SYMBOLS, st.integers(-200 * DAY, 30 * DAY))
@settings(max_examples=100, deadline=None)
def test_a_price_moves_without_jumps(symbol, offset):
    before, after = (float(SHARED.price(symbol, START + offset + shift)) for shift in (0, 1_000))
    assert abs(math.log(after / before)) < 0.004


def test_there_are_at_least_twelve_usdt_contracts_and_bitcoin_is_above_a_thousand(market):
    assert len(CONTRACTS) >= 12
    assert all(symbol.endswith("USDT") for symbol in CONTRACTS)
    assert all(market.price("BTCUSDT", START + day * DAY) > 1_000 for day in range(-230, 400, 5))


def test_a_price_moves_within_seconds(market):
    prices = {market.price("BTCUSDT", START + second * 1_000) for second in range(30)}
    assert len(prices) > 20


def test_an_unknown_symbol_is_a_key_error(market):
    with pytest.raises(KeyError):
        market.price("NOPEUSDT", START)


@given(
    SYMBOLS,
    st.integers(-200 * DAY, 30 * DAY),
    st.integers(MINUTE, 3 * DAY),
    st.floats(0.0005, 0.08),
    st.floats(0.0005, 0.08),
)
@settings(max_examples=120, deadline=None)
def test_a_crossing_is_the_first_moment_beyond_a_level(symbol, offset, length, above, below):
    contract = CONTRACTS[symbol]
    begin = START + offset
    now = contract.level * math.exp(SHARED.log(symbol, begin))
    upper, lower = Decimal(str(now * (1 + above))), Decimal(str(now * (1 - below)))
    high, low = (math.log(float(level) / contract.level) for level in (upper, lower))
    hit = SHARED.crossing(symbol, begin, begin + length, upper, lower)
    until = begin + length if hit is None else hit[0]
    inside = [SHARED.log(symbol, moment) for moment in range(begin, until, 15_000)]
    assert all(low < value < high for value in inside)
    if hit is not None:
        moment, level = hit
        assert begin <= moment < begin + length
        value = SHARED.log(symbol, moment)
        assert value >= high - 1e-9 if level == upper else value <= low + 1e-9


def test_a_level_that_is_not_looked_for_is_never_reached(market):
    assert market.crossing("BTCUSDT", START, START + 10 * DAY, None, None) is None
