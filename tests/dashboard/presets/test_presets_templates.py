"""Templates of settings on their pages: saved from a trader, renamed, deleted; and whose they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from copytrade import portable, presets
from copytrade.models import SettingsTemplate, Trader, User
from tests.support.template_pages import sized, text_of, ticks

pytestmark = pytest.mark.django_db


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
