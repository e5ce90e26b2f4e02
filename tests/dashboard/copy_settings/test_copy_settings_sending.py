"""Review, send once, read back; and who may."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from copytrade import changes
from copytrade.models import Account, CopySymbols, SettingsChange, Trader, User
from tests.dashboard.copy_settings.steps import (
    confirm,
    elsewhere,
    form_of,
    former_id,
    held,
    page,
    press_send,
    review,
    stored,
    switched,
    typed,
    url,
    writes,
)
from tests.support.ledger_rows import closed_copy, open_copy, summed_once
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db

State = SettingsChange.State


def test_the_review_says_what_changes_what_stays_and_the_exact_request(
    client: Client, trader: Trader
) -> None:
    with summed_once():
        for number in range(3):
            closed_copy(trader, number, open_margin_amount=Decimal(100), open_leverage=5)
    answer = review(
        client, trader, trace_type="amount", trace_value="400", long_leverage="10", stop_loss="20"
    )
    html = page(client.get(answer.headers["Location"]))
    for words in ("400 USDT", "20 % of margin", "10x", "stay as they are and are sent again"):
        assert words in html
    assert '"traceValue": "400"' in html and f'"traderId": {trader.trader_id}' in html
    assert "acts on new copies only" in html or "act on new copies only" in html
    assert "would open 4 000 USDT instead of" in html, "risk grows by more than half"
    assert "Long leverage 10x: above what was used. The last 3 copies of this trader had 5x at most" in html


def test_a_symbol_with_open_copies_that_is_left_out_is_warned_of(client: Client, trader: Trader) -> None:
    open_copy(trader, 1, symbol="BTCUSDT")
    answer = review(client, trader, symbols=["ETHUSDT"])
    html = page(client.get(answer.headers["Location"]))
    assert "BTCUSDT: copies are open, and the symbol is no longer chosen." in html


def test_back_from_the_review_keeps_what_was_typed(client: Client, trader: Trader) -> None:
    review(client, trader, trace_value="333")
    change = SettingsChange.objects.get()
    again = client.get(f"{url(trader)}?change={change.key}")
    assert typed(again.content.decode())["trace_value"] == ["333"]


def test_nothing_is_sent_by_looking_at_a_review(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    answer = review(client, trader, trace_value="333")
    client.get(answer.headers["Location"])
    assert writes(sandbox) == 0


def test_sent_once_and_read_back(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    review(client, trader, trace_value="321", stop_loss="12.5")
    html = page(confirm(client, trader))
    assert "Applied, and read back" in html and "12.5 % of margin ✓" in html
    now = held(sandbox, trader).configs[0]
    assert (now.trace_value, now.stop_loss) == (Decimal(321), Decimal("0.125"))
    assert writes(sandbox) == 1


def test_pressing_twice_sends_once(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    review(client, trader, trace_value="321")
    confirm(client, trader)
    assert "Applied, and read back" in page(confirm(client, trader))
    assert writes(sandbox) == 1


def test_another_key_sends_nothing(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    review(client, trader, trace_value="321")
    answer = confirm(client, trader, key="00000000-0000-0000-0000-000000000000")
    assert answer.status_code == 409 and "This review is out of date." in page(answer)
    assert writes(sandbox) == 0


def test_a_page_confirms_and_a_worker_sends(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    review(client, trader, trace_value="321")
    html = page(press_send(client, trader))
    assert writes(sandbox) == 0, "the request of a page sends nothing to the exchange"
    assert "Confirmed, waiting to be sent" in html and 'hx-trigger="every 1s"' in html
    assert re.search(r"<noscript>.*?Look again.*?</noscript>", html)
    changes.proceed(SettingsChange.objects.get().pk)
    assert writes(sandbox) == 1


@pytest.mark.parametrize("seen", ["", "0" * 64])
def test_a_review_of_another_body_sends_nothing(
    client: Client, trader: Trader, sandbox: Sandbox, seen: str
) -> None:
    review(client, trader, trace_value="321")
    answer = press_send(client, trader, seen=seen)
    assert answer.status_code == 409 and "not what this change would send" in page(answer)
    assert SettingsChange.objects.get().state == State.DRAFT


def test_the_body_under_the_same_key_is_refused_once_it_is_another(client: Client, trader: Trader) -> None:
    review(client, trader, trace_value="321")
    change = SettingsChange.objects.get()
    reviewed = changes.body_mark(change)
    change.body["unifiedTraceConfig"]["traceValue"] = "999"
    change.save()
    assert press_send(client, trader, seen=reviewed).status_code == 409


def test_of_two_tabs_one_sends_and_the_other_is_told(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    review(client, trader, trace_value="321")
    press_send(client, trader)
    review(client, trader, trace_value="654")
    answer = press_send(client, trader)
    assert answer.status_code == 409 and "Another change for this trader is under way" in page(answer)
    for change in SettingsChange.objects.all():
        changes.proceed(change.pk)
    assert writes(sandbox) == 1 and held(sandbox, trader).configs[0].trace_value == 321


def test_a_review_that_was_overtaken_says_so_before_it_is_sent(client: Client, trader: Trader) -> None:
    answer = review(client, trader, trace_value="321")
    elsewhere(trader, "111")
    changes.read_settings(trader)
    html = page(client.get(answer.headers["Location"]))
    assert "were changed after this review was made" in html and "111 USDT" in html


def test_the_tick_is_still_there_after_the_review_was_refused(
    client: Client, account: Account, sandbox: Sandbox
) -> None:
    former = Trader.objects.create(account=account, trader_id=former_id(sandbox), name="Former", copied=False)
    client.get(url(former))
    review(client, former, trace_value="44")
    html = page(press_send(client, former, not_copying="understood", seen="x"))
    assert re.search(r'name="not_copying" value="understood" required checked', html)


def test_a_change_that_found_its_settings_in_force_says_that_nothing_was_sent(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    review(client, trader, trace_type="amount", trace_value="111")
    elsewhere(trader, "111")
    html = page(confirm(client, trader))
    assert "Already in force: nothing was sent" in html


def test_what_the_exchange_refuses_is_told_and_nothing_changes(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    before = held(sandbox, trader)
    review(client, trader, long_leverage="126")
    html = page(confirm(client, trader))
    assert "Refused: nothing was changed" in html and "-3313" in html
    assert held(sandbox, trader) == before


def test_a_lost_answer_is_followed_live_and_never_sent_again(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    review(client, trader, trace_value="321")
    sandbox.fault("update_follower_settings", "timeout_after", times=1, seconds=0)
    html = page(confirm(client, trader))
    assert "The answer was lost; reading back" in html
    assert 'hx-trigger="every 1s"' in html
    change = SettingsChange.objects.get()
    changes.read_back(change.pk)
    where = reverse("copy_settings_change", args=[trader.pk, change.key])
    part = page(client.get(where, headers={"HX-Request": "true"}))
    assert "Applied, and read back" in part and "<html" not in part and "hx-trigger" not in part
    assert writes(sandbox) == 1


def test_a_change_made_elsewhere_is_not_overwritten(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    review(client, trader, trace_value="321")
    elsewhere(trader, "111")
    html = page(confirm(client, trader))
    assert "Changed elsewhere: nothing was sent" in html
    assert "111 USDT" in html and "Go on with my changes" in html
    assert held(sandbox, trader).configs[0].trace_value == 111


def test_a_form_older_than_the_exchange_keeps_what_was_typed_and_shows_what_changed(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    data = form_of(client, trader)
    elsewhere(trader, "111")
    changes.read_settings(trader)
    answer = client.post(url(trader, "copy_settings_review"), data | {"trace_value": "321"})
    assert answer.status_code == 422
    assert "The settings were changed elsewhere while you were editing." in page(answer)
    again = typed(answer.content.decode())
    assert again["trace_value"] == ["321"] and again["base"] != data["base"]
    assert client.post(url(trader, "copy_settings_review"), again).status_code == 302


def test_a_read_only_connection_says_so_and_sends_nothing(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    Account.objects.update(writes_enabled=False)
    assert "is read-only here" in page(client.get(url(trader)))
    review(client, trader, trace_value="321")
    answer = confirm(client, trader)
    assert answer.status_code == 409 and "Allow changes on the Connections page" in page(answer)
    assert writes(sandbox) == 0


def test_a_trader_who_is_not_copied_needs_a_tick(client: Client, account: Account, sandbox: Sandbox) -> None:
    former = Trader.objects.create(account=account, trader_id=former_id(sandbox), name="Former", copied=False)
    assert "This trader is not copied now." in page(client.get(url(former)))
    review(client, former, trace_value="44")
    answer = confirm(client, former)
    assert answer.status_code == 409 and writes(sandbox) == 0
    confirm(client, former, not_copying="understood")
    assert writes(sandbox) == 1


def test_a_stranger_gets_404_everywhere(
    client: Client, trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    review(client, trader, trace_value="321")
    where = reverse("copy_settings_change", args=[trader.pk, SettingsChange.objects.get().key])
    stranger = client_of(charlie)
    assert stranger.get(url(trader)).status_code == 404
    assert stranger.post(url(trader, "copy_settings_check")).status_code == 404
    assert stranger.post(url(trader, "copy_settings_review")).status_code == 404
    assert stranger.get(where).status_code == stranger.post(where).status_code == 404
    assert SettingsChange.objects.get().state == State.DRAFT


def test_a_change_of_one_trader_is_not_found_under_another(
    client: Client, trader: Trader, per_symbol: Trader
) -> None:
    review(client, trader, trace_value="321")
    where = reverse("copy_settings_change", args=[per_symbol.pk, SettingsChange.objects.get().key])
    assert client.get(where).status_code == 404


def test_two_hundred_symbols_are_checked_and_lost_none(client: Client, alice: User) -> None:
    names = [f"S{number:03}USDT" for number in range(200)]
    CopySymbols.objects.create(venue="sandbox", symbols=names, source="operator")
    trader = stored(alice, symbols=tuple(names[:3]))
    data = switched(client, trader, "per_symbol") | {
        "S199USDT.max_hold": "9",
        "S198USDT.slippage": "x",
    }
    for name in names:
        data |= {f"{name}.margin_type": "trader", f"{name}.leverage_type": "trader"}
    html = page(client.post(url(trader, "copy_settings_review"), data))
    assert "2 to correct before you can review." in html
    assert (
        "S199USDT: Most held must be between" in html and "S198USDT: Slippage must be a plain number" in html
    )
    corrected = data | {"S199USDT.max_hold": "10", "S198USDT.slippage": "0"}
    assert client.post(url(trader, "copy_settings_review"), corrected).status_code == 302
    assert len(SettingsChange.objects.get().body["symbolTraceConfigs"]) == 200


@pytest.mark.parametrize("name", ["copy_settings_check", "copy_settings_review"])
def test_checking_and_reviewing_are_posts(client: Client, trader: Trader, name: str) -> None:
    assert client.get(url(trader, name)).status_code == 405


def test_a_form_without_its_fields_is_a_message_and_not_a_fault(client: Client, trader: Trader) -> None:
    for data in ({}, {"base": "x"}, {"base": "9" * 30, "mode": "unified"}, {"mode": "per_symbol"}):
        assert client.post(url(trader, "copy_settings_review"), data).status_code == 422
