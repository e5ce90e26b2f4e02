"""Channels as their owner sees them: add, test, pause, sign anew, remove; and that no page repeats a secret."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import keys, notices
from copytrade.models import Alert, AuditEntry, Channel, Delivery, DigestPlan, User
from copytrade.notices import channels as jobs
from copytrade.notices import signing
from tests.copytrade.notices.receivers import Receiver, receiver

pytestmark = pytest.mark.django_db
LIST = "/alerts/channels/"
HOOK = {"label": "Hook", "address": "https://example.com/hooks/very-secret-path"}
TELEGRAM = {"label": "Phone", "address": "tgram://123456789:abcdefg_hijklmnop/12315544"}


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def hook(alice: User) -> Channel:
    return jobs.add_webhook(alice, **HOOK)[0]


@pytest.fixture
def listening(settings: object) -> Iterator[Receiver]:
    """A program of alice's own, on a host that the operator allows."""
    with receiver() as running:
        settings.WEBHOOK_INSIDE = frozenset({running.place})  # type: ignore[attr-defined]
        yield running


def page(client: Client, address: str = LIST) -> str:
    return client.get(address).content.decode()


def url(name: str, channel: Channel) -> str:
    return reverse(name, args=[channel.pk])


# --- add ---
def test_a_webhook_is_added_and_its_secret_shown_once(client: Client, alice: User) -> None:
    answer = client.post(f"{LIST}add/webhook/", HOOK)
    secret = re.search(r"cdwh_[\w-]{43}", answer.content.decode())
    assert answer.status_code == 200 and secret is not None
    assert answer.headers["Cache-Control"] == "private, no-store"
    channel = alice.channels.get()
    assert jobs.secret_of(channel) == secret[0] and jobs.address_of(channel) == HOOK["address"]
    for address in (
        LIST,
        url("channel", channel),
        url("channel_secret", channel),
        url("channel_remove", channel),
    ):
        html = page(client, address)
        assert secret[0] not in html and "very-secret" not in html
        assert "example.com, ending in path" in html


def test_a_messenger_is_added_and_shown_by_service_and_last_four(client: Client, alice: User) -> None:
    answer = client.post(f"{LIST}add/messenger/", TELEGRAM)
    channel = alice.channels.get()
    assert answer.headers["Location"] == url("channel", channel)
    html = page(client, url("channel", channel))
    assert "Telegram, ending in 5544" in html and "hijklmnop" not in html
    assert jobs.address_of(channel) == TELEGRAM["address"]


def test_of_a_short_address_not_even_the_end_is_shown(client: Client, alice: User) -> None:
    client.post(f"{LIST}add/messenger/", {"label": "Short", "address": "ntfys://abcdef"})
    assert alice.channels.get().hint == ""


@pytest.mark.parametrize(
    ("kind", "address"),
    [("webhook", "http://example.com/"), ("webhook", "https://user:pw@example.com/"), ("webhook", "x"), ("webhook", ""),
     ("messenger", "gotify://hub.lan/very-secret"), ("messenger", "json://127.0.0.1"), ("messenger", "file:///etc/passwd"),
     ("messenger", "tgram://1:a/1?verify=no"), ("messenger", "")],
)  # fmt: skip
def test_what_cannot_be_stored_is_refused_beside_its_field(client: Client, kind: str, address: str) -> None:
    answer = client.post(f"{LIST}add/{kind}/", {"label": "Mine", "address": address})
    html = answer.content.decode()
    assert answer.status_code == 400 and "address" in answer.context["form"].errors
    assert 'value="Mine"' in html and "very-secret" not in html
    assert not Channel.objects.exists()


@pytest.mark.parametrize("label", ["", "E-mail", "e-mail", "x" * 61])
def test_a_name_is_needed_and_that_of_mail_is_taken(client: Client, label: str) -> None:
    answer = client.post(f"{LIST}add/webhook/", HOOK | {"label": label})
    assert answer.status_code == 400 and "label" in answer.context["form"].errors


def test_a_name_is_used_once_by_one_person(client: Client, hook: Channel) -> None:
    answer = client.post(f"{LIST}add/webhook/", HOOK)
    assert b"already have a channel named" in answer.content.replace(b"&#x27;", b"'")


def test_there_is_a_most(client: Client, alice: User) -> None:
    for n in range(jobs.MOST):
        jobs.add_webhook(alice, f"Hook {n}", HOOK["address"])
    assert b"channels already" in client.post(f"{LIST}add/webhook/", HOOK).content
    assert "Add a webhook" not in page(client)


@pytest.mark.parametrize("kind", ["mail", "apprise", "x"])
def test_other_kinds_are_not_there(client: Client, kind: str) -> None:
    assert client.get(f"{LIST}add/{kind}/").status_code == 404


