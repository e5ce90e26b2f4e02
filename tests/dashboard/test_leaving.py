"""The pages of "delete everything": who sees them, what they ask for, and how far it got."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client

from copytrade import erasure
from copytrade.models import Erasure, User
from tests.support.signed_in import signed_in

pytestmark = pytest.mark.django_db
PAGE = "/security/delete/"


def still_there(user: User) -> bool:
    return User.objects.filter(pk=user.pk, is_active=True).exists() and not Erasure.objects.exists()


def test_it_takes_the_name_and_a_fresh_proof(alice: User) -> None:
    client = signed_in(alice)
    assert "Type your user name, alice" in client.get(PAGE).content.decode()
    answer = client.post(PAGE, {"name": "alice"})
    begun = Erasure.objects.get(user=alice)
    assert answer.headers["Location"] == f"/gone/{begun.key}/"
    assert client.get("/").status_code == 302, "signed out"
    assert not User.objects.get(pk=alice.pk).is_active


@pytest.mark.parametrize("typed", ["", "Alice", "alice2", "charlie"])
def test_another_name_deletes_nothing(alice: User, charlie: User, typed: str) -> None:
    answer = signed_in(alice).post(PAGE, {"name": typed})
    assert answer.status_code == 422
    assert "Nothing was deleted" in answer.content.decode()
    assert still_there(alice) and still_there(charlie)


def test_an_old_sign_in_is_asked_for_the_password_first(alice: User) -> None:
    client = signed_in(alice, seconds_ago=3600)
    asked = client.post(PAGE, {"name": "alice"}).headers["Location"]
    assert asked.startswith("/accounts/reauthenticate/")
    assert "about to delete everything of yours" in client.get(asked).content.decode()
    assert still_there(alice)
    client.post("/accounts/reauthenticate/", {"password": "alice-password-of-20", "next": PAGE})
    assert "press the button again" in client.get(PAGE).content.decode()
    assert still_there(alice), "coming back from the proof deletes nothing"
    client.post(PAGE, {"name": "alice"})
    assert not still_there(alice)


def test_looking_deletes_nothing_and_nobody_is_sent_to_the_door(alice: User) -> None:
    signed_in(alice).get(PAGE)
    assert still_there(alice)
    assert Client().post(PAGE, {"name": "alice"}).status_code == 302
    assert still_there(alice)


def test_the_demo_is_refused(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_demo=True)
    assert signed_in(alice).get(PAGE).status_code == 403
    assert signed_in(alice).post(PAGE, {"name": "alice"}).status_code == 403
    assert still_there(alice)


def test_the_operator_chooses_who_follows(alice: User, charlie: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_operator=True)
    client = signed_in(alice)
    assert "Who runs the desk after you" in client.get(PAGE).content.decode()
    assert client.post(PAGE, {"name": "alice"}).status_code == 409
    assert client.post(PAGE, {"name": "alice", "successor": alice.pk}).status_code == 409
    assert still_there(alice)
    client.post(PAGE, {"name": "alice", "successor": charlie.pk})
    assert User.objects.get(pk=charlie.pk).is_operator


def test_a_person_who_is_no_operator_makes_nobody_one(alice: User, charlie: User) -> None:
    assert "Who runs the desk" not in signed_in(alice).get(PAGE).content.decode()
    signed_in(alice).post(PAGE, {"name": "alice", "successor": charlie.pk})
    assert not User.objects.get(pk=charlie.pk).is_operator


def test_the_last_account_is_told_what_becomes_of_the_desk(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_operator=True)
    assert "The desk becomes as new" in signed_in(alice).get(PAGE).content.decode()


def test_progress_is_told_by_its_address_and_names_nobody(alice: User, charlie: User) -> None:
    begun = erasure.begin(alice)
    nobody = Client()
    html = nobody.get(f"/gone/{begun.key}/").content.decode()
    assert "being removed" in html and "alice" not in html
    while erasure.proceed():
        pass
    html = nobody.get(f"/gone/{begun.key}/").content.decode()
    assert "All of it is gone" in html and "every 3s" not in html
    assert nobody.get(f"/gone/{uuid.uuid4()}/").status_code == 404
