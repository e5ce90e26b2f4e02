"""Templates and settings for several traders, on their pages. alice owns, charlie is a stranger."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import changes, portable, presets, rules, versions
from copytrade.models import (
    Account,
    AuditEntry,
    ChangeGroup,
    SettingsChange,
    SettingsTemplate,
    SettingsVersion,
    TrackingOrder,
    Trader,
    User,
)
from tests.dashboard.test_policy import check

pytestmark = pytest.mark.django_db

CONFIG = rules.TraceConfig(
    symbol=None, symbols=("BTCUSDT", "ETHUSDT"), trace_type="amount", trace_value=Decimal(100),
    max_hold=Decimal(500), take_profit=Decimal("0.5"), stop_loss=Decimal("0.4"), slippage=Decimal(0),
    margin_type="cross", leverage_type="fixed", long_leverage=20, short_leverage=3,
)  # fmt: skip
UNIFIED = rules.CopySettings(rules.UNIFIED, (CONFIG,))


def sized(value: int) -> rules.CopySettings:
    return rules.from_body(
        {
            "settingType": "unified",
            "unifiedTraceConfig": portable.body_of(UNIFIED)["unifiedTraceConfig"]
            | {"traceValue": str(value)},
        }
    )


def followed(account: Account, number: int, value: int = 100, copy_enable: bool = True) -> Trader:
    trader = Trader.objects.create(
        account=account, trader_id=702345678901234567 + number, name=f"Trader {number:02}", copied=True
    )
    items = rules.to_answer(sized(value), copy_enable=copy_enable)
    versions.record(trader, items, copy_enable, timezone.now())
    return trader


@pytest.fixture
def account(alice: User, redis_client: object) -> Account:
    return Account.objects.create(
        owner=alice, label="Main", venue="sandbox", key_hint="-key", writes_enabled=True
    )


@pytest.fixture
def traders(account: Account) -> list[Trader]:
    return [followed(account, number, 100 + number) for number in range(4)]


@pytest.fixture
def template(alice: User) -> SettingsTemplate:
    return presets.save(alice, "Careful", sized(55))


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


def text_of(answer: object) -> str:
    html = answer.content.decode()  # type: ignore[attr-defined]
    return " ".join(re.sub(r"<[^>]+>", " ", html[html.index("<main") :]).split())


def prepare(client: Client, template: SettingsTemplate, traders: list[Trader]) -> ChangeGroup:
    url = f"{reverse('template_apply')}?template={template.pk}"
    answer = client.post(url, {"traders": [trader.pk for trader in traders]})
    group = ChangeGroup.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (
        302,
        reverse("change_group", args=[group.key]),
    )
    return group


def ticks(group: ChangeGroup) -> dict[str, str]:
    marks = {f"include-{change.pk}": changes.body_mark(change) for change in group.changes.all()}
    return {"key": str(group.key), **marks}


# Templates


def test_a_traders_settings_become_a_template(client: Client, traders: list[Trader]) -> None:
    answer = client.post(reverse("template_save"), {"trader": traders[2].pk, "name": "Calm <b>days</b>"})
    saved = SettingsTemplate.objects.get()
    assert answer.headers["Location"] == reverse("template", args=[saved.pk])
    assert saved.body == portable.body_of(sized(102))
    page = client.get(answer.headers["Location"])
    assert "102 USDT" in text_of(page)
    assert b"Calm &lt;b&gt;days&lt;/b&gt;" in page.content
    listed = client.get(reverse("templates"))
    assert "Calm" in text_of(listed) and "102 USDT" in text_of(listed)


@pytest.mark.parametrize("name", ["", "Careful", "x" * 81, "\x00"])
def test_a_name_that_will_not_do_is_told_and_kept(
    client: Client, traders: list[Trader], template: SettingsTemplate, name: str
) -> None:
    answer = client.post(reverse("template_save"), {"trader": traders[0].pk, "name": name})
    assert answer.status_code == 422 and b"field-errors" in answer.content
    assert SettingsTemplate.objects.count() == 1
    answer = client.post(reverse("template_rename", args=[template.pk]), {"name": ""})
    assert answer.status_code == 422


def test_a_template_is_renamed_and_deleted(client: Client, template: SettingsTemplate) -> None:
    assert client.post(reverse("template_rename", args=[template.pk]), {"name": "Calm"}).status_code == 302
    asked = client.get(reverse("template_delete", args=[template.pk]))
    assert "Delete the template “Calm”?" in text_of(asked)
    assert client.post(reverse("template_delete", args=[template.pk])).status_code == 302
    assert not SettingsTemplate.objects.exists()
    assert client.post(reverse("template_delete", args=[template.pk])).status_code == 404


def test_an_empty_desk_says_what_a_template_is_and_where_settings_come_from(client: Client) -> None:
    page = text_of(client.get(reverse("templates")))
    assert "No template yet." in page and "No trader's settings have been read yet" in page


# Who may


@pytest.mark.parametrize(
    "name", ["template", "template_rename", "template_delete", "template_export", "settings_export"]
)
def test_a_stranger_finds_nothing_of_alices(
    name: str, template: SettingsTemplate, traders: list[Trader], charlie: User, client_of: Callable
) -> None:
    pk = traders[0].pk if name == "settings_export" else template.pk
    url, stranger = reverse(name, args=[pk]), client_of(charlie)
    assert 404 in {stranger.get(url).status_code, stranger.post(url, {"name": "mine"}).status_code}
    template.refresh_from_db()
    assert template.name == "Careful"


def test_a_stranger_neither_uses_nor_sees_alices_templates_traders_and_groups(
    template: SettingsTemplate, traders: list[Trader], alice: User, charlie: User, client_of: Callable
) -> None:
    group = presets.prepare(alice, traders, presets.from_template(template))
    stranger = client_of(charlie)
    assert stranger.get(reverse("change_group", args=[group.key])).status_code == 404
    assert stranger.post(reverse("change_group", args=[group.key]), ticks(group)).status_code == 404
    for query in (f"template={template.pk}", f"trader={traders[0].pk}"):
        assert stranger.get(f"{reverse('template_apply')}?{query}").status_code == 404
    answer = stranger.post(
        f"{reverse('template_apply')}?preset=derisk", {"traders": [traders[0].pk], "size": "50"}
    )
    assert answer.status_code == 422 and "Choose from your own traders." in text_of(answer)
    assert stranger.post(reverse("template_save"), {"trader": traders[0].pk, "name": "x"}).status_code == 422
    assert "Trader 00" not in text_of(stranger.get(reverse("templates")))
    assert set(group.changes.values_list("state", flat=True)) == {"draft"}


def test_looking_does_not_press(client: Client, template: SettingsTemplate) -> None:
    assert client.get(reverse("template_save")).status_code == 405
    assert client.get(reverse("template_rename", args=[template.pk])).status_code == 405


@pytest.mark.parametrize(
    "query", ["", "template=x", "template=999999", "trader=²", f"trader={'9' * 30}", "preset=x"]
)
def test_an_address_that_means_no_settings_is_not_there(client: Client, query: str) -> None:
    assert client.get(f"{reverse('template_apply')}?{query}").status_code == 404


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


# De-risk


def test_derisking_says_that_it_closes_and_stops_nothing(client: Client, traders: list[Trader]) -> None:
    url = f"{reverse('template_apply')}?preset=derisk"
    assert "This neither closes nor stops anything." in text_of(client.get(url))
    answer = client.post(
        url, {"traders": [t.pk for t in traders], "size": "50", "leverage": "5", "stop_loss": "20"}
    )
    review = text_of(client.get(answer.headers["Location"]))
    assert "Size of each copy 100 USDT 50 USDT" in review
    assert "Long leverage 20x 5x" in review and "Short leverage" not in review
    assert "Stop loss 40 % of margin 20 % of margin" in review
    assert "nothing here closes or stops a copy" in review


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("size", "0"), ("size", "101"), ("size", "1,5"), ("size", "NaN"), ("leverage", "0"), ("leverage", "2.5"),
        ("leverage", "9" * 40), ("leverage", "٣"), ("stop_loss", "401"), ("stop_loss", "-1"), ("stop_loss", "1e400"),
    ],
)  # fmt: skip
def test_a_wrong_limit_is_told_beside_its_field_and_kept(
    client: Client, traders: list[Trader], field: str, value: str
) -> None:
    url = f"{reverse('template_apply')}?preset=derisk"
    answer = client.post(url, {"traders": [traders[0].pk], field: value})
    html = answer.content.decode()
    assert answer.status_code == 422 and f'id="id_{field}_error"' in html
    assert f'value="{value}"' in html and f'value="{traders[0].pk}" checked' in html
    assert not ChangeGroup.objects.exists()


def test_nothing_to_lower_is_told(client: Client, traders: list[Trader]) -> None:
    answer = client.post(f"{reverse('template_apply')}?preset=derisk", {"traders": [traders[0].pk]})
    assert answer.status_code == 422 and "Choose at least one thing to lower." in text_of(answer)


# Files


def test_an_export_is_a_file_that_the_import_takes(
    client: Client, template: SettingsTemplate, traders: list[Trader]
) -> None:
    kept = client.get(reverse("template_export", args=[template.pk]))
    assert kept.headers["Content-Disposition"] == 'attachment; filename="careful.json"'
    held = client.get(reverse("settings_export", args=[traders[1].pk]))
    assert portable.read(held.content) == (sized(101), "Trader 01")
    assert str(traders[1].trader_id) not in held.content.decode()
    assert AuditEntry.objects.filter(action="exported").count() == 2
    file = SimpleUploadedFile("careful.json", kept.content)
    answer = client.post(reverse("template_import"), {"file": file, "name": "Second", "then": "save"})
    assert answer.status_code == 302
    assert SettingsTemplate.objects.get(name="Second").body == template.body


def test_what_was_pasted_goes_straight_to_a_review(client: Client, traders: list[Trader]) -> None:
    posted = {"text": portable.write(sized(42), "From afar"), "traders": [traders[0].pk], "then": "apply"}
    answer = client.post(reverse("template_import"), posted)
    group = ChangeGroup.objects.get()
    assert answer.headers["Location"] == reverse("change_group", args=[group.key])
    assert (group.label, group.changes.get().origin) == ("Imported settings “From afar”", "import")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing to import"),
        ("{", "This is not JSON"),
        ("<b>&</b>", "This is not JSON"),
        ("[" * 50_000, "nested too deeply"),
        (portable.write(UNIFIED, "x").replace('"0.4"', '"9"'), "Stop loss must be between 0 % and 400 %"),
        ("x" * (portable.MAX_BYTES + 1), "too large"),
    ],
)
def test_a_file_that_will_not_do_is_told_and_stays_in_the_field(
    client: Client, text: str, words: str
) -> None:
    answer = client.post(reverse("template_import"), {"text": text, "then": "save", "name": "Kept"})
    assert answer.status_code == 422 and words in text_of(answer)
    assert 'value="Kept"' in answer.content.decode()
    assert len(answer.content) > len(text)
    assert not SettingsTemplate.objects.exists()


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"", b"\x00" * 10, b"x" * (portable.MAX_BYTES + 5)])
def test_a_file_of_anything_is_refused_with_a_sentence(client: Client, data: bytes) -> None:
    file = SimpleUploadedFile("x.json", data)
    answer = client.post(reverse("template_import"), {"file": file, "name": "x", "then": "save"})
    assert answer.status_code == 422 and 'role="alert"' in answer.content.decode()


def test_ten_thousand_symbols_are_refused_with_a_sentence(client: Client) -> None:
    body = portable.body_of(UNIFIED)
    body["unifiedTraceConfig"]["symbols"] = ["", *(f"S{n}" for n in range(10_000))]
    text = json.dumps(json.loads(portable.write(UNIFIED, "x")) | {"body": body})
    answer = client.post(reverse("template_import"), {"text": text, "name": "x", "then": "save"})
    assert answer.status_code == 422 and "does not support" in text_of(answer)


def test_an_import_without_a_name_or_without_traders_is_asked_for_them(
    client: Client, traders: list[Trader]
) -> None:
    text = portable.write(sized(42), "")
    unnamed = client.post(reverse("template_import"), {"text": text, "then": "save"})
    assert unnamed.status_code == 422 and "Give the template a name." in text_of(unnamed)
    nobody = client.post(reverse("template_import"), {"text": text, "then": "apply"})
    assert nobody.status_code == 422 and "Choose at least one trader." in text_of(nobody)


def test_settings_that_were_never_read_cannot_be_exported(client: Client, account: Account) -> None:
    trader = Trader.objects.create(account=account, trader_id=5, name="Unread", copied=True)
    answer = client.get(reverse("settings_export", args=[trader.pk]))
    assert answer.headers["Location"] == reverse("trader", args=[trader.pk])


def test_an_answer_that_cannot_be_understood_is_no_source(client: Client, account: Account) -> None:
    trader = followed(account, 1)
    SettingsVersion.objects.create(
        trader=trader, mode="", answer=[{"traceValue": "x"}], fingerprint="0", author="outside",
        first_seen_at=timezone.now() + timedelta(seconds=1),
    )  # fmt: skip
    answer = client.post(reverse("template_save"), {"trader": trader.pk, "name": "x"})
    assert answer.status_code == 422 and "not known yet" in text_of(answer)
    assert client.get(f"{reverse('template_apply')}?trader={trader.pk}").status_code == 200
