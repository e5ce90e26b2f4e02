"""One template to three traders: prepared, reviewed at once, each sent and read back on its own."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from copytrade.models import SettingsChange, SettingsTemplate, Trader
from tests.browser.conftest import PHONE
from tests.browser.steps import enter_the_demo
from tests.support.sandbox_process import Sandbox
from tests.support.watched_page import serious, sideways

pytestmark = pytest.mark.slow

SOURCE = "Double or Nothing"
OTHERS = ("Northwind Steady", "Quiet Harbor", "Gamma Scalps")


def enter(page: Page) -> None:
    """Into the demo, and on once the settings of everybody who is copied have been read."""
    enter_the_demo(page)
    deadline = time.monotonic() + 30
    while Trader.objects.filter(copied=True, versions=None).exists():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def looks_right(page: Page) -> None:
    assert sideways(page) == 0
    assert serious(page) == []


def writes(sandbox: Sandbox) -> int:
    return sum(call["operation"] == "update_follower_settings" for call in sandbox.calls()["calls"])


def keep_a_template(page: Page) -> None:
    page.goto("/templates/")
    page.get_by_label("Settings of").first.select_option(label=SOURCE)
    page.get_by_label("Name", exact=True).fill("Careful")
    page.get_by_role("button", name="Save as template").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Careful")


def prepare_for_three(page: Page) -> None:
    page.get_by_role("link", name="Apply to traders").click()
    for name in OTHERS:
        page.get_by_role("checkbox", name=name).check()
    page.get_by_role("button", name="Show all differences").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review: Template “Careful”")
    for name in OTHERS:
        expect(page.get_by_role("heading", name=name, level=2)).to_be_visible()


def test_a_template_goes_to_three_traders_with_one_review(
    screen: Page, sandbox: Sandbox, shoot: Callable[..., object]
) -> None:
    enter(screen)
    keep_a_template(screen)
    looks_right(screen)
    shoot(screen, "template")
    screen.goto("/templates/")
    looks_right(screen)
    shoot(screen, "templates")
    screen.get_by_role("link", name="Open Careful").click()
    prepare_for_three(screen)
    looks_right(screen)
    shoot(screen, "template-review")
    assert writes(sandbox) == 0

    sandbox.fault("update_follower_settings", "code", times=1, code=-1142)
    screen.get_by_role("button", name="Send these settings").dblclick()
    expect(screen.get_by_role("heading", name="2 of 3 applied, and read back")).to_be_visible(timeout=30_000)
    expect(screen.get_by_text("refused", exact=True)).to_be_visible()
    looks_right(screen)
    shoot(screen, "template-results")
    assert writes(sandbox) == 3
    screen.reload()
    assert sorted(SettingsChange.objects.values_list("state", flat=True)) == [
        "applied",
        "applied",
        "rejected",
    ]
    assert writes(sandbox) == 3


def test_the_same_without_javascript(open_page: Callable[..., Page], sandbox: Sandbox) -> None:
    page = open_page(PHONE, java_script_enabled=False)
    enter(page)
    keep_a_template(page)
    prepare_for_three(page)
    page.get_by_role("checkbox", name="Send to Quiet Harbor").uncheck()
    page.get_by_role("button", name="Send these settings").click()
    for _ in range(120):
        if page.get_by_role("heading", name="2 of 2 applied, and read back").is_visible():
            break
        page.wait_for_timeout(100)
        page.reload()
    expect(page.get_by_role("heading", name="2 of 2 applied, and read back")).to_be_visible()
    expect(page.get_by_text("You left this one out.")).to_be_visible()
    assert writes(sandbox) == 2


def test_derisking_and_importing_on_a_page(
    screen: Page, sandbox: Sandbox, shoot: Callable[..., object]
) -> None:
    enter(screen)
    screen.goto("/templates/apply/?preset=derisk")
    expect(screen.get_by_text("This neither closes nor stops anything.")).to_be_visible()
    looks_right(screen)
    screen.get_by_label("Leverage at most").fill("2,5")
    screen.get_by_role("checkbox", name=SOURCE).check()
    screen.get_by_role("button", name="Show all differences").click()
    expect(screen.get_by_text("must be a plain number")).to_be_visible()
    expect(screen.get_by_role("checkbox", name=SOURCE)).to_be_checked()
    screen.watch.expect("422")  # type: ignore[attr-defined]
    shoot(screen, "derisk")
    screen.get_by_label("Leverage at most").fill("2")
    screen.get_by_role("button", name="Show all differences").click()
    expect(screen.get_by_role("heading", level=1)).to_contain_text("leverage at most 2x")
    expect(screen.get_by_role("row", name="Size of each copy")).to_be_visible()

    screen.goto("/templates/import/")
    screen.get_by_label("Or its text").fill('{"format": "copydesk-copy-settings", "version": 1, "body": {}}')
    screen.get_by_role("button", name="Save as template").click()
    expect(screen.get_by_text("This cannot be imported.")).to_be_visible()
    looks_right(screen)
    screen.watch.expect("422")  # type: ignore[attr-defined]
    shoot(screen, "import")
    assert not SettingsTemplate.objects.exists()
    assert writes(sandbox) == 0
