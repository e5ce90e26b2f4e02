"""Every version with its author, the way back to any of them, and the settings a copy was opened under."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import changes, rules, versions
from copytrade.models import AuditEntry, SettingsChange, SettingsVersion, Trader, User
from tests.dashboard.copy_settings.steps import confirm, elsewhere, held, page, review, stored, url, writes
from tests.support.ledger_rows import UNIFIED, account_of, open_copy, trader_of, version_of
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db

TIMELINE = "copy_settings_timeline"


def restore_of(version: SettingsVersion) -> str:
    return reverse("copy_settings_restore", args=[version.trader_id, version.pk])


def past(trader: Trader, count: int, minutes: int = 10) -> list[SettingsVersion]:
    """Versions of rising size, oldest first, the newest a few minutes old."""
    made = []
    for number in range(count):
        version = version_of(trader, sized(number + 1))
        at = timezone.now() - timedelta(minutes=minutes * (count - number))
        SettingsVersion.objects.filter(pk=version.pk).update(
            author="outside" if number else "first", first_seen_at=at, last_seen_at=at
        )
        version.refresh_from_db()
        made.append(version)
    return made


def sized(value: int) -> rules.CopySettings:
    return replace(UNIFIED, configs=(replace(UNIFIED.configs[0], trace_value=Decimal(value)),))


@pytest.fixture
def quiet(alice: User) -> Trader:
    return trader_of(account_of(alice))


def test_it_tells_what_changed_who_changed_it_and_what_is_in_force(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    review(client, trader, trace_type="amount", trace_value="321")
    confirm(client, trader)
    elsewhere(trader, "111")
    changes.read_settings(trader)
    html = page(client.get(url(trader, TIMELINE)))
    assert html.index("Changed outside the desk") < html.index("Sent from this desk by alice")
    assert html.index("Sent from this desk by alice") < html.index("Found at the first reading")
    assert "<del>321 USDT</del>" in html and html.count(">in force<") == 1
    assert reverse("copy_settings_change", args=[trader.pk, SettingsChange.objects.get().key]) in html


def test_a_version_is_restored_by_one_press_and_a_review(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    first, before = versions.latest(trader), held(sandbox, trader)
    review(client, trader, trace_type="amount", trace_value="321", stop_loss="25")
    confirm(client, trader)
    answer = client.post(restore_of(first))
    draft = SettingsChange.objects.latest("pk")
    assert answer.headers["Location"].endswith(f"{draft.key}/") and draft.origin == "restore"
    assert "Restored from an earlier version" in page(client.get(answer.headers["Location"]))
    assert writes(sandbox) == 1
    assert AuditEntry.objects.filter(action="restore", trader=trader).count() == 1
    confirm(client, trader)
    assert rules.same(held(sandbox, trader), before)


def test_the_version_in_force_has_no_button_and_a_forged_press_is_told(client: Client, quiet: Trader) -> None:
    old, now = past(quiet, 2)
    html = page(client.get(url(quiet, TIMELINE)))
    assert restore_of(old) in html and restore_of(now) not in html
    answer = client.post(restore_of(now), follow=True)
    assert "there is nothing to send" in page(answer)
    assert not SettingsChange.objects.exists()


def test_what_breaks_rules_now_is_not_restored_and_says_why(client: Client, quiet: Trader) -> None:
    odd = version_of(quiet, replace(UNIFIED, configs=(replace(UNIFIED.configs[0], max_hold=Decimal(1)),)))
    version_of(quiet)
    answer = client.post(restore_of(odd), follow=True)
    assert "Most held must be between" in page(answer)


def test_a_long_past_comes_in_pages_without_gaps(client: Client, quiet: Trader) -> None:
    made = past(quiet, 65)
    seen: list[int] = []
    where = url(quiet, TIMELINE)
    for _ in range(3):
        answer = client.get(where)
        seen += [entry.version.pk for entry in answer.context["entries"]]
        if answer.context["older"]:
            where = f"{url(quiet, TIMELINE)}?before={answer.context['older']}"
    assert seen == [version.pk for version in reversed(made)]
    assert answer.context["older"] is None and "What the exchange held when the desk first read it" in page(
        answer
    )


@pytest.mark.parametrize("before", ["x", "9" * 40, "-1", ""])
def test_a_page_mark_that_makes_no_sense_starts_at_the_newest(
    client: Client, quiet: Trader, before: str
) -> None:
    past(quiet, 2)
    assert len(client.get(url(quiet, TIMELINE), {"before": before}).context["entries"]) == 2


def test_twenty_versions_need_no_more_queries_than_ten(client: Client, alice: User) -> None:
    counts = []
    for number, length in ((1, 10), (2, 20)):
        trader = trader_of(account_of(alice, f"Account {number}"), number)
        past(trader, length)
        client.get(url(trader, TIMELINE))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(url(trader, TIMELINE))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_nothing_read_yet_says_so(client: Client, quiet: Trader) -> None:
    assert "The settings have not been read yet." in page(client.get(url(quiet, TIMELINE)))


def test_an_answer_that_cannot_be_understood_is_an_entry_without_a_button(
    client: Client, quiet: Trader
) -> None:
    version_of(quiet)
    odd = SettingsVersion.objects.create(trader=quiet, answer=["odd"], fingerprint="x", author="outside")
    version_of(quiet, sized(7))
    html = page(client.get(url(quiet, TIMELINE)))
    assert "not understood" in html and restore_of(odd) not in html
    assert "could not be understood" in page(client.post(restore_of(odd), follow=True))


def test_strangers_find_nothing_and_restoring_is_a_post(
    client: Client, quiet: Trader, alice: User, charlie: User, client_of: Callable[[User], Client]
) -> None:
    old, _ = past(quiet, 2)
    stranger = client_of(charlie)
    assert stranger.get(url(quiet, TIMELINE)).status_code == 404
    assert stranger.post(restore_of(old)).status_code == 404
    assert Client().get(url(quiet, TIMELINE)).status_code == 302
    assert client.get(restore_of(old)).status_code == 405
    other = trader_of(quiet.account, 5, "Other")
    assert client.post(reverse("copy_settings_restore", args=[other.pk, old.pk])).status_code == 404
    assert not SettingsChange.objects.exists()


def test_the_trader_and_a_change_under_way_lead_there_and_back(client: Client, quiet: Trader) -> None:
    version = version_of(quiet)
    assert url(quiet, TIMELINE) in page(client.get(reverse("trader", args=[quiet.pk])))
    body = rules.to_body(quiet.trader_id, sized(9))
    change = SettingsChange.objects.create(trader=quiet, base=version, body=body, state="unknown")
    assert url(quiet, TIMELINE) in page(client.get(url(quiet)))
    html = page(client.get(url(quiet, TIMELINE)))
    assert "A change is under way" in html and str(change.key) in html


def test_an_order_says_which_settings_held_and_where_its_fill_differs(client: Client, quiet: Trader) -> None:
    old, _ = past(quiet, 2, minutes=60)
    SettingsVersion.objects.filter(pk=old.pk).update(last_seen_at=timezone.now() - timedelta(minutes=61))
    opened = old.first_seen_at + timedelta(minutes=5)
    order = open_copy(quiet, 1, open_time=opened, open_leverage=9, open_fill_size=Decimal(6))
    html = page(client.get(reverse("order", args=[order.pk])))
    assert "The fill differs from the settings" in html
    assert "leverage of 9x; the settings say 5x" in html and "60 % of the order" in html
    assert f"{url(quiet, TIMELINE)}#v{old.pk}" in html


def test_an_order_as_set_says_so_and_one_from_before_the_first_reading_claims_nothing(
    client: Client, quiet: Trader
) -> None:
    (version,) = past(quiet, 1, minutes=60)
    later = version.first_seen_at + timedelta(minutes=5)
    fits = open_copy(quiet, 1, open_time=later, open_margin_amount=Decimal(1))
    assert "The fill is as these settings say" in page(client.get(reverse("order", args=[fits.pk])))
    early = open_copy(quiet, 2, open_time=version.first_seen_at - timedelta(days=1))
    html = page(client.get(reverse("order", args=[early.pk])))
    assert "makes no claim about which held" in html and "The fill" not in html
    unknown = open_copy(quiet, 3, open_time=None)
    assert "did not say when this copy opened" in page(client.get(reverse("order", args=[unknown.pk])))


def test_a_version_that_was_perhaps_replaced_by_then_is_marked(client: Client, alice: User) -> None:
    trader = stored(alice)
    version = trader.versions.get()
    order = open_copy(trader, 1, open_time=version.last_seen_at + timedelta(seconds=5))
    assert "may have held already when this copy opened" in page(
        client.get(reverse("order", args=[order.pk]))
    )
