"""What settings do to one typical copy."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from copytrade.effects import Effect, Typical, effect, growth, typical
from copytrade.rules import CopySettings, CustomLeverage, TraceConfig

FIXED = TraceConfig(
    symbol=None,
    symbols=("BTCUSDT", "ETHUSDT"),
    trace_type="amount",
    trace_value=Decimal(100),
    max_hold=Decimal(1000),
    stop_loss=Decimal("0.2"),
    leverage_type="fixed",
    long_leverage=5,
    short_leverage=4,
)
TYPICAL = Typical(Decimal(60), Decimal(6), "ETHUSDT", 50)


def of(**changed: object) -> CopySettings:
    return CopySettings("unified", (replace(FIXED, **changed),))


def test_a_fixed_amount_with_a_fixed_leverage() -> None:
    assert effect(of(), TYPICAL) == Effect(Decimal(100), Decimal(5), Decimal(500), Decimal(20), Decimal(1000))


def test_the_traders_leverage_is_the_one_lately_used() -> None:
    assert effect(of(leverage_type="trader"), TYPICAL).position == 600


def test_a_leverage_of_each_symbol_is_that_of_the_typical_symbol() -> None:
    own = (CustomLeverage("BTCUSDT", 3, 3), CustomLeverage("ETHUSDT", 8, 8))
    assert effect(of(leverage_type="specify", custom_leverages=own), TYPICAL).leverage == 8


def test_no_stop_loss_is_no_limit_whether_unset_or_zero() -> None:
    assert effect(of(stop_loss=None), TYPICAL).lost_at_stop is None
    assert effect(of(stop_loss=Decimal(0)), TYPICAL).lost_at_stop is None


def test_twice_the_multiple_is_twice_the_position_and_more_leverage_is_less_margin() -> None:
    base = of(trace_type="percent", trace_value=Decimal("0.5"), leverage_type="trader")
    double = of(trace_type="percent", trace_value=Decimal(1), leverage_type="fixed", long_leverage=12)
    before, after = effect(base, TYPICAL, base), effect(double, TYPICAL, base)
    assert (before.margin, before.position) == (Decimal(60), Decimal(360))
    assert (after.margin, after.position) == (Decimal(60), Decimal(720))
    assert growth(before, after) == 2


def test_a_multiple_after_an_amount_cannot_be_told() -> None:
    after = effect(of(trace_type="percent", trace_value=Decimal(1)), TYPICAL, of())
    assert (after.margin, after.position) == (None, None)
    assert growth(effect(of(), TYPICAL, of()), after) is None


def test_per_symbol_takes_the_config_of_the_typical_symbol() -> None:
    configs = tuple(
        replace(FIXED, symbol=name, symbols=None, trace_value=Decimal(value))
        for name, value in (("BTCUSDT", 10), ("ETHUSDT", 20))
    )
    assert effect(CopySettings("per_symbol", configs), TYPICAL).margin == 20


def test_typical_is_the_middle_of_the_copies_that_tell_both() -> None:
    copies = [
        (Decimal(10), 5, "A"),
        (Decimal(30), 7, "B"),
        (Decimal(20), 6, "B"),
        (None, 9, "C"),
        (Decimal(1), None, "C"),
    ]
    assert typical(copies) == Typical(Decimal(20), Decimal(6), "B", 3)
    assert typical([(None, None, "A")]) is None
    assert typical([]) is None


def test_settings_without_a_config_have_no_effect_to_tell() -> None:
    assert effect(CopySettings("unified", ()), TYPICAL) == Effect(None, None, None, None, None)
