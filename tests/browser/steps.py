"""Steps that several browser tests take, in a person's words."""

from __future__ import annotations

import time

from playwright.sync_api import Error, Locator, Page, expect

# Between two looks at a page, in seconds: each has the desk make it, where its worker is still at what is awaited.
PAUSE = 0.4


def enter_the_demo(page: Page) -> None:
    """Press the demo's button, wait until the first reading is over, and go to the table of traders."""
    page.goto("/")
    page.get_by_role("button", name="Enter the demo").click()
    page.wait_for_url("**/")
    deadline = time.monotonic() + 60
    while page.locator("[hx-get^='/first-reading/']").count():
        assert time.monotonic() < deadline, page.locator("main").inner_text()[:800]
        time.sleep(PAUSE)
        look_at(page, "/")
    until(page, "/traders/", lambda: page.get_by_role("link", name="Northwind Steady"))


def look_at(page: Page, url: str) -> None:
    """Go there, even while the page is loading itself anew (it does when the first reading gets further)."""
    try:
        page.goto(url)
    except Error as error:
        if "ERR_ABORTED" not in str(error):
            raise
        page.goto(url)


def until(page: Page, url: str, what: object, seconds: float = 30) -> None:
    """Look again, as a person without JavaScript would, until something is there."""
    deadline = time.monotonic() + seconds
    page.goto(url)
    while not what().first.is_visible():  # type: ignore[operator]
        assert time.monotonic() < deadline, page.locator("main").inner_text()[:800]
        time.sleep(PAUSE)
        page.reload()


def field(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=label, exact=True)


def open_settings(page: Page, trader: str) -> None:
    """From the table of traders to the form, by the links that a person presses."""
    page.goto("/traders/")
    page.get_by_role("link", name=trader, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(trader)
    page.get_by_role("link", name="Edit copy settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Copy settings: {trader}")
