"""The demo: one shared user who owns sandbox connections only. It exists with COPYDESK_DEMO=1 alone."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from copytrade import connections
from copytrade.models import Account, User

LABEL = "Demo follower"
# The sandbox's documented keys (docs/sandbox.md): they open nothing but the sandbox.
FOLLOWER = {"key": "follower-key", "secret": "follower-secret", "passphrase": "sandbox"}
SANDBOX_KEYS = (
    ("follower-key", "follower-secret", "A follower who copies four traders: everything may be tried."),
    ("readonly-key", "readonly-secret", "The same account, reading only: writes are refused."),
    ("lead-key", "lead-secret", "A lead trader's copy-trade key."),
    ("affiliate-key", "affiliate-secret", "An affiliate's key."),
)


def offered() -> bool:
    return settings.DEMO and "sandbox" in settings.VENUES


@transaction.atomic
def demo_user() -> User:
    """The demo user, made at the first visit: without a password, never operator."""
    user, made = User.objects.get_or_create(username="demo", defaults={"is_demo": True})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    if not user.is_demo:
        raise RuntimeError("A person has the name 'demo'. Rename that account, or switch the demo off.")
    return user


@transaction.atomic
def ensure_connection(user: User) -> tuple[Account, bool]:
    """The demo's follower connection, and whether it was made just now. Two visitors at once make one.

    A visitor may have put a wrong key in; the next one finds it mended.
    """
    User.objects.select_for_update().get(pk=user.pk)
    found = user.accounts.filter(label=LABEL).first()
    if found and found.state in (Account.State.REFUSED, Account.State.PENDING):
        return connections.replace_key(found, **FOLLOWER), True
    if found:
        return found, False
    return connections.add(user, label=LABEL, venue="sandbox", **FOLLOWER), True