def test_no_secret_is_readable_in_the_database_nor_in_the_audit_log(client: Client, alice: User) -> None:
    client.post(f"{LIST}add/webhook/", HOOK)
    client.post(f"{LIST}add/messenger/", TELEGRAM)
    for channel in Channel.objects.all():
        assert b"secret" not in bytes(channel.address) and b"cdwh" not in bytes(channel.secret)
        assert b"hijklmnop" not in bytes(channel.address)
    entries = AuditEntry.objects.filter(action="channel_added").values_list("subject", flat=True)
    assert sorted(entries) == ["Hook: example.com, ending in path", "Phone: Telegram, ending in 5544"]


def test_a_sealed_address_opens_in_its_own_row_alone(alice: User, hook: Channel) -> None:
    other, _ = jobs.add_webhook(alice, "Other", "https://example.org/hooks/1234567890")
    Channel.objects.filter(pk=other.pk).update(address=bytes(hook.address))
    other.refresh_from_db()
    with pytest.raises(keys.Tampered):
        jobs.address_of(other)
    row = notices.send_test(other)
    assert row.state == "given_up" and "moved from another row" in row.error


# --- who ---
@pytest.mark.parametrize("name", ["channel_add", "channel_secret"])
def test_the_password_is_asked_again_where_an_address_or_a_secret_is_given(
    name: str, alice: User, hook: Channel
) -> None:
    from tests.support.signed_in import signed_in

    late = signed_in(alice, seconds_ago=3600)
    address = f"{LIST}add/webhook/" if name == "channel_add" else url("channel_secret", hook)
    before = bytes(Channel.objects.get().secret)
    for answer in (late.get(address), late.post(address, HOOK | {"label": "Second"})):
        assert answer.status_code == 302 and "reauthenticate" in answer.headers["Location"]
    assert bytes(Channel.objects.get().secret) == before


def test_a_stranger_finds_nothing_of_it(
    hook: Channel, charlie: User, client_of: Callable[[User], Client]
) -> None:
    stranger = client_of(charlie)
    assert "example.com" not in page(stranger)
    for name in ("channel", "channel_test", "channel_switch", "channel_secret", "channel_remove"):
        statuses = {stranger.get(url(name, hook)).status_code, stranger.post(url(name, hook)).status_code}
        assert 404 in statuses and statuses <= {404, 405}
    assert Channel.objects.get().enabled and not Delivery.objects.exists()


def test_nobody_is_sent_to_the_sign_in_page(hook: Channel) -> None:
    for address in (LIST, url("channel", hook), f"{LIST}add/webhook/"):
        assert Client().get(address).headers["Location"].startswith("/accounts/login/")


def test_the_demo_has_no_outside_channel(alice: User, client: Client) -> None:
    User.objects.update(is_demo=True)
    assert "The demo tells nobody outside" in page(client)
    for address, data in ((f"{LIST}add/webhook/", HOOK), ("/alerts/digest/", {"rhythm": "daily"})):
        assert client.post(address, data).status_code == 403
    alice.refresh_from_db()
    with pytest.raises(jobs.BadChannel):
        jobs.add_webhook(alice, **HOOK)
    assert not Channel.objects.exists() and not DigestPlan.objects.exists()


# --- test ---
def test_a_test_is_signed_and_its_result_said(client: Client, alice: User, listening: Receiver) -> None:
    address = f"http://{listening.place}/hooks/very-secret-path"
    channel, secret = jobs.add_webhook(alice, "Mine", address)
    html = client.post(url("channel_test", channel), follow=True).content.decode()
    assert "the test arrived" in html and "Works" in html
    ((path, headers, body),) = listening.received
    told = json.loads(body)
    assert path == "/hooks/very-secret-path" and told["kind"] == "test" and told["link"].endswith(LIST)
    assert headers[signing.SIGNATURE] == signing.sign(secret, int(headers[signing.TIMESTAMP]), body)
    assert told["id"] == headers[signing.DELIVERY] == str(Delivery.objects.get().key)


def test_a_test_that_fails_says_why(client: Client, alice: User, listening: Receiver) -> None:
    channel, _ = jobs.add_webhook(alice, "Mine", f"http://{listening.place}/hooks/very-secret-path")
    listening.status = 500
    html = client.post(url("channel_test", channel), follow=True).content.decode()
    assert "did not arrive. The address answered 500" in html and "very-secret" not in html
    channel.refresh_from_db()
    assert channel.verified_at is None and channel.enabled


