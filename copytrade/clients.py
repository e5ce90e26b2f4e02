"""client_for(account): the one place that decrypts an exchange key and opens the way to its venue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from django.conf import settings

from . import keys
from .exchange.calls import Roots
from .exchange.client import ExchangeClient
from .exchange.limits import RedisLimiter
from .exchange.signing import Credentials
from .models import Account, Credential


class NoKey(Exception):
    """The account has no usable key stored. The message is a sentence for its owner."""


def credential_context(account_id: int, field: str) -> tuple[str, ...]:
    """What a stored credential is bound to: table, field and row (keys.py adds the user)."""
    return ("credential", field, f"account:{account_id}")


def client_for(account: Account, *, interactive: bool = False) -> ExchangeClient:
    """A signed client for the account's venue; writes only where its owner allowed them.

    Raises NoKey when nothing is stored, vault.VaultError when it cannot be decrypted.
    """
    venue = settings.VENUES.get(account.venue)
    if venue is None:
        raise NoKey(f"The venue '{account.venue}' of this connection is not configured here any more.")
    return ExchangeClient(
        Roots(spot=venue["spot"], contract=venue["contract"]),
        _credentials(account),
        limiter=limiter_at(settings.REDIS_URL),
        deadline=settings.EXCHANGE_DEADLINE,
        interactive=interactive,
        clock_offset_ms=account.clock_offset_ms,
        allow_writes=account.writes_enabled,
    )


@contextmanager
def talking_to(account: Account, *, interactive: bool = False) -> Iterator[ExchangeClient]:
    """A client for a few calls; a clock offset that it learned is stored with the account."""
    client = client_for(account, interactive=interactive)
    try:
        yield client
    finally:
        if client.clock_offset_ms != account.clock_offset_ms:
            account.clock_offset_ms = client.clock_offset_ms
            Account.objects.filter(pk=account.pk).update(clock_offset_ms=client.clock_offset_ms)


@lru_cache(maxsize=2)
def limiter_at(redis_url: str) -> RedisLimiter:
    """The request budget that all processes of this machine share, counted in this Redis."""
    return RedisLimiter.from_url(redis_url)


def _credentials(account: Account) -> Credentials:
    stored = Credential.objects.filter(account=account).first()
    if stored is None:
        raise NoKey("This connection has no key. Enter one.")

    def opened(field: str) -> str:
        return keys.decrypt(account.owner_id, getattr(stored, field), credential_context(account.pk, field))

    return Credentials(key=opened("key"), secret=opened("secret"), passphrase=opened("passphrase"))
