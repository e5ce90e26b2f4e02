"""Each rule beside its field, live and on submit, and nothing typed is ever lost."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from copytrade.models import SettingsChange, Trader
from tests.dashboard.copy_settings.steps import (
    form_of,
    page,
    typed,
    url,
)

pytestmark = pytest.mark.django_db


BAD = [
    ("trace_value", "1,5", "Size of each copy must be a plain number"),
    ("trace_value", "0", "Size of each copy must be more than 0."),
    ("trace_value", "", "Size of each copy is required."),
    ("trace_value", "1e400", "plain number"),
    ("trace_value", "٣", "plain number"),
    ("trace_value", "9" * 40, "at most 36 digits"),
    ("max_hold", "9.99", "Most held must be between"),
    ("max_hold", "100000.0001", "Most held must be between"),
    ("take_profit", "400.1", "Take profit must be between 0 % and 400 %"),
    ("stop_loss", "-1", "Stop loss must be between"),
    ("slippage", "0.09", "Slippage must be 0 (no limit) or between 0.1 % and 1 %"),
    ("slippage", "NaN", "Slippage must be a plain number"),
    ("long_leverage", "0", "Long leverage must be 1 or more."),
    ("long_leverage", "2.5", "Long leverage must be a whole number."),
    ("short_leverage", "", "Short leverage is required"),
    ("margin_type", "huge", "The margin type must be"),
    ("leverage_type", "huge", "The leverage type must be"),
    ("trace_type", "", "The kind of size is missing"),
    ("mode", "both", "The mode must be"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD)
def test_every_rule_speaks_beside_its_field_and_nothing_typed_is_lost(
    client: Client, trader: Trader, name: str, text: str, message: str
) -> None:
    for step in ("copy_settings_check", "copy_settings_review"):
        answer = client.post(url(trader, step), form_of(client, trader) | {name: text, "stop_loss_": "7"})
        html = page(answer)
        assert message in html
        assert typed(answer.content.decode())[name] == [text]
    assert answer.status_code == 422
    assert not SettingsChange.objects.exists()


def test_the_message_stands_in_the_note_of_its_field(client: Client, trader: Trader) -> None:
    html = page(client.post(url(trader, "copy_settings_check"), form_of(client, trader) | {"max_hold": "3"}))
    note = re.search(r'id="u-max_hold-note".*?</div></div>', html, flags=re.DOTALL)
    assert note and "Most held must be between" in note[0]


@pytest.mark.parametrize(
    ("name", "text"), [("take_profit", "400"), ("slippage", "0.1"), ("max_hold", "10"), ("slippage", "0")]
)
def test_bounds_are_inclusive(client: Client, trader: Trader, name: str, text: str) -> None:
    html = page(client.post(url(trader, "copy_settings_check"), form_of(client, trader) | {name: text}))
    assert "Every rule holds." in html


def test_htmx_gets_the_notes_of_the_edited_block_and_nothing_that_holds_what_is_typed(
    client: Client, trader: Trader
) -> None:
    data = form_of(client, trader) | {"trace_value": "x"}
    headers = {"HX-Request": "true", "HX-Trigger": "u"}
    html = client.post(url(trader, "copy_settings_check"), data, headers=headers).content.decode()
    assert 'id="u-trace_value-note" hx-swap-oob="true"' in html
    assert "<input" not in html and "<html" not in html
    assert 'id="s-' not in html


def test_no_symbol_at_all_is_refused(client: Client, trader: Trader) -> None:
    data = form_of(client, trader)
    del data["symbols"]
    assert "Choose at least one symbol." in page(client.post(url(trader, "copy_settings_check"), data))


def test_leverages_of_each_symbol_are_those_of_the_chosen_symbols(client: Client, trader: Trader) -> None:
    data = form_of(client, trader) | {"leverage_type": "specify", "symbols": ["BTCUSDT", "ETHUSDT"]}
    data |= {
        "lev.BTCUSDT.long": "7",
        "lev.BTCUSDT.short": "6",
        "lev.ETHUSDT.long": "5",
        "lev.SOLUSDT.long": "x",
    }
    html = page(client.post(url(trader, "copy_settings_check"), data))
    assert "1 to correct" in html and "ETHUSDT: Short leverage is required for every symbol." in html
