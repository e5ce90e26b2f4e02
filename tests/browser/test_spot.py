"""Spot orders in a real browser: the ticket with and without JavaScript, a lost answer, a batch; on a phone too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from copytrade import connections
from copytrade.models import Account, User
from tests.browser.conftest import DESKTOP, PHONE, Desk
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import allow, at_the_exchange, bodies
from tests.support.watched_page import serious, sideways

pytestmark = pytest.mark.slow


@pytest.fixture
def account(alice: User, live_desk: Desk) -> Account:
    """alice's connection with both switches on."""
    made = connections.add(
        alice, label="Main", venue="sandbox", key="follower-key", secret="follower-secret", passphrase="sandbox"
    )  # fmt: skip
    made.jobs.all().delete()  # these pages read nothing of copy trading: the worker is free for the orders
    return allow(made)


def looked(page: Page, script: bool, shoot: Callable[..., Path], name: str) -> None:
    shoot(page, name)
    if script:
        assert sideways(page) == 0 and serious(page) == []


def wait_for(page: Page, script: bool, heading: str) -> None:
    """With JavaScript the page follows by itself; without, a person presses the link."""
    found = page.get_by_role("heading", name=heading)
    for _ in range(300):
        if script or found.is_visible():
            break
        page.wait_for_timeout(100)
        page.get_by_role("link", name="Look again").click()
    expect(found).to_be_visible(timeout=30_000)


@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_an_order_from_the_ticket_to_the_read_back(
    open_page: Callable[..., Page],
    live_desk: Desk,
    account: Account,
    sandbox: Sandbox,
    shoot: Callable[..., Path],
    viewport: dict,
    script: bool,
) -> None:
    page = open_page(viewport, java_script_enabled=script)
    live_desk.sign_in(page, account.owner)
    page.goto("/spot/")
    page.get_by_label("Symbol").fill("btcusdt")
    page.get_by_label("Quantity").fill("0.002")
    price = page.get_by_label("Price")
    expect(price).to_be_visible()
    page.get_by_text("Market", exact=True).click()
    expect(price).to_be_hidden()
    page.get_by_text("Limit", exact=True).click()
    price.fill("2000")
    words = "Buys 0.002 BTC for at most 4 USDT before fees"
    if script:
        expect(page.locator("#checked")).to_contain_text(words)
    else:
        page.get_by_role("button", name="Check").last.click()
        expect(page.locator("#checked")).to_contain_text(words)
        expect(page.get_by_label("Price")).to_have_value("2000")
    looked(page, script, shoot, f"spot-ticket-{script}")

    page.get_by_role("button", name="Review the order").click()
    expect(page.get_by_role("heading", name="What will be sent")).to_be_visible()
    page.get_by_text("Show the exact request").click()
    expect(page.locator("pre")).to_contain_text('"price": "2000"')
    looked(page, script, shoot, f"spot-review-{script}")
    sandbox.fault("place_order", "truncated", times=1)
    page.get_by_role("button", name="Send this order").click()
    wait_for(page, script, "Taken by the exchange")
    looked(page, script, shoot, f"spot-outcome-{script}")
    assert len(bodies(sandbox)) == 1 == len(at_the_exchange(sandbox)), "a lost answer is looked up"
    page.get_by_role("link", name="Spot", exact=True).last.click()
    expect(page.locator("#spot-orders tbody tr")).to_have_count(1)
    looked(page, script, shoot, f"spot-list-{script}")


def test_a_batch_tells_each_result_and_wrong_lines_are_named(
    screen: Page, live_desk: Desk, account: Account, sandbox: Sandbox, shoot: Callable[..., Path]
) -> None:
    live_desk.sign_in(screen, account.owner)
    screen.goto(f"/spot/{account.pk}/batch/")
    screen.get_by_label("Symbol").fill("BTCUSDT")
    first, second = screen.get_by_role("group", name="Order 1"), screen.get_by_role("group", name="Order 2")
    first.get_by_label("Quantity").fill("0.001")
    second.get_by_label("Type").select_option("MARKET")
    expect(second.get_by_label("Price")).to_be_hidden()
    second.get_by_label("Quantity").fill("1000000")
    screen.get_by_role("button", name="Review the batch").click()
    expect(screen.get_by_text("Price is required for a limit order.").first).to_be_visible()
    screen.watch.expect("422")  # type: ignore[attr-defined]
    looked(screen, True, shoot, "spot-batch-wrong")
    screen.get_by_role("link", name="Order 1: Price is required").click()
    screen.keyboard.type("1000")
    screen.get_by_role("button", name="Review the batch").click()
    screen.get_by_role("button", name="Send these 2 orders").click()
    wait_for(screen, True, "1. Taken by the exchange")
    expect(screen.get_by_role("heading", name="2. Refused: nothing was placed")).to_be_visible()
    looked(screen, True, shoot, "spot-batch-outcome")
    screen.goto(f"/spot/{account.pk}/look-up/")
    looked(screen, True, shoot, "spot-look-up")
