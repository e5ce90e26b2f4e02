"""A desk to look at (`live_desk`), a Chromium to look with: `page` (desktop), `phone`, or `screen` (each in turn)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings as django_settings
from django.contrib.staticfiles.handlers import StaticFilesHandler
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright
from pytest_django.live_server_helper import LiveServer

from copytrade.models import User
from ops import chromium
from tests.support.desk_worker import DeskWorker
from tests.support.sandbox_process import Sandbox
from tests.support.signed_in import signed_in
from tests.support.watched_page import Watch

DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 360, "height": 740}
PICTURES = Path(__file__).resolve().parents[2] / "test-results"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.find()
    if path is None:
        pytest.fail("No Chromium was found. ./run test installs one; or set CHROMIUM to its path.")
    # Playwright keeps an event loop in this thread, which Django would take for a reason to refuse the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, headless=True, args=chromium.flags())
        yield running
        running.close()


@pytest.fixture(scope="session", autouse=True)
def the_desk_serves_its_files() -> Iterator[None]:
    """The live server would answer /static/ itself, from the tree; here the desk does, as it does everywhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StaticFilesHandler, "_should_handle", lambda *_: False)
        yield


class Desk:
    """The web application on a port, with a worker beside it and the sandbox exchange behind it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def sign_in(self, page: Page, user: User) -> None:
        """Give the page's browser a session of this user, without going through the form."""
        client = signed_in(user)
        name = django_settings.SESSION_COOKIE_NAME
        page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": self.url}])


@pytest.fixture
def live_desk(live_server: LiveServer, sandbox: Sandbox, redis_client: object) -> Iterator[Desk]:
    """http://localhost:PORT with a worker at work. The sandbox stands still unless it is advanced."""
    port = urlsplit(live_server.url).port
    with DeskWorker():
        yield Desk(f"http://localhost:{port}")


@pytest.fixture
def open_page(browser: Browser, live_desk: Desk) -> Iterator[Callable[..., Page]]:
    """open_page(DESKTOP) is a page in a fresh context; in the end no browser may have reported a problem.

    Its list of problems is `page.watch`; addresses are relative to the desk.
    """
    opened: list[tuple[BrowserContext, Watch]] = []

    def make(viewport: ViewportSize, **options: object) -> Page:
        touch = viewport["width"] < 600
        context = browser.new_context(
            viewport=viewport, base_url=live_desk.url, has_touch=touch, reduced_motion="reduce", **options
        )  # type: ignore[arg-type]
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.watch = Watch(context)  # type: ignore[attr-defined]
        opened.append((context, page.watch))  # type: ignore[attr-defined]
        return page

    yield make
    problems = []
    for context, watch in opened:
        context.close()
        problems += watch.problems
    assert problems == []


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    return open_page(DESKTOP)


@pytest.fixture
def phone(open_page: Callable[..., Page]) -> Page:
    return open_page(PHONE)


@pytest.fixture(params=["desktop", "phone"])
def screen(request: pytest.FixtureRequest, open_page: Callable[..., Page]) -> Page:
    """The same test on a desktop and on a phone of 360 px."""
    return open_page(DESKTOP if request.param == "desktop" else PHONE)


@pytest.fixture
def shoot(request: pytest.FixtureRequest) -> Callable[..., Path]:
    """shoot(page, "overview") keeps a picture of the whole page in test-results/."""

    def take(page: Page, name: str) -> Path:
        PICTURES.mkdir(exist_ok=True)
        width = page.viewport_size["width"] if page.viewport_size else 0
        path = PICTURES / f"{name}-{width}.png"
        page.screenshot(path=path, full_page=True)
        return path

    return take
