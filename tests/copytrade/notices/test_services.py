"""Messengers: only services with fixed hosts, held to those hosts beneath the library, and silent about addresses."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterator

import apprise
import pytest
from apprise.plugins.discord import NotifyDiscord
from apprise.plugins.telegram import NotifyTelegram

from copytrade.notices import services
from copytrade.notices.guard import NotAllowed, held_to
from copytrade.notices.services import BadService, NotSent

from .receivers import Receiver, receiver

DISCORD = "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"
ADDRESSES = {
    "Telegram": "tgram://123456789:abcdefg_hijklmnop/12315544",
    "Discord": DISCORD,
    "Slack": "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7",
    "Pushover": "pover://uQiRzpo4DXghDmr9QzzfQu27cmVRsG@gznej3rKEVAvPUxu9vvNnqpmZpokzF",
    "ntfy.sh": "ntfys://my-own-secret-topic",
    "Pushbullet": "pbul://o.gn5kj6nfhv736I7jC3cj3QLRiyhgl98b",
    "Prowl": "prowl://" + "a" * 40,
    "Join": "join://" + "a" * 32 + "/" + "b" * 32,
    "Simplepush": "spush://abcdefg",
    "Webex": "wxteams://" + "a" * 80,
    "Threema": "threema://*MYGATEW@secretsecretsecr/48123456789",
    "Google Chat": "gchat://workspace/key/token",
}


@pytest.fixture
def discord(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A server on this machine that Apprise takes for Discord."""
    with receiver() as running:
        monkeypatch.setattr(NotifyDiscord, "notify_url", f"http://{running.place}/api/webhooks")
        yield running


def send(title: str = "Copydesk: copy closed", body: str = "Something.") -> None:
    services.send(DISCORD, title, body, hosts={"127.0.0.1"}, anywhere=True)


# --- the list, held against the installed version --------------------------------------------------------
@pytest.mark.parametrize("service", services.names(), ids=lambda one: one.label)
def test_each_service_takes_its_address(service: services.Service) -> None:
    assert services.check(ADDRESSES[service.label]) is service


@pytest.mark.parametrize("service", services.names(), ids=lambda one: one.label)
def test_no_plugin_of_the_list_has_a_host_of_the_users_choice(service: services.Service) -> None:
    """If an upgrade of Apprise gives one of them such a template, this fails, and the service is not offered."""
    for schema in service.schemas:
        made = apprise.Apprise.instantiate(ADDRESSES[service.label])
        assert schema in (*made.secure_protocol, made.secure_protocol) and services.fixed(type(made), service)
        if not service.only:
            assert not any(re.search(r"\{(host|port|path|url|domain)", one) for one in made.templates)


def test_the_hosts_of_the_list_are_those_in_the_plugins() -> None:
    """Every host of ours stands in its plugin's own text: none was made up, and none has moved."""
    import inspect

    for service in services.names():
        made = apprise.Apprise.instantiate(ADDRESSES[service.label])
        text = inspect.getsource(inspect.getmodule(type(made)))
        for host in service.hosts:
            assert f"//{host}/" in text or f"//{host}" in text, (service.label, host)


def test_a_plugin_that_grew_a_host_is_not_used() -> None:
    class Grown:
        templates = ("{schema}://{token}", "{schema}://{host}:{port}/{token}")

    assert not services.fixed(Grown, services.SERVICES["tgram"])


# --- what may be typed -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "url",
    [
        "gotify://hub.lan/token", "gotifys://hub.lan/token", "json://127.0.0.1/", "xml://127.0.0.1/", "form://10.0.0.1/",
        "matrix://host/room", "mailto://user:pass@host", "apprise://host/token", "syslog://", "dbus://", "windows://",
        "file:///etc/passwd", "https://example.com/config.yml", "config://x", "ntfy://topic", "ntfys://host/topic",
        "ntfys://user:password@host/topic", "ntfys://host:8080/topic", "workflow://host/a/b", "mmost://host/token",
        "rocket://host/", "", "tgram", "tgram://", "discord://", "pover://x", "script:///bin/sh",
    ],
)  # fmt: skip
def test_what_could_lead_anywhere_is_refused(url: str) -> None:
    with pytest.raises(BadService):
        services.check(url)


@pytest.mark.parametrize(
    "more",
    [
        "?verify=no",
        "?redirect=yes",
        "?template=/etc/passwd",
        "?rto=9999",
        "%3Fverify=no",
        "&verify=no",
        " x",
        "\n",
    ],
)
def test_options_are_not_taken(more: str) -> None:
    with pytest.raises(BadService):
        services.check(DISCORD + more)


