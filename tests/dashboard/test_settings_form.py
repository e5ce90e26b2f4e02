"""The settings form by itself: what is shown is what is sent, and what is typed is never changed on the way."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from copytrade import rules
from copytrade.rules import CopySettings, CustomLeverage, TraceConfig
from dashboard.forms import typed
from dashboard.forms.copy_settings import SettingsForm
from dashboard.forms.examples import examples
from dashboard.forms.mode_switch import losses, propose
from tests.copytrade.rules_samples import EDGES, SYMBOLS, settings
from tests.support.ledger_rows import BIG, UNIFIED

CONFIG = UNIFIED.configs[0]


def form_for(copied: CopySettings, **more: object) -> SettingsForm:
    return SettingsForm.from_settings(copied, trader_id=BIG, supported=sorted(SYMBOLS), **more)


def posted(form: SettingsForm, **changed: str) -> SettingsForm:
    """The form as a browser would send it back."""
    query = QueryDict(mutable=True)
    for name, values in (form.data | {name: [value] for name, value in changed.items()}).items():
        query.setlist(name, values)
    return SettingsForm.from_post(query, trader_id=BIG, supported=form.supported, base=form.base)


@effort(max_examples=500, deadline=None)
@given(settings())
def test_a_form_that_nobody_touched_sends_what_was_read(copied: CopySettings) -> None:
    form = posted(form_for(copied))
    if form.check():
        assert rules.same(form.settings(), copied)
        assert form.unchanged
    else:
        # A percentage may need two digits more than the ratio it stands for; nothing else may be wrong.
        assert rules.check_body(rules.to_body(BIG, copied), supported=SYMBOLS, ours=True) != []


@effort(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(
        ["trace_value", "max_hold", "take_profit", "stop_loss", "slippage", "long_leverage"]
    ),
    text=st.sampled_from(EDGES) | st.text(max_size=8),
)
def test_whatever_is_typed_is_checked_and_shown_again_unchanged(name: str, text: str) -> None:
    form = posted(form_for(replace(UNIFIED, configs=(replace(CONFIG, symbols=SYMBOLS),))), **{name: text})
    form.check()
    field = form.unified.by_name[name]
    assert field.value == text.strip()
    wrong = rules.check_body(form.body(), supported=SYMBOLS, ours=True)
    assert [v.message for v in wrong if v.field.endswith(f".{field.spec.wire}")] == list(field.errors)


@effort(max_examples=200, deadline=None)
@given(settings(mode="unified"))
def test_a_proposal_for_each_symbol_is_accepted_once_its_gaps_are_filled(copied: CopySettings) -> None:
    gaps = {"max_hold": "10", "take_profit": "0", "stop_loss": "0", "slippage": "0"}
    form = posted(form_for(copied), mode="per_symbol")
    data = {}
    for card in form.cards:
        for item in card.fields:
            if not item.value:
                data[item.name] = gaps.get(item.spec.name, "3")
    filled = posted(form, mode="per_symbol", **data)
    assert filled.check(), filled.problems


@effort(max_examples=200, deadline=None)
@given(settings(mode="per_symbol"))
def test_a_proposal_for_all_symbols_together_keeps_their_leverages(copied: CopySettings) -> None:
    united = propose(copied, "unified", SYMBOLS).configs[0]
    assert set(united.symbols or ()) == set(SYMBOLS)
    own = {item.symbol: item.long_leverage for item in united.custom_leverages}
    for config in copied.configs:
        if config.leverage_type == "fixed":
            assert own.get(config.symbol or "", united.long_leverage) == config.long_leverage


def test_only_the_chosen_mode_is_sent_with_all_of_its_fields() -> None:
    body = form_for(UNIFIED).body()
    assert set(body) == {"traderId", "settingType", "unifiedTraceConfig"}
    assert set(body["unifiedTraceConfig"]) == {
        "symbols", "traceType", "traceValue", "maxHoldQty", "stopProfitRatio", "stopLossRatio", "slippageRatio",
        "marginType", "leverageType", "fixedLongLeverage", "fixedShortLeverage",
    }  # fmt: skip


def test_leverages_that_the_type_does_not_use_stay_in_the_form_but_are_not_sent() -> None:
    form = posted(form_for(UNIFIED), leverage_type="trader")
    assert form.check()
    assert "fixedLongLeverage" not in form.body()["unifiedTraceConfig"]
    assert form.unified.by_name["long_leverage"].value == "5"


def test_a_symbol_read_beside_the_known_ones_is_shown_and_must_be_corrected() -> None:
    odd = CopySettings(
        "per_symbol", tuple(replace(CONFIG, symbol=s, symbols=None) for s in (*SYMBOLS, "LUNAUSDT"))
    )
    form = form_for(odd)
    assert "LUNAUSDT" in [card.symbol for card in form.cards]
    assert not form.check()
    assert any("LUNAUSDT" in message for _, _, message in form.problems)


def test_hostile_symbols_make_harmless_ids() -> None:
    form = SettingsForm.from_settings(UNIFIED, trader_id=1, supported=['"><script>', "A B"])
    assert all(c.isalnum() or c in "_-" for card in form.cards for c in card.id)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        ("0.2", "20"),
        ("0.20", "20"),
        ("4", "400"),
        ("0", "0"),
        ("0.001", "0.1"),
        ("0.0000000001", "0.00000001"),
    ],
)
def test_ratios_are_percentages_on_the_page_and_back(ratio: str, text: str) -> None:
    assert typed.percent_shown(Decimal(ratio)) == text
    assert Decimal(typed.ratio_sent(text)) == Decimal(ratio)


@pytest.mark.parametrize("text", ["", "1,5", "5 %", "٣", "1e2", "NaN", "0x1", "1" * 40])
def test_what_is_no_number_is_handed_on_as_typed(text: str) -> None:
    assert typed.ratio_sent(text) == text
    assert typed.number_sent(text) == text


def test_36_digits_survive_exactly() -> None:
    digits = "123456789012345678901234567890123456"
    assert typed.number_sent(digits) == digits
    assert typed.ratio_sent(digits) == digits[:-2] + "." + digits[-2:]


@pytest.mark.parametrize(
    ("text", "sent"), [("7", 7), (" 12 ", 12), ("1.5", "1.5"), ("٣", "٣"), ("-1", "-1"), ("", "")]
)
def test_leverages_are_integers_or_left_to_the_rules(text: str, sent: object) -> None:
    assert typed.integer_sent(text) == sent


# --- worked examples ---


def example(field: str, **changed: str) -> str:
    values = {
        "trace_type": "amount", "trace_value": "100", "max_hold": "250", "take_profit": "50", "stop_loss": "20",
        "slippage": "0.5", "leverage_type": "fixed", "long_leverage": "10", "short_leverage": "10", "margin_type": "",
    }  # fmt: skip
    return examples(values | changed).get(field, "").replace("\u202f", " ")


@pytest.mark.parametrize(
    ("field", "changed", "sentence"),
    [
        ("trace_value", {}, "100 USDT at 10x opens a position of 1 000 USDT."),
        ("trace_value", {"leverage_type": "trader"}, "a position of 1 000 USDT, if the trader uses 10x."),
        ("trace_value", {"leverage_type": "specify"}, "a position of 1 000 USDT, for example."),
        (
            "trace_value",
            {"trace_type": "percent", "trace_value": "0.5"},
            "opens 1 000 USDT, your copy opens 500 USDT.",
        ),
        ("trace_value", {"trace_value": "many"}, ""),
        ("max_hold", {}, "2 copies of 100 USDT"),
        ("max_hold", {"max_hold": "100"}, "1 copy of 100 USDT"),
        ("max_hold", {"max_hold": "60"}, "Less than one copy of 100 USDT."),
        ("stop_loss", {}, "about 20 USDT lost: a price move of 2 % at 10x."),
        ("stop_loss", {"stop_loss": "0"}, "Off."),
        ("stop_loss", {"stop_loss": ""}, ""),
        ("take_profit", {"leverage_type": "trader"}, "about 50 USDT gained."),
        ("slippage", {"slippage": "0"}, "No limit"),
        ("slippage", {}, "your copy buys at 1 005 at most"),
        ("leverage_type", {"leverage_type": "trader"}, "the leverage of the trader's own order"),
    ],
)
def test_examples_follow_what_is_typed(field: str, changed: dict[str, str], sentence: str) -> None:
    said = example(field, **changed)
    assert sentence in said if sentence else said == ""


# --- what a switch of the mode loses ---


def test_losses_towards_per_symbol() -> None:
    base = replace(
        CONFIG, slippage=None, leverage_type="specify", custom_leverages=(CustomLeverage("BTCUSDT", 2, 3),)
    )
    said = " ".join(losses(CopySettings("unified", (base,)), [*SYMBOLS]))
    for part in (
        "copied then: SOLUSDT, XRPUSDT",
        "“cross” is lost",
        "fixed leverage of that symbol",
        "not set now: slippage",
    ):
        assert part in said


def test_losses_towards_unified() -> None:
    def of(symbol: str, value: int, kind: str) -> TraceConfig:
        return replace(CONFIG, symbol=symbol, symbols=None, trace_value=Decimal(value), leverage_type=kind)

    said = " ".join(
        losses(
            CopySettings("per_symbol", (of("A", 5, "fixed"), of("B", 5, "fixed"), of("C", 7, "trader"))),
            ["A", "B", "C"],
        )
    )
    assert "Size of each copy differs between symbols; one value would hold for all, 5 is proposed." in said
    assert "Symbols that take the trader's leverage need one of their own then." in said


def test_nothing_is_lost_where_symbols_agree() -> None:
    same = tuple(replace(CONFIG, symbol=s, symbols=None) for s in SYMBOLS)
    assert losses(CopySettings("per_symbol", same), SYMBOLS) == []
