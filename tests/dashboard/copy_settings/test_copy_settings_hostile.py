"""What nobody should type: a clear message, never a 500, and everything typed is still there."""

from __future__ import annotations

import pytest
from django.test import Client

from copytrade.models import SettingsChange, Trader
from tests.copytrade.typed_forms import HOSTILE
from tests.dashboard.copy_settings.steps import form_of, page, url, writes
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db
FIELDS = [
    "trace_value",
    "max_hold",
    "take_profit",
    "stop_loss",
    "slippage",
    "long_leverage",
    "short_leverage",
]
REFUSALS = ("must be a plain number", "must be a whole number", "must be 1 or more")


def post(client: Client, trader: Trader, data: dict, name: str = "copy_settings_review"):
    return client.post(url(trader, name), data)


@pytest.mark.parametrize("name", ["copy_settings_review", "copy_settings_check"])
def test_every_number_typed_wrong_is_named_and_kept(
    client: Client, trader: Trader, sandbox: Sandbox, name: str
) -> None:
    form = form_of(client, trader)
    for start in range(0, len(HOSTILE), len(FIELDS)):
        texts = HOSTILE[start : start + len(FIELDS)]
        typed = dict(zip(FIELDS, texts, strict=False))
        answer = post(client, trader, form | typed | {"leverage_type": "fixed"}, name)
        assert answer.status_code == (422 if name.endswith("review") else 200)
        html = page(answer)
        for text in texts:
            assert f'value="{text}"' in html, "it is lost"
        assert sum(html.count(words) for words in REFUSALS) >= len(texts)
    assert not SettingsChange.objects.exists() and writes(sandbox) == 0


def test_a_wrong_number_of_one_symbol_is_named_with_its_symbol_and_kept(
    client: Client, per_symbol: Trader
) -> None:
    form = form_of(client, per_symbol)
    names = [name for name in form if name.endswith((".trace_value", ".stop_loss", ".max_hold"))]
    typed = dict(zip(names, HOSTILE, strict=False))
    assert len(typed) == len(HOSTILE), "there are enough fields for all of them"
    answer = post(client, per_symbol, form | typed)
    assert answer.status_code == 422
    html = page(answer)
    for name, text in typed.items():
        assert f'value="{text}"' in html and name.partition(".")[0] in html
    assert not SettingsChange.objects.exists()


def test_ten_thousand_symbols_are_refused_in_a_sentence(client: Client, trader: Trader) -> None:
    names = [f"S{number:04}USDT" for number in range(10_000)]
    form = form_of(client, trader) | {"symbols": names, "stop_loss": "12.75"}
    answer = post(client, trader, form)
    assert answer.status_code == 422
    html = page(answer)
    assert "Copy trading does not support S0000USDT" in html and "9988 more" in html
    assert 'value="12.75"' in html and "S9999USDT" in html, "it is lost"
    written = form | {"symbols": [], "more_symbols": " ".join(names)}
    answer = post(client, trader, written)
    assert answer.status_code == 422 and "Copy trading does not support S0000USDT" in page(answer)


@pytest.mark.parametrize("size", ["fields", "bytes"])
def test_more_than_the_desk_takes_is_told_and_changes_nothing(
    client: Client, trader: Trader, sandbox: Sandbox, size: str
) -> None:
    form = form_of(client, trader)
    form |= {"symbols": ["A"] * 21_000} if size == "fields" else {"trace_value": "9" * 600_000}
    for name in ("copy_settings_review", "copy_settings_check"):
        answer = post(client, trader, form, name)
        assert answer.status_code in (400, 413)
        html = page(answer)
        assert "<h1" in html and "too " in html.lower(), "a page with a reason"
    assert not SettingsChange.objects.exists() and writes(sandbox) == 0
