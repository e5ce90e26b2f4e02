"""Copy settings: edit, check, review, send and read back, against the sandbox exchange over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from copytrade import changes, connections, rules, symbols, versions
from copytrade.clients import client_for
from copytrade.models import Account, CopySymbols, SettingsChange, Trader, User
from copytrade.sync import run
from tests.support.ledger_rows import UNIFIED, closed_copy, open_copy, trader_of, version_of
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db
State = SettingsChange.State


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    account = connections.add(
        alice,
        label="Main",
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )
    assert run.sync_account(account.pk, ["traders", "settings"]) == {"traders": "", "settings": ""}
    return account


def of_mode(account: Account, mode: str) -> Trader:
    return next(t for t in account.traders.filter(copied=True) if t.versions.get().mode == mode)


@pytest.fixture
def trader(account: Account) -> Trader:
    """Copied with unified settings and one leverage for all symbols."""
    for trader in account.traders.filter(copied=True):
        settings = versions.settings_of(trader.versions.get())
        if settings.mode == "unified" and settings.configs[0].leverage_type == "fixed":
            return trader
    raise AssertionError("The sandbox has no such trader.")


@pytest.fixture
def per_symbol(account: Account) -> Trader:
    return of_mode(account, "per_symbol")


def url(trader: Trader, name: str = "copy_settings") -> str:
    return reverse(name, args=[trader.pk])


def page(answer: object) -> str:
    return unescape(answer.content.decode()).replace("\u202f", " ")  # type: ignore[attr-defined]


def typed(html: str) -> dict[str, list[str]]:
    """What a browser would send back of this page's form, untouched."""
    form = re.search(r'<form id="settings-form".*?</form>', html, flags=re.DOTALL)
    assert form
    data: dict[str, list[str]] = {}
    for tag in re.findall(r"<input [^>]*>", form[0]):
        attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        unticked = attributes.get("type") in ("checkbox", "radio") and not re.search(r"\bchecked\b", tag)
        if "name" in attributes and not unticked:
            data.setdefault(attributes["name"], []).append(unescape(attributes.get("value", "")))
    for select, options in re.findall(r'<select [^>]*name="([^"]+)"[^>]*>(.*?)</select>', form[0]):
        chosen = re.search(r'value="([^"]*)" selected', options) or re.search(r'value="([^"]*)"', options)
        assert chosen
        data[select] = [chosen[1]]
    return data


def form_of(client: Client, trader: Trader) -> dict[str, list[str]]:
    return typed(client.get(url(trader)).content.decode())


def review(client: Client, trader: Trader, **changed: str | list[str]) -> object:
    data = form_of(client, trader) | {name.replace("__", "."): value for name, value in changed.items()}
    return client.post(url(trader, "copy_settings_review"), data)


def confirm(client: Client, trader: Trader, **more: str) -> object:
    change = SettingsChange.objects.latest("pk")
    where = reverse("copy_settings_change", args=[trader.pk, change.key])
    return client.post(where, {"key": str(change.key)} | more, follow=True)


def held(sandbox: Sandbox, trader: Trader) -> rules.CopySettings:
    """What the exchange really holds."""
    return rules.from_answer(sandbox.truth()["settings"][str(trader.trader_id)])


def writes(sandbox: Sandbox) -> int:
    return sum(call["operation"] == "update_follower_settings" for call in sandbox.calls()["calls"])


# --- the form ---


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


def stored(alice: User, **changed: object) -> Trader:
    """A trader of a connection without a key: the page shows the stored settings."""
    account = Account.objects.create(owner=alice, label="Keyless", venue="sandbox", writes_enabled=True)
    trader = trader_of(account)
    version_of(trader, replace(UNIFIED, configs=(replace(UNIFIED.configs[0], **changed),)))
    return trader


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


# --- the check ---


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


# --- the other mode ---


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


def test_one_card_can_be_copied_to_all_symbols(client: Client, per_symbol: Trader) -> None:
    data = form_of(client, per_symbol) | {"BTCUSDT.trace_value": "0.33", "fill_from": "BTCUSDT"}
    filled = typed(client.post(url(per_symbol, "copy_settings_check"), data).content.decode())
    assert {value[0] for name, value in filled.items() if name.endswith(".trace_value")} == {"0.33"}


def test_from_unified_to_per_symbol_and_back(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    data = {
        f"{name}__{field}": value
        for name in symbols.supported("sandbox") or ()
        for field, value in FULL.items()
    }
    answer = review(client, trader, mode="per_symbol", **data)
    assert answer.status_code == 302, page(answer)[:3000]
    html = page(client.get(answer.headers["Location"]))
    assert "The mode changes." in html and "each symbol its own" in html
    confirm(client, trader)
    assert held(sandbox, trader).mode == "per_symbol"
    assert review(client, trader, mode="unified").status_code == 302
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


# --- review ---


def test_the_review_says_what_changes_what_stays_and_the_exact_request(
    client: Client, trader: Trader
) -> None:
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
    assert "above what was usual: half of the last 3 copies had 5x or less." in html


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


# --- send and read back ---


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


def elsewhere(trader: Trader, value: str) -> None:
    """Somebody changes the size on the exchange's own page."""
    settings = versions.settings_of(trader.versions.first())
    config = replace(settings.configs[0], trace_type="amount", trace_value=Decimal(value))
    client_for(trader.account, interactive=True).update_follower_settings(
        trader_id=trader.trader_id,
        settings=replace(settings, configs=(config,)),
        supported=symbols.supported(trader.account.venue),
    )


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


def former_id(sandbox: Sandbox) -> int:
    truth = sandbox.truth()["settings"]
    return next(int(key) for key, items in truth.items() if items and items[0]["copyEnable"] is False)


# --- who may ---


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
    data = form_of(client, trader) | {
        "mode": "per_symbol",
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
