"""Differences of copy settings in words."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade import rules
from copytrade.rules import CopySettings, CustomLeverage, TraceConfig
from tests.copytrade.rules_samples import settings as copy_settings

THIN = "\u202f"
BASE = TraceConfig(
    symbol=None,
    symbols=("BTCUSDT", "ETHUSDT"),
    trace_type="amount",
    trace_value=Decimal(100),
    max_hold=Decimal(1000),
    take_profit=Decimal("0.5"),
    stop_loss=Decimal(0),
    slippage=Decimal("0.005"),
    margin_type="cross",
    leverage_type="fixed",
    long_leverage=5,
    short_leverage=4,
)


def unified(**changes):
    return CopySettings("unified", (replace(BASE, **changes),))


def each(*configs):
    return CopySettings("per_symbol", configs)


def on(symbol, **changes):
    return replace(BASE, symbol=symbol, symbols=None, margin_type="trader", **changes)


def customs(**leverages):
    items = tuple(CustomLeverage(symbol, long, short) for symbol, (long, short) in leverages.items())
    return {
        "leverage_type": "specify",
        "long_leverage": None,
        "short_leverage": None,
        "custom_leverages": items,
    }


def lines(before, after):
    return [(row.label, row.before, row.after) for row in rules.differences(before, after)]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"trace_value": Decimal("1500.5")}, ("Size of each copy", "100 USDT", f"1{THIN}500.5 USDT")),
        ({"trace_type": "percent"}, ("Size of each copy", "100 USDT", "100x the trader's size")),
        ({"trace_type": "share"}, ("Size of each copy", "100 USDT", "100 (share)")),
        ({"max_hold": None}, ("Most held", f"1{THIN}000 USDT", "not set")),
        ({"take_profit": Decimal(0)}, ("Take profit", "50 % of margin", "off")),
        ({"stop_loss": Decimal("0.2")}, ("Stop loss", "off", "20 % of margin")),
        ({"stop_loss": None}, ("Stop loss", "off", "not set")),
        ({"slippage": Decimal(0)}, ("Slippage", "0.5 %", "no limit")),
        ({"slippage": Decimal("0.00125")}, ("Slippage", "0.5 %", "0.125 %")),
        ({"margin_type": "trader"}, ("Margin type", "cross", "as the trader")),
        ({"margin_type": "portfolio"}, ("Margin type", "cross", "portfolio")),
        ({"long_leverage": 10}, ("Long leverage", "5x", "10x")),
        ({"short_leverage": None}, ("Short leverage", "4x", "not set")),
        ({"symbols": ("BTCUSDT",)}, ("Symbols", "BTCUSDT, ETHUSDT", "BTCUSDT")),
        ({"symbols": None}, ("Symbols", "BTCUSDT, ETHUSDT", "all")),
    ],
)
def test_one_change_is_one_line(change, line):
    assert lines(unified(), unified(**change)) == [line]


def test_a_leverage_of_one_symbol_is_named_with_its_symbol():
    before, after = (
        unified(**customs(BTCUSDT=(5, 4), ETHUSDT=(3, 3))),
        unified(**customs(BTCUSDT=(10, 4), ETHUSDT=(3, 3))),
    )
    assert lines(before, after) == [("Long leverage BTCUSDT", "5x", "10x")]


def test_from_fixed_to_each_symbol_only_leverages_that_change_are_named():
    assert lines(unified(), unified(**customs(BTCUSDT=(5, 4), ETHUSDT=(5, 8)))) == [
        ("Leverage type", "fixed", "of each symbol"),
        ("Short leverage ETHUSDT", "4x", "8x"),
    ]


def test_from_the_traders_leverage_to_a_fixed_one():
    assert lines(unified(leverage_type="trader"), unified()) == [
        ("Leverage type", "as the trader", "fixed"),
        ("Long leverage", "the trader's", "5x"),
        ("Short leverage", "the trader's", "4x"),
    ]


def test_a_change_of_one_symbol_names_it_and_a_change_of_all_is_one_line():
    before = each(on("BTCUSDT"), on("ETHUSDT"), on("SOLUSDT"))
    wide = {"stop_loss": Decimal("0.1")}
    after = each(on("BTCUSDT", **wide), on("ETHUSDT", **wide, long_leverage=9), on("SOLUSDT", **wide))
    assert lines(before, after) == [
        ("Stop loss, all 3 symbols", "off", "10 % of margin"),
        ("Long leverage ETHUSDT", "5x", "9x"),
    ]


def test_a_symbol_that_comes_or_goes_is_told():
    before, after = each(on("BTCUSDT"), on("ETHUSDT")), each(on("BTCUSDT"), on("SOLUSDT"))
    assert ("Copied SOLUSDT", "no", "yes") in lines(before, after)
    assert ("Copied ETHUSDT", "yes", "no") in lines(before, after)


def test_a_change_of_mode_says_what_changes_for_each_symbol():
    before = unified(**customs(BTCUSDT=(5, 4), ETHUSDT=(5, 8)), margin_type="trader")
    after = each(on("BTCUSDT"), on("ETHUSDT"))
    assert lines(before, after) == [
        ("Mode", "one for all symbols", "each symbol its own"),
        ("Leverage type, all 2 symbols", "of each symbol", "fixed"),
        ("Short leverage ETHUSDT", "8x", "4x"),
    ]
    more = lines(before, each(on("BTCUSDT"), on("ETHUSDT"), on("XRPUSDT")))
    assert ("Copied XRPUSDT", "no", "yes") in more
    assert ("Copied XRPUSDT", "no", "yes") not in lines(unified(symbols=None), each(on("XRPUSDT")))


def test_only_the_mode_changes_when_each_symbol_gets_the_same():
    before = unified(margin_type="trader")
    assert lines(before, each(on("BTCUSDT"), on("ETHUSDT"))) == [
        ("Mode", "one for all symbols", "each symbol its own")
    ]


def test_an_answer_that_makes_no_sense_still_differs():
    twice = each(on("BTCUSDT"), on("BTCUSDT", long_leverage=9))
    assert lines(twice, each(on("BTCUSDT", long_leverage=8), on("BTCUSDT", long_leverage=9)))
    assert lines(CopySettings("unified"), unified())


def test_settings_are_described_in_full():
    assert rules.described(unified()) == [
        ("Mode", "one for all symbols"),
        ("Symbols", "BTCUSDT, ETHUSDT"),
        ("Size of each copy", "100 USDT"),
        ("Most held", f"1{THIN}000 USDT"),
        ("Take profit", "50 % of margin"),
        ("Stop loss", "off"),
        ("Slippage", "0.5 %"),
        ("Margin type", "cross"),
        ("Leverage type", "fixed"),
        ("Long leverage", "5x"),
        ("Short leverage", "4x"),
    ]
    of_each = rules.described(unified(**customs(BTCUSDT=(5, 4), ETHUSDT=(5, 8))))
    assert of_each[-2:] == [
        ("Leverage BTCUSDT", "5x long, 4x short"),
        ("Leverage ETHUSDT", "5x long, 8x short"),
    ]


def test_settings_of_each_symbol_are_described_with_how_many_have_a_value():
    rows = dict(rules.described(each(on("BTCUSDT"), on("ETHUSDT", long_leverage=9), on("SOLUSDT"))))
    assert rows["Symbols"] == "BTCUSDT, ETHUSDT, SOLUSDT"
    assert (rows["Stop loss"], rows["Long leverage"]) == ("off", "5x (2 of 3), 9x (1 of 3)")
    assert rules.described(each()) == [("Mode", "each symbol its own"), ("Symbols", "none")]


@st.composite
def neighbours(draw):
    """Settings and the same with one thing changed, or any other settings."""
    one = draw(copy_settings())
    if draw(st.integers(0, 3)) == 0:
        return one, draw(copy_settings())
    other = draw(copy_settings(mode=one.mode))
    place = draw(st.integers(0, len(one.configs) - 1))
    donor = next(
        (config for config in other.configs if config.symbol == one.configs[place].symbol), other.configs[0]
    )
    fields = draw(
        st.sampled_from(
            [
                ["trace_type"],
                ["trace_value"],
                ["max_hold"],
                ["take_profit"],
                ["stop_loss"],
                ["slippage"],
                ["margin_type"],
                ["leverage_type", "long_leverage", "short_leverage", "custom_leverages", "symbols"],
            ]
        )
    )
    changed = replace(one.configs[place], **{name: getattr(donor, name) for name in fields})
    return one, CopySettings(one.mode, (*one.configs[:place], changed, *one.configs[place + 1 :]))


@given(neighbours())
@settings(max_examples=500, deadline=None)
def test_there_are_words_exactly_when_settings_differ(pair):
    before, after = pair
    rows = rules.differences(before, after)
    assert (rows == []) == rules.same(before, after)
    assert all(row.label and row.before != row.after for row in rows)
    assert len({row.label for row in rows}) == len(rows)
    assert "Settings" not in {row.label for row in rows}


@given(neighbours())
@settings(max_examples=120, deadline=None)
def test_the_way_back_has_the_same_lines_turned_round(pair):
    there, back = lines(*pair), lines(*reversed(pair))
    assert {(label, after, before) for label, before, after in there} == set(back)


def test_thousands_of_symbols_are_compared():
    names = [f"S{number}USDT" for number in range(3000)]
    items = tuple(CustomLeverage(name, 5, 5) for name in names)
    one = CopySettings(
        "unified", (replace(BASE, symbols=tuple(names), leverage_type="specify", custom_leverages=items),)
    )
    other = each(*(on(name, long_leverage=index % 7 + 1) for index, name in enumerate(names)))
    assert len(rules.differences(one, other)) > 2500
    assert len(rules.differences(other, one)) > 2500
