"""A change on its way: reviewed, overtaken by somebody else's, its answer lost; with JavaScript and without."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from copytrade.models import SettingsChange, Trader
from tests.browser.conftest import DESKTOP, PHONE, Desk
from tests.browser.steps import enter_the_demo, field, open_settings
from tests.dashboard.copy_settings.steps import elsewhere, held
from tests.support.sandbox_process import Sandbox
from tests.support.watched_page import serious, sideways

pytestmark = pytest.mark.slow
NAME = "Double or Nothing"


@pytest.fixture(params=["script", "plain"])
def visitor(request: pytest.FixtureRequest, open_page: Callable[..., Page]) -> Page:
    """A desktop with JavaScript, and a phone without; both in the demo."""
    script = request.param == "script"
    page = open_page(DESKTOP if script else PHONE, java_script_enabled=script)
    page.has_script = script  # type: ignore[attr-defined]
    enter_the_demo(page)
    return page


def sent(sandbox: Sandbox) -> int:
    return sum(call["operation"] == "update_follower_settings" for call in sandbox.calls()["calls"])


def the_trader() -> Trader:
    return Trader.objects.get(name=NAME)


def looked(page: Page, shoot: Callable[..., object], name: str) -> None:
    """A picture; nothing wider than the window, and nothing that keeps somebody out."""
    shoot(page, name)
    if page.has_script:  # type: ignore[attr-defined]
        assert sideways(page) == 0
        assert serious(page) == []


def wait_for(page: Page, heading: str) -> None:
    """With JavaScript the page follows by itself; without, a person presses the link."""
    found = page.get_by_role("heading", name=heading)
    for _ in range(300):
        if page.has_script or found.is_visible():  # type: ignore[attr-defined]
            break
        page.wait_for_timeout(100)
        page.get_by_role("link", name="Look again").click()
    expect(found).to_be_visible(timeout=30_000)


def review_with(page: Page, **typed: str) -> None:
    open_settings(page, NAME)
    for label, value in typed.items():
        field(page, label.replace("_", " ")).fill(value)
    page.get_by_role("button", name="Review changes").click()
    expect(page.get_by_role("heading", name="What changes")).to_be_visible()


def test_reviewed_sent_and_applied(visitor: Page, sandbox: Sandbox, shoot: Callable[..., object]) -> None:
    review_with(visitor, Size_of_each_copy="900", Stop_loss="20", Long_leverage="50")
    expect(visitor.get_by_role("row", name="Size of each copy")).to_contain_text("900 USDT")
    expect(visitor.get_by_text("sent again, so that nothing falls back to a default")).to_be_visible()
    visitor.get_by_text("Show the exact request").click()
    expect(visitor.locator("pre")).to_contain_text('"traceValue": "900"')
    looked(visitor, shoot, "change-review")
    visitor.get_by_role("button", name="Send these settings").click()
    wait_for(visitor, "Applied, and read back")
    looked(visitor, shoot, "change-applied")
    assert sent(sandbox) == 1

    # The timeline tells it, and its first entry can be brought back by one press and a review.
    visitor.get_by_role("link", name="Timeline").click()
    expect(visitor.get_by_role("row", name="Size of each copy")).to_contain_text("900 USDT")
    looked(visitor, shoot, "change-timeline")
    visitor.get_by_role("button", name="Restore").first.click()
    expect(visitor.get_by_role("row", name="Size of each copy")).to_contain_text("150 USDT")
    assert sent(sandbox) == 1, "a restore is a draft until it is sent"


def test_a_conflict_is_settled_setting_by_setting(
    visitor: Page, sandbox: Sandbox, shoot: Callable[..., object]
) -> None:
    review_with(visitor, Size_of_each_copy="321", Stop_loss="25")
    elsewhere(the_trader(), "111")
    visitor.get_by_role("button", name="Send these settings").click()
    wait_for(visitor, "Changed elsewhere: nothing was sent")
    assert sent(sandbox) == 1, "only the edit made elsewhere"
    size = visitor.get_by_role("row", name="Size of each copy")
    expect(size).to_contain_text("both changed it")
    expect(size.get_by_role("radio", name="111 USDT")).not_to_be_checked()
    expect(visitor.get_by_role("row", name="Stop loss").get_by_role("radio", name="25 %")).to_be_checked()
    looked(visitor, shoot, "change-conflict")

    # Without a choice for the clash the browser does not let it go.
    visitor.get_by_role("button", name="Review this choice").click()
    expect(visitor.get_by_role("button", name="Review this choice")).to_be_visible()
    size.get_by_text("111 USDT").click()
    visitor.get_by_role("button", name="Review this choice").click()
    expect(visitor.get_by_role("heading", name="What changes")).to_be_visible()
    expect(visitor.get_by_role("row", name="Size of each copy")).to_have_count(0)
    visitor.get_by_role("button", name="Send these settings").click()
    wait_for(visitor, "Applied, and read back")
    config = held(sandbox, the_trader()).configs[0]
    assert (str(config.trace_value), str(config.stop_loss)) == ("111", "0.25")
    assert sent(sandbox) == 2


def test_an_unknown_outcome_is_followed_and_never_sent_again(
    visitor: Page, sandbox: Sandbox, shoot: Callable[..., object]
) -> None:
    review_with(visitor, Slippage="0.7")
    sandbox.fault("update_follower_settings", "reset", times=1, applied=True)
    sandbox.fault("follower_settings", "http", http=503, times=0, after=1)
    visitor.get_by_role("button", name="Send these settings").click()
    wait_for(visitor, "The answer was lost; reading back")
    looked(visitor, shoot, "change-unknown")
    sandbox.clear_faults()
    wait_for(visitor, "Applied, and read back")
    assert sent(sandbox) == 1
    assert SettingsChange.objects.get().state == "applied"


def test_an_edit_that_did_not_arrive_is_sent_again_as_a_new_change(
    page: Page, live_desk: Desk, sandbox: Sandbox, shoot: Callable[..., object]
) -> None:
    enter_the_demo(page)
    review_with(page, Slippage="0.7")
    change = SettingsChange.objects.get()
    # As the read-backs leave it after a minute: the way there is tested with shortened delays.
    words = "The change has not arrived: the exchange still holds the settings from before. You may send it again."
    SettingsChange.objects.filter(pk=change.pk).update(state="not_seen", error_message=words)
    page.goto(f"/traders/{change.trader_id}/settings/change/{change.key}/")
    expect(page.get_by_role("heading", name="Not applied")).to_be_visible()
    shoot(page, "change-not-seen")
    assert serious(page) == []
    page.get_by_role("button", name="Review and send again").click()
    expect(page.get_by_text("Sent again: the change before")).to_be_visible()
    page.get_by_role("button", name="Send these settings").click()
    expect(page.get_by_role("heading", name="Applied, and read back")).to_be_visible()
    assert sent(sandbox) == 1
