"""Somebody else changed the settings meanwhile: three columns, a choice for each setting, and a merged draft."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import changes, rules
from copytrade.models import Account, AuditEntry, ChangeGroup, SettingsChange, SettingsVersion, Trader, User
from tests.dashboard.copy_settings.steps import (
    confirm,
    elsewhere,
    held,
    page,
    review,
    stored,
    url,
    writes,
)
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db

State = SettingsChange.State


def place(change: SettingsChange, name: str = "copy_settings_change") -> str:
    return reverse(name, args=[change.trader_id, change.key])


@pytest.fixture
def overtaken(client: Client, trader: Trader) -> SettingsChange:
    """321 USDT and a stop loss were wanted; 111 USDT were set elsewhere."""
    review(client, trader, trace_type="amount", trace_value="321", stop_loss="25")
    elsewhere(trader, "111")
    confirm(client, trader)
    change = SettingsChange.objects.get()
    assert change.state == State.CONFLICT
    return change


def row(html: str, label: str) -> str:
    found = re.search(rf"<tr[^>]*>\s*<th[^>]*>{label}.*?</tr>", html, flags=re.DOTALL)
    assert found, html
    return found[0]


def shown_version(html: str) -> str:
    found = re.search(r'name="theirs" value="(\d+)"', html)
    assert found
    return found[1]


def choose(client: Client, change: SettingsChange, **more: str) -> object:
    html = page(client.get(place(change)))
    picks = {f"pick:{path}": side for path, side in more.items()}
    return client.post(place(change, "copy_settings_resolve"), {"theirs": shown_version(html)} | picks)


def test_three_columns_with_the_side_that_changed_chosen(client: Client, overtaken: SettingsChange) -> None:
    html = page(client.get(place(overtaken)))
    size, stop = row(html, "Size of each copy"), row(html, "Stop loss")
    assert all(words in size for words in ("150 USDT", "111 USDT", "321 USDT", "both changed it"))
    assert "checked" not in size and size.count("required") == 2
    assert re.search(r'value="mine" required[^>]* checked', stop)
    assert not re.search(r'value="theirs" required[^>]* checked', stop)
    assert "in the moment between that reading and the sending would be overwritten" in html


def test_the_choice_becomes_a_linked_draft_on_what_is_there_now(
    client: Client, overtaken: SettingsChange, trader: Trader, sandbox: Sandbox
) -> None:
    sent = writes(sandbox)
    answer = choose(client, overtaken, size="theirs", stop_loss="mine")
    merged = SettingsChange.objects.exclude(pk=overtaken.pk).get()
    assert answer.headers["Location"] == place(merged)
    assert (merged.state, merged.origin, merged.previous_id) == (State.DRAFT, "merge", overtaken.pk)
    assert [line[0] for line in merged.differences] == ["Stop loss"]
    assert "Merged with a change made elsewhere" in page(client.get(place(merged)))
    assert writes(sandbox) == sent, "choosing sends nothing"
    confirm(client, trader)
    config = held(sandbox, trader).configs[0]
    assert (config.trace_value, config.stop_loss) == (Decimal(111), Decimal("0.25"))
    assert "Followed by" in page(client.get(place(overtaken)))


def test_a_clash_without_a_choice_is_asked_for_and_the_other_choices_stay(
    client: Client, overtaken: SettingsChange
) -> None:
    answer = choose(client, overtaken, stop_loss="theirs")
    html = page(answer)
    assert answer.status_code == 409 and "Both sides changed these. Choose one for each" in html
    assert re.search(r'value="theirs" required[^>]* checked', row(html, "Stop loss"))
    assert SettingsChange.objects.count() == 1


def test_all_of_mine_by_one_button(client: Client, overtaken: SettingsChange, trader: Trader) -> None:
    html = page(client.get(place(overtaken)))
    client.post(place(overtaken, "copy_settings_resolve"), {"theirs": shown_version(html), "all": "mine"})
    merged = SettingsChange.objects.latest("pk")
    assert rules.same(rules.from_body(merged.body), rules.from_body(overtaken.body))


def test_columns_older_than_the_last_reading_are_drawn_anew(
    client: Client, overtaken: SettingsChange, trader: Trader
) -> None:
    html = page(client.get(place(overtaken)))
    elsewhere(trader, "99")
    changes.read_settings(trader)
    answer = client.post(
        place(overtaken, "copy_settings_resolve"), {"theirs": shown_version(html), "pick:size": "theirs"}
    )
    assert answer.status_code == 409 and "Look at the choices again" in page(answer)
    assert "99 USDT" in row(page(answer), "Size of each copy")
    assert SettingsChange.objects.count() == 1


@pytest.mark.parametrize(
    "posted", [{}, {"theirs": "x"}, {"theirs": "9" * 40}, {"pick:size": "everyone's"}, {"pick:": "mine"}]
)
def test_a_choice_that_makes_no_sense_is_a_message_and_not_a_fault(
    client: Client, overtaken: SettingsChange, posted: dict[str, str]
) -> None:
    answer = client.post(place(overtaken, "copy_settings_resolve"), posted)
    assert answer.status_code == 409 and 'role="alert"' in page(answer)
    assert SettingsChange.objects.count() == 1


def test_what_the_exchange_did_not_keep_is_named_and_may_be_chosen(client: Client, trader: Trader) -> None:
    review(client, trader, trace_type="amount", trace_value="321", stop_loss="25")
    SettingsChange.objects.update(state=State.UNKNOWN, accepted=True, sent_at=timezone.now())
    elsewhere(trader, "99")
    change = SettingsChange.objects.get()
    changes.read_back(change.pk)
    html = page(client.get(place(change)))
    assert "The exchange holds something else" in html and "What the exchange did not keep" in html
    assert "Choose, setting by setting" in html and "99 USDT" in row(html, "Size of each copy")


def test_what_cannot_be_read_back_is_listed_as_such(client: Client, trader: Trader, sandbox: Sandbox) -> None:
    review(client, trader, trace_type="amount", trace_value="321", stop_loss="25")
    sandbox.fault("follower_settings", "missing_fields", times=0, after=1, fields=["stopLossRatio"])
    html = page(confirm(client, trader))
    assert "its answer leaves out some of the settings" in html
    assert re.search(r"Stop loss.*?25 % of margin.*?cannot be read back", html, flags=re.DOTALL)
    assert "Applied, and read back" not in html


def test_only_a_conflict_is_resolved(client: Client, trader: Trader) -> None:
    review(client, trader, trace_value="321")
    change = SettingsChange.objects.get()
    answer = client.post(place(change, "copy_settings_resolve"), {"theirs": "1"})
    assert answer.status_code == 409 and "not in conflict" in page(answer)


def test_a_change_that_did_not_arrive_is_sent_again_as_a_new_one(
    client: Client, trader: Trader, sandbox: Sandbox
) -> None:
    review(client, trader, trace_value="321")
    sandbox.fault("update_follower_settings", "timeout_before", times=1, seconds=0)
    confirm(client, trader)
    first = SettingsChange.objects.get()
    changes.read_back(first.pk, delays=(0.0,))
    assert "Review and send again" in page(client.get(place(first)))
    answer = client.post(place(first, "copy_settings_again"))
    second = SettingsChange.objects.latest("pk")
    assert answer.headers["Location"] == place(second)
    assert (second.previous_id, second.origin) == (first.pk, "again") and second.key != first.key
    confirm(client, trader)
    assert held(sandbox, trader).configs[0].trace_value == 321


def test_a_change_of_a_group_leads_back_to_the_others(client: Client, trader: Trader, alice: User) -> None:
    review(client, trader, trace_value="321")
    group = ChangeGroup.objects.create(owner=alice, label="Calm template")
    SettingsChange.objects.update(group=group, state=State.APPLIED)
    html = page(client.get(place(SettingsChange.objects.get())))
    assert reverse("change_group", args=[group.key]) in html and "Calm template" in html


def test_a_change_under_way_is_not_sent_again(client: Client, trader: Trader) -> None:
    review(client, trader, trace_value="321")
    change = SettingsChange.objects.get()
    SettingsChange.objects.update(state=State.UNKNOWN)
    answer = client.post(place(change, "copy_settings_again"))
    assert answer.status_code == 409 and SettingsChange.objects.count() == 1


@pytest.mark.parametrize("name", ["copy_settings_resolve", "copy_settings_again"])
def test_choosing_and_repeating_are_posts_of_the_owner(
    client: Client, overtaken: SettingsChange, charlie: User, client_of: Callable[[User], Client], name: str
) -> None:
    assert client.get(place(overtaken, name)).status_code == 405
    assert client_of(charlie).post(place(overtaken, name)).status_code == 404
    assert Client().post(place(overtaken, name)).status_code == 302
    assert SettingsChange.objects.count() == 1


def test_an_answer_that_cannot_be_understood_leaves_the_form_as_the_way_on(
    client: Client, alice: User
) -> None:
    trader = stored(alice)
    change = SettingsChange.objects.create(
        trader=trader, base=trader.versions.get(), state=State.CONFLICT, error_message="Something else.",
        body=rules.to_body(trader.trader_id, rules.from_answer(trader.versions.get().answer)),
    )  # fmt: skip
    SettingsVersion.objects.create(trader=trader, answer=["odd"], fingerprint="x", author="outside")
    html = page(client.get(place(change)))
    assert "Go on with my changes" in html and "Choose, setting by setting" not in html
    assert AuditEntry.objects.count() == 0 and Account.objects.count() == 1
    assert url(trader) in html