def test_a_webhook_into_the_private_network_is_refused_when_it_is_tested(client: Client, alice: User) -> None:
    channel, _ = jobs.add_webhook(alice, "Mine", "https://127.0.0.1:8443/")
    html = client.post(url("channel_test", channel), follow=True).content.decode()
    assert "leads into a private network" in html


def test_a_test_of_mail_says_that_the_server_took_it(client: Client, alice: User, settings: object) -> None:
    settings.EMAIL_HOST = "mail.test"  # type: ignore[attr-defined]
    jobs.ensure_mail(timezone.now())
    html = client.post(url("channel_test", alice.channels.get()), follow=True).content.decode()
    assert "was taken by the mail server, for alice@example.com" in html
    assert mail.outbox[0].subject == "Copydesk: test"


def test_tests_are_not_sent_without_end(client: Client, alice: User, listening: Receiver) -> None:
    channel, _ = jobs.add_webhook(alice, "Mine", f"http://{listening.place}/x")
    for _ in range(6):
        html = client.post(url("channel_test", channel), follow=True).content.decode()
    assert "5 tests in 10 minutes are enough" in html and len(listening.received) == 5


def test_a_look_sends_nothing_and_changes_nothing(client: Client, hook: Channel) -> None:
    for name in ("channel_test", "channel_switch"):
        assert client.get(url(name, hook)).status_code == 405
    for name in ("channel_secret", "channel_remove"):
        assert client.get(url(name, hook)).status_code == 200
    assert client.get("/alerts/digest/").status_code == 405
    assert Channel.objects.get().secret == hook.secret and not Delivery.objects.exists()


# --- the whole way ---
def test_an_alert_reaches_a_program_signed_and_once(alice: User, listening: Receiver) -> None:
    channel, secret = jobs.add_webhook(alice, "Mine", f"http://{listening.place}/x")
    Channel.objects.update(since=timezone.now() - timedelta(hours=1))
    account = alice.accounts.create(label="Main", venue="sandbox")
    trader = account.traders.create(trader_id=702345678901234567, name="Northwind Steady")
    at = (timezone.now() - timedelta(seconds=1)).replace(microsecond=250_000)  # never ahead of now
    Alert.objects.create(
        owner=alice, account=account, trader=trader, kind="quiet", key="k", sentence="Northwind Steady: quiet.",
        created_at=at, loud_at=at,
    )  # fmt: skip
    for _ in range(2):
        notices.plan()
        notices.work()
    ((_, headers, body),) = listening.received
    assert headers[signing.SIGNATURE] == signing.sign(secret, int(headers[signing.TIMESTAMP]), body)
    assert json.loads(body) == {
        "id": str(channel.deliveries.get().key), "kind": "quiet", "sentence": "Northwind Steady: quiet.",
        "account": "Main", "trader": "Northwind Steady", "trader_id": "702345678901234567", "count": 1,
        "at": f"{at:%Y-%m-%dT%H:%M:%S}.250Z", "link": f"http://127.0.0.1:8000/traders/{trader.pk}/",
    }  # fmt: skip


# --- pause, sign anew, remove ---
def test_pausing_and_resuming(client: Client, hook: Channel) -> None:
    for value, words, enabled in (
        ("0", "is paused", False),
        ("0", "is paused", False),
        ("1", "tells you", True),
    ):
        html = client.post(url("channel_switch", hook), {"enabled": value}, follow=True).content.decode()
        hook.refresh_from_db()
        assert words in html and hook.enabled is enabled
    assert (
        b"Nothing was changed"
        in client.post(url("channel_switch", hook), {"enabled": "x"}, follow=True).content
    )
    assert AuditEntry.objects.filter(action="channel_changed").count() == 2


def test_a_new_secret_ends_the_old_one(client: Client, hook: Channel) -> None:
    old = jobs.secret_of(hook)
    html = client.post(url("channel_secret", hook)).content.decode()
    hook.refresh_from_db()
    new = jobs.secret_of(hook)
    assert new != old and new in html and old not in html


def test_only_a_webhook_is_signed_and_mail_is_not_removed(
    client: Client, alice: User, settings: object
) -> None:
    settings.EMAIL_HOST = "mail.test"  # type: ignore[attr-defined]
    jobs.ensure_mail(timezone.now())
    letters, phone = alice.channels.get(), jobs.add_messenger(alice, **TELEGRAM)
    assert client.get(url("channel_secret", phone)).status_code == 404
    assert client.post(url("channel_remove", letters)).status_code == 404
    assert "Remove" not in page(client, url("channel", letters))


