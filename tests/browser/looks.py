"""The four looks of a page, seen in one visit: wide and narrow, each light and dark.

axe tries all its rules at both widths, and at each in one theme. A change of the theme alone moves nothing and
renames nothing, so in the other theme the rules about colours are the ones that could find more.
"""

from __future__ import annotations

from typing import Literal

from playwright.sync_api import Page, ViewportSize

from tests.browser.conftest import DESKTOP, PHONE
from tests.support.watched_page import COLOURS, sideways, violations

LOOKS = ((DESKTOP, "light", ()), (DESKTOP, "dark", COLOURS), (PHONE, "dark", ()), (PHONE, "light", COLOURS))


class Turn:
    """Turns an open page to another window, touched on a phone and pointed at on a desktop, and another theme."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session = page.context.new_cdp_session(page)

    def to(self, viewport: ViewportSize, scheme: Literal["light", "dark"]) -> None:
        phone = viewport is PHONE
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(color_scheme=scheme)
        self.session.send("Emulation.setTouchEmulationEnabled", {"enabled": phone})
        now = self.page.evaluate(
            """[innerWidth, matchMedia("(pointer: coarse)").matches,
            matchMedia("(prefers-color-scheme: dark)").matches]"""
        )
        assert now == [viewport["width"], phone, scheme == "dark"]

    def every_look_is_right(self, name: str) -> None:
        """Nothing is wider than its window, and axe finds nothing. It ends in the last look: turn before you go on."""
        for viewport, scheme, rules in LOOKS:
            self.to(viewport, scheme)
            assert sideways(self.page) == 0, (name, viewport, scheme)
            assert violations(self.page, rules=rules) == [], (name, viewport, scheme)
