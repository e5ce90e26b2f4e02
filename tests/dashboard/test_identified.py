"""What money or the sign-in hangs on asks who is there, when the last answer is a while ago."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import connections as jobs
from copytrade.models import Account, Credential, User
from dashboard.demo import demo_user

pytestmark = pytest.mark.django_db

PASSWORD = "alice-password-of-20"
KEY = {"key": "my-own-new-key", "secret": "my-own-secret", "passphrase": "my-own-phrase"}
LATER = timedelta(minutes=30)


@pytest.fixture(autouse=True)
def _no_tries_counted(redis_client: object) -> None:
    cache.clear()


@pytest.fixture
def account(alice: User) -> Account:
    return jobs.add(alice, label="Real", venue="weex", key="k-1234", secret="s", passphrase="p")


@pytest.fixture
def client(alice: User) -> Client:
    """A browser in which alice signed in just now."""
    client = Client()
    client.post(reverse("account_login"), {"login": "alice", "password": PASSWORD})
    return client


def asked(client: Client, url: str, data: dict[str, str] | None = None) -> bool:
    """Whether the answer is the question for the password, leading back to the page."""
    answer = client.get(url) if data is None else client.post(url, data)
    if answer.status_code != 302:
        return False
    return answer.headers["Location"] == f"{reverse('account_reauthenticate')}?next={url}"


@pytest.mark.parametrize("name", ["connection_rotate", "connection_remove", "connection_writes"])
def test_soon_after_signing_in_nothing_is_asked(client: Client, account: Account, name: str) -> None:
    assert client.get(reverse(name, args=[account.pk])).status_code == 200


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("connection_rotate", KEY),
        ("connection_remove", {}),
        ("connection_writes", {"enabled": "1"}),
    ],
)
def test_a_session_left_open_is_asked_first_and_changes_nothing(
    client: Client, account: Account, name: str, data: dict[str, str]
) -> None:
    url, before = reverse(name, args=[account.pk]), bytes(Credential.objects.get().key)
    with time_machine.travel(timezone.now() + LATER):
        assert asked(client, url)
        assert asked(client, url, data)
        assert bytes(Credential.objects.get().key) == before
        assert not Account.objects.get().writes_enabled
        client.post(reverse("account_reauthenticate"), {"password": "wrong", "next": url})
        assert asked(client, url)
        answer = client.post(reverse("account_reauthenticate"), {"password": PASSWORD, "next": url})
        assert (answer.status_code, answer.headers["Location"]) == (302, url)
        assert client.get(url).status_code == 200


def test_the_key_that_was_typed_is_not_kept_while_the_password_is_asked(
    client: Client, account: Account
) -> None:
    with time_machine.travel(timezone.now() + LATER):
        assert asked(client, reverse("connection_rotate", args=[account.pk]), KEY)
        kept = [session.get_decoded() for session in Session.objects.all()]
    assert kept and "my-own" not in str(kept)


def test_switching_writing_off_never_waits_for_a_password(client: Client, account: Account) -> None:
    jobs.set_writes(account, True)
    with time_machine.travel(timezone.now() + LATER):
        client.post(reverse("connection_writes", args=[account.pk]), {"enabled": "0"})
    account.refresh_from_db()
    assert not account.writes_enabled


def test_a_stranger_is_not_asked_but_told_that_there_is_nothing(
    account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(charlie)
    with time_machine.travel(timezone.now() + LATER):
        assert client.get(reverse("connection_rotate", args=[account.pk])).status_code == 404


def test_the_demo_has_no_password_to_ask_for(client_of: Callable[[User], Client]) -> None:
    user = demo_user()
    account = jobs.add(user, label="Mine", venue="sandbox", key="k", secret="s", passphrase="p")
    with time_machine.travel(timezone.now() + LATER):
        assert client_of(user).get(reverse("connection_rotate", args=[account.pk])).status_code == 200


def test_a_new_mail_address_is_asked_for_too_since_it_can_reset_the_password(client: Client) -> None:
    with time_machine.travel(timezone.now() + LATER):
        client.post(reverse("account_email"), {"action_add": "", "email": "thief@example.com"})
    assert not EmailAddress.objects.filter(email="thief@example.com").exists()
