"""client_for(account): the one place that decrypts an exchange key and opens the way to its venue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from django.conf import settings
from django.utils import timezone

from . import audit, egress, keys, meters
from .exchange.calls import Observed, Roots, pool_of
from .exchange.client import ExchangeClient
from .exchange.errors import Malformed, Rejected, Unreachable
from .exchange.limits import RedisLimiter
from .exchange.operations import CONTRACT
from .exchange.signing import Credentials
from .models import Account, Credential


class NoKey(Exception):
    """The account has no usable key stored. The message is a sentence for its owner."""


class AnotherAccount(NoKey):
    """The key opens another exchange account than the one read so far: two ledgers must never mix."""

    SENTENCE = (
        "This key belongs to another exchange account than the one read so far. "
        "Add it as a new connection, and enter the right key here."
    )


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
    name = egress.of(account.pk)
    limiter = limiter_at(settings.REDIS_URL, name)

    def counted(call: Observed) -> None:
        if not limiter.away:  # a Redis that does not answer has been waited for once already
            meters.count(name, call.operation, call.result, call.weight, call.seconds, venue=account.venue)

    return ExchangeClient(
        Roots(spot=venue["spot"], contract=venue["contract"]),
        _credentials(account),
        limiter=limiter,
        way=egress.way(name),
        observer=counted,
        deadline=settings.EXCHANGE_DEADLINE,
        interactive=interactive,
        clock_offset_ms=account.clock_offset_ms,
        allow_writes=account.writes_enabled,
    )


@contextmanager
def talking_to(
    account: Account,
    *,
    interactive: bool = False,
    whose: bool = True,
    fresh: bool = False,
    purpose: str = "for what you asked for",
) -> Iterator[ExchangeClient]:
    """A client for a few calls; a clock offset that it learned is stored with the account.

    What the owner switched meanwhile counts: state and switches are read again first (not with `fresh`: they were
    read just now). A key not yet seen at work is asked whose it is (not with `whose` off). Raises NoKey, VaultError
    and what that call raises. `interactive`: a person waits, so the audit log says what the key was opened for.
    """
    if not fresh:
        _read_again(account)
    client = client_for(account, interactive=interactive)
    if interactive:
        audit.key_used(account, purpose)
    try:
        if whose and account.state != Account.State.ACTIVE:
            _ask_whose(account, client)
        yield client
    finally:
        if client.clock_offset_ms != account.clock_offset_ms:
            account.clock_offset_ms = client.clock_offset_ms
            Account.objects.filter(pk=account.pk).update(clock_offset_ms=client.clock_offset_ms)


def _read_again(account: Account) -> None:
    now = Account.objects.filter(pk=account.pk).values("state", "uid", "writes_enabled").first()
    if now is None:
        raise NoKey("This connection was removed.")
    for name, value in now.items():
        setattr(account, name, value)


def _ask_whose(account: Account, client: ExchangeClient) -> None:
    """Learn the exchange's number of the account, or hold the key against the one known. Raises AnotherAccount."""
    try:
        uid = client.account().uid
    except (Rejected, Unreachable, Malformed):
        if account.uid is None:
            return  # it cannot be told, and there is nothing yet that it could mix with
        raise
    if account.uid is None and uid is not None:
        account.uid = uid
        Account.objects.filter(pk=account.pk, uid=None).update(uid=uid)
    if uid is not None and uid != account.uid:
        refuse(account)
        raise AnotherAccount(AnotherAccount.SENTENCE)


def refuse(account: Account) -> None:
    """Stop reading with a key of another account, until its owner enters the right one."""
    now = timezone.now()
    account.state, account.state_reason, account.state_since = (
        Account.State.REFUSED,
        AnotherAccount.SENTENCE,
        now,
    )
    account.save(update_fields=["state", "state_reason", "state_since"])


@lru_cache(maxsize=64)
def limiter_at(redis_url: str, name: str = egress.DEFAULT) -> RedisLimiter:
    """The request budget of an egress address, which all processes share, counted in this Redis."""
    return RedisLimiter.from_url(redis_url, name)


def pool(venue: str, root: str = CONTRACT) -> str:
    """The name by which a limiter knows an address root of a venue; a KeyError when it is not configured."""
    return pool_of(root, settings.VENUES[venue][root])


def _credentials(account: Account) -> Credentials:
    # A claim brings the sealed key along (sync/claimed.py); it is good for one client.
    stored, data_key = account.__dict__.pop("at_hand", None) or (
        Credential.objects.filter(account=account).first(), None,
    )  # fmt: skip
    if stored is None:
        raise NoKey("This connection has no key. Enter one.")
    sealed = [
        (getattr(stored, field), credential_context(account.pk, field))
        for field in ("key", "secret", "passphrase")
    ]
    key, secret, passphrase = keys.decrypt_each(account.owner_id, sealed, data_key)
    return Credentials(key=key, secret=secret, passphrase=passphrase)
