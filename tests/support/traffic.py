"""What a browser fetched for a page: requests and bytes as they went over the wire, by the browser's own account."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page

QUIET = 700  # milliseconds: what a page does by a timer as short as this belongs to its loading
PATIENCE = 60  # seconds until a request without an end is told by its name

# Keeps count of the short timers that a page has set, so that nobody waits for those that it has not.
TIMERS = """(() => {
    const waiting = new Set(), set = window.setTimeout, clear = window.clearTimeout;
    window.setTimeout = (what, delay = 0, ...given) => {
        const timer = set((...all) => { waiting.delete(timer); what(...all); }, delay, ...given);
        if (delay <= QUIET) waiting.add(timer);
        return timer;
    };
    window.clearTimeout = (timer) => { waiting.delete(timer); clear(timer); };
    window.settled = async () => {
        const end = performance.now() + QUIET;
        const frame = () => new Promise((done) => requestAnimationFrame(() => set(done)));
        do { await frame(); await frame(); } while (waiting.size && performance.now() < end);
    };
})()""".replace("QUIET", str(QUIET))


@dataclass
class Fetched:
    """Of one view of one page: address and bytes (headers included) of each request that left the browser."""

    files: list[tuple[str, int]] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return len(self.files)

    @property
    def size(self) -> int:
        return sum(size for _, size in self.files)

    @property
    def strangers(self) -> list[str]:
        return [url for url, _ in self.files if urlsplit(url).hostname not in {"localhost", "127.0.0.1"}]


class Traffic:
    """Counts what a page fetches. Answers from the browser's cache are no requests.

    A view is over when the page has been drawn, its short timers have run and no request is on its way. The
    browser knows all of that, so no fixed pause is needed to find it out.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.page.add_init_script(TIMERS)
        self.session = page.context.new_cdp_session(page)
        self.session.send("Network.enable")
        self.session.on("Network.requestWillBeSent", self._asked)
        self.session.on("Network.requestServedFromCache", lambda event: self._kept(event["requestId"]))
        self.session.on("Network.responseReceived", self._answered)
        self.session.on("Network.loadingFinished", self._came)
        self.session.on("Network.loadingFailed", lambda event: self._sizes.setdefault(event["requestId"], 0))
        self._urls: dict[str, str] = {}
        self._sizes: dict[str, int] = {}

    def first(self, address: str) -> Fetched:
        """A view by somebody who was never here (but is signed in)."""
        self.session.send("Network.clearBrowserCache")
        return self.view(address)

    def view(self, address: str) -> Fetched:
        """Open a page, look at all of it, and wait until it has what it wants."""
        self.page.goto("about:blank")
        self._urls, self._sizes = {}, {}
        self.page.goto(address, wait_until="load")
        self.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        self._settle()
        return self.seen()

    def _settle(self) -> None:
        """Until nothing is on its way, and a look at the settled page has found nothing new.

        The question goes through the session of the events: they come before its answer.
        """
        seen, deadline = -1, time.monotonic() + PATIENCE
        while seen != len(self._urls) or self._on_their_way():
            assert time.monotonic() < deadline, self._on_their_way()
            seen = len(self._urls)
            self.session.send("Runtime.evaluate", {"expression": "settled()", "awaitPromise": True})

    def _on_their_way(self) -> list[str]:
        return [url for request, url in self._urls.items() if request not in self._sizes]

    def seen(self) -> Fetched:
        """What has been fetched since the view began."""
        return Fetched([(url, self._sizes.get(request, 0)) for request, url in self._urls.items()])

    def _asked(self, event: dict[str, Any]) -> None:
        if not event["request"]["url"].startswith(("data:", "about:", "blob:")):
            self._urls[event["requestId"]] = event["request"]["url"]

    def _kept(self, request: str) -> None:
        self._urls.pop(request, None)

    def _answered(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            self._kept(event["requestId"])

    def _came(self, event: dict[str, Any]) -> None:
        self._sizes[event["requestId"]] = int(event["encodedDataLength"])
