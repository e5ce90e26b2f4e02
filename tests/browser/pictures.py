"""Take the pictures in docs/pictures again, from a running desk with its demo:

    ./run                                   (in another terminal; wait until it is ready)
    .venv/bin/python -m tests.browser.pictures [http://localhost:8000]

Nothing is sent to the exchange: the review is photographed and left.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from ops import chromium
from tests.browser.steps import enter_the_demo, field, open_settings, until

HERE = Path(__file__).resolve().parents[2] / "docs" / "pictures"
DESKTOP = (1280, 900)
PHONE = (360, 780)


@contextmanager
def visitor(browser: Browser, url: str, size: tuple[int, int], scheme: str = "light") -> Iterator[Page]:
    """The demo's visitor, in a fresh browser of some size."""
    width, height = size
    context = browser.new_context(
        base_url=url,
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
        device_scale_factor=2 if width < 500 else 1,
    )
    page = context.new_page()
    enter_the_demo(page)
    yield page
    context.close()


def shoot(page: Page, name: str, *, whole: bool = False) -> None:
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)
    page.screenshot(path=HERE / f"{name}.png", full_page=whole)
    print(HERE.name, name)  # noqa: T201


def trader(page: Page, name: str, query: str = "") -> None:
    page.goto("/traders/")
    page.get_by_role("link", name=name).click()
    expect(page.locator("[data-plot=equity] svg >> nth=0")).to_be_visible()
    if query:
        page.goto(page.url.partition("?")[0] + query)


def compare(page: Page) -> None:
    page.goto("/traders/?period=all")
    for name in ("Northwind Steady", "Quiet Harbor", "Gamma Scalps"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", name="Running net result")).to_be_visible()


def money(page: Page, mark: str = "") -> None:
    """The pages that say who earned what: overview, traders, trader, compare, calendar."""
    until(page, "/", lambda: page.locator("[data-plot=equity] svg >> nth=0"))
    shoot(page, f"overview{mark}")
    page.goto("/traders/")
    shoot(page, f"traders{mark}")
    trader(page, "Northwind Steady")
    shoot(page, f"trader{mark}", whole=not mark)
    compare(page)
    shoot(page, f"compare{mark}", whole=not mark)
    trader(page, "Northwind Steady", "?period=all")
    page.locator("section", has=page.locator("#calendar")).screenshot(path=HERE / f"calendar{mark}.png")


def desktop(page: Page) -> None:
    until(page, "/orders/history/", lambda: page.get_by_text("complete since"))
    money(page)
    page.goto("/orders/open/")
    shoot(page, "open-orders")
    page.goto("/orders/history/")
    shoot(page, "history")
    settings(page)


def settings(page: Page) -> None:
    open_settings(page, "Double or Nothing")
    field(page, "Stop loss").fill("20")
    field(page, "Long leverage").fill("12")
    field(page, "Size of each copy").fill("120,5")
    expect(page.locator("#u-trace_value-note")).to_contain_text("plain number")
    shoot(page, "settings")
    field(page, "Size of each copy").fill("120.5")
    page.get_by_role("button", name="Review changes").click()
    expect(page.get_by_role("heading", name="What changes")).to_be_visible()
    shoot(page, "settings-review")


def main(url: str) -> None:
    HERE.mkdir(parents=True, exist_ok=True)
    path = chromium.find()
    if path is None:
        raise SystemExit("No Chromium was found. ./run test installs one; or set CHROMIUM to its path.")
    flags = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
    flags += ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=flags)
        with visitor(browser, url, DESKTOP) as page:
            desktop(page)
        with visitor(browser, url, DESKTOP, "dark") as page:
            money(page, "-dark")
        with visitor(browser, url, PHONE) as page:
            money(page, "-phone")
            page.goto("/orders/open/")
            shoot(page, "open-orders-phone")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8000")
