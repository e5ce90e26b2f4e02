"""One set of settings for several traders: whom it may go to, one review for all, what is sent, and how it ended."""

from __future__ import annotations

import re
import time
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import changes, presets
from copytrade.models import (
    Account,
    ChangeGroup,
    SettingsChange,
    SettingsTemplate,
    TrackingOrder,
    Trader,
    User,
)
from tests.dashboard.test_policy import check
from tests.support.template_pages import followed, sized, text_of, ticks

pytestmark = pytest.mark.django_db


def prepare(client: Client, template: SettingsTemplate, traders: list[Trader]) -> ChangeGroup:
    url = f"{reverse('template_apply')}?template={template.pk}"
    answer = client.post(url, {"traders": [trader.pk for trader in traders]})
    group = ChangeGroup.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (
        302,
        reverse("change_group", args=[group.key]),
    )
    return group


# From the choice of traders to the result


def test_the_choice_shows_what_is_set_and_whom_it_may_go_to(
    client: Client, template: SettingsTemplate, traders: list[Trader], account: Account
) -> None:
    followed(account, 9, copy_enable=False)
    Trader.objects.create(account=account, trader_id=5, name="Unread", copied=True)
    page = client.get(f"{reverse('template_apply')}?template={template.pk}")
    assert "55 USDT" in text_of(page)
    assert "Unread Main · settings not read yet" in text_of(page)
    assert "Trader 09 not copied now" in text_of(page)
    copy = client.get(f"{reverse('template_apply')}?trader={traders[1].pk}")
    assert f'value="{traders[1].pk}"' not in copy.content.decode()


@pytest.mark.parametrize("chosen", [[], ["x"], ["999999"], ["9" * 40]])
def test_a_choice_of_nobody_is_told(client: Client, template: SettingsTemplate, chosen: list[str]) -> None:
    answer = client.post(f"{reverse('template_apply')}?template={template.pk}", {"traders": chosen})
    assert answer.status_code == 422 and 'role="alert"' in answer.content.decode()
    assert not ChangeGroup.objects.exists()


def test_one_review_shows_every_difference_each_body_and_who_is_left_out(
    client: Client, template: SettingsTemplate, traders: list[Trader], account: Account
) -> None:
    same = followed(account, 8, 55)
    group = prepare(client, template, [*traders, same])
    page = client.get(reverse("change_group", args=[group.key]))
    words = text_of(page)
    for number, trader in enumerate(traders):
        assert f"Size of each copy {100 + number} USDT 55 USDT" in words
        assert f"&quot;traderId&quot;: {trader.trader_id}" in page.content.decode()
    assert "Trader 08 These are the settings that the exchange holds already" in words
    assert set(group.changes.values_list("state", flat=True)) == {"draft"}


def test_a_warning_stands_at_the_trader_whom_it_is_about(
    client: Client, traders: list[Trader], account: Account, alice: User
) -> None:
    TrackingOrder.objects.create(
        account=account, trader=traders[1], tracking_no=1, symbol="SOLUSDT", position_side="LONG",
        status="open", closed=False, open_leverage=20, open_margin_amount=Decimal(100), open_time=timezone.now(),
    )  # fmt: skip
    group = presets.prepare(alice, traders, presets.from_file(sized(900)))
    page = client.get(reverse("change_group", args=[group.key])).content.decode()
    parts = re.split(r'aria-labelledby="row-', page)[1:5]
    assert ["SOLUSDT: copies are open" in part for part in parts] == [False, True, False, False]
    assert ["times the position" in part for part in parts] == [False, True, False, False]


def test_one_who_is_not_copied_is_sent_to_only_when_ticked_on_purpose(
    client: Client, template: SettingsTemplate, account: Account, traders: list[Trader]
) -> None:
    left = followed(account, 9, copy_enable=False)
    group = prepare(client, template, [traders[0], left])
    page = client.get(reverse("change_group", args=[group.key])).content.decode()
    boxes = dict(re.findall(r'name="(include-\d+)" value="\w{64}"( checked)?', page))
    by_trader = {change.trader_id: f"include-{change.pk}" for change in group.changes.all()}
    assert boxes[by_trader[traders[0].pk]] == " checked"
    assert boxes[by_trader[left.pk]] == ""


def test_confirming_commits_each_change_and_a_second_press_nothing(
    client: Client, template: SettingsTemplate, traders: list[Trader]
) -> None:
    group = prepare(client, template, traders)
    url, posted = reverse("change_group", args=[group.key]), ticks(group)
    left_out = f"include-{group.changes.get(trader=traders[3]).pk}"
    answer = client.post(url, {name: value for name, value in posted.items() if name != left_out})
    assert (answer.status_code, answer.headers["Location"]) == (302, url)
    assert client.post(url, posted).status_code == 302
    assert dict(group.changes.values_list("trader__name", "state")) == {
        "Trader 00": "confirmed", "Trader 01": "confirmed", "Trader 02": "confirmed", "Trader 03": "draft",
    }  # fmt: skip
    page = client.get(url)
    assert "0 of 3 applied, and read back" in text_of(page)
    assert "You left this one out." in text_of(page)
    assert 'hx-trigger="every 1s"' in page.content.decode()


