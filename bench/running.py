"""A whole desk as `./run` starts it, with its demo read to the end, for what only a browser can measure."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from ops import chromium
from ops.children import Failure
from ops.console import complain
from tests.browser.steps import enter_the_demo, until

PORTS = range(9630, 9641)
OURS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "VAULT_KEYS", "COPYDESK_ENV", "DJANGO_SETTINGS_MODULE")
START_SECONDS = 180
READ_SECONDS = 240


@contextmanager
def demo_desk(folder: Path) -> Iterator[str]:
    """The address of a desk on servers and ports of its own. It ends with the block."""
    web, sandbox = PORTS[0], PORTS[-1]
    env = {name: value for name, value in os.environ.items() if name not in OURS}
    env |= {"COPYDESK_DATA": str(folder / "desk"), "PORT": str(web), "SANDBOX_PORT": str(sandbox)}
    log = folder / "desk.log"
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "ops", "up"], env=env, stdout=out, stderr=out)
    try:
        _wait(process, f"http://localhost:{web}/healthz", log)
        yield f"http://localhost:{web}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _wait(process: subprocess.Popen, url: str, log: Path) -> None:
    until_then = time.monotonic() + START_SECONDS
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while True:
        try:
            with opener.open(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None or time.monotonic() > until_then:
                raise Failure(f"The desk did not start:\n{log.read_text()[-3000:]}") from None
            time.sleep(0.3)


@contextmanager
def browser_at(url: str) -> Iterator[tuple[Browser, BrowserContext]]:
    """A Chromium with a context that is signed in as the demo's visitor, whose past has been read."""
    path = chromium.find_or_install()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=chromium.flags())
        context = browser.new_context(base_url=url, viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.set_default_timeout(60_000)
        enter(page)
        page.close()
        yield browser, context
        browser.close()


def enter(page: Page) -> None:
    enter_the_demo(page)
    until(page, "/orders/history/", lambda: page.get_by_text("complete since"), READ_SECONDS)


def told(work: Callable[[], int]) -> int:
    """The status of a bench; what a person can act on is said without a traceback."""
    try:
        return work()
    except Failure as failure:
        complain(str(failure))
        return 1