def test_a_refusal_never_repeats_the_address() -> None:
    for url in ("gotify://hub.lan/very-secret", "tgram://very-secret", "ntfys://very-secret.host/topic"):
        with pytest.raises(BadService) as refused:
            services.check(url)
        assert "very-secret" not in str(refused.value)


# --- on the wire -----------------------------------------------------------------------------------------
def test_a_message_arrives_as_text(discord: Receiver) -> None:
    send(body="Northwind <b>Steady</b>: BTCUSDT closed.")
    ((path, _, body),) = discord.received
    assert path.startswith("/api/webhooks/4174216298/") and b"BTCUSDT closed" in body


def test_no_name_from_the_exchange_calls_everybody(discord: Receiver) -> None:
    send(body="@everyone <!channel> <@123> closed")
    body = discord.received[0][2].decode("unicode_escape")
    assert "@everyone" not in body and "<!channel>" not in body and "<@123>" not in body


@pytest.mark.parametrize(
    ("status", "words"), [(401, "401: check"), (404, "404: check"), (429, "too many"), (500, "500")]
)
def test_what_the_service_answers_is_said_in_three_digits(discord: Receiver, status: int, words: str) -> None:
    discord.status = status
    with pytest.raises(NotSent, match=words) as failed:
        send()
    assert "JHMHI8" not in str(failed.value)


def test_a_redirect_is_not_followed(discord: Receiver) -> None:
    with receiver() as other:
        discord.status, discord.headers = 302, {"Location": f"http://{other.place}/"}
        with pytest.raises(NotSent):
            send()
        assert other.received == [] and len(discord.received) == 1


def test_a_plugin_that_leads_elsewhere_is_stopped_before_it_asks_for_the_name(discord: Receiver) -> None:
    with pytest.raises(NotSent, match="a host that is not its own"):
        services.send(DISCORD, "t", "b")  # its address is this machine's, which is not Discord's
    assert discord.received == []


def test_the_right_name_on_a_private_address_is_stopped_at_the_socket(discord: Receiver) -> None:
    with pytest.raises(NotSent, match="a host that is not its own"):
        services.send(DISCORD, "t", "b", hosts={"127.0.0.1"})
    assert discord.received == []


def test_a_proxy_of_the_environment_is_not_used(discord: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiver() as proxy:
        monkeypatch.setenv("http_proxy", f"http://localhost:{proxy.port}")
        with pytest.raises(NotSent):
            send()
        assert proxy.received == [] and discord.received == []


def test_the_log_holds_nothing_of_an_address(discord: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("apprise").addHandler(caplog.handler)
    discord.status = 400
    with pytest.raises(NotSent):
        send()
    logging.getLogger("apprise").removeHandler(caplog.handler)
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("urllib3")]
    assert not any("JHMHI8" in line for line in ours)


def test_time_outs_and_certificates_are_ours() -> None:
    made = services._plugin(ADDRESSES["Telegram"], services.SERVICES["tgram"])
    assert isinstance(made, NotifyTelegram)
    assert (made.verify_certificate, made.redirects) == (True, False)
    assert made.request_timeout == (services.CONNECT_SECONDS, services.READ_SECONDS)


# --- the guard by itself ---------------------------------------------------------------------------------
def test_outside_of_the_guard_everything_is_as_ever() -> None:
    with held_to({"example.com"}):
        pass
    with receiver() as running:
        socket.create_connection(("127.0.0.1", running.port), timeout=5).close()


@pytest.mark.parametrize("host", ["localhost", "example.org", b"example.org", "EXAMPLE.COM.evil.test"])
def test_other_names_are_not_even_looked_up(host: str) -> None:
    with held_to({"example.com"}) as held, pytest.raises(NotAllowed):
        socket.getaddrinfo(host, 443)
    assert len(held.refused) == 1


@pytest.mark.parametrize("address", [("127.0.0.1", 1), ("169.254.169.254", 80), ("10.0.0.1", 443)])
def test_private_addresses_are_not_connected_to(address: tuple[str, int]) -> None:
    with held_to({"example.com"}) as held, socket.socket() as sock, pytest.raises(NotAllowed):
        sock.connect(address)
    assert held.refused == [address[0]]


def test_a_socket_of_the_file_system_is_not_connected_to() -> None:
    with held_to({"example.com"}), socket.socket(socket.AF_UNIX) as sock, pytest.raises(NotAllowed):
        sock.connect("/run/some.sock")
