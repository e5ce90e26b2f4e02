"""The checks of copy settings, rule by rule and against a second reading of the interface."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from copytrade import rules
from tests.copytrade.independent_rules import as_number, problems
from tests.copytrade.rules_samples import (
    EDGES,
    LEFT_OUT,
    SYMBOLS,
    bodies,
    config_body,
    junk,
    per_symbol_body,
    specify_body,
    unified_body,
)
from tests.copytrade.rules_samples import settings as copy_settings

KINDS = {
    "missing": "missing",
    "type": "type",
    "choice": "value",
    "format": "value",
    "range": "value",
    "leverage": "value",
    "unknown_symbol": "symbol",
    "repeated": "twice",
    "mismatch": "cover",
    "incomplete": "cover",
    "not_allowed": "extra",
}
UNIFIED = "unifiedTraceConfig"
SECOND = "symbolTraceConfigs[1]"


def broken(body, *, supported=SYMBOLS, ours=True):
    return [
        (violation.field, violation.code)
        for violation in rules.check_body(body, supported=supported, ours=ours)
    ]


def sentence(body, *, supported=SYMBOLS, ours=True):
    (violation,) = rules.check_body(body, supported=supported, ours=ours)
    return violation.message


@pytest.mark.parametrize("body", [unified_body(), specify_body(), per_symbol_body()])
@pytest.mark.parametrize("ours", [True, False])
def test_a_body_of_each_kind_is_valid(body, ours):
    assert broken(body, ours=ours) == []


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("traceValue", ["0.000001", "1", "9" * 36, " 5 "], ["0", "-0", "-1", "0.000"]),
        ("maxHoldQty", ["10", "10.0", "100000", "5000.5"], ["9.999999", "100000.000001", "0", "-10"]),
        ("stopProfitRatio", ["0", "4", "4.000", "0.2"], ["-0.000001", "4.000001", "20"]),
        ("stopLossRatio", ["0", "4", "4.000", "0.2"], ["-0.000001", "4.000001", "20"]),
        (
            "slippageRatio",
            ["0", "0.000", "0.001", "0.01", "0.010"],
            ["0.0009999", "0.0100001", "-0.001", "1"],
        ),
    ],
)
@pytest.mark.parametrize("make", [unified_body, per_symbol_body])
def test_bounds_are_inclusive(make, name, inside, outside):
    place = UNIFIED if make is unified_body else SECOND
    for text in inside:
        assert broken(make(**{name: text}), ours=False) == [], text
    for text in outside:
        assert broken(make(**{name: text}), ours=False) == [(f"{place}.{name}", "range")], text


@pytest.mark.parametrize(
    "name", ["traceValue", "maxHoldQty", "stopProfitRatio", "stopLossRatio", "slippageRatio"]
)
def test_a_decimal_is_text_and_a_plain_number(name):
    field = f"{UNIFIED}.{name}"
    for value in (1, 0.5, Decimal("0.5"), True, None, ["1"], {"a": "1"}):
        assert broken(unified_body(**{name: value})) == [(field, "type")], value
    for text in (
        "",
        " ",
        "1e1",
        "+1",
        ".5",
        "5.",
        "1,5",
        "0x1",
        "NaN",
        "Infinity",
        "５",
        "1_0",
        "\u00a01",
        "9" * 37,
    ):
        assert broken(unified_body(**{name: text})) == [(field, "format")], text


@pytest.mark.parametrize("name", ["traceType", "marginType", "leverageType"])
def test_a_choice_is_one_of_its_words(name):
    field = f"{UNIFIED}.{name}"
    for value in (None, 1, True, ["trader"], {}):
        assert broken(unified_body(**{name: value})) == [(field, "type")], value
    for word in ("", "Trader", "FIXED", " percent", "crossed"):
        assert broken(unified_body(**{name: word})) == [(field, "choice")], word


def test_each_symbol_allows_fewer_kinds_than_the_unified_settings():
    for margin in ("cross", "isolated"):
        assert broken(unified_body(marginType=margin)) == []
        assert broken(per_symbol_body(marginType=margin)) == [(f"{SECOND}.marginType", "choice")]
    body = per_symbol_body(leverageType="specify", fixedLongLeverage=LEFT_OUT, fixedShortLeverage=LEFT_OUT)
    assert broken(body) == [(f"{SECOND}.leverageType", "choice")]
    assert sentence(body) == "The leverage type of settings per symbol must be fixed or trader."


@pytest.mark.parametrize("name", ["maxHoldQty", "stopProfitRatio", "stopLossRatio", "slippageRatio"])
def test_limits_are_optional_for_all_symbols_and_required_for_each(name):
    assert broken(unified_body(**{name: LEFT_OUT})) == []
    assert broken(per_symbol_body(**{name: LEFT_OUT}), ours=False) == [(f"{SECOND}.{name}", "missing")]


@pytest.mark.parametrize("name", ["traceType", "traceValue"])
def test_the_size_is_always_required(name):
    assert broken(unified_body(**{name: LEFT_OUT}), ours=False) == [(f"{UNIFIED}.{name}", "missing")]
    assert broken(per_symbol_body(**{name: LEFT_OUT}), ours=False) == [(f"{SECOND}.{name}", "missing")]


def test_a_leverage_is_a_whole_number_of_one_or_more():
    field = f"{UNIFIED}.fixedLongLeverage"
    for value in (1, 125, 126, 10**6000):
        assert broken(unified_body(fixedLongLeverage=value)) == []
    for value in (0, -1, -(10**6000)):
        assert broken(unified_body(fixedLongLeverage=value)) == [(field, "leverage")]
    for value in ("5", 5.0, Decimal(5), True, None, []):
        assert broken(unified_body(fixedLongLeverage=value)) == [(field, "type")], value


@pytest.mark.parametrize("name", ["fixedLongLeverage", "fixedShortLeverage"])
def test_fixed_leverages_are_required_for_each_symbol_and_never_left_to_the_default_by_us(name):
    assert broken(per_symbol_body(**{name: LEFT_OUT}), ours=False) == [(f"{SECOND}.{name}", "missing")]
    assert broken(unified_body(**{name: LEFT_OUT}), ours=False) == []
    assert broken(unified_body(**{name: LEFT_OUT})) == [(f"{UNIFIED}.{name}", "missing")]


def test_leverages_that_the_type_does_not_use_are_ignored_by_the_exchange_and_never_sent_by_us():
    both = [(f"{UNIFIED}.fixedLongLeverage", "not_allowed"), (f"{UNIFIED}.fixedShortLeverage", "not_allowed")]
    for kind in ("trader", LEFT_OUT):
        assert broken(unified_body(leverageType=kind), ours=False) == []
        assert broken(unified_body(leverageType=kind)) == both
    assert broken(specify_body(fixedLongLeverage=5, fixedShortLeverage=5), ours=False) == []
    assert broken(specify_body(fixedLongLeverage=5, fixedShortLeverage=5)) == both
    for value in ([], [{"symbol": "BTCUSDT"}], "nonsense", None):
        assert broken(unified_body(customLeverages=value), ours=False) == []
        assert broken(unified_body(customLeverages=value)) == [(f"{UNIFIED}.customLeverages", "not_allowed")]
        assert broken(per_symbol_body(customLeverages=value), ours=False) == []
        assert broken(per_symbol_body(customLeverages=value)) == [
            (f"{SECOND}.customLeverages", "not_allowed")
        ]


def test_custom_leverages_are_those_of_exactly_the_chosen_symbols():
    field = f"{UNIFIED}.customLeverages"
    assert broken(specify_body(customLeverages=LEFT_OUT), ours=False) == [(field, "missing")]
    assert broken(specify_body(customLeverages=[]), ours=False) == [(field, "mismatch")]
    assert broken(specify_body(customLeverages={"symbol": "BTCUSDT"})) == [(field, "type")]
    one = [{"symbol": "BTCUSDT", "longLeverage": 5, "shortLeverage": 5}]
    assert broken(specify_body(customLeverages=one)) == [(field, "mismatch")]
    assert broken(specify_body(customLeverages=one * 2)) == [(field, "repeated"), (field, "mismatch")]
    other = [{**one[0], "symbol": name} for name in ("BTCUSDT", "SOLUSDT")]
    assert sentence(specify_body(customLeverages=other)) == (
        "The leverages of each symbol must be for exactly the chosen symbols. Missing: ETHUSDT. Not chosen: SOLUSDT."
    )
    assert broken(specify_body(customLeverages=["BTCUSDT", None])) == [
        (f"{field}[0]", "type"),
        (f"{field}[1]", "type"),
    ]


def test_a_left_out_custom_leverage_becomes_ten_on_the_exchange_so_we_never_leave_it_out():
    items = [{"symbol": "ETHUSDT"}, {"symbol": "BTCUSDT", "longLeverage": 0}]
    field = f"{UNIFIED}.customLeverages"
    assert broken(specify_body(customLeverages=items), ours=False) == [
        (f"{field}[1].longLeverage", "leverage")
    ]
    assert broken(specify_body(customLeverages=items)) == [
        (f"{field}[0].longLeverage", "missing"),
        (f"{field}[0].shortLeverage", "missing"),
        (f"{field}[1].longLeverage", "leverage"),
        (f"{field}[1].shortLeverage", "missing"),
    ]


def test_unified_symbols_are_supported_ones_each_once():
    field = f"{UNIFIED}.symbols"
    assert broken(unified_body(symbols=LEFT_OUT), ours=False) == []
    assert broken(unified_body(symbols=LEFT_OUT)) == [(field, "missing")]
    assert broken(unified_body(symbols=[]), ours=False) == [(field, "missing")]
    assert broken(unified_body(symbols=["DOGEUSDT", "BTCUSDT"])) == [(field, "unknown_symbol")]
    assert broken(unified_body(symbols=["BTCUSDT", "BTCUSDT"])) == [(field, "repeated")]
    for value in ("BTCUSDT", None, [1], ["BTCUSDT", None], {"BTCUSDT": 1}):
        assert broken(unified_body(symbols=value)) == [(field, "type")], value
    assert broken(unified_body(symbols=["DOGEUSDT"]), supported=None) == []
    assert broken(unified_body(symbols=[" "]), supported=None) == [(field, "unknown_symbol")]


def test_left_out_symbols_mean_all_so_custom_leverages_must_cover_all():
    every = [{"symbol": name, "longLeverage": 5, "shortLeverage": 5} for name in SYMBOLS]
    assert broken(specify_body(symbols=LEFT_OUT, customLeverages=every), ours=False) == []
    few = broken(specify_body(symbols=LEFT_OUT, customLeverages=every[:2]), ours=False)
    assert few == [(f"{UNIFIED}.customLeverages", "mismatch")]


def test_a_config_has_the_symbols_of_its_own_mode():
    assert broken(unified_body(symbol="BTCUSDT"), ours=False) == [(f"{UNIFIED}.symbol", "not_allowed")]
    assert broken(per_symbol_body(symbols=["BTCUSDT"]), ours=False) == [(f"{SECOND}.symbols", "not_allowed")]


def test_settings_per_symbol_cover_exactly_the_supported_symbols():
    assert broken(per_symbol_body(symbol="BTCUSDT")) == [
        (f"{SECOND}.symbol", "repeated"),
        ("symbolTraceConfigs", "incomplete"),
    ]
    unknown, missing = rules.check_body(per_symbol_body(symbol="DOGEUSDT"), supported=SYMBOLS, ours=False)
    assert (unknown.field, unknown.code) == (f"{SECOND}.symbol", "unknown_symbol")
    assert unknown.message == "Copy trading does not support DOGEUSDT."
    assert missing.message == "Settings per symbol must cover every symbol of copy trading. Missing: ETHUSDT."
    for value, code in ((None, "type"), (5, "type"), (LEFT_OUT, "missing")):
        assert (f"{SECOND}.symbol", code) in broken(per_symbol_body(symbol=value))


def test_settings_per_symbol_are_not_sent_while_the_symbols_are_unknown():
    assert broken(per_symbol_body(), supported=None, ours=False) == []
    assert broken(per_symbol_body(), supported=None) == [("symbolTraceConfigs", "incomplete")]


def test_a_list_of_settings_is_a_list_of_objects():
    body = per_symbol_body()
    for items in ({}, None, "x", 1):
        assert broken({**body, "symbolTraceConfigs": items}) == [("symbolTraceConfigs", "type")]
    assert broken({**body, "symbolTraceConfigs": []}) == [("symbolTraceConfigs", "incomplete")]
    assert broken({**body, "symbolTraceConfigs": []}, supported=None, ours=False) == [
        ("symbolTraceConfigs", "missing")
    ]
    nothing = broken({**body, "symbolTraceConfigs": [None, *body["symbolTraceConfigs"]]})
    assert nothing == [("symbolTraceConfigs[0]", "type")]
    assert broken({**unified_body(), UNIFIED: [config_body()]}) == [(UNIFIED, "type")]


def test_the_mode_decides_which_config_is_needed():
    body = unified_body()
    del body[UNIFIED]
    assert broken(body) == [(UNIFIED, "missing")]
    assert broken({"traderId": 1, "settingType": "per_symbol"}) == [("symbolTraceConfigs", "missing")]
    for value, code in (("both", "choice"), ("", "choice"), (None, "type"), (1, "type")):
        assert broken({**body, "settingType": value}) == [("settingType", code)]
    assert broken({"traderId": 1}) == [("settingType", "missing")]


def test_the_other_modes_config_is_ignored_by_the_exchange_and_never_sent_by_us():
    for value in (None, [], "nonsense", per_symbol_body()["symbolTraceConfigs"]):
        body = {**unified_body(), "symbolTraceConfigs": value}
        assert broken(body, ours=False) == []
        assert broken(body) == [("symbolTraceConfigs", "not_allowed")]


def test_we_send_no_setting_that_the_interface_does_not_name():
    body = unified_body(maxHoldSize="5")  # the read name of maxHoldQty
    assert broken(body, ours=False) == []
    assert broken(body) == [(f"{UNIFIED}.maxHoldSize", "not_allowed")]
    assert broken({**unified_body(), "copyEnable": True}) == [("copyEnable", "not_allowed")]


def test_the_trader_is_a_64_bit_number_or_its_digits():
    for value in (1, 2**63 - 1, "1", "702345678901234567"):
        assert broken({**unified_body(), "traderId": value}) == [], value
    for value, code in ((0, "range"), (-1, "range"), (2**63, "range"), ("0", "range"), ("9" * 19, "range")):
        assert broken({**unified_body(), "traderId": value}) == [("traderId", code)], value
    for value in (None, True, 1.0, Decimal(1), "", " 1", "1 ", "-1", "1.0", "٣", "9" * 5000, [], {}):
        assert broken({**unified_body(), "traderId": value}) == [("traderId", "type")], value
    body = unified_body()
    del body["traderId"]
    assert broken(body) == [("traderId", "missing")]


@pytest.mark.parametrize("body", [None, True, 0, 1.5, "unified", [], [unified_body()]])
def test_a_body_that_is_no_object_says_so(body):
    assert broken(body) == [("", "type")]


def test_messages_name_the_bound():
    assert sentence(unified_body(slippageRatio="0.02")) == (
        "Slippage must be 0 (no limit) or between 0.1 % and 1 % (0.001 to 0.01 in the request)."
    )
    assert sentence(unified_body(maxHoldQty="9")) == "Most held must be between 10 and 100000 (USDT)."
    assert sentence(unified_body(traceType="twice")) == "The kind of size must be percent or amount."
    for name, (low, high) in rules.LIMITS.items():
        words = sentence(unified_body(**{name: "-1"}))
        assert f"{rules.plain(low)} and {rules.plain(high)}" in words or f"{low} to {high} in" in words


def test_names_from_outside_are_shown_short_and_printable():
    words = sentence(unified_body(symbols=["A\x00\ud800" + "B" * 100_000]), ours=False)
    assert words.startswith("Copy trading does not support A\\x00\\ud800BB") and words.isascii() is False
    assert len(words) < 100
    many = sentence(unified_body(symbols=[f"S{n:03}USDT" for n in range(100)]))
    assert many.endswith("S011USDT and 88 more.")


@given(bodies(), st.sampled_from([None, SYMBOLS, SYMBOLS[:2]]), st.booleans())
@settings(max_examples=1200, deadline=None)
@example(unified_body(), None, True)
@example(per_symbol_body(leverageType="specify"), SYMBOLS, True)
@example(specify_body(symbols=LEFT_OUT), None, False)
def test_the_checks_agree_with_a_second_reading_of_the_interface(body, supported, ours):
    found = {(field, KINDS[code]) for field, code in broken(body, supported=supported, ours=ours)}
    assert found == problems(body, supported, ours)


@given(st.sampled_from(["traceValue", "maxHoldQty", "stopProfitRatio", "slippageRatio"]), st.data())
@settings(max_examples=250, deadline=None)
def test_both_readings_agree_on_any_text_for_a_number(name, data):
    text = data.draw(
        st.sampled_from(EDGES) | st.from_regex(r"\s?-?\d{1,7}(\.\d{1,12})?\s?") | st.text(max_size=8)
    )
    for body in (unified_body(**{name: text}), per_symbol_body(**{name: text})):
        found = {(field, KINDS[code]) for field, code in broken(body)}
        assert found == problems(body, SYMBOLS, True)


@given(junk, st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_json_gives_violations_and_no_exception(nonsense, ours):
    for body in (
        nonsense,
        {**unified_body(), UNIFIED: nonsense},
        {**per_symbol_body(), "symbolTraceConfigs": [nonsense] * 3},
        specify_body(customLeverages=nonsense, symbols=nonsense),
        dict.fromkeys(unified_body(), nonsense),
    ):
        for violation in rules.check_body(body, supported=SYMBOLS, ours=ours):
            assert violation.code in KINDS
            assert violation.message.endswith(".") and violation.message[0].isupper()


@given(copy_settings(), st.integers(1, 2**63 - 1))
@settings(max_examples=120, deadline=None)
def test_what_we_write_is_valid_for_us_and_for_the_exchange(made, trader_id):
    body = rules.to_body(trader_id, made)
    assert broken(body) == broken(body, ours=False) == []
    assert problems(body, SYMBOLS, True) == set()


@given(st.sampled_from(EDGES) | st.text(max_size=12) | st.from_regex(r"\s*-?[0-9]{1,40}(\.[0-9]{1,3})?\s*"))
@settings(max_examples=250, deadline=None)
def test_a_typed_number_is_read_exactly_or_not_at_all(text):
    value, expected = rules.number(text), as_number(text)
    assert (value is None) == (expected is None)
    if value is not None:
        assert value.as_integer_ratio() == expected.as_integer_ratio()


def test_what_is_no_text_is_no_number():
    for value in (None, 5, 0.5, True, Decimal(1), [], b"1"):
        assert rules.number(value) is None


def names(count):
    return [f"S{number}USDT" for number in range(count)]


@pytest.mark.parametrize("ours", [True, False])
def test_ten_thousand_symbols_are_checked(ours):
    symbols = names(10_000)
    customs = [{"symbol": name, "longLeverage": 1, "shortLeverage": 1} for name in reversed(symbols)]
    valid = per_symbol_body()
    valid["symbolTraceConfigs"] = [config_body(name) for name in symbols]
    wrong = per_symbol_body()
    wrong["symbolTraceConfigs"] = [{"symbol": name, "symbols": symbols} for name in [*symbols, *symbols]]
    good = [(valid, symbols), (specify_body(symbols=symbols, customLeverages=customs), symbols)]
    bad = [(wrong, symbols[1:]), (specify_body(symbols=symbols * 2, customLeverages=customs * 2), SYMBOLS)]
    for body, supported in good:
        assert rules.check_body(body, supported=supported, ours=ours) == []
    for body, supported in bad:
        assert rules.check_body(body, supported=supported, ours=ours) != []
