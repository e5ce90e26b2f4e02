"""Copy settings on their way to the exchange and back: nothing is lost, nothing is invented."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade import rules
from copytrade.rules import CopySettings, CustomLeverage, TraceConfig
from tests.copytrade.rules_samples import SYMBOLS, per_symbol_body, specify_body, unified_body
from tests.copytrade.rules_samples import settings as copy_settings

TRADER = 702345678901234567


def over_the_wire(value):
    return json.loads(json.dumps(value), parse_float=Decimal)


def answer(**changes):
    """One unified item as the exchange answers it."""
    return {
        "copyEnable": True,
        "symbol": None,
        "symbols": ["BTCUSDT", "ETHUSDT"],
        "productType": "USDT-FUTURES",
        "settingMode": "unified",
        "traceType": "amount",
        "traceValue": "100.50",
        "maxHoldSize": "1000",
        "marginType": "cross",
        "marginCoin": "USDT",
        "leverageType": "fixed",
        "longLeverage": 5,
        "shortLeverage": 4,
        "customLeverages": None,
        "takeProfitRatio": "0.5",
        "stopLossRatio": None,
        "slippageRatio": "",
        **changes,
    }


def shuffled(made: CopySettings, seed: int) -> CopySettings:
    """The same settings, written otherwise: other order, zeros at the end, leverages of no effect."""
    dice = random.Random(seed)

    def padded(value: Decimal | None) -> Decimal | None:
        text = None if value is None else rules.plain(value)
        return None if text is None else Decimal(text + ("0" if "." in text else ".00"))

    def config(old: TraceConfig) -> TraceConfig:
        customs = [*old.custom_leverages]
        dice.shuffle(customs)
        idle = old.leverage_type == "trader"
        return replace(
            old,
            symbols=None if old.symbols is None else tuple(dice.sample(old.symbols, len(old.symbols))),
            trace_value=padded(old.trace_value),
            max_hold=padded(old.max_hold),
            stop_loss=padded(old.stop_loss),
            long_leverage=dice.randint(1, 9) if idle else old.long_leverage,
            custom_leverages=(CustomLeverage("BTCUSDT", 1, 2),) if idle else tuple(customs),
        )

    configs = [config(old) for old in made.configs]
    dice.shuffle(configs)
    return CopySettings(made.mode, tuple(configs))


def test_each_setting_has_its_read_and_its_write_name():
    table = """settingMode settingType, maxHoldSize maxHoldQty, takeProfitRatio stopProfitRatio,
        longLeverage fixedLongLeverage, shortLeverage fixedShortLeverage"""
    same = "symbol symbols traceType traceValue marginType leverageType stopLossRatio slippageRatio customLeverages"
    expected = dict(pair.split() for pair in table.split(",")) | {name: name for name in same.split()}
    assert dict(rules.READ_TO_WRITE) == expected
    assert set(rules.NOT_WRITTEN) == {"copyEnable", "productType", "marginCoin"}
    assert set(answer()) == set(rules.READ_TO_WRITE) | set(rules.NOT_WRITTEN)


def test_the_documentation_names_every_setting_and_its_bounds():
    text = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    for name in (*rules.READ_TO_WRITE, *rules.READ_TO_WRITE.values(), *rules.NOT_WRITTEN):
        assert f"`{name}`" in text
    for read, write in rules.READ_TO_WRITE.items():
        assert read == write or f"| `{read}` | `{write}` |" in text
    for low, high in rules.LIMITS.values():
        assert f"{low} to {high}" in text
    for word in (
        *rules.MODES,
        *rules.TRACE_TYPES,
        *rules.MARGIN_TYPES["unified"],
        *rules.LEVERAGE_TYPES["unified"],
    ):
        assert f"**{word}**" in text or f"`{word}`" in text


@pytest.mark.parametrize("mode", rules.MODES)
@given(data=st.data())
@settings(max_examples=500, deadline=None)
def test_settings_survive_the_body(mode, data):
    made = data.draw(copy_settings(mode))
    body = over_the_wire(rules.to_body(TRADER, made))
    assert rules.canonical(rules.from_body(body)) == rules.canonical(made)
    assert body["traderId"] == TRADER


@pytest.mark.parametrize("mode", rules.MODES)
@given(data=st.data(), copied=st.booleans())
@settings(max_examples=500, deadline=None)
def test_settings_survive_the_answer(mode, data, copied):
    made = data.draw(copy_settings(mode))
    items = over_the_wire(rules.to_answer(made, copy_enable=copied))
    assert rules.canonical(rules.from_answer(items)) == rules.canonical(made)
    assert len(items) == len(made.configs)
    assert {item["copyEnable"] for item in items} == {copied}
    for item in items:
        assert set(item) == set(answer())
        assert (item["productType"], item["marginCoin"]) == ("USDT-FUTURES", "USDT")


@pytest.mark.parametrize("mode", rules.MODES)
@given(data=st.data())
@settings(max_examples=500, deadline=None)
def test_an_answer_survives_being_read_written_and_read_again(mode, data):
    made = data.draw(copy_settings(mode))
    items = over_the_wire(rules.to_answer(made, copy_enable=True))
    read = rules.from_answer(items)
    body = over_the_wire(rules.to_body(TRADER, read))
    again = rules.from_body(body)
    assert rules.same(again, read) and rules.same(again, made)
    assert over_the_wire(rules.to_answer(rules.canonical(again), copy_enable=True)) == rules.to_answer(
        rules.canonical(read), copy_enable=True
    )


@given(copy_settings())
@settings(max_examples=120, deadline=None)
def test_every_field_of_the_mode_is_in_the_body_under_its_write_name(made):
    body = rules.to_body(TRADER, made)
    written = body["symbolTraceConfigs"] if made.mode == "per_symbol" else [body["unifiedTraceConfig"]]
    for config, item in zip(made.configs, written, strict=True):
        expected = {"traceType", "traceValue", "marginType", "leverageType"}
        expected.add("symbol" if made.mode == "per_symbol" else "symbols")
        optional = {"maxHoldQty": config.max_hold, "stopProfitRatio": config.take_profit}
        optional |= {"stopLossRatio": config.stop_loss, "slippageRatio": config.slippage}
        expected |= {name for name, value in optional.items() if value is not None}
        used = {"fixed": {"fixedLongLeverage", "fixedShortLeverage"}, "specify": {"customLeverages"}}
        assert set(item) == expected | used.get(config.leverage_type, set())
        assert all(isinstance(item[name], str) for name in expected - {"symbols"})


def test_a_body_carries_decimals_as_plain_text_and_ids_as_integers():
    config = TraceConfig(None, ("BTCUSDT",), "amount", Decimal("1E+3"), max_hold=Decimal("100000.00"))
    config = replace(config, stop_loss=Decimal("-0"), slippage=Decimal("1E-3"), take_profit=Decimal("0.20"))
    assert rules.to_body(TRADER, CopySettings("unified", (config,))) == {
        "traderId": TRADER,
        "settingType": "unified",
        "unifiedTraceConfig": {
            "symbols": ["BTCUSDT"],
            "traceType": "amount",
            "traceValue": "1000",
            "maxHoldQty": "100000",
            "stopProfitRatio": "0.2",
            "stopLossRatio": "0",
            "slippageRatio": "0.001",
        },
    }


def test_digits_beyond_the_usual_28_are_kept():
    long = "123456789012345678901234567890.123456"
    body = unified_body(traceValue=long)
    made = rules.from_body(body)
    assert rules.to_body(TRADER, made)["unifiedTraceConfig"]["traceValue"] == long
    assert rules.canonical(made).configs[0].trace_value == Decimal(long)
    assert not rules.same(made, rules.from_body(unified_body(traceValue=long[:-1] + "7")))


def test_leverages_that_the_type_does_not_use_are_read_but_not_written():
    read = rules.from_answer([answer(leverageType="trader", customLeverages=[{"symbol": "BTCUSDT"}])])
    assert read.configs[0].long_leverage == 5
    written = rules.to_body(TRADER, read)["unifiedTraceConfig"]
    assert not {"fixedLongLeverage", "fixedShortLeverage", "customLeverages"} & set(written)


@pytest.mark.parametrize("number", ["100.5", "100.50", " 100.5 ", Decimal("100.5"), "1005E-1", "+100.5"])
def test_numbers_of_an_answer_may_be_written_in_many_ways(number):
    read = rules.from_answer([answer(traceValue=number)])
    assert rules.same(read, rules.from_answer([answer()]))


@pytest.mark.parametrize("leverage", [5, "5", Decimal(5), "5.0"])
def test_leverages_of_an_answer_may_be_text(leverage):
    assert rules.from_answer([answer(longLeverage=leverage)]).configs[0].long_leverage == 5


@pytest.mark.parametrize("nothing", [None, ""])
def test_null_and_empty_text_are_not_set(nothing):
    names = "symbol symbols maxHoldSize marginType leverageType longLeverage shortLeverage customLeverages"
    names += " takeProfitRatio stopLossRatio slippageRatio"
    read = rules.from_answer([answer(**dict.fromkeys(names.split(), nothing))])
    assert read == CopySettings("unified", (TraceConfig(None, None, "amount", Decimal("100.50")),))
    without = {name: value for name, value in answer().items() if name not in names.split()}
    assert rules.from_answer([without]) == read


def test_values_out_of_bounds_and_unknown_words_are_kept_as_they_are():
    odd = answer(settingMode="mirrored", traceType="share", marginType="portfolio", leverageType="adaptive")
    odd |= {"stopLossRatio": "9", "slippageRatio": "-1", "longLeverage": 0, "newField": {"a": 1}}
    read = rules.from_answer([odd])
    (config,) = read.configs
    assert (read.mode, config.trace_type, config.margin_type) == ("mirrored", "share", "portfolio")
    assert (config.leverage_type, config.stop_loss, config.slippage) == ("adaptive", Decimal(9), Decimal(-1))
    assert config.long_leverage == 0 and rules.canonical(read).configs[0].long_leverage == 0


def test_the_mode_of_an_answer_without_one_follows_from_the_symbol():
    assert rules.from_answer([answer(settingMode=None)]).mode == "unified"
    assert rules.from_answer([answer(settingMode="", symbol="BTCUSDT", symbols=None)]).mode == "per_symbol"


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([], "not a list of settings"),
        (None, "not a list of settings"),
        ({"code": "200"}, "not a list of settings"),
        ([None], "not a list of settings"),
        ([answer(), answer()], "several unified"),
        ([answer(), answer(settingMode="per_symbol")], "mixes"),
        ([answer(traceValue="ten")], "traceValue: not a number"),
        ([answer(traceValue="NaN")], "traceValue: not a number"),
        ([answer(traceValue=Decimal("NaN"))], "traceValue: not a number"),
        ([answer(traceValue=Decimal("1E+999999"))], "sane size"),
        ([answer(traceValue="1e999999999")], "not a number"),
        ([answer(traceValue=10**5000)], "sane size"),
        ([answer(traceValue="9" * 5000)], "not a number"),
        ([answer(maxHoldSize=True)], "maxHoldSize: not a number but a bool"),
        ([answer(maxHoldSize=0.5)], "maxHoldSize: not a number but a float"),
        ([answer(stopLossRatio=[])], "stopLossRatio: not a number but a list"),
        ([answer(longLeverage="2.5")], "longLeverage is not a whole number"),
        ([answer(traceType=5)], "traceType is not text"),
        ([answer(symbols="BTCUSDT")], "symbols is not a list of text"),
        ([answer(symbols=[1])], "symbols is not a list of text"),
        ([answer(customLeverages={"a": 1})], "customLeverages is not a list of objects"),
        ([answer(customLeverages=[1])], "customLeverages is not a list of objects"),
    ],
)
def test_an_answer_that_cannot_be_understood_says_what(items, words):
    with pytest.raises(ValueError, match=words):
        rules.from_answer(items)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"settingType": "unified"},
        {"settingType": "per_symbol"},
        {"settingType": ["unified"]},
        {"settingType": "per_symbol", "symbolTraceConfigs": [1]},
    ],
)
def test_a_body_of_the_wrong_shape_carries_no_settings(body):
    with pytest.raises(ValueError):
        rules.from_body(body)


def test_the_exchange_fills_in_what_was_left_out():
    body = {"traderId": 1, "settingType": "unified"}
    body["unifiedTraceConfig"] = {"traceType": "percent", "traceValue": "1"}
    (held,) = rules.apply_defaults(rules.from_body(body), SYMBOLS).configs
    assert (held.margin_type, held.leverage_type, held.long_leverage) == ("trader", "trader", None)
    assert held.symbols == SYMBOLS
    assert (held.max_hold, held.take_profit, held.stop_loss, held.slippage) == (None, None, None, None)
    assert rules.apply_defaults(rules.from_body(body)).configs[0].symbols is None

    body["unifiedTraceConfig"] |= {"leverageType": "fixed", "fixedShortLeverage": 3}
    (held,) = rules.apply_defaults(rules.from_body(body)).configs
    assert (held.long_leverage, held.short_leverage) == (10, 3)

    customs = [{"symbol": "BTCUSDT", "shortLeverage": 7}, {"symbol": "ETHUSDT"}]
    (held,) = rules.apply_defaults(rules.from_body(specify_body(customLeverages=customs))).configs
    assert held.custom_leverages == (CustomLeverage("BTCUSDT", 10, 7), CustomLeverage("ETHUSDT", 10, 10))


def test_the_exchange_forgets_leverages_that_the_type_does_not_use():
    body = unified_body(leverageType="trader", customLeverages=[{"symbol": "BTCUSDT"}])
    (held,) = rules.apply_defaults(rules.from_body(body)).configs
    assert (held.long_leverage, held.short_leverage, held.custom_leverages) == (None, None, ())
    (held,) = rules.apply_defaults(rules.from_body(specify_body(fixedLongLeverage=3))).configs
    assert held.long_leverage is None and len(held.custom_leverages) == 2


@given(copy_settings())
@settings(max_examples=120, deadline=None)
def test_nothing_of_ours_is_left_to_a_default(made):
    assert rules.same(rules.apply_defaults(made, SYMBOLS), made)


@given(copy_settings(), st.integers())
@settings(max_examples=120, deadline=None)
def test_settings_are_the_same_however_they_are_written(made, seed):
    other = shuffled(made, seed)
    assert rules.same(made, other) and rules.same(other, made)
    assert rules.fingerprint(made) == rules.fingerprint(other)
    assert rules.canonical(other) == rules.canonical(made) == rules.canonical(rules.canonical(made))
    assert rules.check_body(rules.to_body(1, other), supported=SYMBOLS, ours=True) == []


@given(copy_settings(), copy_settings())
@settings(max_examples=120, deadline=None)
def test_a_fingerprint_tells_settings_apart(one, other):
    assert (rules.fingerprint(one) == rules.fingerprint(other)) == rules.same(one, other)


def test_a_fingerprint_stays_what_it_was_in_the_database():
    known = rules.fingerprint(rules.from_body(per_symbol_body(leverageType="trader")))
    assert known == "9aefadaf890d6b5dae4b4c69f50af2fbe28a8a880cd775187ff57157b219b6f9"
