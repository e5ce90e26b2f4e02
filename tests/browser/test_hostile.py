"""Hostile texts in a real browser: no script runs, no dialog opens, no policy is violated, nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from copytrade.models import TrackingOrder, Trader, User
from tests.browser.conftest import Desk
from tests.support import hostile_texts, telling
from tests.support.hostile_texts import MARK
from tests.support.hostile_world import read_all
from tests.support.telling import Telling

pytestmark = pytest.mark.slow

TRIPWIRE = """(mark) => [...document.querySelectorAll('*')].flatMap(e => [...e.attributes].filter(a =>
    a.name.startsWith('on') || a.name === 'style' && a.value.includes(mark) || a.name.includes('hx-on') ||
    /^(data-)?hx-/.test(a.name) && a.value.includes(mark) || /^\\s*javascript:/i.test(a.value) && a.name !== 'value'
    && a.name !== 'title' && !a.name.startsWith('aria-') && a.name !== 'data-symbol' && a.name !== 'name'
  ).map(a => e.tagName + ' ' + a.name + '=' + a.value.slice(0, 60)))"""


@pytest.fixture
def live_desk(live_server: LiveServer, sandbox: object, redis_client: object) -> Desk:
    """A desk without a worker: the test reads everything itself, and a worker would only read it once more."""
    return Desk(f"http://localhost:{urlsplit(live_server.url).port}")


@pytest.fixture
def exchange(live_desk: Desk, settings: Any) -> Iterator[Telling]:
    with telling.telling() as found:
        venue = settings.VENUES["sandbox"] | {"spot": found.root, "contract": found.root}
        settings.VENUES = settings.VENUES | {"sandbox": venue}
        yield found


def test_no_text_of_the_exchange_does_anything_in_a_browser(
    page: Page, live_desk: Desk, alice: User, exchange: Telling
) -> None:
    """Problems of the console, violations of the policy among them, end the test by the page's own watch."""
    read_all(alice, exchange, [text for text in hostile_texts.texts() if len(text) < 10_000][:100])
    dialogs: list[str] = []
    shown = 0
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    live_desk.sign_in(page, alice)
    copies, account = alice.accounts.get(label="Copies"), alice.accounts.get(label="Account")
    trader = Trader.objects.filter(account=copies).earliest("pk")
    settings_of = Trader.objects.filter(account__label="Settings").earliest("pk")
    order = TrackingOrder.objects.filter(account=copies, closed=True).earliest("pk")
    for address in (
        "/traders/", "/orders/open/", "/orders/history/", "/issues/?state=all", "/activity/", f"/orders/{order.pk}/",
        f"/traders/{trader.pk}/", f"/traders/{settings_of.pk}/settings/timeline/", f"/connections/{account.pk}/",
        f"/account/{account.pk}/", f"/account/{account.pk}/bills/", f"/lead/{account.pk}/",
    ):  # fmt: skip
        page.goto(address, wait_until="load")
        assert page.url.endswith(address), "no text led the browser elsewhere"
        assert page.evaluate(TRIPWIRE, MARK) == [], address
        assert page.locator("script:not([src]):not([type='application/json'])").count() == 0, address
        shown += page.content().count(MARK)
    assert dialogs == []
    assert shown > 200, "the texts are on the pages, or this proves nothing"