def test_the_results_follow_until_every_change_is_decided(
    client: Client, template: SettingsTemplate, traders: list[Trader]
) -> None:
    group = prepare(client, template, traders[:2])
    client.post(reverse("change_group", args=[group.key]), ticks(group))
    first, second = group.changes.order_by("trader__name")
    SettingsChange.objects.filter(pk=first.pk).update(state="applied")
    SettingsChange.objects.filter(pk=second.pk).update(
        state="rejected", error_message="The exchange said no."
    )
    part = client.get(reverse("change_group", args=[group.key]), headers={"HX-Request": "true"})
    html = part.content.decode()
    assert "<html" not in html and "hx-trigger" not in html
    assert "1 of 2 applied" in html and "The exchange said no." in html


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"key": "x"}, "This review is out of date."),
        ({"key": str(uuid4())}, "This review is out of date."),
        ("none", "Choose at least one trader to send to."),
        ("tampered", "What you reviewed is not what this change would send"),
    ],
)
def test_a_review_that_does_not_hold_sends_nothing_and_keeps_the_ticks(
    client: Client, template: SettingsTemplate, traders: list[Trader], wrong: object, words: str
) -> None:
    group = prepare(client, template, traders[:2])
    first = min(name for name in ticks(group) if name.startswith("include-"))
    posted = {"key": str(group.key), first: ticks(group)[first]}
    if wrong == "none":
        posted.pop(first)
    elif wrong == "tampered":
        posted[first] = "0" * 64
    else:
        posted |= wrong  # type: ignore[operator]
    answer = client.post(
        reverse("change_group", args=[group.key]), posted | {"include-x": "1", "include-²": "1"}
    )
    assert answer.status_code == 409 and words in text_of(answer)
    assert set(group.changes.values_list("state", flat=True)) == {"draft"}
    checked = re.findall(r'name="(include-\d+)" value="\w{64}" checked', answer.content.decode())
    assert checked == ([] if wrong == "none" else [first])


def test_without_a_fresh_proof_the_person_is_asked_first_and_the_ticks_come_back(
    client: Client, template: SettingsTemplate, traders: list[Trader]
) -> None:
    group = prepare(client, template, traders[:2])
    url = reverse("change_group", args=[group.key])
    first = min(name for name in ticks(group) if name.startswith("include-"))
    proved_long_ago(client)
    answer = client.post(url, {"key": str(group.key), first: ticks(group)[first]})
    assert answer.status_code == 302 and "reauthenticate" in answer.headers["Location"]
    assert set(group.changes.values_list("state", flat=True)) == {"draft"}
    client.post(reverse("account_reauthenticate"), {"password": "alice-password-of-20"})
    back = client.get(url).content.decode()
    assert re.findall(r'name="(include-\d+)" value="\w{64}" checked', back) == [first]


def proved_long_ago(client: Client) -> None:
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time() - 601}]
    session.save()


def test_one_that_was_sent_alone_meanwhile_is_not_offered_again(
    client: Client, template: SettingsTemplate, traders: list[Trader]
) -> None:
    group = prepare(client, template, traders[:2])
    first = group.changes.get(trader=traders[0])
    changes.confirm(first, first.key)
    page = client.get(reverse("change_group", args=[group.key]))
    assert "Sent on its own already Trader 00" in text_of(page)
    assert f"include-{first.pk}" not in page.content.decode()


def pages(template: SettingsTemplate, group: ChangeGroup) -> list[str]:
    return [
        reverse("templates"),
        reverse("template_import"),
        reverse("change_group", args=[group.key]),
        f"{reverse('template_apply')}?template={template.pk}",
        f"{reverse('template_apply')}?preset=derisk",
    ]


def test_every_page_keeps_the_promises_of_all_pages(
    client: Client, template: SettingsTemplate, traders: list[Trader], alice: User
) -> None:
    group = presets.prepare(alice, traders, presets.from_template(template))
    urls = [*pages(template, group), reverse("template", args=[template.pk])]
    for url in [*urls, reverse("template_delete", args=[template.pk])]:
        check(client.get(url), url)
    presets.confirm(
        group, group.key, {change.pk: changes.body_mark(change) for change in group.changes.all()}
    )
    check(client.get(reverse("change_group", args=[group.key])), "results")


def test_the_same_queries_for_ten_traders_and_twenty(
    client: Client, template: SettingsTemplate, account: Account, alice: User
) -> None:
    counts = []
    for start in (0, 10):
        for number in range(start, start + 10):
            trader = followed(account, number, 100 + number)
            TrackingOrder.objects.create(
                account=account, trader=trader, tracking_no=number, symbol="SOLUSDT", position_side="LONG",
                status="open", closed=False, open_leverage=20, open_margin_amount=Decimal(100),
                open_time=timezone.now(),
            )  # fmt: skip
            presets.save(alice, f"Template {number}", sized(number + 1))
        group = presets.prepare(
            alice, list(account.traders.select_related("account")), presets.from_template(template)
        )
        found = []
        for url in pages(template, group):
            client.get(url)
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert client.get(url).status_code == 200
            found.append(len(queries))
        marks = {change.pk: changes.body_mark(change) for change in group.changes.all()}
        presets.confirm(group, group.key, marks)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse("change_group", args=[group.key])).status_code == 200
        counts.append([*found, len(queries)])
        group.changes.update(state="applied")
    assert counts[0] == counts[1]
