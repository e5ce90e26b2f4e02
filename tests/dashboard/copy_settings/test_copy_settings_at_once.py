"""Two tabs, two clicks, two people at one change: through the pages, at the same moment, against the exchange."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from copytrade.changes import body_mark, proceed
from copytrade.models import Account, SettingsChange, SettingsVersion, Trader, User
from tests.dashboard.copy_settings.steps import form_of, former_id, held, review, url, writes
from tests.support.at_once import at_once
from tests.support.sandbox_process import Sandbox

State = SettingsChange.State
pytestmark = pytest.mark.django_db(transaction=True)


def pressing(client_of: Callable[[User], Client], change: SettingsChange) -> Callable[[], int]:
    """A browser with this change's review open, ready to press Send, and the worker that this wakes."""
    client = client_of(change.trader.account.owner)
    where = reverse("copy_settings_change", args=[change.trader_id, change.key])
    fields = {"key": str(change.key), "seen": body_mark(change)}

    def press() -> int:
        status = client.post(where, fields).status_code
        proceed(change.pk)
        return status

    return press


def drafted(client: Client, trader: Trader, value: str) -> SettingsChange:
    assert review(client, trader, trace_value=value).status_code == 302  # type: ignore[attr-defined]
    return SettingsChange.objects.latest("pk")


def test_a_change_pressed_five_times_at_once_is_one_body(
    client: Client, trader: Trader, sandbox: Sandbox, client_of: Callable[[User], Client]
) -> None:
    change = drafted(client, trader, "321")
    assert at_once(*[pressing(client_of, change) for _ in range(5)]) == [302] * 5
    assert writes(sandbox) == 1
    change.refresh_from_db()
    assert change.state == State.APPLIED


def test_two_tabs_with_different_changes_send_one_of_them(
    client: Client, trader: Trader, sandbox: Sandbox, client_of: Callable[[User], Client]
) -> None:
    changes = [drafted(client, trader, value) for value in ("321", "322", "323")]
    at_once(*[pressing(client_of, change) for change in changes])
    assert writes(sandbox) == 1
    (applied,) = SettingsChange.objects.filter(state=State.APPLIED)
    assert held(sandbox, trader).configs[0].trace_value == Decimal(
        applied.body["unifiedTraceConfig"]["traceValue"]
    )
    assert not SettingsChange.objects.filter(state__in=SettingsChange.OPEN_STATES).exists()


def test_an_old_tab_cannot_bring_back_what_was_replaced(
    client: Client, trader: Trader, sandbox: Sandbox, client_of: Callable[[User], Client]
) -> None:
    old, new = drafted(client, trader, "321"), drafted(client, trader, "322")
    assert pressing(client_of, new)() == 302
    pressing(client_of, old)()
    old.refresh_from_db()
    assert (old.state, writes(sandbox)) == (State.CONFLICT, 1)


def test_a_trader_who_was_left_since_the_review_is_sent_nothing(
    client: Client, account: Account, sandbox: Sandbox, client_of: Callable[[User], Client]
) -> None:
    """Settings for somebody not copied may start the copying: the review did not ask whether that is wanted."""
    trader = Trader.objects.create(account=account, trader_id=former_id(sandbox), name="Ember Fund")
    form = form_of(client, trader)
    SettingsVersion.objects.filter(trader=trader).update(copy_enable=True)
    wanted = form | {"trace_type": "amount", "trace_value": "77"}
    assert client.post(url(trader, "copy_settings_review"), wanted).status_code == 302
    change = SettingsChange.objects.latest("pk")
    pressing(client_of, change)()
    change.refresh_from_db()
    assert (change.state, writes(sandbox)) == (State.CONFLICT, 0)
    assert "not copied" in change.error_message
