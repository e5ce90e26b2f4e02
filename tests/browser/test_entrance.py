"""The first minute: the door, the demo, and the first figures, on a desktop and on a phone."""

from __future__ import annotations

import re
import time

from playwright.sync_api import Page, expect

from tests.support.watched_page import serious, sideways


def reload_until(page: Page, words: str, seconds: float = 20) -> None:
    """As a person without JavaScript would: look again until it is there."""
    deadline = time.monotonic() + seconds
    while not page.get_by_text(words).first.is_visible():
        assert time.monotonic() < deadline, (
            f"{words!r} did not appear: {page.locator('main').inner_text()[:500]}"
        )
        time.sleep(0.3)
        page.reload()


def test_the_demo_opens_with_one_button_and_fills_by_itself(screen: Page) -> None:
    screen.goto("/")
    expect(screen).to_have_title(re.compile("Copydesk"))
    assert sideways(screen) == 0
    assert serious(screen) == []
    screen.get_by_role("button", name="Enter the demo").click()
    screen.wait_for_url("**/")
    screen.goto("/traders/")
    reload_until(screen, "Northwind Steady")
    assert sideways(screen) == 0
