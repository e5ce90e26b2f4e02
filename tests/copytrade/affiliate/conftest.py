"""alice's connections to the sandbox (the affiliate's, known as such, and a follower's), and one to an own server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings

from copytrade import connections
from copytrade.affiliate import ask_standing
from copytrade.models import Account, AffiliateStanding, User
from tests.support.sandbox_process import Sandbox

from . import partner_server as servers
from .partner_server import PartnerServer


@pytest.fixture
def affiliate(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    account = connections.add(
        alice,
        label="Partner",
        venue="sandbox",
        key="affiliate-key",
        secret="affiliate-secret",
        passphrase="sandbox",
    )
    ask_standing(account)
    return account


@pytest.fixture
def follower(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    return connections.add(
        alice,
        label="Main",
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )


@pytest.fixture
def partner(
    alice: User, redis_client: object, settings: Any
) -> Iterator[Callable[..., tuple[Account, PartnerServer]]]:
    """partner(rows, within): an affiliate's account at an exchange with these commissions."""
    opened: list[PartnerServer] = []

    def make(rows: list[dict[str, Any]], within: servers.Within = servers.both_ends) -> Any:
        server = PartnerServer(rows, within)
        opened.append(server)
        venue = django_settings.VENUES["sandbox"] | {"spot": server.url, "contract": server.url}
        settings.VENUES = django_settings.VENUES | {"sandbox": venue}
        account = connections.add(
            alice, label="Partner", venue="sandbox", key="key-of-1", secret="secret-of-1", passphrase="word"
        )
        Account.objects.filter(pk=account.pk).update(state="active")
        AffiliateStanding.objects.create(account=account, key_set_at=account.key_set_at, may=True)
        return account, server

    yield make
    for server in opened:
        server.__exit__()
