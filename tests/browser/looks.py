"""The four looks of a page: wide and narrow, each loaded at its width, and each of these light and dark."""

from __future__ import annotations

from typing import Literal

from playwright.sync_api import Page, ViewportSize

from tests.browser.conftest import DESKTOP, PHONE
from tests.support.watched_page import sideways, violations

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


class Turn:
    """Turns an open page to another window, touched on a phone and pointed at on a desktop, and another theme."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session = page.context.new_cdp_session(page)

    def to(self, viewport: ViewportSize, scheme: Scheme) -> None:
        phone = viewport is PHONE
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(color_scheme=scheme)
        self.session.send("Emulation.setTouchEmulationEnabled", {"enabled": phone})
        now = self.page.evaluate(
            """[innerWidth, matchMedia("(pointer: coarse)").matches,
            matchMedia("(prefers-color-scheme: dark)").matches]"""
        )
        assert now == [viewport["width"], phone, scheme == "dark"]

    def every_look_is_right(self, name: str, loaded: ViewportSize) -> None:
        """Nothing is wider than its window, and axe finds nothing. It ends in the last look: turn before you go on.

        `loaded`: the window in which the page was just loaded, in light; it is loaded once more for the other.
        """
        for viewport in (DESKTOP, PHONE) if loaded is DESKTOP else (PHONE, DESKTOP):
            self.to(viewport, "light")
            if viewport is not loaded:
                self.page.reload()
            for scheme in SCHEMES:
                self.to(viewport, scheme)
                assert sideways(self.page) == 0, (name, viewport, scheme)
                assert violations(self.page) == [], (name, viewport, scheme)
