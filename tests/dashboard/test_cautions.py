"""What is warned of before settings are sent: growth, caps and exits that go, leverage, symbols left out."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from copytrade.rules import PER_SYMBOL, CopySettings, CustomLeverage
from dashboard.cautions import cautions
from tests.support.ledger_rows import UNIFIED

BASE = UNIFIED.configs[0]
RECENT = [(Decimal(100), 5, "BTCUSDT")] * 5


def unified(**changed: Any) -> CopySettings:
    return replace(UNIFIED, configs=(replace(BASE, **changed),))


def each(**by_symbol: dict[str, Any]) -> CopySettings:
    configs = (
        replace(BASE, symbols=None, margin_type="trader", symbol=symbol, **changed)
        for symbol, changed in by_symbol.items()
    )
    return CopySettings(PER_SYMBOL, tuple(configs))


def told(after: CopySettings, before: CopySettings = UNIFIED, **more: Any) -> str:
    known = {"recent": RECENT, "open_symbols": []} | more
    return " | ".join(cautions(before, after, **known)).replace("\u202f", " ")


def test_the_same_settings_warn_of_nothing() -> None:
    assert told(UNIFIED) == ""


@pytest.mark.parametrize(("value", "warned"), [(150, False), (151, True), (50, False)])
def test_growth_is_told_from_more_than_half_on(value: int, warned: bool) -> None:
    assert ("times the position" in told(unified(trace_value=Decimal(value)))) is warned


def test_growth_by_leverage_alone_is_told_for_shorts_too() -> None:
    words = told(unified(short_leverage=10))
    assert "would open 1 000 USDT instead of 500 USDT: 2 times the position." in words


def test_growth_of_another_symbol_than_the_usual_one_is_told_and_named() -> None:
    before = each(BTCUSDT={}, ETHUSDT={})
    after = each(BTCUSDT={}, ETHUSDT={"trace_value": Decimal(400)})
    recent = [*RECENT, (Decimal(100), 5, "ETHUSDT")]
    assert "in ETHUSDT would open 2 000 USDT instead of 500 USDT" in told(after, before, recent=recent)


def test_a_multiple_of_the_trader_grows_too() -> None:
    before = unified(trace_type="percent", trace_value=Decimal(1))
    after = unified(trace_type="percent", trace_value=Decimal(2))
    assert "2 times the position" in told(after, before)


@pytest.mark.parametrize("gone", [None, Decimal(0)])
def test_a_stop_loss_that_goes_is_told(gone: Decimal | None) -> None:
    assert "The stop loss goes" in told(unified(stop_loss=gone))
    assert "The stop loss goes" not in told(unified(stop_loss=gone), unified(stop_loss=gone))


def test_a_stop_loss_that_goes_for_one_symbol_of_many_is_told() -> None:
    before = each(BTCUSDT={}, ETHUSDT={})
    assert "The stop loss goes" in told(each(BTCUSDT={}, ETHUSDT={"stop_loss": Decimal(0)}), before)


def test_a_stop_loss_that_only_some_symbols_had_is_missed_after_a_mode_switch() -> None:
    before = each(BTCUSDT={"stop_loss": Decimal(0)}, ETHUSDT={})
    assert "The stop loss goes" in told(unified(stop_loss=Decimal(0)), before)


def test_the_cap_that_goes_or_grows_is_told() -> None:
    assert "The most held goes" in told(unified(max_hold=None))
    assert "The most held grows from 1 000 to 2 000 USDT." in told(unified(max_hold=Decimal(2000)))
    assert "most held" not in told(unified(max_hold=Decimal(1500)))


def test_leverage_is_held_against_the_highest_that_was_used() -> None:
    recent = [(Decimal(100), 5, "BTCUSDT")] * 3 + [(Decimal(100), 10, "BTCUSDT")]
    assert "above what was used" not in told(unified(long_leverage=10), recent=recent)
    words = told(unified(long_leverage=11), recent=recent)
    assert "Long leverage 11x: above what was used." in words and "had 10x at most" in words


def test_leverages_of_each_symbol_are_named_and_many_are_counted() -> None:
    custom = tuple(CustomLeverage(f"S{n}USDT", 20 + n, 5) for n in range(9))
    words = told(unified(leverage_type="specify", custom_leverages=custom))
    assert "Long leverage S8USDT 28x" in words and "and 3 more" in words


def test_a_leverage_that_follows_the_trader_is_not_warned_of() -> None:
    assert told(unified(leverage_type="trader", long_leverage=None, short_leverage=None)) == ""


def test_a_symbol_with_an_open_copy_that_is_left_out_is_told() -> None:
    words = told(unified(symbols=("ETHUSDT",)), open_symbols=["BTCUSDT", "ETHUSDT", "BTCUSDT"])
    assert words == (
        "BTCUSDT: copies are open, and the symbol is no longer chosen. They stay open; new ones are not copied."
    )


def test_without_copies_or_a_base_nothing_is_claimed() -> None:
    assert told(unified(trace_value=Decimal(9999), long_leverage=99), recent=[]) == ""
    assert cautions(None, UNIFIED, recent=RECENT, open_symbols=[]) == []


def test_two_hundred_symbols_are_looked_at() -> None:
    names = {f"S{n}USDT": {} for n in range(200)}
    grown = names | {"S7USDT": {"trace_value": Decimal(1000), "long_leverage": 50}}
    recent = [(Decimal(100), 5, name) for name in list(names)[:50]]
    words = told(each(**grown), each(**names), recent=recent)
    assert "in S7USDT would open" in words and "Long leverage S7USDT 50x" in words
