"""Merging two edits of the same settings: nothing is lost, nothing invented, and a clash is somebody's choice."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade import rules
from copytrade.rules import CopySettings, CustomLeverage, TraceConfig, Unchosen, merged, three_way
from tests.copytrade.rules_samples import SYMBOLS
from tests.copytrade.rules_samples import settings as copy_settings

CONFIG = TraceConfig(
    symbol=None,
    symbols=("BTCUSDT", "ETHUSDT"),
    trace_type="amount",
    trace_value=Decimal(100),
    max_hold=Decimal(1000),
    take_profit=Decimal("0.5"),
    stop_loss=Decimal("0.2"),
    slippage=Decimal(0),
    margin_type="cross",
    leverage_type="fixed",
    long_leverage=5,
    short_leverage=4,
)
BASE = CopySettings("unified", (CONFIG,))
FIVE = "copied, 5x long, 5x short"


def of(**changed: Any) -> CopySettings:
    return CopySettings("unified", (replace(CONFIG, **changed),))


def on(symbol: str, **changed: Any) -> TraceConfig:
    return replace(CONFIG, **{"symbol": symbol, "symbols": None, "margin_type": "trader", **changed})


def each(*configs: TraceConfig) -> CopySettings:
    return CopySettings("per_symbol", configs)


def specify(**pairs: int) -> CopySettings:
    customs = tuple(CustomLeverage(name, value, value) for name, value in pairs.items())
    return of(
        symbols=tuple(pairs), leverage_type="specify", custom_leverages=customs,
        long_leverage=None, short_leverage=None,
    )  # fmt: skip


def rows(theirs: CopySettings, mine: CopySettings, base: CopySettings = BASE) -> dict[str, tuple]:
    return {
        row.path: (row.base, row.theirs, row.mine, row.clash, row.default)
        for row in three_way(base, theirs, mine)
    }


def test_edits_of_different_settings_are_both_kept() -> None:
    theirs, mine = of(take_profit=Decimal(1)), of(stop_loss=Decimal("0.3"), long_leverage=7)
    assert rows(theirs, mine) == {
        "take_profit": ("50 % of margin", "100 % of margin", "50 % of margin", False, "theirs"),
        "stop_loss": ("20 % of margin", "20 % of margin", "30 % of margin", False, "mine"),
        "long_leverage": ("5x", "5x", "7x", False, "mine"),
    }
    both = of(take_profit=Decimal(1), stop_loss=Decimal("0.3"), long_leverage=7)
    assert merged(BASE, theirs, mine, {}) == rules.canonical(both)


def test_a_clash_is_chosen_by_somebody() -> None:
    theirs, mine = of(stop_loss=Decimal("0.1")), of(stop_loss=Decimal("0.3"), max_hold=Decimal(500))
    assert rows(theirs, mine)["stop_loss"] == (
        "20 % of margin", "10 % of margin", "30 % of margin", True, "",
    )  # fmt: skip
    with pytest.raises(Unchosen, match=r"Choose one for each: Stop loss\.") as error:
        merged(BASE, theirs, mine, {"max_hold": "mine"})
    assert error.value.labels == ["Stop loss"]
    for side, value in {"mine": "0.3", "theirs": "0.1"}.items():
        kept = of(stop_loss=Decimal(value), max_hold=Decimal(500))
        assert rules.same(merged(BASE, theirs, mine, {"stop_loss": side}), kept)
    with pytest.raises(ValueError, match="not 'both'"):
        merged(BASE, theirs, mine, {"stop_loss": "both"})


def test_a_default_can_be_overruled_and_unknown_paths_are_ignored() -> None:
    theirs, mine = of(take_profit=Decimal(1)), of(stop_loss=Decimal("0.3"))
    chosen = {"take_profit": "mine", "stop_loss": "theirs", "no_such": "mine"}
    assert rules.same(merged(BASE, theirs, mine, chosen), BASE)


def test_the_same_edit_on_both_sides_is_no_clash() -> None:
    both = of(stop_loss=Decimal("0.30"))
    assert rows(both, of(stop_loss=Decimal("0.3")))["stop_loss"][3] is False
    assert rules.same(merged(BASE, both, both, {}), both)
    assert three_way(BASE, BASE, BASE) == []


def test_a_size_is_never_taken_apart() -> None:
    """100 USDT became 150 USDT there and 2x here: never 150x."""
    theirs, mine = of(trace_value=Decimal(150)), of(trace_type="percent", trace_value=Decimal(2))
    assert rows(theirs, mine) == {"size": ("100 USDT", "150 USDT", "2x the trader's size", True, "")}


def test_a_leverage_goes_with_its_type() -> None:
    theirs, mine = of(leverage_type="trader"), of(long_leverage=9)
    assert rows(theirs, mine) == {
        "leverage": ("5x long, 4x short", "the trader's", "9x long, 4x short", True, "")
    }
    assert rules.same(merged(BASE, theirs, mine, {"leverage": "mine"}), mine)
    assert rules.same(merged(BASE, theirs, mine, {"leverage": "theirs"}), theirs)


def test_symbols_are_chosen_one_by_one() -> None:
    theirs, mine = of(symbols=("BTCUSDT", "ETHUSDT", "SOLUSDT")), of(symbols=("BTCUSDT",))
    assert rows(theirs, mine) == {
        "symbols.ETHUSDT": ("copied", "copied", "not copied", False, "mine"),
        "symbols.SOLUSDT": ("not copied", "copied", "not copied", False, "theirs"),
    }
    assert merged(BASE, theirs, mine, {}).configs[0].symbols == ("BTCUSDT", "SOLUSDT")
    assert rows(of(symbols=None), mine)["symbols"] == ("BTCUSDT, ETHUSDT", "all", "BTCUSDT", True, "")


def test_a_symbol_keeps_its_own_leverage_in_a_merge() -> None:
    base = specify(BTCUSDT=5, ETHUSDT=5)
    theirs, mine = specify(BTCUSDT=5, ETHUSDT=5, SOLUSDT=3), specify(BTCUSDT=8, ETHUSDT=5)
    assert rows(theirs, mine, base) == {
        "symbols.BTCUSDT": (FIVE, FIVE, "copied, 8x long, 8x short", False, "mine"),
        "symbols.SOLUSDT": ("not copied", "copied, 3x long, 3x short", "not copied", False, "theirs"),
    }  # fmt: skip
    assert rules.same(merged(base, theirs, mine, {}), specify(BTCUSDT=8, ETHUSDT=5, SOLUSDT=3))
    dropped = specify(ETHUSDT=5)
    assert rows(dropped, mine, base)["symbols.BTCUSDT"][3], "one side leaves it out, the other changes it"


def test_going_over_to_leverages_of_each_symbol_takes_the_symbols_along() -> None:
    theirs, mine = of(symbols=("BTCUSDT", "ETHUSDT", "SOLUSDT")), specify(BTCUSDT=5, ETHUSDT=6)
    (row,) = three_way(BASE, theirs, mine)
    assert (row.path, row.clash) == ("coverage", True) and "Leverage ETHUSDT: 6x long" in row.mine
    assert rules.same(merged(BASE, theirs, mine, {"coverage": "mine"}), mine)
    assert rules.same(merged(BASE, theirs, mine, {"coverage": "theirs"}), theirs)


def test_settings_per_symbol_merge_symbol_by_symbol() -> None:
    base = each(on("BTCUSDT"), on("ETHUSDT"))
    theirs = each(on("BTCUSDT", stop_loss=Decimal("0.1")), on("ETHUSDT"), on("SOLUSDT"))
    mine = each(on("BTCUSDT", long_leverage=2), on("ETHUSDT", leverage_type="trader"))
    found = rows(theirs, mine, base)
    assert list(found) == ["BTCUSDT.stop_loss", "BTCUSDT.long_leverage", "ETHUSDT.leverage", "SOLUSDT.all"]
    assert found["SOLUSDT.all"][::2] == ("none", "none", "theirs") and not found["SOLUSDT.all"][3]
    assert three_way(base, theirs, mine)[0].label == "Stop loss BTCUSDT"
    wanted = each(
        on("BTCUSDT", stop_loss=Decimal("0.1"), long_leverage=2),
        on("ETHUSDT", leverage_type="trader"),
        on("SOLUSDT"),
    )
    assert rules.same(merged(base, theirs, mine, {}), wanted)


def test_another_mode_is_chosen_as_a_whole() -> None:
    theirs, mine = each(on("BTCUSDT"), on("ETHUSDT")), of(stop_loss=Decimal("0.3"))
    (row,) = three_way(BASE, theirs, mine)
    assert (row.path, row.clash, row.base, row.theirs) == (
        "all", True, "one for all symbols", "each symbol its own",
    )  # fmt: skip
    assert row.mine == "one for all symbols; Stop loss: 30 % of margin"
    with pytest.raises(Unchosen, match="All settings"):
        merged(BASE, theirs, mine, {})
    assert rules.same(merged(BASE, theirs, mine, {"all": "theirs"}), theirs)
    assert rules.same(merged(BASE, theirs, mine, {"all": "mine"}), mine)
    assert rules.same(merged(BASE, theirs, BASE, {}), theirs), "only they changed something"


def test_answers_that_make_no_sense_are_not_taken_apart() -> None:
    twice = each(on("BTCUSDT"), on("BTCUSDT", long_leverage=9))
    odd = of(leverage_type="odd", custom_leverages=(CustomLeverage("BTCUSDT", 1, 1),))
    base = each(on("BTCUSDT"))
    mine = each(on("BTCUSDT", long_leverage=2))
    assert [row.path for row in three_way(base, twice, mine)] == ["all"]
    assert [row.path for row in three_way(BASE, odd, of(slippage=None))] == ["all"]
    assert rules.same(merged(BASE, odd, BASE, {}), odd)


@st.composite
def mixed(draw: Any, one: CopySettings, other: CopySettings) -> CopySettings:
    """Settings of the same mode with some fields of `other`: an edit that leaves most as it was."""
    if one.mode != other.mode:
        return draw(st.sampled_from([one, other]))
    plain = ["trace_value", "max_hold", "take_profit", "stop_loss", "slippage", "margin_type"]
    pairs = zip(rules.canonical(one).configs, rules.canonical(other).configs, strict=False)
    names = draw(st.sets(st.sampled_from(plain)))
    return CopySettings(
        one.mode, tuple(replace(a, **{name: getattr(b, name) for name in names}) for a, b in pairs)
    )


@given(st.data())
@settings(max_examples=150)
def test_no_edit_is_lost_and_nothing_is_invented(data: st.DataObject) -> None:
    base, other, third = (data.draw(copy_settings()) for _ in range(3))
    theirs, mine = data.draw(mixed(base, other)), data.draw(mixed(base, third))
    found = three_way(base, theirs, mine)
    assert rules.same(merged(base, theirs, base, {}), theirs)
    assert rules.same(merged(base, base, mine, {}), mine)
    for side, wanted in {"mine": mine, "theirs": theirs}.items():
        assert rules.same(merged(base, theirs, mine, {row.path: side for row in found}), wanted)
    assert all(row.base != row.theirs or row.base != row.mine for row in found)
    assert all(row.default or row.clash for row in found)
    assert len({row.path for row in found}) == len(found)


@given(copy_settings(), copy_settings(), copy_settings(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_whatever_is_chosen_can_be_sent(
    base: CopySettings, theirs: CopySettings, mine: CopySettings, rng: Any
) -> None:
    """Units hold together what the rules hold together: any choice between valid settings is valid."""
    choices = {row.path: rng.choice(["mine", "theirs"]) for row in three_way(base, theirs, mine)}
    result = merged(base, theirs, mine, choices)
    found = rules.check_body(rules.to_body(1, result), supported=SYMBOLS, ours=True)
    if result.configs[0].symbols == ():
        assert [violation.field for violation in found] == ["unifiedTraceConfig.symbols"]
    else:
        assert found == []


def test_two_hundred_symbols_with_changes_on_both_sides_merge() -> None:
    names = [f"S{number:03}USDT" for number in range(200)]
    base = each(*(on(name) for name in names))
    theirs = each(*(on(name, stop_loss=Decimal("0.1")) for name in names))
    mine = each(*(on(name, long_leverage=3) for name in names))
    assert len(three_way(base, theirs, mine)) == 400
    assert len(merged(base, theirs, mine, {}).configs) == 200
