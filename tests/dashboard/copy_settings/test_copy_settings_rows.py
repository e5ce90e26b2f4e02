"""The rows of per-symbol settings: drawn when asked for, found, set many at once, filled down, put back, pasted."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.test import Client

from copytrade.models import Account, CopySymbols, SettingsChange, Trader, User
from copytrade.rules import CopySettings, TraceConfig
from tests.dashboard.copy_settings.steps import form_of, page, stored, switched, typed, url
from tests.support.ledger_rows import trader_of, version_of

pytestmark = pytest.mark.django_db

NAMES = ["ADAUSDT", "BTCUSDT", "ETHUSDT", "SOLUSDT"]
CONFIG = TraceConfig(
    symbol=None, symbols=None, trace_type="amount", trace_value=Decimal(100), max_hold=Decimal(500),
    take_profit=Decimal("0.5"), stop_loss=Decimal("0.2"), slippage=Decimal("0.005"), margin_type="trader",
    leverage_type="fixed", long_leverage=5, short_leverage=4,
)  # fmt: skip
HTMX = {"HX-Request": "true"}


def of_symbols(alice: User, names: list[str], **changed: object) -> Trader:
    CopySymbols.objects.create(venue="sandbox", symbols=names, source="operator")
    account = Account.objects.create(owner=alice, label="Keyless", venue="sandbox", writes_enabled=True)
    trader = trader_of(account)
    configs = tuple(replace(CONFIG, symbol=name, **changed) for name in names)
    version_of(trader, CopySettings("per_symbol", configs))
    return trader


@pytest.fixture
def rows(alice: User) -> Trader:
    return of_symbols(alice, NAMES)


def press(client: Client, trader: Trader, headers: dict[str, str] | None = None, **more: object) -> object:
    """The form with what was typed, and one of its buttons. `__` in a name stands for a point."""
    data = form_of(client, trader) | {name.replace("__", "."): value for name, value in more.items()}
    return client.post(url(trader, "copy_settings_check"), data, headers=headers or {})


def column(answer: object, name: str) -> list[str]:
    data = typed(answer.content.decode())  # type: ignore[attr-defined]
    return [data[f"{symbol}.{name}"][0] for symbol in NAMES]


# Drawn when asked for


def test_unified_settings_are_shown_without_any_row(client: Client, alice: User) -> None:
    CopySymbols.objects.create(venue="sandbox", symbols=NAMES, source="operator")
    html = client.get(url(stored(alice))).content.decode()
    assert 'id="rows"' not in html and "BTCUSDT.trace_value" not in html
    assert "Show the rows" in html


def test_per_symbol_settings_are_shown_without_the_unified_form(client: Client, rows: Trader) -> None:
    html = client.get(url(rows)).content.decode()
    assert 'id="rows"' in html and 'name="trace_value"' not in html


def test_choosing_the_other_mode_brings_its_form_once(client: Client, rows: Trader) -> None:
    htmx = HTMX | {"HX-Trigger": "mode"}
    html = press(client, rows, htmx, mode="unified").content.decode()
    assert 'id="u"' in html and 'hx-swap-oob="true"' in html and 'name="trace_value"' in html
    again = client.post(
        url(rows, "copy_settings_check"),
        switched(client, rows, "unified") | {"mode": "per_symbol"},
        headers=htmx,
    )
    assert "<input" not in again.content.decode(), "both are on the page: nothing that is typed is touched"


def test_both_modes_keep_what_was_typed_in_them(client: Client, rows: Trader) -> None:
    data = switched(client, rows, "unified") | {"trace_value": "x7", "BTCUSDT.trace_value": "y8"}
    back = typed(
        client.post(url(rows, "copy_settings_check"), data | {"mode": "per_symbol"}).content.decode()
    )
    assert back["trace_value"] == ["x7"] and back["BTCUSDT.trace_value"] == ["y8"]


def test_a_proposal_that_nobody_has_seen_is_not_reviewed(client: Client, rows: Trader) -> None:
    answer = client.post(url(rows, "copy_settings_review"), form_of(client, rows) | {"mode": "unified"})
    assert answer.status_code == 422
    assert "Look at it, then review." in page(answer)
    assert not SettingsChange.objects.exists()
    assert client.post(url(rows, "copy_settings_review"), typed(answer.content.decode())).status_code == 302


def test_a_check_of_one_row_answers_its_note_and_no_input(client: Client, rows: Trader) -> None:
    html = press(client, rows, HTMX | {"HX-Trigger": "s-BTCUSDT"}, BTCUSDT__max_hold="3").content.decode()
    assert 'id="s-BTCUSDT-note" hx-swap-oob="true"' in html and "Most held must be between" in html
    assert 's-BTCUSDT-max_hold"' in html, "the note names its field"
    assert "<input" not in html and "s-ETHUSDT" not in html


def test_a_check_of_one_row_tells_an_example(client: Client, rows: Trader) -> None:
    html = page(press(client, rows, HTMX | {"HX-Trigger": "s-BTCUSDT"}, BTCUSDT__trace_value="30"))
    assert "30 USDT at 5x opens a position of 150 USDT." in html


def test_another_margin_type_than_the_one_allowed_is_shown_to_be_corrected(
    client: Client, alice: User
) -> None:
    answer = client.get(url(of_symbols(alice, NAMES, margin_type="isolated")))
    assert '<option value="isolated" selected>isolated (not known to this desk)' in page(answer)
    assert "The margin type must be trader" in page(answer) or "4 to correct" in page(answer)


# Found and marked


def test_finding_hides_the_other_rows_and_sends_them_all_the_same(client: Client, rows: Trader) -> None:
    answer = press(client, rows, apply="show", find="usdt b")
    html = answer.content.decode()
    assert "1 of 4 shown" in html and html.count('" hidden class="') == 3
    assert column(answer, "trace_value") == ["100"] * 4


def test_only_changed_shows_what_differs_in_value(client: Client, rows: Trader) -> None:
    answer = press(
        client, rows, apply="show", only="changed", BTCUSDT__trace_value="100.0", ETHUSDT__stop_loss="21"
    )
    assert "1 of 4 shown, 1 changed" in page(answer)
    assert 'data-was="20"' in page(answer)


def test_no_row_that_fits_is_said(client: Client, rows: Trader) -> None:
    assert '<p class="muted" id="rows-none">' in page(press(client, rows, apply="show", find="nope"))


# Many at once


def test_many_rows_are_set_at_once(client: Client, rows: Trader) -> None:
    answer = press(client, rows, apply="set", set__stop_loss="15", set__leverage_type="trader")
    assert column(answer, "stop_loss") == ["15"] * 4
    assert column(answer, "leverage_type") == ["trader"] * 4
    assert column(answer, "take_profit") == ["50"] * 4
    assert "Set in 4 rows: stop loss, leverage type." in page(answer)
    assert typed(answer.content.decode())["set.stop_loss"] == [""]


def test_only_the_shown_or_the_ticked_rows_are_set(client: Client, rows: Trader) -> None:
    shown = press(client, rows, apply="set", set__stop_loss="15", find="eth")
    assert column(shown, "stop_loss") == ["20", "20", "15", "20"]
    ticked = press(
        client, rows, apply="set", set__stop_loss="15", scope="ticked", rows=["ADAUSDT", "SOLUSDT"]
    )
    assert column(ticked, "stop_loss") == ["15", "20", "20", "15"]


def test_nothing_to_set_and_nowhere_to_set_it_are_said(client: Client, rows: Trader) -> None:
    assert "type a value above a column first" in page(press(client, rows, apply="set"))
    nowhere = press(client, rows, apply="set", set__stop_loss="1", scope="ticked")
    assert "no row is ticked or shown" in page(nowhere)
    assert typed(nowhere.content.decode())["set.stop_loss"] == ["1"]


def test_what_is_set_in_many_rows_is_checked_like_anything_typed(client: Client, rows: Trader) -> None:
    answer = press(client, rows, apply="set", set__max_hold="1,5")
    assert "4 to correct before you can review." in page(answer)
    assert column(answer, "max_hold") == ["1,5"] * 4


def test_rows_are_put_back_to_what_the_exchange_holds(client: Client, rows: Trader) -> None:
    answer = press(client, rows, apply="back", BTCUSDT__trace_value="x", ETHUSDT__max_hold="9", find="btc")
    assert column(answer, "trace_value") == ["100"] * 4
    assert column(answer, "max_hold") == ["500", "500", "9", "500"]
    assert "Put back to what the exchange holds: 1 row." in page(answer)


def test_filling_down_stops_at_the_rows_that_show(client: Client, rows: Trader) -> None:
    answer = press(
        client, rows, fill_from="BTCUSDT", BTCUSDT__trace_value="7", find="s", ADAUSDT__max_hold="11"
    )
    assert column(answer, "trace_value") == ["100", "7", "7", "7"]
    assert column(answer, "max_hold")[0] == "11"
    assert "There is no row NOPE." in page(press(client, rows, fill_from="NOPE"))


# From a spreadsheet

SHEET = (
    "Symbol\tSize\tStop loss, % of margin\tLeverage\tColour\n"
    "btcusdt\t250\t30 %\tAs trader\tred\n"
    "ETHUSDT\t\t500\tFixed\t\n"
)


def test_a_sheet_is_looked_at_before_anything_changes(client: Client, rows: Trader) -> None:
    answer = press(client, rows, apply="paste", paste=SHEET)
    html = page(answer)
    assert "It sets 3 values" in html
    assert "Column 5, “Colour”, is no setting." in html
    assert "Line 3, ETHUSDT, stop loss “500”: Stop loss must be between" in html
    assert column(answer, "trace_value") == ["100"] * 4
    assert "btcusdt\t250" in html, "what was pasted stays"


def test_a_sheet_is_taken_over_without_its_wrong_cells(client: Client, rows: Trader) -> None:
    answer = press(client, rows, apply="paste-take", paste=SHEET)
    assert column(answer, "trace_value") == ["100", "250", "100", "100"]
    assert column(answer, "stop_loss") == ["20", "30", "20", "20"]
    assert column(answer, "leverage_type") == ["fixed", "trader", "fixed", "fixed"]
    assert "Taken over: 3 values." in page(answer)


@pytest.mark.parametrize(
    ("sheet", "said"),
    [
        ("", "Nothing was pasted."),
        ("Size\n5", "No column is named “Symbol”."),
        ("Symbol\tSize\nNOPEUSDT\t5", "Line 2: “NOPEUSDT” has no row here."),
        ("Symbol\tSize\nBTCUSDT\t5\nBTCUSDT\t6", "Line 3: BTCUSDT was named above."),
        ("Symbol\tSize\n\t5", "Line 2 names no symbol."),
        ("Symbol\tSize\tSize\nBTCUSDT\t5\t6", "Column 3, “Size”, comes twice."),
        ("Symbol\tSize\nBTCUSDT\t5\t6", "more cells than heads"),
        (
            "Symbol;traceValue\nBTCUSDT;1,5",
            "size of each copy “1,5”: Size of each copy must be a plain number",
        ),
        ("symbol,fixedLongLeverage\nBTCUSDT,2.5", "Long leverage must be a whole number."),
        ('Symbol\tSize\n"BTC', "has no row here."),
        ("Symbol\tSize\nBTCUSDT\t" + "9" * 5000, "must be a plain number"),
        ("<b>\t'\nx\ty", "No column is named"),
    ],
)
def test_every_wrong_thing_in_a_sheet_is_named_by_its_place(
    client: Client, rows: Trader, sheet: str, said: str
) -> None:
    answer = press(client, rows, apply="paste", paste=sheet)
    assert answer.status_code == 200
    assert said in page(answer)


@pytest.mark.parametrize(("text", "value"), [("5x", "5"), ("5", "5"), ("7 x", "7")])
def test_a_unit_after_a_number_may_stay(client: Client, rows: Trader, text: str, value: str) -> None:
    answer = press(
        client, rows, apply="paste-take", paste=f"Pair;Long leverage;Most held, USDT\nBTCUSDT;{text};90 USDT"
    )
    assert column(answer, "long_leverage")[1] == value and column(answer, "max_hold")[1] == "90"


# Scale


def test_what_others_wrote_is_escaped(client: Client, alice: User) -> None:
    trader = of_symbols(alice, ['"><i>USDT'], trace_type='"><script>')
    html = client.get(url(trader)).content.decode()
    assert "<script>&" not in html and '"><script>"' not in html and "<i>USDT" not in html


def test_more_symbols_than_a_form_can_carry_are_said_and_not_drawn(client: Client, alice: User) -> None:
    trader = of_symbols(alice, [f"S{number:05}USDT" for number in range(1_001)])
    answer = client.get(url(trader))
    assert answer.status_code == 200
    assert "More symbols than one form can carry" in page(answer)
    assert len(answer.content) < 100_000
    assert client.post(url(trader, "copy_settings_review"), form_of(client, trader)).status_code == 422


def test_unified_settings_of_ten_thousand_symbols_keep_them_all(client: Client, alice: User) -> None:
    names = [f"S{number:05}USDT" for number in range(10_000)]
    trader = stored(alice, symbols=tuple(names))
    answer = client.get(url(trader))
    assert "more than the 1000 that a form can list" in page(answer)
    data = typed(answer.content.decode()) | {"more_symbols": ", ".join(names), "trace_value": "7"}
    assert client.post(url(trader, "copy_settings_review"), data).status_code == 302
    body = SettingsChange.objects.get().body["unifiedTraceConfig"]
    assert body["symbols"] == names and body["traceValue"] == "7"


def test_a_form_above_the_limit_is_answered_in_words(client: Client, rows: Trader) -> None:
    many = client.post(url(rows, "copy_settings_check"), {f"x{n}": "" for n in range(20_001)})
    large = client.post(
        url(rows, "copy_settings_check"),
        "paste=" + "x" * 600_000,
        content_type="application/x-www-form-urlencoded",
    )
    for answer in (many, large):
        assert answer.status_code == 413
        assert "This form is too large" in page(answer)


@pytest.mark.parametrize("count", [10, 20])
def test_the_editor_asks_the_database_as_often_for_ten_rows_as_for_twenty(
    client: Client, alice: User, django_assert_max_num_queries: object, count: int
) -> None:
    trader = of_symbols(alice, [f"S{number}USDT" for number in range(count)])
    client.get(url(trader))
    with django_assert_max_num_queries(25):  # type: ignore[operator]
        client.get(url(trader))
