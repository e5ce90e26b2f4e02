"""Whose request it is: one question brings the session and its person, and it is never somebody else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade.models import Alert, User
from dashboard import sessions
from tests.support.signed_in import signed_in

pytestmark = pytest.mark.django_db


def asked_about_people(client: Client) -> tuple[str, int]:
    """(what the page says, how many questions named the people's table)."""
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(reverse("issues"))
    page = answer.content.decode() if answer.status_code == 200 else ""
    return page, sum('"copytrade_user"."password"' in query["sql"] for query in captured)


@pytest.fixture
def listed(alice: User) -> Client:
    """Her browser, which the list of sessions knows since its first page."""
    client = signed_in(alice)
    client.get(reverse("issues"))
    assert UserSession.objects.get().user == alice
    return client


def test_the_person_comes_with_the_session(listed: Client, alice: User) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert listed.get(reverse("issues")).status_code == 200
    of_people = [query["sql"] for query in captured if '"copytrade_user"."password"' in query["sql"]]
    assert len(of_people) == 1 and '"django_session"' in of_people[0]


def test_what_waits_for_the_person_comes_with_it(listed: Client, alice: User, charlie: User) -> None:
    for owner, number in ((alice, 2), (charlie, 3)):
        for _ in range(number):
            Alert.objects.create(
                owner=owner, kind=Alert.Kind.DATA_STALE, key=f"{owner}{len(Alert.objects.all())}"
            )
    assert '>2<span class="sr-only"> open</span>' in asked_about_people(listed)[0]


def test_where_the_list_of_sessions_has_nobody_the_person_is_asked_for(listed: Client, alice: User) -> None:
    UserSession.objects.all().delete()
    page, asked = asked_about_people(listed)
    assert alice.username in page and asked == 2


def test_the_session_tells_who_is_signed_in_and_not_the_list(
    listed: Client, alice: User, charlie: User
) -> None:
    UserSession.objects.update(user=charlie)
    page, asked = asked_about_people(listed)
    assert f'<p class="who">{alice.username}</p>' in page and asked == 2
    assert charlie.username not in page


@pytest.mark.parametrize("gone", ["expired", "deleted", "inactive", "new password"])
def test_who_is_no_longer_signed_in_sees_nothing(listed: Client, alice: User, gone: str) -> None:
    if gone == "expired":
        Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    elif gone == "deleted":
        Session.objects.all().delete()
    elif gone == "inactive":
        User.objects.filter(pk=alice.pk).update(is_active=False)
    else:
        alice.set_password("another-password-of-20")
        alice.save()
    answer = listed.get(reverse("issues"))
    assert answer.status_code == 302 and answer["Location"].startswith(reverse("account_login"))


def test_somebody_else_who_signs_in_with_the_same_browser_is_not_the_one_before(
    listed: Client, charlie: User
) -> None:
    listed.force_login(charlie, backend="dashboard.sessions.PersonBackend")
    assert f'<p class="who">{charlie.username}</p>' in asked_about_people(listed)[0]
    assert f'<p class="who">{charlie.username}</p>' in asked_about_people(listed)[0], "now by the list"


def test_beyond_a_request_a_backend_asks_for_whom_it_is_told(
    listed: Client, alice: User, charlie: User, django_assert_num_queries: Callable
) -> None:
    listed.get(reverse("issues"))
    for person in (alice, charlie):
        with django_assert_num_queries(1):
            assert sessions.PersonBackend().get_user(person.pk) == person
