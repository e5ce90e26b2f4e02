"""The proof before sending, the inbox and the audit log in a real browser; without JavaScript too."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from copytrade import audit, changes, connections, versions
from copytrade.models import Alert, SettingsChange, User
from tests.browser.conftest import DESKTOP, PHONE, Desk
from tests.support.signed_in import signed_in
from tests.support.watched_page import serious, sideways

pytestmark = pytest.mark.slow


@pytest.fixture
def draft(alice: User, live_desk: Desk) -> SettingsChange:
    """alice's reviewed change at the sandbox: a larger size for one trader."""
    account = connections.add(
        alice, label="Main", venue="sandbox", key="follower-key", secret="follower-secret", passphrase="sandbox"
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while (trader := account.traders.filter(copied=True, versions__mode="unified").first()) is None:
        assert time.monotonic() < deadline, "the worker beside the desk has not read the settings"
        time.sleep(0.2)
    now = versions.settings_of(trader.versions.get())
    wanted = replace(now, configs=(replace(now.configs[0], trace_value=Decimal(123)),))
    return changes.draft(trader, wanted, alice)


def sign_in_long_ago(page: Page, desk: Desk, user: User) -> None:
    client = signed_in(user, seconds_ago=3600)
    cookie = client.cookies["copydesk-session"]
    page.context.add_cookies([{"name": "copydesk-session", "value": cookie.value, "url": desk.url}])


@pytest.mark.parametrize("javascript", [True, False], ids=["script", "no-script"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_an_old_proof_is_asked_for_and_the_review_comes_back(
    open_page: Callable[..., Page],
    live_desk: Desk,
    draft: SettingsChange,
    viewport: dict,
    javascript: bool,
    shoot: Callable[..., Path],
) -> None:
    page = open_page(viewport, java_script_enabled=javascript)
    sign_in_long_ago(page, live_desk, draft.author)
    page.goto(f"/traders/{draft.trader_id}/settings/change/{draft.key}/")
    send = page.locator(
        "main form[method=post] button[type=submit], main form[method=post] button.button-primary"
    )
    send.last.click()
    expect(page.get_by_text("You are about to send copy settings")).to_be_visible()
    if javascript:
        assert sideways(page) == 0 and serious(page) == []
        shoot(page, "stepup")
    page.get_by_label("Password").fill("alice-password-of-20")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("It is you. Nothing has happened yet")).to_be_visible()
    draft.refresh_from_db()
    assert draft.state == "draft"
    send.last.click()
    expect(page.get_by_text("It is you.")).to_have_count(0)
    draft.refresh_from_db()
    assert draft.state != "draft"


def test_inbox_audit_log_and_switch_fit_and_are_accessible(
    screen: Page, live_desk: Desk, draft: SettingsChange, shoot: Callable[..., Path]
) -> None:
    alice, trader = draft.author, draft.trader
    User.objects.filter(pk=alice.pk).update(is_operator=True)
    for n, kind in enumerate(Alert.Kind.values):
        Alert.objects.create(
            owner=alice, account=trader.account, trader=trader, kind=kind, key=f"test:{n}",
            sentence=f"{trader}: changed outside the desk: Size of each copy from 150 USDT to 77 USDT; "
            "Long leverage from 5x to 10x; and 4 more.",
        )  # fmt: skip
    audit.note(
        alice, "send", trader=trader, subject="Size of each copy: 150 USDT to 123 USDT",
        details={"differences": draft.differences, "key": draft.key},
    )  # fmt: skip
    live_desk.sign_in(screen, alice)
    for address, name in (("/alerts/", "alerts"), ("/security/audit/", "audit"), ("/security/", "security")):
        screen.goto(address)
        assert sideways(screen) == 0, address
        assert serious(screen) == [], address
        shoot(screen, name)
    screen.goto("/alerts/")
    screen.get_by_role("button", name="Mark as read").first.click()
    expect(screen.get_by_role("heading", name="Open alerts")).to_be_visible()
    expect(screen.locator("ul.alerts > li")).to_have_count(len(Alert.Kind.values) - 1)
    screen.get_by_role("button", name="Mark these as read").click()
    expect(screen.locator("main").get_by_text("Nothing waits for you.")).to_be_visible()
    screen.goto("/security/")
    screen.get_by_role("button", name="Demand it").click()
    expect(screen.get_by_text("From now on everybody needs a second factor")).to_be_visible()
