"""The main job: enter the demo, edit copy settings, see them accepted, watch orders arrive, read a summary."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from copytrade.models import SettingsChange, Trader
from tests.browser.conftest import PHONE, Desk
from tests.browser.steps import enter_the_demo, field, open_settings, until
from tests.support.sandbox_process import Sandbox
from tests.support.watched_page import serious, sideways

pytestmark = pytest.mark.slow


def test_the_main_job(screen: Page, live_desk: Desk, sandbox: Sandbox, shoot: Callable[..., object]) -> None:
    enter_the_demo(screen)
    open_settings(screen, "Double or Nothing")

    # A wrong value is told beside its field while typing, and stays.
    field(screen, "Size of each copy").fill("1,5")
    expect(screen.locator("#u-trace_value-note")).to_contain_text("must be a plain number")
    expect(field(screen, "Size of each copy")).to_have_attribute("aria-invalid", "true")
    expect(field(screen, "Size of each copy")).to_have_value("1,5")
    field(screen, "Size of each copy").fill("321")
    field(screen, "Stop loss").fill("20")
    expect(screen.locator("#u-trace_value-note")).to_contain_text("321 USDT at 5x opens a position of 1")
    expect(screen.locator("#checked")).to_contain_text("Every rule holds.")
    assert sideways(screen) == 0
    shoot(screen, "settings-form")

    # Review, in words.
    screen.get_by_role("button", name="Review changes").click()
    expect(screen.get_by_role("heading", name="What changes")).to_be_visible()
    expect(screen.get_by_role("row", name="Size of each copy")).to_contain_text("321 USDT")
    expect(screen.get_by_role("row", name="Stop loss")).to_contain_text("20 % of margin")
    assert sideways(screen) == 0
    assert serious(screen) == []
    shoot(screen, "settings-review")

    # Sent, accepted, read back.
    screen.get_by_role("button", name="Send these settings").click()
    expect(screen.get_by_role("heading", name="Applied, and read back")).to_be_visible()
    expect(screen.get_by_role("row", name="Size of each copy")).to_contain_text("321 USDT ✓")
    assert serious(screen) == []
    trader = Trader.objects.get(name="Double or Nothing")
    (held,) = sandbox.truth()["settings"][str(trader.trader_id)]
    assert (held["traceValue"], held["stopLossRatio"]) == ("321", "0.2")

    # Orders that open from now on arrive by themselves, with the new size.
    screen.get_by_role("link", name="Open orders").first.click()
    screen.goto(f"/orders/open/?trader={trader.pk}")
    before = {order["trackingNo"] for order in sandbox.truth()["open"]}
    fresh = opened_by(sandbox, trader.trader_id, before)
    assert 150 < Decimal(fresh["openMarginAmount"]) <= 321, "it was 150 USDT a copy before; some fill in part"
    row = screen.locator("table.open tr", has_text=f"{Decimal(fresh['openMarginAmount']):.2f}")
    expect(row.first).to_be_visible(timeout=30_000)
    shoot(screen, "open-orders")

    # And the summary of what this trader earned.
    until(screen, f"/traders/{trader.pk}/?period=all", lambda: screen.get_by_text("ledger complete since"))
    expect(screen.get_by_role("button", name="What “Profit factor” means").first).to_be_visible()
    expect(screen.locator("[data-plot=equity] svg").first).to_be_visible()
    expect(screen.get_by_text("Last change: applied and read back")).to_be_visible()
    assert sideways(screen) == 0
    shoot(screen, "trader")


def opened_by(sandbox: Sandbox, trader_id: int, known: set[int]) -> dict:
    """Let the exchange's time pass until the trader opens something new, filled for more than half."""
    for _ in range(200):
        sandbox.advance(seconds=600)
        fresh = [
            order
            for order in sandbox.truth()["open"]
            if order["traderID"] == trader_id
            and order["trackingNo"] not in known
            and Decimal(order["openMarginAmount"]) > 160
        ]
        if fresh:
            return fresh[0]
    raise AssertionError("The trader opened nothing.")


def test_the_same_edit_without_javascript(open_page: Callable[..., Page], sandbox: Sandbox) -> None:
    page = open_page(PHONE, java_script_enabled=False)
    enter_the_demo(page)
    open_settings(page, "Double or Nothing")
    field(page, "Size of each copy").fill("1,5")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#u-trace_value-note")).to_contain_text("must be a plain number")
    expect(field(page, "Size of each copy")).to_have_value("1,5")
    field(page, "Size of each copy").fill("222")
    page.get_by_role("button", name="Review changes").click()
    expect(page.get_by_role("row", name="Size of each copy")).to_contain_text("222 USDT")
    page.get_by_role("button", name="Send these settings").click()
    until(page, page.url, lambda: page.get_by_role("heading", name="Applied, and read back"))
    assert SettingsChange.objects.get().state == "applied"
    assert sum(call["operation"] == "update_follower_settings" for call in sandbox.calls()["calls"]) == 1


def test_a_lost_answer_is_followed_until_it_is_known(page: Page, sandbox: Sandbox) -> None:
    enter_the_demo(page)
    open_settings(page, "Quiet Harbor")
    field(page, "Slippage").fill("0.7")
    page.get_by_role("button", name="Review changes").click()
    sandbox.fault("update_follower_settings", "reset", times=1, applied=True)
    page.get_by_role("button", name="Send these settings").click()
    expect(page.get_by_role("heading", name="Applied, and read back")).to_be_visible(timeout=30_000)
    assert sum(call["operation"] == "update_follower_settings" for call in sandbox.calls()["calls"]) == 1
