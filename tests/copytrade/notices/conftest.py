"""A person with alerts, and channels whose messages are kept instead of sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from copytrade.models import Account, Alert, Channel, Delivery, User
from copytrade.notices import channels
from copytrade.notices.telling import NotTold


class Post:
    """Takes the place of the wire. `told`: (label, words of each row, again). `wrong`: what it fails with, by label."""

    def __init__(self) -> None:
        self.told: list[tuple[str, list[str], bool]] = []
        self.wrong: dict[str, NotTold | Exception] = {}

    def __call__(self, channel: Channel, rows: Sequence[Delivery], again: bool = False) -> None:
        if channel.label in self.wrong:
            raise self.wrong[channel.label]
        self.told.append((channel.label, [row.words for row in rows], again))

    @property
    def words(self) -> list[str]:
        return [words for _, all_of, _ in self.told for words in all_of]


@pytest.fixture
def post() -> Post:
    return Post()


@pytest.fixture
def account(alice: User) -> Account:
    """Overrides the sandbox's: nothing is read here."""
    return Account.objects.create(owner=alice, label="Main", venue="sandbox", state="active")


@pytest.fixture
def hook(alice: User) -> Channel:
    """alice's webhook, ten minutes old."""
    made, _ = channels.add_webhook(alice, "Hook", "https://example.com/hooks/abcdefghijklmnop")
    Channel.objects.filter(pk=made.pk).update(since=timezone.now() - timedelta(minutes=10))
    made.refresh_from_db()
    return made


@pytest.fixture
def tell_alice(account: Account) -> Callable[..., Alert]:
    """tell_alice(1) is an alert of hers as the watcher leaves it, loud a minute ago."""

    def make(n: int = 1, *, loud_at: datetime | None = None, **fields: object) -> Alert:
        loud = loud_at or timezone.now() - timedelta(minutes=1)
        values: dict[str, object] = {
            "owner": account.owner, "account": account, "kind": "closed", "key": f"{account.pk}:{n}",
            "sentence": f"Alert {n}.", "loud_at": loud, "created_at": loud,
        }  # fmt: skip
        return Alert.objects.create(**(values | fields))

    return make
