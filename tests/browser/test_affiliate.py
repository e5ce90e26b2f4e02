"""The six affiliate reports in a real browser: they fit a phone, pass axe in light and dark, weigh little."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from bench.weight import AGAIN
from copytrade import connections
from copytrade.affiliate import KINDS, ask, ask_standing, fetching
from copytrade.models import Account, User
from tests.browser.conftest import DESKTOP, PHONE, Desk
from tests.browser.looks import Turn
from tests.support.sandbox_process import Sandbox
from tests.support.traffic import Traffic

pytestmark = pytest.mark.slow


@pytest.fixture
def partner(transactional_db: None, alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    """alice's affiliate connection."""
    account = connections.add(
        alice,
        label="Partner",
        venue="sandbox",
        key="affiliate-key",
        secret="affiliate-secret",
        passphrase="sandbox",
    )
    ask_standing(account)
    return account


def everything_read(account: Account) -> None:
    """A complete report of each kind, of a month."""
    today = timezone.now().astimezone(UTC).date()
    chosen = {
        "since": today - timedelta(days=29), "until": today, "product_type": "both",
        "from_account_type": "SPOT", "to_account_type": "SPOT",
    }  # fmt: skip
    for kind in KINDS.values():
        report = ask(account, kind, chosen)
        while fetching.read(report.pk) == fetching.MORE:
            continue


def test_every_report_fits_is_accessible_and_light(
    page: Page, live_desk: Desk, alice: User, partner: Account
) -> None:
    """Light is measured on a desktop and on a phone; the look is then turned on the page that is open."""
    turn = Turn(page)
    live_desk.sign_in(page, alice)
    page.goto("/affiliate/")
    expect(page.get_by_role("button", name="Ask the exchange")).to_be_visible()
    turn.every_look_is_right("nothing asked yet", loaded=DESKTOP)
    everything_read(partner)
    traffic = Traffic(page)
    for slug in KINDS:
        address = f"/affiliate/{partner.pk}/{slug}/"
        for viewport in (DESKTOP, PHONE):
            turn.to(viewport, "light")
            traffic.first(address)
            assert traffic.view(address).size <= AGAIN, (slug, viewport)
        expect(page.locator(".report tbody tr").first).to_be_visible()
        turn.every_look_is_right(slug, loaded=PHONE)


def test_a_report_that_is_asked_follows_by_itself_to_its_end(
    page: Page, live_desk: Desk, alice: User, partner: Account
) -> None:
    live_desk.sign_in(page, alice)
    page.goto(f"/affiliate/{partner.pk}/users/")
    first = page.get_by_label("From (UTC day)")
    first.fill(first.get_attribute("min") or "")
    page.get_by_role("button", name="Ask the exchange").click()
    expect(page.get_by_text("Waiting for its turn.")).to_be_visible()
    page.evaluate("window.kept = true")
    for report in fetching.due():
        while fetching.read(report) == fetching.MORE:
            continue
    expect(page.locator(".report tbody tr").first).to_be_visible()
    assert page.evaluate("window.kept"), "only the part was loaded again"
    page.get_by_role("link", name="Last trade").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Last trade ▼")
    page.get_by_role("link", name="On →").click()
    expect(page.get_by_text("Page 2 of 2")).to_be_visible()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Last trade ▼")
