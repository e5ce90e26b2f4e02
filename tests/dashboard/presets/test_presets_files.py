"""Settings as files: what is exported is taken by the import, and anything else is told in a sentence."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import portable
from copytrade.models import Account, AuditEntry, ChangeGroup, SettingsTemplate, SettingsVersion, Trader
from tests.support.template_pages import UNIFIED, followed, sized, text_of

pytestmark = pytest.mark.django_db


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
