"""Per-symbol settings, as a person edits them: one symbol, many at once, from a spreadsheet; without JavaScript too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from copytrade.models import Account, CopySymbols, Trader, User
from copytrade.rules import CopySettings, TraceConfig
from tests.browser.conftest import DESKTOP, PHONE, Desk
from tests.browser.steps import enter_the_demo, field, open_settings
from tests.support.ledger_rows import trader_of, version_of
from tests.support.sandbox_process import Sandbox
from tests.support.watched_page import serious, sideways

pytestmark = pytest.mark.slow
SOON = 20_000  # ms: 200 rows are drawn, sent and drawn again, on a machine that may have more to do

CONFIG = TraceConfig(
    symbol=None, symbols=None, trace_type="amount", trace_value=Decimal(100), max_hold=Decimal(500),
    take_profit=Decimal("0.5"), stop_loss=Decimal("0.2"), slippage=Decimal("0.005"), margin_type="trader",
    leverage_type="fixed", long_leverage=5, short_leverage=4,
)  # fmt: skip
NAMES = [f"{base}{number or ''}USDT" for number in range(20) for base in
         ("BTC", "ETH", "SOL", "XRP", "ADA", "DOT", "LTC", "BNB", "TRX", "SUI")]  # fmt: skip


@pytest.fixture
def two_hundred(alice: User) -> Trader:
    """A trader copied with settings for 200 symbols; the page shows the stored ones."""
    CopySymbols.objects.create(venue="sandbox", symbols=sorted(NAMES), source="operator")
    account = Account.objects.create(owner=alice, label="Keyless", venue="sandbox", writes_enabled=True)
    trader = trader_of(account)
    version_of(trader, CopySettings("per_symbol", tuple(replace(CONFIG, symbol=name) for name in NAMES)))
    return trader


def rows(page: Page) -> object:
    return page.locator("#rows tbody:visible")


def test_per_symbol_settings_of_one_symbol(screen: Page, sandbox: Sandbox) -> None:
    enter_the_demo(screen)
    open_settings(screen, "Gamma Scalps")
    row = screen.locator("#s-BTCUSDT")
    if screen.viewport_size["width"] < 600:
        row.locator(".opener").click()
    field(screen, "BTCUSDT Most held").fill("5")
    expect(row.locator(".row-note")).to_contain_text("Most held must be between", timeout=SOON)
    expect(field(screen, "BTCUSDT Most held")).to_have_attribute("aria-invalid", "true")
    screen.locator("#checked a").first.click()
    expect(field(screen, "BTCUSDT Most held")).to_be_focused()
    field(screen, "BTCUSDT Most held").fill("456")
    expect(screen.locator("#checked")).to_contain_text("Every rule holds.", timeout=SOON)
    assert sideways(screen) == 0
    assert serious(screen) == []
    screen.get_by_role("button", name="Review changes").click()
    expect(screen.get_by_role("row", name="Most held BTCUSDT")).to_contain_text("456 USDT")
    screen.get_by_role("button", name="Send these settings").click()
    expect(screen.get_by_role("heading", name="Applied, and read back")).to_be_visible()


def test_the_mode_switch_brings_the_other_form_and_keeps_what_was_typed(page: Page) -> None:
    enter_the_demo(page)
    open_settings(page, "Double or Nothing")
    expect(page.locator("#rows")).to_have_count(0)
    field(page, "Size of each copy").fill("321")
    page.get_by_text("Per symbol", exact=True).click()
    expect(page.get_by_text("You are switching the mode.")).to_be_visible()
    expect(page.locator("#s-BTCUSDT")).to_be_visible()
    expect(page.locator("#u")).to_be_hidden()
    field(page, "BTCUSDT Size of each copy").fill("77")
    page.get_by_text("Unified", exact=True).click()
    expect(field(page, "Size of each copy")).to_have_value("321")
    page.get_by_text("Per symbol", exact=True).click()
    expect(field(page, "BTCUSDT Size of each copy")).to_have_value("77")


def test_two_hundred_symbols_are_found_set_and_filled_down(
    screen: Page, live_desk: Desk, alice: User, two_hundred: Trader, shoot: Callable[..., object]
) -> None:
    phone = screen.viewport_size["width"] < 600
    live_desk.sign_in(screen, alice)
    screen.goto(f"/traders/{two_hundred.pk}/settings/")
    expect(rows(screen)).to_have_count(200)
    screen.get_by_role("searchbox", name="Find a symbol").fill("btc 1")
    expect(rows(screen)).to_have_count(11)
    # Set many: only the rows that show.
    if phone:
        screen.locator("#set-many .opener").click()
    screen.get_by_role("textbox", name="Set many: Stop loss").fill("33")
    screen.locator("#set-go").click()
    expect(screen.locator("#rows-done")).to_have_text("Set in 11 rows: stop loss.", timeout=SOON)
    expect(screen.locator("#rows-shown")).to_have_text("11 of 200 shown, 11 changed")
    screen.get_by_role("searchbox", name="Find a symbol").fill("")
    expect(rows(screen)).to_have_count(200)
    screen.get_by_text("Only changed", exact=True).click()
    expect(rows(screen)).to_have_count(11)
    expect(screen.locator("#s-BTC19USDT-stop_loss")).to_have_value("33")
    # Fill down from the fourth row that shows.
    source = screen.locator("#s-BTC13USDT")
    if phone:
        source.locator(".opener").click()
    field(screen, "BTC13USDT Size of each copy").fill("55")
    if not phone:
        field(screen, "BTC13USDT Size of each copy").press("Control+d")
        expect(screen.locator("#s-BTC12USDT-trace_value")).to_have_value("100")
    else:
        source.get_by_role("button", name="Fill down the row BTC13USDT").click()
    expect(screen.locator("#s-BTC19USDT-trace_value")).to_have_value("55", timeout=SOON)
    expect(screen.locator("#checked")).to_contain_text("Every rule holds.", timeout=SOON)
    assert sideways(screen) == 0
    assert serious(screen) == []
    shoot(screen, "per-symbol-200")


def test_cells_of_a_spreadsheet_are_looked_at_before_they_are_taken(
    page: Page, live_desk: Desk, alice: User, two_hundred: Trader
) -> None:
    live_desk.sign_in(page, alice)
    page.goto(f"/traders/{two_hundred.pk}/settings/")
    page.locator("#s-ADAUSDT-trace_value").focus()
    # Two rows of three cells, pasted into the size of a row: they land in its row and the next one.
    page.evaluate(
        """() => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", "12\\t600\\tabc\\n13\\t700\\t40\\n");
            document.activeElement.dispatchEvent(
                new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
        }"""
    )
    expect(page.locator("#pasted")).to_contain_text("It sets 5 values", timeout=SOON)
    expect(page.locator("#pasted")).to_contain_text("Line 2, ADAUSDT, take profit “abc”")
    expect(page.locator("#s-ADAUSDT-trace_value")).to_have_value("100")
    page.get_by_role("button", name="Take over 5 values").click()
    expect(page.locator("#pasted")).to_contain_text("Taken over: 5 values.", timeout=SOON)
    expect(page.locator("#s-ADAUSDT-trace_value")).to_have_value("12")
    expect(page.locator("#s-BNB10USDT-take_profit")).to_have_value("40")
    expect(page.locator("#s-ADAUSDT-take_profit")).to_have_value("50")


def test_the_rows_without_javascript(
    open_page: Callable[..., Page], live_desk: Desk, alice: User, two_hundred: Trader
) -> None:
    page = open_page(DESKTOP, java_script_enabled=False)
    live_desk.sign_in(page, alice)
    page.goto(f"/traders/{two_hundred.pk}/settings/")
    page.get_by_role("searchbox", name="Find a symbol").fill("eth")
    page.get_by_role("button", name="Filter").click()
    expect(rows(page)).to_have_count(20)
    page.get_by_role("textbox", name="Set many: Most held").fill("9")
    page.locator("#set-go").click()
    expect(page.locator("#rows-done")).to_have_text("Set in 20 rows: most held.", timeout=SOON)
    expect(page.locator("#checked")).to_contain_text("20 to correct")
    expect(field(page, "ETHUSDT Most held")).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Put shown rows back").click()
    expect(field(page, "ETHUSDT Most held")).to_have_value("500")
    expect(page.locator("#checked")).to_contain_text("Nothing is changed yet.")


def test_a_phone_without_javascript_opens_a_row_and_its_mode(
    open_page: Callable[..., Page], sandbox: Sandbox
) -> None:
    page = open_page(PHONE, java_script_enabled=False)
    enter_the_demo(page)
    open_settings(page, "Double or Nothing")
    page.get_by_text("Per symbol", exact=True).click()
    page.get_by_role("button", name="Show the rows").click()
    # What the switch leaves to be filled in stands open; a row closes and opens without a script.
    expect(page.locator("#s-BTCUSDT-note")).to_contain_text("is required for every symbol")
    expect(field(page, "BTCUSDT Most held")).to_be_visible()
    page.locator("#s-BTCUSDT .opener").click()
    expect(field(page, "BTCUSDT Most held")).to_be_hidden()
    assert sideways(page) == 0
