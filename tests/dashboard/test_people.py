"""The door: the set-up token, the operator, invitations, signing in and out, and the demo."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.contrib.messages import get_messages
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade.models import Account, Invitation, User
from dashboard import admission, demo

pytestmark = pytest.mark.django_db

PASSWORD = "seven quiet harbours"


@pytest.fixture(autouse=True)
def _no_tries_counted(redis_client: object) -> None:
    cache.clear()


def sign_up(client: Client, name: str, **more: str) -> object:
    data = {"username": name, "password1": PASSWORD, "password2": PASSWORD, "email": "", **more}
    return client.post(reverse("account_signup"), data)


def show_token(client: Client, token: str | None = None) -> object:
    return client.post(reverse("setup"), {"token": token or admission.setup_token()})


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create_user("olivia", "olivia@example.com", PASSWORD, is_operator=True)


def link_of(operator: User, note: str = "") -> str:
    return reverse("join", args=[admission.invite(operator, note)])


# --- the first account ---


def test_the_first_account_needs_the_token_and_becomes_the_operator() -> None:
    client = Client()
    assert show_token(client).headers["Location"] == reverse("account_signup")  # type: ignore[attr-defined]
    assert sign_up(client, "olivia").headers["Location"] == reverse("overview")  # type: ignore[attr-defined]
    user = User.objects.get()
    assert (user.username, user.is_operator, user.is_demo, user.is_superuser) == (
        "olivia",
        True,
        False,
        False,
    )
    assert client.get(reverse("security")).status_code == 200


def test_without_the_token_nobody_signs_up() -> None:
    client = Client()
    assert b"set-up token" in client.get(reverse("account_signup")).content
    sign_up(client, "mallory")
    assert not User.objects.exists()


@pytest.mark.parametrize("wrong", ["x", "0" * 24, "", "a1b2c3-d4e5f6-a1b2c3-d4e5f6"])
def test_a_wrong_token_says_so_and_opens_nothing(wrong: str) -> None:
    client = Client()
    answer = client.post(reverse("setup"), {"token": wrong})
    assert answer.status_code == 200
    assert "admission" not in client.session


def test_the_token_may_be_typed_with_spaces_and_capitals() -> None:
    typed = " " + admission.setup_token().upper().replace("-", " ") + " "
    assert show_token(Client(), typed).status_code == 302  # type: ignore[attr-defined]


def test_the_token_is_worthless_once_an_account_exists(operator: User) -> None:
    client = Client()
    assert show_token(client).status_code == 404  # type: ignore[attr-defined]
    assert not admission.setup_token_fits(admission.setup_token())


def test_the_second_of_two_first_people_is_turned_away() -> None:
    one, two = Client(), Client()
    show_token(one)
    show_token(two)
    sign_up(one, "olivia")
    sign_up(two, "mallory")
    assert list(User.objects.values_list("username", flat=True)) == ["olivia"]


def test_the_token_is_looked_at_again_when_the_account_is_stored(operator: User) -> None:
    with pytest.raises(admission.NotAdmitted):
        admission.settle(admission.SETUP, User(username="late"))
    with pytest.raises(admission.NotAdmitted):
        admission.settle(None, User(username="later"))
    assert list(User.objects.all()) == [operator]


def test_the_demo_user_is_neither_the_first_nor_the_operator() -> None:
    Client().post(reverse("demo"))
    assert admission.nobody_yet()
    client = Client()
    show_token(client)
    sign_up(client, "olivia")
    assert User.objects.get(is_operator=True).username == "olivia"


def test_guessing_the_token_is_slowed_down() -> None:
    client = Client()
    statuses = [client.post(reverse("setup"), {"token": f"guess {n}"}).status_code for n in range(12)]
    assert statuses[0] == 200
    assert statuses[-1] == 429


def test_the_command_shows_the_token_only_until_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("setup_token")
    assert capsys.readouterr().out.strip() == admission.setup_token()
    User.objects.create_user("olivia")
    call_command("setup_token")
    assert admission.setup_token() not in capsys.readouterr().out


def test_the_token_changes_with_the_secret_key(settings: object) -> None:
    before = admission.setup_token()
    settings.SECRET_KEY = "another" * 10  # type: ignore[attr-defined]
    assert admission.setup_token() != before
    assert re.fullmatch(r"([0-9a-f]{6}-){3}[0-9a-f]{6}", before)


# --- invitations ---


def test_an_invitation_lets_one_person_in_who_is_no_operator(operator: User) -> None:
    link, client = link_of(operator, "Bob"), Client()
    assert client.get(link).headers["Location"] == reverse("account_signup")
    assert sign_up(client, "bob").headers["Location"] == reverse("overview")  # type: ignore[attr-defined]
    bob = User.objects.get(username="bob")
    assert not bob.is_operator
    invitation = Invitation.objects.get()
    assert (invitation.used_by, invitation.used_at is not None) == (bob, True)
    assert Client().get(link).status_code == 410


def test_two_people_with_one_link_are_one_account(operator: User) -> None:
    link, one, two = link_of(operator), Client(), Client()
    one.get(link)
    two.get(link)
    sign_up(one, "bob")
    sign_up(two, "eve")
    assert not User.objects.filter(username="eve").exists()


def test_an_invitation_ends_after_seven_days(operator: User) -> None:
    link = link_of(operator)
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        assert Client().get(link).status_code == 410


def test_an_invitation_that_ended_while_the_form_was_open_lets_nobody_in(operator: User) -> None:
    client = Client()
    client.get(link_of(operator))
    Invitation.objects.all().delete()
    sign_up(client, "eve")
    assert not User.objects.filter(username="eve").exists()


def test_only_a_fingerprint_of_an_invitation_is_stored(operator: User) -> None:
    token = admission.invite(operator, "")
    assert Invitation.objects.get().token_hash == admission.token_hash(token) != token


def test_a_made_up_link_is_over() -> None:
    assert Client().get(reverse("join", args=["nonsense"])).status_code == 410


def test_following_an_invitation_while_signed_in_uses_nothing_up(
    operator: User, client_of: Callable[[User], Client]
) -> None:
    assert client_of(operator).get(link_of(operator)).status_code == 302
    assert Invitation.objects.get().used_at is None


# --- signing up, in and out ---


@pytest.mark.parametrize(
    ("password", "why"),
    [("short", "too short"), ("password1234", "too common"), ("3141592653589793", "numeric")],
)
def test_weak_passwords_are_refused(operator: User, password: str, why: str) -> None:
    client = Client()
    client.get(link_of(operator))
    answer = sign_up(client, "bob", password1=password, password2=password)
    assert why in answer.content.decode()  # type: ignore[attr-defined]
    assert not User.objects.filter(username="bob").exists()


def test_the_name_of_the_demo_user_cannot_be_taken(operator: User) -> None:
    client = Client()
    client.get(link_of(operator))
    sign_up(client, "demo")
    assert not User.objects.filter(username="demo").exists()


def test_passwords_are_kept_as_argon2(operator: User, settings: object) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]  # type: ignore[attr-defined]
    client = Client()
    client.get(link_of(operator))
    sign_up(client, "bob")
    assert User.objects.get(username="bob").password.startswith("argon2")


@pytest.mark.parametrize("login", ["olivia", "olivia@example.com"])
def test_signing_in_works_by_name_and_by_mail(operator: User, login: str) -> None:
    from allauth.account.models import EmailAddress

    EmailAddress.objects.create(user=operator, email=operator.email, primary=True)
    client = Client()
    answer = client.post(
        reverse("account_login") + "?next=/activity/",
        {"login": login, "password": PASSWORD, "next": "/activity/"},
    )
    assert answer.headers["Location"] == "/activity/"
    assert client.get("/activity/").status_code == 200


def test_a_wrong_password_is_refused_and_the_name_stays_typed(operator: User) -> None:
    answer = Client().post(reverse("account_login"), {"login": "olivia", "password": "wrong"})
    assert answer.status_code == 200
    assert b'value="olivia"' in answer.content
    assert b"wrong" not in answer.content


def test_guessing_a_password_is_slowed_down(operator: User) -> None:
    client = Client()
    for _ in range(6):
        client.post(reverse("account_login"), {"login": "olivia", "password": "wrong"})
    answer = client.post(reverse("account_login"), {"login": "olivia", "password": PASSWORD})
    assert answer.status_code == 200
    assert "_auth_user_id" not in client.session


def test_signing_out_needs_a_post(operator: User, client_of: Callable[[User], Client]) -> None:
    client = client_of(operator)
    assert client.get(reverse("account_logout")).status_code == 200
    assert client.get(reverse("security")).status_code == 200
    client.post(reverse("account_logout"))
    assert client.get(reverse("security")).status_code == 302


def test_the_sign_in_page_never_sends_anybody_away(operator: User) -> None:
    data = {"login": "olivia", "password": PASSWORD, "next": "https://evil.example/"}
    assert Client().post(reverse("account_login"), data).headers["Location"] == reverse("overview")


# --- the demo ---


def test_one_button_enters_the_demo_with_a_connection() -> None:
    client = Client()
    assert b"Enter the demo" in client.get(reverse("account_login")).content
    answer = client.post(reverse("demo"))
    assert answer.headers["Location"] == reverse("overview")
    user = User.objects.get(is_demo=True)
    assert not user.has_usable_password()
    assert not user.is_operator
    account = Account.objects.get()
    assert (account.owner, account.label, account.venue) == (user, demo.LABEL, "sandbox")
    assert account.jobs.count() == 4
    assert client.get(reverse("overview")).status_code == 200


def test_entering_twice_changes_nothing() -> None:
    Client().post(reverse("demo"))
    second = Client()
    answer = second.post(reverse("demo"))
    assert User.objects.count() == Account.objects.count() == 1
    assert list(get_messages(answer.wsgi_request)) == []


def test_a_demo_connection_that_a_visitor_broke_is_mended_for_the_next() -> None:
    Client().post(reverse("demo"))
    Account.objects.update(state=Account.State.REFUSED, key_hint="oops")
    Client().post(reverse("demo"))
    assert Account.objects.get().key_hint == "-key"
    assert Account.objects.get().state == Account.State.NEW


def test_without_the_demo_there_is_no_button_and_no_door(settings: object) -> None:
    settings.DEMO = False  # type: ignore[attr-defined]
    assert b"Enter the demo" not in Client().get(reverse("account_login")).content
    assert Client().post(reverse("demo")).status_code == 404
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "name",
    [
        "account_change_password",
        "account_email",
        "mfa_index",
        "mfa_activate_totp",
        "mfa_add_webauthn",
        "mfa_generate_recovery_codes",
        "usersessions_list",
        "invitations",
    ],
)
def test_the_demo_user_cannot_change_the_shared_sign_in(name: str) -> None:
    client = Client()
    client.post(reverse("demo"))
    for answer in (client.get(reverse(name)), client.post(reverse(name))):
        assert answer.status_code == 403
        assert b"Not in the demo" in answer.content


def test_the_demo_user_cannot_connect_a_real_exchange() -> None:
    client = Client()
    client.post(reverse("demo"))
    assert b"WEEX" not in client.get(reverse("connection_add")).content
    data = {"label": "Real", "venue": "weex", "key": "k", "secret": "s", "passphrase": "p"}
    assert client.post(reverse("connection_add"), data).status_code == 400
    assert Account.objects.count() == 1


def test_the_demo_user_signs_out() -> None:
    client = Client()
    client.post(reverse("demo"))
    client.post(reverse("account_logout"))
    assert client.get(reverse("overview")).status_code == 302
