"""Keys in a real browser: places, rows, the filter; never while typing; off where they were switched off."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from copytrade.models import User
from tests.browser.conftest import DESKTOP, Desk
from tests.support.ledger_rows import account_of, closed_copy, open_copy, summed_once, trader_of

GREEN, RED = "rgb(10, 122, 75)", "rgb(179, 38, 30)"


@pytest.fixture
def at_the_desk(page: Page, live_desk: Desk, alice: User) -> Page:
    account = account_of(alice)
    with summed_once():
        for number, name in enumerate(("Northwind Steady", "Double or Nothing")):
            trader = trader_of(account, number, name)
            for copy, net in enumerate(("12", "-7", "3")):
                closed_copy(
                    trader,
                    100 * number + copy,
                    net,
                    days_ago=1 + copy,
                    symbol=("BTCUSDT", "ETHUSDT")[copy % 2],
                )
    open_copy(trader, 900)
    live_desk.sign_in(page, alice)
    page.goto("/")
    return page


def test_g_and_a_letter_goes_to_a_place_and_the_list_opens_and_closes(at_the_desk: Page) -> None:
    page = at_the_desk
    for letter, address in (("t", "/traders/"), ("h", "/orders/history/"), ("u", "/security/"), ("o", "/")):
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url(re.compile(rf"localhost:\d+{address}$"))
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_rows_are_walked_and_opened_and_the_filter_is_reached(at_the_desk: Page) -> None:
    page = at_the_desk
    page.goto("/traders/")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") != first
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.textContent") == first
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(first)
    page.goto("/security/audit/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.closest('form.filters') !== null")


def test_nothing_happens_while_somebody_types_or_with_a_modifier(at_the_desk: Page) -> None:
    page = at_the_desk
    page.goto("/connections/add/")
    field = page.locator("main input:not([type=hidden])").first
    field.focus()
    page.keyboard.type("gt?jr/")
    expect(field).to_have_value("gt?jr/")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.locator("h1").click()
    page.keyboard.press("r")
    expect(field).to_have_value("gt?jr/"), "a page where something was typed is not loaded again"
    page.keyboard.press("Alt+g")
    page.keyboard.press("Alt+t")
    assert page.url.endswith("/connections/add/")


def test_switched_off_they_stay_off_until_switched_on(at_the_desk: Page) -> None:
    page = at_the_desk
    page.goto("/help/keys/")
    page.get_by_role("button", name="Off", exact=True).click()
    page.goto("/traders/")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("h")
    assert page.url.endswith("/traders/")
    page.goto("/help/keys/")
    page.get_by_role("button", name="On", exact=True).click()
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/traders/")


# --- gain and loss the other way round ---------------------------------------------------------------------
COLOURS = """() => {
  const of = (selector, what) => {
    const found = document.querySelector(selector);
    return found ? getComputedStyle(found)[what] : null;
  };
  return {
    gain: of("main .gain", "color"), loss: of("main .loss", "color"),
    dayGain: of(".day-gain.level-3", "fill"), dayLoss: of(".day-loss.level-3, .day-loss.level-2", "fill"),
    barGain: of(".bar-gain", "fill"), barLoss: of(".bar-loss", "fill"),
    dots: of(".draw-gains", "stroke"), dotsLost: of(".draw-losses", "stroke"), fall: of(".draw-fall", "stroke"),
  };
}"""


def test_every_picture_and_figure_takes_the_colours_that_were_chosen(
    open_page: Callable[..., Page], live_desk: Desk, alice: User
) -> None:
    page = open_page(DESKTOP, color_scheme="light")
    trader = trader_of(account_of(alice))
    with summed_once():
        for number, net in enumerate(("12", "-9", "4", "-6", "8")):
            closed_copy(trader, number, net, days_ago=1 + number, symbol=("BTCUSDT", "ETHUSDT")[number % 2])
    live_desk.sign_in(page, alice)
    page.goto(f"/traders/{trader.pk}/?period=all")
    usual = page.evaluate(COLOURS)
    assert (usual["gain"], usual["loss"]) == (GREEN, RED)
    page.context.add_cookies([{"name": "gain", "value": "red", "url": live_desk.url}])
    page.reload()
    swapped = page.evaluate(COLOURS)
    for one, other in (("gain", "loss"), ("barGain", "barLoss"), ("dots", "dotsLost")):
        assert usual[one] and usual[other], one
        assert (swapped[one], swapped[other]) == (usual[other], usual[one]), one
    assert swapped["dayGain"] == RED and swapped["fall"] == GREEN
    page.context.add_cookies([{"name": "gain", "value": "muted", "url": live_desk.url}])
    page.reload()
    muted = page.evaluate(COLOURS)
    assert GREEN not in muted.values() and RED not in muted.values()
    assert "+" in page.locator("main .gain").first.inner_text(), "sign and shape tell it, too"
