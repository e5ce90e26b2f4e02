"""The form: what was read is what it shows, in both modes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.test import Client

from copytrade import rules, symbols
from copytrade.models import Account, CopySymbols, Trader, User
from tests.dashboard.copy_settings.steps import (
    confirm,
    form_of,
    held,
    page,
    review,
    stored,
    switched,
    typed,
    url,
)
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db


def test_the_form_shows_what_the_exchange_holds_now(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    answer = client.get(url(trader))
    config = held(sandbox, trader).configs[0]
    data = typed(answer.content.decode())
    assert data["trace_value"] == [rules.plain(config.trace_value)]
    assert data["symbols"] == sorted(config.symbols)
    assert data["leverage_type"] == ["fixed"]
    assert data["long_leverage"] == [str(config.long_leverage)]
    assert "Nothing is changed yet." in page(answer)


@pytest.mark.parametrize("mode", ["unified", "per_symbol"])
def test_the_untouched_form_says_exactly_what_was_read(
    client: Client, account: Account, sandbox: Sandbox, mode: str
) -> None:
    for trader in account.traders.filter(copied=True):
        if trader.versions.get().mode == mode:
            answer = client.post(url(trader, "copy_settings_review"), form_of(client, trader))
            assert "there is nothing to send" in page(answer)


def test_the_settings_are_read_again_when_the_form_is_opened(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    before = len(sandbox.calls()["calls"])
    client.get(url(trader))
    assert [call["operation"] for call in sandbox.calls()["calls"][before:]] == ["follower_settings"]


def test_an_unreachable_exchange_leaves_the_stored_settings_to_edit(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    sandbox.fault("follower_settings", "http", http=503, times=20)
    answer = client.get(url(trader))
    assert answer.status_code == 200
    assert "Below is what the exchange held" in page(answer)
    assert typed(answer.content.decode())["mode"] == ["unified"]


def test_without_any_settings_read_it_says_so_and_offers_to_read(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    trader.versions.all().delete()
    sandbox.fault("follower_settings", "http", http=503, times=20)
    answer = client.get(url(trader))
    assert answer.status_code == 503
    assert "Read again" in page(answer)


def test_values_out_of_bounds_are_shown_as_read_and_must_be_corrected(client: Client, alice: User) -> None:
    trader = stored(alice, max_hold=Decimal(5), stop_loss=Decimal("4.5"))
    html = page(client.get(url(trader)))
    assert 'value="5"' in html and 'value="450"' in html
    assert "Most held must be between 10 and 100000 (USDT)." in html
    assert "2 to correct before you can review." in html


def test_an_unknown_word_is_an_extra_choice_and_marked(client: Client, alice: User) -> None:
    html = page(client.get(url(stored(alice, margin_type="portfolio"))))
    assert '<option value="portfolio" selected>portfolio (not known to this desk)' in html
    assert "The margin type must be cross, isolated or trader." in html


def test_each_setting_has_a_worked_example(client: Client, alice: User) -> None:
    html = page(client.get(url(stored(alice))))
    for sentence in (
        "100 USDT at 5x opens a position of 500 USDT.",
        "10 copies of 100 USDT at the same time.",
        "A copy with 100 USDT of margin closes with about 20 USDT lost: a price move of 4 % at 5x.",
        "If the trader buys at 1 000, your copy buys at 1 005 at most, or not at all.",
    ):
        assert sentence in html
    assert "meaning inferred" in html and "That this limits the margin held, in USDT, is inferred." in html


def test_without_the_list_of_symbols_per_symbol_is_not_offered_and_it_says_why(
    client: Client, alice: User
) -> None:
    html = page(client.get(url(stored(alice))))
    assert 'id="mode-per_symbol"' not in html
    assert "no call of the exchange lists them" in html


def test_a_symbol_written_by_hand_is_taken_up(client: Client, alice: User) -> None:
    trader = stored(alice)
    data = form_of(client, trader) | {"more_symbols": "dogeusdt, LTCUSDT"}
    html = client.post(url(trader, "copy_settings_check"), data).content.decode()
    assert typed(html)["symbols"] == ["BTCUSDT", "DOGEUSDT", "ETHUSDT", "LTCUSDT"]


def test_switching_to_per_symbol_tells_what_it_means(client: Client, trader: Trader) -> None:
    html = page(client.get(url(trader)))
    assert "You are switching the mode." in html
    assert "Not copied now, and copied then:" in html


def test_a_per_symbol_form_sends_one_config_for_every_symbol(
    client: Client, per_symbol: Trader, sandbox: Sandbox
) -> None:
    answer = review(client, per_symbol, BTCUSDT__max_hold="777")
    assert answer.status_code == 302
    assert "APPLIED" in confirm(client, per_symbol).context["change"].state.upper()
    now = {config.symbol: config for config in held(sandbox, per_symbol).configs}
    assert set(now) == symbols.supported("sandbox")
    assert now["BTCUSDT"].max_hold == 777


def test_one_row_can_be_filled_down_to_all_rows_below_it(client: Client, per_symbol: Trader) -> None:
    names = sorted(symbols.supported("sandbox") or ())
    data = form_of(client, per_symbol) | {f"{names[2]}.trace_value": "0.33", "fill_from": names[2]}
    answer = client.post(url(per_symbol, "copy_settings_check"), data)
    filled = typed(answer.content.decode())
    assert [filled[f"{name}.trace_value"] for name in names[2:]] == [["0.33"]] * len(names[2:])
    assert [filled[f"{name}.trace_value"] for name in names[:2]] != [["0.33"]] * 2
    assert f"The values of {names[2]} are now in {len(names) - 3} rows below it." in page(answer)


def test_from_unified_to_per_symbol_and_back(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    rows = {
        f"{name}.{field}": value
        for name in symbols.supported("sandbox") or ()
        for field, value in FULL.items()
    }
    data = switched(client, trader, "per_symbol") | rows
    answer = client.post(url(trader, "copy_settings_review"), data)
    assert answer.status_code == 302, page(answer)[:3000]
    html = page(client.get(answer.headers["Location"]))
    assert "The mode changes." in html and "each symbol its own" in html
    confirm(client, trader)
    assert held(sandbox, trader).mode == "per_symbol"
    back = switched(client, trader, "unified")
    assert client.post(url(trader, "copy_settings_review"), back).status_code == 302
    confirm(client, trader)
    assert held(sandbox, trader).mode == "unified"


FULL = {
    "trace_type": "amount",
    "trace_value": "50",
    "max_hold": "500",
    "take_profit": "50",
    "stop_loss": "20",
    "slippage": "0.5",
    "margin_type": "trader",
    "leverage_type": "fixed",
    "long_leverage": "4",
    "short_leverage": "3",
}


def test_what_only_unified_can_hold_is_named_as_lost(client: Client, alice: User) -> None:
    CopySymbols.objects.create(venue="sandbox", symbols=["BTCUSDT", "ETHUSDT", "XRPUSDT"], source="operator")
    html = page(client.get(url(stored(alice, take_profit=None))))
    assert "copied then: XRPUSDT." in html
    assert "Margin “cross” is lost" in html
    assert "not set now: take profit." in html
