"""What every page weighs in a real browser, at first and again: bytes and requests, no times."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from bench.weight import Weight, table
from tests.browser.places import places
from tests.browser.steps import enter_the_demo, until
from tests.support.sandbox_process import Sandbox
from tests.support.traffic import Fetched, Traffic

pytestmark = pytest.mark.slow


def test_every_page_is_light_at_first_and_lighter_again(page: Page, sandbox: Sandbox) -> None:
    enter_the_demo(page)
    until(page, "/orders/history/", lambda: page.locator("table.ledger"))
    traffic = Traffic(page)
    for name, address in places(page).items():
        weight = Weight(name, traffic.first(address), traffic.view(address))
        assert weight.ok, table([weight])


def test_what_a_page_fetches_a_little_later_counts_too(page: Page) -> None:
    """Or a page could pass for light by loading its weight after the load."""
    script = "setTimeout(() => fetch('/second').then(() => setTimeout(() => fetch('/third'), 100)), 500)"
    page.route(
        "**/late", lambda route: route.fulfill(body=f"<script>{script}</script>", content_type="text/html")
    )
    for part in ("second", "third"):
        page.route(f"**/{part}", lambda route: route.fulfill(body="here"))
    fetched = Traffic(page).view("/late")
    assert {url.rpartition("/")[2] for url, _ in fetched.files} >= {"late", "second", "third"}


def test_the_chart_library_comes_only_to_those_who_read_single_points(page: Page) -> None:
    enter_the_demo(page)
    until(page, "/", lambda: page.locator("[data-chart]"))
    traffic = Traffic(page)
    assert not library(traffic.first("/"))
    box = page.locator("[data-chart]").first
    expect(box.locator("svg").first).to_be_visible()
    box.hover()
    expect(box.locator("canvas").first).to_be_visible()
    assert library(traffic.seen())


def library(fetched: Fetched) -> list[str]:
    return [url for url, _ in fetched.files if "uPlot" in url]


def test_a_definition_opens_by_key_stays_in_the_window_and_moves_nothing(screen: Page) -> None:
    enter_the_demo(screen)
    until(screen, "/", lambda: screen.locator(".what"))
    mark = screen.locator(".what:visible").first
    before = screen.locator("main").bounding_box()
    mark.focus()
    screen.keyboard.press("Enter")
    said = screen.locator(":popover-open")
    expect(said).to_have_count(1)
    box = said.bounding_box()
    assert box and screen.viewport_size
    assert box["x"] >= 0 and box["x"] + box["width"] <= screen.viewport_size["width"]
    assert screen.locator("main").bounding_box() == before
    screen.keyboard.press("Escape")
    expect(said).to_have_count(0)
    expect(mark).to_be_focused()
