"""A desk to measure: its database, alice, her connection, her browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape

from django.conf import settings

from copytrade import connections
from copytrade.models import Account, User


def alice() -> User:
    return User.objects.create_user("alice", "alice@example.com", "alice-password-of-20")


def connection_of(owner: User, label: str) -> Account:
    return connections.add(
        owner,
        label=label,
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )


def venue_at(url: str) -> None:
    settings.VENUES = settings.VENUES | {
        "sandbox": settings.VENUES["sandbox"] | {"spot": url, "contract": url}
    }


@contextmanager
def exchange_of_200() -> Iterator[str]:
    """The address of bench/exchange.py in a process of its own."""
    process = subprocess.Popen([sys.executable, "-m", "bench.exchange"], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()


def form_of(html: str) -> dict[str, list[str]]:
    """What a browser would send back of the settings form, untouched."""
    found = re.search(r'<form id="settings-form".*?</form>', html, flags=re.DOTALL)
    assert found
    data: dict[str, list[str]] = {}
    for tag in re.findall(r"<input\b[^>]*>", found[0]):
        attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        unticked = attributes.get("type") in ("checkbox", "radio") and not re.search(r"\bchecked\b", tag)
        if "name" in attributes and not unticked:
            data.setdefault(attributes["name"], []).append(unescape(attributes.get("value", "")))
    for name, options in re.findall(
        r'<select\b[^>]*\bname="([^"]+)"[^>]*>(.*?)</select>', found[0], flags=re.DOTALL
    ):
        chosen = re.search(r'value="([^"]*)"\s+selected', options) or re.search(r'value="([^"]*)"', options)
        assert chosen
        data[name] = [chosen[1]]
    return data


def hidden_fields(html: str) -> dict[str, str]:
    """The hidden fields of a review's form that sends."""
    forms = re.findall(r"<form\b.*?</form>", html, flags=re.DOTALL)
    (form,) = [form for form in forms if 'name="key"' in form]
    fields = {}
    for tag in re.findall(r'<input type="hidden"[^>]*>', form):
        found = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        fields[found["name"]] = unescape(found.get("value", ""))
    return fields
