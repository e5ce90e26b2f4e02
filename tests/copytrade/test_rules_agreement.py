"""Form, sandbox and a second reading of the interface agree on every form, and for the same reason."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, example, given, settings

from copytrade import rules
from copytrade.sandbox.errors import Refusal
from copytrade.sandbox.operations.copying import checked_settings
from dashboard.forms.copy_settings import SettingsForm

from .independent_rules import problems
from .rules_samples import SYMBOLS
from .test_rules import KINDS
from .typed_forms import CONFIG, FIELDS, HOSTILE, NUMBERS, TRADER_ID, TYPED, WORDS, body_of, forms

# A world that knows every trader and the few symbols of the samples: what the sandbox checks is its own code.
WORLD = SimpleNamespace(symbols=SYMBOLS, settings=lambda account, trader_id: [])
OVER = -3313  # the sandbox's own bound on leverages; the interface names none


def form_of(data):
    form = SettingsForm(data, trader_id=TRADER_ID, supported=sorted(SYMBOLS))
    return form, form.check()


def sandbox_says(body):
    """What the sandbox makes of a body as it travels: its settings, or its refusal."""
    try:
        return checked_settings(json.loads(json.dumps(body)), WORLD, "follower")[1], None
    except Refusal as refusal:
        return None, refusal


def over_the_sandboxes_bound(body):
    config = body.get("unifiedTraceConfig")
    leverages = []
    for item in [config] if config else body["symbolTraceConfigs"]:
        leverages += [item.get("fixedLongLeverage", 10), item.get("fixedShortLeverage", 10)]
        for custom in item.get("customLeverages", ()):
            leverages += [custom.get("longLeverage", 10), custom.get("shortLeverage", 10)]
    return max(leverages) > 125


def everything_agrees(mode, data):
    form, holds = form_of(data)
    body = body_of(mode, data)
    # The form and the second reading: the same problems, field by field.
    found = {(violation.field, KINDS[violation.code]) for violation in form.violations}
    assert found == problems(body, SYMBOLS, True)
    # The sandbox and the second reading: refused when the interface's table refuses it.
    kept, refusal = sandbox_says(form.body())
    theirs = problems(body, SYMBOLS, False)
    if theirs:
        assert refusal is not None and refusal.code != OVER
        # The same reason, in the same words, beside the same field.
        field, _, words = refusal.message.partition(": ")
        (same,) = [v for v in form.violations if (v.field, v.message) == (field, words)]
        assert (same.field, KINDS[same.code]) in theirs
    elif over_the_sandboxes_bound(body):
        assert refusal is not None and refusal.code == OVER
    else:
        assert refusal is None
        if holds:
            typed = rules.apply_defaults(form.settings(), SYMBOLS)
            assert rules.same(kept, typed), "what was typed is what the exchange keeps"
    nothing_is_lost(mode, data, form)


def nothing_is_lost(mode, data, form):
    """Every text stands in its input again, and every message somewhere on the page."""
    blocks = [form.unified] if mode == "unified" else form.cards
    for block in blocks:
        for item in block.fields:
            assert item.value == (data.get(item.name) or [""])[-1].strip()
    shown = [message for _, _, message in form.problems]
    assert {violation.message for violation in form.violations} == set(shown)


@given(forms())
@settings(max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))
@example(("unified", {"mode": ["unified"], "symbols": []}))
@example(("per_symbol", {"mode": ["per_symbol"]}))
def test_five_thousand_forms_are_judged_alike_by_form_sandbox_and_the_second_reading(form):
    everything_agrees(*form)


@pytest.mark.parametrize("mode", ["unified", "per_symbol"])
def test_every_edge_in_every_field_of_every_mode(mode):
    prefixes = [""] if mode == "unified" else [f"{symbol}." for symbol in SYMBOLS]
    for name in FIELDS:
        for text in [*TYPED, *HOSTILE, ""]:
            data = {"mode": [mode], "symbols": list(SYMBOLS)}
            data |= {prefix + field: [value] for prefix in prefixes for field, value in CONFIG.items()}
            data[prefixes[-1] + name] = [text]
            everything_agrees(mode, data)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_number_has_one_message_beside_its_field_and_stays_as_typed(text):
    for name in [*NUMBERS, "long_leverage"]:
        data = {"mode": ["unified"], "symbols": list(SYMBOLS)}
        data |= {field: [value] for field, value in (CONFIG | {name: text}).items()}
        form, holds = form_of(data)
        item = form.unified.by_name[name]
        assert not holds and item.value == text
        (message,) = item.errors
        assert message.endswith(".") and text not in message and len(message) < 120


def test_the_samples_reach_what_they_are_for():
    """The words and numbers of the samples are valid where nothing was broken."""
    for kind in ("fixed", "trader", "specify"):
        data = {"mode": ["unified"], "symbols": list(SYMBOLS)}
        data |= {field: [value] for field, value in (CONFIG | {"leverage_type": kind}).items()}
        data |= {f"lev.{symbol}.{side}": ["7"] for symbol in SYMBOLS for side in ("long", "short")}
        _, holds = form_of(data)
        assert holds
        everything_agrees("unified", data)
    assert set(WORDS) | set(NUMBERS) < set(FIELDS)
