"""Messengers, by Apprise: only services whose hosts are fixed, so that no address of a user's choice is called.

Apprise knows over a hundred services. Many are a program on the user's own host (Gotify, Matrix, a mail server, plain
JSON): an address for one of those could be any address. Here is the list of those that are not, with the hosts that
each may talk to; guard.py holds them to it whatever a plugin does. No Django.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from .guard import held_to

CONNECT_SECONDS, READ_SECONDS, WHOLE_SECONDS = 5.0, 8.0, 15.0
LONGEST = 500
# Words in the templates of Apprise's addresses that stand for a host of the user's choice.
HOSTS_OF_USERS = frozenset({"host", "hostname", "port", "path", "fullpath", "url", "domain", "server"})
ERROR = re.compile(r"\berror=(\d{3})\b")


@dataclass(frozen=True)
class Service:
    """`schemas`: what its addresses begin with. `hosts`: all that it may talk to. `looks_like`: an example.
    `only`: templates of the plugin that are allowed, where it also has some with a host."""

    label: str
    schemas: tuple[str, ...]
    hosts: frozenset[str]
    looks_like: str
    only: frozenset[str] = frozenset()


def _service(label: str, schemas: str, hosts: str, looks_like: str, only: str = "") -> Service:
    templates = frozenset(only.split())
    return Service(label, tuple(schemas.split()), frozenset(hosts.split()), looks_like, templates)


_LIST = (
    _service("Telegram", "tgram", "api.telegram.org", "tgram://123456789:bot_token/chat_id"),
    _service("Discord", "discord", "discord.com", "discord://webhook_id/webhook_token"),
    _service("Slack", "slack", "hooks.slack.com slack.com", "slack://TokenA/TokenB/TokenC"),
    _service("Pushover", "pover", "api.pushover.net", "pover://user_key@app_token"),
    _service("ntfy.sh", "ntfys", "ntfy.sh", "ntfys://your-own-secret-topic", "{schema}://{topic}"),
    _service("Pushbullet", "pbul", "api.pushbullet.com", "pbul://access_token"),
    _service("Prowl", "prowl", "api.prowlapp.com", "prowl://api_key"),
    _service("Join", "join", "joinjoaomgcd.appspot.com", "join://api_key/device"),
    _service("Simplepush", "spush", "api.simplepu.sh", "spush://key"),
    _service("Webex", "wxteams", "webexapis.com api.ciscospark.com", "wxteams://token"),
    _service("Threema", "threema", "msgapi.threema.ch", "threema://*GATEWAY@secret/recipient"),
    _service("Google Chat", "gchat", "chat.googleapis.com", "gchat://workspace/key/token"),
)
SERVICES: Mapping[str, Service] = MappingProxyType(
    {schema: service for service in _LIST for schema in service.schemas}
)


class BadService(ValueError):
    """What was typed is no address of a service that is offered here. The message is a sentence without it."""


class NotSent(Exception):
    """The service did not take it. The message is a sentence without any part of the address."""


def names() -> list[Service]:
    return list(_LIST)


def service_of(url: str) -> Service:
    """Which of the list an address belongs to. Raises BadService."""
    schema, colon, _ = url.partition("://")
    found = SERVICES.get(schema.lower())
    if not colon or found is None:
        raise BadService(
            "The address must begin with one of: " + ", ".join(f"{one}://" for one in SERVICES) + ". "
            "Other services of Apprise are not offered: their address could lead anywhere."
        )
    return found


def check(url: str) -> Service:
    """The service of a typed address that Apprise understands, too. Calls nothing. Raises BadService."""
    found = service_of(url)
    if len(url) > LONGEST or not url.isascii() or not url.isprintable() or " " in url:
        raise BadService(f"An address is at most {LONGEST} plain characters, without spaces.")
    if "?" in url or "&" in url or "%3f" in url.lower():
        raise BadService("Leave out the options behind the question mark: they are not taken here.")
    _plugin(url, found)
    return found


def send(url: str, title: str, body: str, *, hosts: Collection[str] = (), anywhere: bool = False) -> None:
    """Tell it, within WHOLE_SECONDS. `hosts` and `anywhere` are for tests with a server of their own. Raises NotSent,
    BadService."""
    import apprise

    service = service_of(url)
    teller = apprise.Apprise(asset=_asset())
    teller.add(_plugin(url, service))
    heard = _Heard()
    logger = logging.getLogger("apprise")
    logger.addHandler(heard)
    try:
        with held_to(hosts or service.hosts, anywhere=anywhere) as held:
            arrived = bool(
                teller.notify(
                    body=_calm(body),
                    title=_calm(title),
                    body_format=apprise.NotifyFormat.TEXT,
                    timeout=WHOLE_SECONDS,
                )
            )
    finally:
        logger.removeHandler(heard)
    if held.refused:
        raise NotSent(f"{service.label} led to a host that is not its own. Nothing was sent there.")
    if not arrived:
        raise NotSent(_why(service, heard.status))


def _why(service: Service, status: str) -> str:
    if status in ("401", "403", "404"):
        return f"{service.label} answered {status}: check the address, it may have been withdrawn."
    if status == "429":
        return f"{service.label} answered 429: too many messages."
    return f"{service.label} did not take it" + (f" (answer {status})." if status else ", or did not answer.")


def _plugin(url: str, service: Service) -> Any:
    """Apprise's object for it, with our time-outs and without redirects. Raises BadService."""
    import apprise

    _quiet()
    made = apprise.Apprise.instantiate(url, asset=_asset(), suppress_exceptions=True)
    wrong = f"{service.label} does not understand this address. It should look like {service.looks_like}"
    if made is None:
        raise BadService(wrong)
    if not fixed(type(made), service) or getattr(made, "mode", "") == "private":
        raise BadService(f"Only {service.label} itself is offered. {wrong}")
    made.verify_certificate, made.redirects = True, False
    made.socket_connect_timeout, made.socket_read_timeout = CONNECT_SECONDS, READ_SECONDS
    return made


def fixed(plugin: type, service: Service) -> bool:
    """Has the plugin of the installed version no template with a host of the user's choice, but for those left out?"""
    templates = set(plugin.templates)  # type: ignore[attr-defined]
    if service.only:
        return service.only <= templates
    return not any(HOSTS_OF_USERS & set(re.findall(r"\{(\w+)\}", one)) for one in templates)


def _calm(text: str) -> str:
    """Names come from the exchange: none of them may call everybody in a channel, or hide a link."""
    return text.replace("@", "@\u200b").replace("<", "\u2039").replace(">", "\u203a")


@lru_cache(maxsize=1)
def _asset() -> Any:
    import apprise

    return apprise.AppriseAsset(
        app_id="Copydesk",
        app_desc="Copydesk",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        http_redirects=False,
        secure_logging=True,
        storage_mode="memory",
        service_timeout=WHOLE_SECONDS,
        allow_templates=False,
    )


@lru_cache(maxsize=1)
def _quiet() -> None:
    """Its log lines hold parts of addresses and targets: none of them is written anywhere."""
    logger = logging.getLogger("apprise")
    logger.propagate = False
    logger.setLevel(logging.WARNING)
    logger.addHandler(logging.NullHandler())


class _Heard(logging.Handler):
    """Takes the status of an answer out of Apprise's warnings, three digits and nothing else of them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.status = ""

    def emit(self, record: logging.LogRecord) -> None:
        found = ERROR.search(record.getMessage())
        self.status = found[1] if found else self.status
