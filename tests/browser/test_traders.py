"""Choosing traders, comparing them, and the first page's answers, in a real browser: desktop, phone, no JavaScript."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.steps import enter_the_demo, until
from tests.support.watched_page import serious, sideways

pytestmark = pytest.mark.slow


def compare_two(page: Page) -> None:
    for name in ("Northwind Steady", "Ember Fund"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Running net result")).to_be_visible()


def test_two_ticked_traders_stand_side_by_side(screen: Page) -> None:
    enter_the_demo(screen)
    until(screen, "/orders/history/", lambda: screen.get_by_text("complete since"))
    screen.goto("/traders/")
    compare_two(screen)
    expect(
        screen.get_by_role("img", name=re.compile("Northwind Steady ends at .* Ember Fund ends at"))
    ).to_be_visible()
    expect(screen.locator(".side-by-side tbody tr").first.locator(".best")).to_have_count(1)
    assert sideways(screen) == 0
    assert serious(screen) == []
    screen.get_by_text("Show as table").click()
    expect(screen.get_by_role("region", name=re.compile("Running net result, .* as a table"))).to_be_visible()


def test_a_definition_is_one_press_away_and_opens_over_the_table(page: Page) -> None:
    enter_the_demo(page)
    page.get_by_role("button", name="What “Drawdown” means").click()
    expect(page.get_by_text("The deepest fall as a share of the money there was").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".what-says:popover-open")).to_have_count(0)


def test_sorting_on_a_phone_is_a_choice_and_keeps_the_page(phone: Page) -> None:
    enter_the_demo(phone)
    phone.evaluate("window.kept = true")
    phone.get_by_label("Sorted by").select_option("name")
    expect(phone.locator("a.trader-name").first).to_have_text("Double or Nothing")
    assert phone.evaluate("window.kept")


@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
def test_ticks_outlive_sorting_and_another_period(open_page: Callable[..., Page], script: bool) -> None:
    page = open_page(DESKTOP, java_script_enabled=script)
    enter_the_demo(page)
    page.get_by_role("checkbox", name="Compare Northwind Steady").check()
    for name, words in (("Win rate", "sort=win"), ("30 d", "period=30"), ("Trader", "sort=name-up")):
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_url(re.compile(words))
        expect(page.get_by_role("checkbox", name="Compare Northwind Steady")).to_be_checked()
    expect(page.locator("#period-30[aria-current=true]")).to_be_visible()
    page.get_by_role("checkbox", name="Compare Ember Fund").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("svg path.draw-trader-2").first).to_be_attached()
    expect(page.get_by_role("link", name="30 d")).to_have_attribute("aria-current", "true")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_without_javascript_traders_are_sorted_and_compared(
    open_page: Callable[..., Page], viewport: dict
) -> None:
    page = open_page(viewport, java_script_enabled=False)
    enter_the_demo(page)
    until(page, "/orders/history/", lambda: page.get_by_text("complete since"))
    page.goto("/traders/?sort=name")
    expect(page.locator("a.trader-name").first).to_have_text("Double or Nothing")
    page.get_by_role("checkbox", name="Compare Northwind Steady").check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("One trader is chosen.")).to_be_visible()
    page.get_by_role("checkbox", name="Ember Fund").check()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("svg path.draw-trader-2").first).to_be_attached()
    assert sideways(page) == 0


def test_the_four_answers_stand_in_the_first_screen(screen: Page) -> None:
    enter_the_demo(screen)
    until(screen, "/", lambda: screen.get_by_role("heading", name="In short"))
    height = screen.viewport_size["height"] if screen.viewport_size else 0
    covered = 64 if screen.viewport_size and screen.viewport_size["width"] < 600 else 0
    for answer in ("Running", "At risk", "Earning", "Overlap"):
        box = screen.locator(".short dt", has_text=answer).bounding_box()
        assert box and box["y"] + box["height"] <= height - covered, answer


def test_a_file_is_saved_from_the_page(page: Page) -> None:
    enter_the_demo(page)
    with page.expect_download() as saving:
        page.get_by_role("link", name="CSV").click()
    assert re.fullmatch(r"copydesk-traders-\d{4}-\d\d-\d\d\.csv", saving.value.suggested_filename)
