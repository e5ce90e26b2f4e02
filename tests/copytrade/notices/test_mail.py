"""Letters: one to a person for all that is new, as text and as HTML, each alert in one letter only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from smtplib import SMTPAuthenticationError, SMTPRecipientsRefused, SMTPServerDisconnected

import pytest
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.utils import timezone

from copytrade import alerts, notices, tasks
from copytrade.alerts.cures import CURES
from copytrade.models import Account, Alert, Channel, Delivery, User
from copytrade.notices import channels
from tests.support.at_once import at_once

pytestmark = pytest.mark.django_db
Tell = Callable[..., Alert]


@pytest.fixture(autouse=True)
def server(settings: object) -> None:
    """A desk with a mail server."""
    settings.EMAIL_HOST, settings.SITE_URL = "mail.test", "https://desk.example.com"  # type: ignore[attr-defined]


class ServerAway(BaseEmailBackend):
    def send_messages(self, messages: object) -> int:
        raise SMTPServerDisconnected("The server at mail.internal went away.")


class AddressRefused(BaseEmailBackend):
    def send_messages(self, messages: object) -> int:
        raise SMTPRecipientsRefused({"alice@example.com": (550, b"no such user")})


class SignInRefused(BaseEmailBackend):
    def send_messages(self, messages: object) -> int:
        raise SMTPAuthenticationError(535, b"user desk password hunter2")


def deliver() -> int:
    notices.plan()
    return notices.work()


def html_of(letter: EmailMultiAlternatives) -> str:
    ((html, kind),) = letter.alternatives
    assert kind == "text/html"
    return str(html)


def test_a_letter_says_what_happened_and_links_to_the_cure(account: Account, tell_alice: Tell) -> None:
    tell_alice(kind="key_refused", sentence="Main: The passphrase is wrong.")
    assert deliver() == 1
    (letter,) = mail.outbox
    assert letter.to == ["alice@example.com"] and letter.subject == "Copydesk: key refused"
    for body in (letter.body, html_of(letter)):
        assert "Main: The passphrase is wrong." in body and "Test or replace the key" in body
        assert f"https://desk.example.com/connections/{account.pk}/" in body
        assert "https://desk.example.com/alerts/" in body
        assert "https://desk.example.com/alerts/channels/" in body
    assert letter.extra_headers["Auto-Submitted"] == "auto-generated"


def test_each_alert_is_in_one_letter_and_all_that_is_new_in_the_same(tell_alice: Tell, charlie: User) -> None:
    tell_alice(1)
    tell_alice(2)
    tell_alice(3, owner=charlie)
    assert [deliver(), deliver()] == [3, 0]
    assert sorted((m.to[0], m.subject) for m in mail.outbox) == [
        ("alice@example.com", "Copydesk: 2 things to look at"),
        ("charlie@example.com", "Copydesk: copy closed"),
    ]
    body = next(m.body for m in mail.outbox if m.to == ["alice@example.com"])
    assert "Alert 1." in body and "Alert 2." in body
    assert Alert.objects.filter(mailed_at=None).count() == 0


@pytest.mark.parametrize("kind", sorted(Alert.Kind))
def test_every_kind_can_be_told(kind: str, tell_alice: Tell) -> None:
    tell_alice(kind=kind)
    assert deliver() == 1 and "https://desk.example.com/" in mail.outbox[0].body
    assert kind in CURES


def test_times_are_those_of_the_persons_clock(alice: User, tell_alice: Tell) -> None:
    User.objects.update(zone="Asia/Kolkata")
    moment = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=5)
    tell_alice(loud_at=moment)
    deliver()
    local = moment + timedelta(hours=5, minutes=30)
    assert f"{local:%Y-%m-%d %H:%M} (Asia/Kolkata)" in mail.outbox[0].body


def test_a_text_from_the_exchange_is_text_and_no_header(tell_alice: Tell) -> None:
    tell_alice(sentence="<img src=x onerror=alert(1)> closed")
    deliver()
    html = html_of(mail.outbox[0])
    assert "<img" not in html and "&lt;img" in html
    assert "<img src=x onerror=alert(1)> closed" in mail.outbox[0].body
    assert "\n" not in mail.outbox[0].subject


def test_nothing_in_a_letter_is_fetched_from_outside(tell_alice: Tell) -> None:
    tell_alice()
    deliver()
    html = html_of(mail.outbox[0])
    assert "src=" not in html and "<script" not in html and "url(" not in html and "<link" not in html


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        (ServerAway, "did not take it"),
        (AddressRefused, "refused your address"),
        (SignInRefused, "operator must look"),
    ],
)
def test_a_mail_server_that_fails_is_tried_again_and_said_without_its_words(
    tell_alice: Tell, settings: object, backend: type, words: str
) -> None:
    tell_alice()
    usual = settings.EMAIL_BACKEND  # type: ignore[attr-defined]
    settings.EMAIL_BACKEND = f"{__name__}.{backend.__name__}"  # type: ignore[attr-defined]
    assert deliver() == 0 and Alert.objects.get().mailed_at is None
    row = Delivery.objects.get()
    assert row.state == "failed" and words in row.error
    assert "hunter2" not in row.error and "mail.internal" not in row.error
    settings.EMAIL_BACKEND = usual  # type: ignore[attr-defined]
    later = timezone.now() + timedelta(minutes=2)
    notices.plan(later)
    assert notices.work(later) == 1 and Alert.objects.get().mailed_at is not None
    assert len(mail.outbox) == 1


def test_without_a_mail_server_nothing_is_sent_and_nothing_is_marked(
    tell_alice: Tell, settings: object
) -> None:
    settings.EMAIL_HOST = ""  # type: ignore[attr-defined]
    tell_alice()
    assert deliver() == 0 and Alert.objects.get().mailed_at is None and mail.outbox == []
    assert not Channel.objects.exists()


@pytest.mark.parametrize(
    "case", ["read", "healed", "old", "no address", "demo", "inactive", "mailed before", "off"]
)
def test_what_need_not_be_told_is_not_mailed(case: str, alice: User, tell_alice: Tell) -> None:
    now = timezone.now()
    tell_alice(loud_at=now - timedelta(days=2) if case == "old" else None)
    if case == "read":
        alerts.mark_read(Alert.objects.all())
    elif case == "healed":
        Alert.objects.update(resolved_at=now)
    elif case == "mailed before":
        Alert.objects.update(mailed_at=now)
    elif case == "off":
        channels.ensure_mail(now)
        channels.set_at_once(Channel.objects.get(), False)
    elif case != "old":
        User.objects.update(
            **{"no address": {"email": ""}, "demo": {"is_demo": True}, "inactive": {"is_active": False}}[case]
        )
    assert deliver() == 0 and mail.outbox == []


def test_everybody_with_an_address_has_one_channel_of_mail(alice: User, charlie: User) -> None:
    User.objects.filter(pk=charlie.pk).update(email="")
    for _ in range(2):
        notices.plan()
    assert [(one.owner, one.kind) for one in Channel.objects.all()] == [(alice, "mail")]
    assert channels.of(charlie) == []


def test_a_repeat_of_the_same_letter_has_the_same_message_id_and_says_so(tell_alice: Tell) -> None:
    from copytrade.notices import letters, sending

    tell_alice()
    notices.plan()
    now = timezone.now()
    held = sending._claim(now)
    assert held is not None
    first = letters.letter(held.channel.owner, held.rows)
    assert notices.work(now + 2 * sending.LEASE) == 1
    (second,) = mail.outbox
    assert second.extra_headers["Message-ID"] == first.extra_headers["Message-ID"]
    assert "Sent again" in second.body and "Sent again" not in first.body


def test_the_chore_wakes_workers_who_tell(tell_alice: Tell, settings: object) -> None:
    tell_alice()
    assert tasks.CHORES["notices"].do() == 1
    assert tasks.tell_notices() == 1 and tasks.CHORES["notices"].do() == 0
    assert len(mail.outbox) == 1


@pytest.mark.django_db(transaction=True)
def test_five_postmen_at_once_bring_one_letter(tell_alice: Tell) -> None:
    tell_alice(kind="key_refused")
    sent = at_once(*[deliver] * 5)
    assert sorted(sent) == [0, 0, 0, 0, 1] and len(mail.outbox) == 1