def test_removing_deletes_address_and_log_and_leaves_the_alerts(
    client: Client, hook: Channel, alice: User
) -> None:
    alert = Alert.objects.create(owner=alice, kind="closed", key="k", sentence="S.", loud_at=timezone.now())
    Delivery.objects.create(channel=hook, alert=alert, said_at=timezone.now(), due_at=timezone.now())
    assert "log of 1 message" in page(client, url("channel_remove", hook))
    client.post(url("channel_remove", hook))
    assert not Channel.objects.exists() and not Delivery.objects.exists() and Alert.objects.exists()


# --- the log and the list ---
def test_the_log_says_what_became_of_each(client: Client, hook: Channel) -> None:
    now = timezone.now()
    for n, state in enumerate(Delivery.State.values):
        Delivery.objects.create(
            channel=hook, words=f"Message {n}", state=state, said_at=now, due_at=now + timedelta(minutes=5),
            done_at=now, attempts=n, error="The address answered 500." if state == "failed" else "",
        )  # fmt: skip
    html = page(client, url("channel", hook))
    for label in Delivery.State.labels:
        assert label.capitalize() in html
    assert "The address answered 500." in html and "again <time" in html


def test_a_channel_that_the_desk_switched_off_says_why(client: Client, hook: Channel) -> None:
    Channel.objects.update(enabled=False, off_reason="The address answered 410.")
    for address in (LIST, url("channel", hook)):
        html = page(client, address)
        assert "Switched off" in html and "answered 410" in html
    assert "Switch on again" in page(client, url("channel", hook))


def test_a_text_from_the_exchange_is_text(client: Client, hook: Channel) -> None:
    now = timezone.now()
    Delivery.objects.create(channel=hook, words="<script>alert(1)</script>", said_at=now, due_at=now)
    html = page(client, url("channel", hook))
    assert "<script>alert(1)" not in html and "&lt;script&gt;" in html


def test_ten_deliveries_cost_as_many_queries_as_a_thousand(client: Client, hook: Channel) -> None:
    def queries(n: int) -> list[int]:
        now = timezone.now()
        Delivery.objects.bulk_create(
            Delivery(channel=hook, words="S.", said_at=now, due_at=now) for _ in range(n)
        )
        counts = []
        for address in (LIST, url("channel", hook)):
            with CaptureQueriesContext(connection) as captured:
                client.get(address)
            counts.append(len(captured))
        return counts

    page(client)
    assert queries(10) == queries(990)


def test_one_channel_costs_as_many_queries_as_ten(client: Client, alice: User, hook: Channel) -> None:
    page(client)
    with CaptureQueriesContext(connection) as few:
        page(client)
    for n in range(9):
        jobs.add_webhook(alice, f"Hook {n}", HOOK["address"])
    with CaptureQueriesContext(connection) as many:
        page(client)
    assert len(few) == len(many)


# --- the digest ---
def test_the_digest_is_set_and_the_next_one_told(client: Client, alice: User, settings: object) -> None:
    settings.EMAIL_HOST = "mail.test"  # type: ignore[attr-defined]
    data = {"rhythm": "weekly", "hour": "7", "weekday": "6"}
    html = client.post("/alerts/digest/", data, follow=True).content.decode()
    assert "The next digest comes on" in html and "at 07:00." in html
    plan = DigestPlan.objects.get()
    assert (plan.owner, plan.rhythm, plan.hour, plan.weekday) == (alice, "weekly", 7, 6)
    assert not alice.channels.get().at_once, "the box was not ticked"
    client.post("/alerts/digest/", data | {"at_once": "on", "rhythm": "off"})
    assert alice.channels.get().at_once and DigestPlan.objects.get().rhythm == "off"


@pytest.mark.parametrize("wrong", [{"hour": "24"}, {"rhythm": "hourly"}, {"weekday": "7"}, {"hour": "x"}])
def test_an_hour_that_no_clock_has_changes_nothing(client: Client, wrong: dict[str, str]) -> None:
    data = {"rhythm": "daily", "hour": "7", "weekday": "0"} | wrong
    assert b"Nothing was changed" in client.post("/alerts/digest/", data, follow=True).content
    assert not DigestPlan.objects.exists()


@pytest.mark.parametrize(
    ("host", "email", "words"), [("", "a@b.test", "no mail server"), ("m.test", "", "no e-mail address")]
)
def test_why_nothing_is_mailed_is_said(
    client: Client, settings: object, host: str, email: str, words: str
) -> None:
    settings.EMAIL_HOST = host  # type: ignore[attr-defined]
    User.objects.update(email=email)
    assert words in page(client)


def test_the_card_beside_the_rules_shows_the_channels(client: Client, hook: Channel) -> None:
    html = page(client, reverse("alert_rules"))
    assert "Hook" in html and f'href="{LIST}"' in html
