"""A trader's page in a real browser: another period keeps the place, tables are one key away, a note is kept."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from copytrade.models import Trader
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.steps import enter_the_demo, until
from tests.support.watched_page import beyond_their_card, serious, sideways

pytestmark = pytest.mark.slow


def open_trader(page: Page, query: str = "") -> Trader:
    enter_the_demo(page)
    trader = Trader.objects.get(name="Northwind Steady")
    until(page, f"/traders/{trader.pk}/{query}", lambda: page.locator("#equity"))
    return trader


def test_another_period_changes_the_part_and_the_address_and_keeps_the_place(page: Page) -> None:
    open_trader(page)
    page.evaluate("window.kept = true; scrollTo(0, 40)")
    page.get_by_role("link", name="30 d").click()
    page.wait_for_url(re.compile(r"period=30"))
    expect(page.locator("#period-30[aria-current=true]")).to_be_focused()
    assert page.evaluate("[window.kept, scrollY]") == [True, 40]
    expect(page.locator("#period-said")).to_have_text("Figures of the last 30 days.")
    page.locator("#equity").hover()
    expect(page.locator("[data-plot=equity] canvas")).to_be_visible()
    page.go_back()
    expect(page.locator("#period-90[aria-current=true]")).to_be_visible()


def test_an_own_range_is_chosen_without_leaving_the_page(page: Page) -> None:
    open_trader(page)
    page.evaluate("window.kept = true")
    page.locator("#period-own").click()
    page.get_by_label("From").fill("2026-01-02")
    page.get_by_label("to", exact=True).fill("2026-01-01")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="The first day comes after the last.")).to_be_visible()
    assert page.evaluate("window.kept")


def test_the_table_of_a_picture_is_one_key_away_and_the_way_back_too(page: Page) -> None:
    open_trader(page)
    for picture, table in (("#equity", "equity-table"), ("[data-table=holding-table]", "holding-table")):
        page.locator(picture).focus()
        page.keyboard.press("t")
        expect(page.locator(f"#{table} table")).to_be_visible()
        expect(page.locator(f"#{table} > summary")).to_be_focused()
        page.keyboard.press("t")
        expect(page.locator(f"#{table} table")).to_be_hidden()
        expect(page.locator(picture)).to_be_focused()


def test_the_calendar_is_walked_by_arrow_keys(page: Page) -> None:
    open_trader(page)
    page.locator("#calendar").focus()
    last = page.locator("[data-day][tabindex='0']")
    expect(last).to_be_focused()
    day = last.get_attribute("data-day")
    page.keyboard.press("ArrowUp")
    week_before = page.evaluate("document.activeElement.dataset.day")
    assert day and week_before < day
    expect(page.locator("[data-day-readout]")).not_to_be_empty()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.day") == day
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"/orders/history/\?trader=\d+&since={day}&until={day}"))


def test_keys_pressed_while_the_points_are_on_their_way_are_not_lost(page: Page) -> None:
    open_trader(page)
    out = page.locator("[data-readout]")
    last = out.inner_text()
    page.locator("#equity").focus()
    page.keyboard.press("Home")
    expect(page.locator("[data-plot=equity] canvas")).to_be_visible()
    expect(out).not_to_have_text(last)
    page.keyboard.press("End")
    expect(out).to_have_text(last)


def test_a_note_is_written_where_one_is_and_stays_with_the_period(page: Page) -> None:
    open_trader(page)
    page.get_by_role("link", name="30 d").click()
    page.wait_for_url(re.compile(r"period=30"))
    page.get_by_text("Write a note").click()
    page.locator("#id_new-text").fill("Doubled the size today")
    page.get_by_role("button", name="Keep the note").click()
    page.wait_for_url(re.compile(r"period=30#notes"))
    expect(page.locator("#notes .note-text")).to_have_text("Doubled the size today")


def test_it_fits_and_is_accessible_with_everything_open(open_page: Callable[..., Page]) -> None:
    """A short period and all time, on a desktop and on a phone, in one desk: entering it costs the most."""
    entered = open_page(DESKTOP)
    trader = open_trader(entered)
    for viewport in (DESKTOP, PHONE):
        page = open_page(viewport)
        page.context.add_cookies(entered.context.cookies())
        for query in ("?period=7", "?period=all"):
            until(page, f"/traders/{trader.pk}/{query}", lambda page=page: page.locator("#equity"))
            open_everything(page)
            assert sideways(page) == 0, (viewport, query)
            assert beyond_their_card(page) == [], (viewport, query)
            assert serious(page) == [], (viewport, query)


def open_everything(page: Page) -> None:
    while page.locator("p.fold > a").count():
        link = page.locator("p.fold > a").first
        opened = page.locator(
            f"details#{link.get_attribute('id').removesuffix('-open')}[open] > :not(summary)"
        )
        link.click()
        expect(opened.first).to_be_visible()
    page.locator("#calendar").hover()
    expect(page.locator("[data-day]").first).to_be_attached()
    page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")


def test_without_a_script_the_pictures_are_there(open_page: Callable[..., Page], page: Page) -> None:
    trader = open_trader(page)
    plain = open_page(DESKTOP, java_script_enabled=False)
    plain.context.add_cookies(page.context.cookies())
    plain.goto(f"/traders/{trader.pk}/")
    for kind in ("line", "fall", "margin", "gains"):
        expect(plain.locator(f"path.draw-{kind}").first).to_be_visible()
    plain.get_by_text("Show as table").first.click()
    expect(plain.locator("#equity-table table")).to_be_visible()
    plain.get_by_role("link", name="Days that lead to their copies").click()
    expect(plain.locator("a[data-day]").first).to_be_visible()
    plain.get_by_role("link", name="30 d").click()
    expect(plain.locator("#period-30[aria-current=true]")).to_be_visible()
