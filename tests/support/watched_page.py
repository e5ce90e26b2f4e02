"""What a browser reports behind a page's back: console errors, violated policy, exceptions, requests to strangers."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request

HOME = {"localhost", "127.0.0.1", ""}


class Watch:
    """Collects the problems of every page of a context. A test that provokes one removes it: `watch.expect("404")`."""

    def __init__(self, context: BrowserContext) -> None:
        self.problems: list[str] = []
        context.on("console", self._console)
        context.on("weberror", lambda error: self.problems.append(f"exception: {error.error}"))
        context.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob"} and (parts.hostname or "") not in HOME:
            self.problems.append(f"request to a third party: {request.url}")

    def expect(self, part: str) -> None:
        """A problem with these words must have been reported; it is struck off."""
        left = [problem for problem in self.problems if part not in problem]
        assert len(left) < len(self.problems), f"no problem with {part!r} among {self.problems}"
        self.problems = left


def violations(page: Page, *impacts: str) -> list[str]:
    """axe's findings in words: all, or those of some impacts. axe is read once by each page."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"{AXE_SCRIPT};0")  # the script's own value is large and of no use
    found: list[dict[str, Any]] = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"
    )
    return [
        f"{item['id']} ({item['impact']}): {item['help']}: {[node['html'][:120] for node in item['nodes']][:3]}"
        for item in found
        if not impacts or item["impact"] in impacts
    ]


def serious(page: Page) -> list[str]:
    """axe's findings of the impacts serious and critical."""
    return violations(page, "serious", "critical")


def sideways(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def beyond_their_card(page: Page) -> list[str]:
    """Tables that stand out of the card they are in, where they do not scroll by themselves."""
    return list(
        page.evaluate("""() => [...document.querySelectorAll(".card table")].filter(table => {
            const card = table.closest(".card")
            const edge = card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight)
            // Tables reach a little into the padding on purpose: their cells have their own.
            return !table.closest(".table-scroll") && table.getBoundingClientRect().right > edge + 8
        }).map(table => table.closest(".card").getAttribute("aria-labelledby") + ": " + table.rows[0].innerText)""")
    )
