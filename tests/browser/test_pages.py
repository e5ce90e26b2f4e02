"""Every page of the desk in a real browser: fits a phone, passes axe in light and dark, keeps the reader's place."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from copytrade.models import Trader
from tests.browser.conftest import DESKTOP
from tests.browser.looks import Turn
from tests.browser.places import places
from tests.browser.steps import enter_the_demo, until
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.slow


def test_every_page_fits_and_is_accessible(open_page: Callable[..., Page], sandbox: Sandbox) -> None:
    """One visit of the demo for all four looks: entering it costs the most."""
    page = open_page(DESKTOP)
    enter_the_demo(page)
    until(page, "/orders/history/", lambda: page.locator("table.ledger"))
    turn = Turn(page)
    for name, address in places(page, "Double or Nothing").items():
        turn.to(DESKTOP, "light")
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).not_to_be_empty()
        turn.every_look_is_right(name, loaded=DESKTOP)


def test_the_chart_is_drawn_and_read_by_keyboard(page: Page) -> None:
    enter_the_demo(page)
    trader = Trader.objects.get(name="Northwind Steady")
    until(page, f"/traders/{trader.pk}/", lambda: page.locator("[data-plot=drawdown] svg"))
    readout = page.locator("[data-readout]")
    last = readout.inner_text()
    assert re.match(r"\d+ \w+ 2\d{3}, \d\d:\d\d: [+−].* USDT", last)
    page.locator("#equity").focus()
    expect(page.locator("[data-plot=drawdown] canvas")).to_be_visible()
    page.keyboard.press("Home")
    expect(readout).not_to_have_text(last)
    page.keyboard.press("End")
    expect(readout).to_have_text(last)
    page.get_by_text("Show as table").first.click()
    expect(page.get_by_role("region", name="Cumulative net result as a table")).to_be_visible()


def test_the_chart_follows_the_theme(page: Page) -> None:
    enter_the_demo(page)
    until(page, "/", lambda: page.locator("[data-plot=equity] svg"))
    page.locator("#equity").hover()
    expect(page.locator("[data-plot=drawdown] canvas")).to_be_visible()
    page.mouse.move(0, 0)
    before = page.locator("#equity").screenshot()
    page.get_by_role("button", name="Dark").click()
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("#equity").screenshot() != before
    expect(page.locator("[data-plot=equity] canvas")).to_have_count(1)


def test_open_orders_refresh_without_losing_the_place(page: Page, sandbox: Sandbox) -> None:
    enter_the_demo(page)
    until(page, "/orders/open/", lambda: page.locator("table.open tbody tr"))
    link = page.locator("table.open th a").first
    link.focus()
    identity = link.get_attribute("id")
    page.evaluate("document.getElementById('open').dataset.old = 'yes'; window.kept = true")
    expect(page.locator("#open:not([data-old])")).to_be_visible(timeout=15_000)
    assert page.evaluate("window.kept"), "only a part was loaded again"
    assert page.evaluate("document.activeElement.id") == identity


def test_filters_go_into_the_address_and_come_back_from_it(page: Page) -> None:
    enter_the_demo(page)
    until(page, "/orders/history/", lambda: page.locator("table.ledger"))
    page.get_by_label("Result").select_option("loss")
    page.wait_for_url(re.compile(r"result=loss"))
    expect(page.locator("#ledger td.strong .gain")).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Result")).to_have_value("loss")
    page.get_by_role("link", name="Older").click()
    page.wait_for_url(re.compile(r"after="))
    expect(page.get_by_label("Result")).to_have_value("loss")
    page.get_by_role("link", name="Newer").click()
    expect(page.get_by_role("link", name="Newer")).to_be_hidden()


def test_sorting_the_traders_changes_the_table_and_the_address_only(page: Page) -> None:
    enter_the_demo(page)
    page.goto("/traders/")
    page.evaluate("window.kept = true")
    page.get_by_role("button", name="Win rate", exact=True).click()
    page.wait_for_url(re.compile("sort=win"))
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Win rate")
    assert page.evaluate("window.kept")
    page.get_by_role("link", name="Northwind Steady").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Northwind Steady")


def test_the_table_of_the_last_hour_stays_open_while_the_page_follows(page: Page) -> None:
    enter_the_demo(page)
    until(page, "/activity/", lambda: page.get_by_text("By minute as a table"))
    page.get_by_text("By minute as a table").click()
    table = page.get_by_role("region", name="Request weight by minute")
    expect(table.locator("tbody tr")).to_have_count(60)
    page.evaluate("document.querySelector('#live').dataset.before = ''")
    page.evaluate("htmx.ajax('GET', '/activity/', {target: '#live', swap: 'outerHTML'})")
    expect(page.locator("#live[data-before]")).to_have_count(0)
    expect(table.locator("tbody tr")).to_have_count(60)
