"""The keys of the desk: a letter for every place, a page that lists them, and a switch that is remembered."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from copytrade.models import User
from dashboard.context import NAV, navigation
from dashboard.shortcuts import letters
from tests.support.signed_in import signed_in

pytestmark = pytest.mark.django_db
PAGE = "/help/keys/"


def test_every_place_has_a_letter_of_its_own() -> None:
    found = letters([(place.name, place.label) for _, places in NAV for place in places])
    assert all(re.fullmatch("[a-z0-9]", letter) for letter in found.values())
    assert len(set(found.values())) == len(found)
    assert "g" not in found.values(), "it begins anew"
    assert {place.key for group in navigation("overview") for place in group.places} <= set(found.values())


def test_a_place_that_nobody_thought_of_gets_a_free_letter() -> None:
    found = letters([("overview", "Overview"), ("new", "Overseas"), ("newer", "Go")])
    assert found == {"overview": "o", "new": "v", "newer": "a"}


def test_the_page_lists_every_place_as_a_link_and_needs_no_script(alice: User) -> None:
    html = signed_in(alice).get(PAGE).content.decode()
    main = html[html.index("<main") : html.index("</main>")]
    for address in ("/", "/traders/", "/orders/open/", "/security/", "/alerts/"):
        assert f'href="{address}" data-key="' in main
    assert "Switch them off" in main
    assert Client().get(PAGE).status_code == 302


def test_single_keys_are_switched_off_and_on_again_and_that_is_remembered(alice: User) -> None:
    client = signed_in(alice)
    assert 'data-keys="off"' not in client.get("/").content.decode()
    client.post("/look/", {"keys": "off", "next": PAGE})
    assert 'data-keys="off"' in client.get("/").content.decode()
    assert "Single keys are off" in client.get("/security/").content.decode()
    client.post("/look/", {"keys": "on"})
    assert 'data-keys="off"' not in client.get("/").content.decode()
    assert client.post("/look/", {"keys": "perhaps"}).status_code == 400


def test_nobody_is_offered_keys_at_the_door() -> None:
    assert 'id="keys"' not in Client().get("/accounts/login/").content.decode()
