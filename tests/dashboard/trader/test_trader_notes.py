"""Notes on a trader's page: written, found, changed and deleted by their owner alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from copytrade.models import Trader, TraderNote, User
from tests.support.ledger_rows import trader_of
from tests.support.page_text import text
from tests.support.trader_page import section

pytestmark = pytest.mark.django_db


# --- notes ---


def note(
    client: Client, trader: Trader, text_: str = "Doubled the size", day: str = "2026-11-02", query: str = ""
):
    address = reverse("trader_note_add", args=[trader.pk]) + query
    return client.post(address, {"new-day": day, "new-text": text_})


def test_a_note_is_written_and_found_on_the_page_of_the_same_period(client: Client, trader: Trader) -> None:
    response = note(client, trader, query="?period=30")
    assert response["Location"] == reverse("trader", args=[trader.pk]) + "?period=30#notes"
    page = client.get(response["Location"]).content.decode()
    assert "Doubled the size" in section(page, "notes-title") and "2 Nov 2026" in text(page)


@pytest.mark.parametrize(
    ("words", "day", "trouble"),
    [
        ("", "2026-11-02", "Write what you want to remember."),
        ("x" * 2001, "2026-11-02", "at most 2000 characters"),
        ("Kept as typed", "not a day", "Enter a valid date"),
        ("Kept as typed", "1900-01-01", "Choose a day between 2009 and 2100."),
    ],
)
def test_a_note_that_makes_no_sense_is_refused_with_what_was_typed(
    client: Client, trader: Trader, words: str, day: str, trouble: str
) -> None:
    response = note(client, trader, words, day)
    assert response.status_code == 422 and not TraderNote.objects.exists()
    page = response.content.decode()
    assert trouble in text(page) and (not words or words in page)


def test_a_note_is_changed_and_deleted_by_its_owner_alone(
    client: Client, trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    note(client, trader)
    row = TraderNote.objects.get()
    edit = reverse("trader_note_edit", args=[trader.pk, row.pk])
    delete = reverse("trader_note_delete", args=[trader.pk, row.pk])
    typed = {f"note{row.pk}-day": "2026-11-03", f"note{row.pk}-text": "Halved it"}
    for stranger, expected in ((client_of(charlie), 404), (Client(), 302)):
        assert stranger.post(edit, typed).status_code == expected
        assert stranger.post(delete).status_code == expected
        assert note(stranger, trader).status_code == expected
    assert client.get(edit).status_code == client.get(delete).status_code == 405
    assert client.post(edit, typed).status_code == 302
    assert TraderNote.objects.values_list("day", "text").get() == (date(2026, 11, 3), "Halved it")
    refused = client.post(edit, typed | {f"note{row.pk}-text": ""})
    assert refused.status_code == 422 and TraderNote.objects.get().text == "Halved it"
    assert client.post(delete).status_code == client.post(delete).status_code == 302
    assert not TraderNote.objects.exists()


def test_a_note_of_another_trader_is_not_changed_through_this_one(client: Client, trader: Trader) -> None:
    other = TraderNote.objects.create(
        trader=trader_of(trader.account, 9, "Other"), day=date(2026, 11, 1), text="Mine too"
    )
    edit = reverse("trader_note_edit", args=[trader.pk, other.pk])
    assert (
        client.post(edit, {f"note{other.pk}-day": "2026-11-03", f"note{other.pk}-text": "x"}).status_code
        == 404
    )
    client.post(reverse("trader_note_delete", args=[trader.pk, other.pk]))
    assert TraderNote.objects.get().text == "Mine too"


def notes_of(answer: HttpResponse) -> str:
    return (
        answer.content.decode()
        .partition('<section class="card after" id="notes"')[2]
        .partition("</section>")[0]
    )


def test_the_forms_of_a_note_come_when_somebody_opens_them_with_a_script_and_without(
    client: Client, trader: Trader
) -> None:
    note(client, trader)
    row = TraderNote.objects.get()
    address, edit = reverse("trader", args=[trader.pk]), reverse("trader_note_edit", args=[trader.pk, row.pk])
    page = notes_of(client.get(address + "?period=30"))
    assert edit not in page and f'href="{address}?period=30&amp;show=note{row.pk}#note{row.pk}-table"' in page
    assert "Edit the note of 2 Nov 2026" in " ".join(text(page).split())
    part = client.get(f"{address}?period=30&show=note{row.pk}", headers={"HX-Request": "true"})
    whole = client.get(f"{address}?period=30&show=note{row.pk}")
    for shown in (part.content.decode(), notes_of(whole)):
        assert f'action="{edit}?period=30"' in shown, "and saving leads back to the page as it was"
        assert "Doubled the size</textarea>" in shown and f'id="note{row.pk}-table" open' in shown
    refused = client.post(edit, {f"note{row.pk}-day": "2026-11-02", f"note{row.pk}-text": " "})
    assert f'id="note{row.pk}-table" open' in notes_of(refused)


def test_the_form_of_a_new_note_comes_when_somebody_opens_it_with_a_script_and_without(
    client: Client, trader: Trader
) -> None:
    address, add = reverse("trader", args=[trader.pk]), reverse("trader_note_add", args=[trader.pk])
    page = notes_of(client.get(address + "?period=30"))
    assert add not in page and f'href="{address}?period=30&amp;show=notenew#notenew-table"' in page
    part = client.get(f"{address}?period=30&show=notenew", headers={"HX-Request": "true"})
    for shown in (part.content.decode(), notes_of(client.get(f"{address}?period=30&show=notenew"))):
        assert f'action="{add}?period=30"' in shown and 'name="new-text"' in shown
    assert 'id="notenew-table" open' in notes_of(note(client, trader, text_=""))


def test_the_forms_of_a_note_that_is_gone_do_not_exist(client: Client, trader: Trader) -> None:
    address = reverse("trader", args=[trader.pk])
    assert client.get(f"{address}?show=note1", headers={"HX-Request": "true"}).status_code == 404
    assert client.get(f"{address}?show=note1").status_code == 200
