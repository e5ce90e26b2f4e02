"""The look itself: every family of events, over all accounts at once."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from copytrade.models import COPY_KINDS, Account, SyncJob, User

from . import connections, copies, outside, raising, sums, traders
from .kinds import STATES
from .rules import book


def watch(now: datetime | None = None) -> int:
    """Raise what is new, resolve what has healed; how many were raised. Safe at any time, by any number.

    Some twenty queries, however many accounts, traders and copies there are.
    """
    now = now or timezone.now()
    rules, accounts = book(), list(Account.objects.order_by("pk"))
    # What an account says of itself is read sparsely, and not at all with some keys: its pages say so.
    jobs = list(SyncJob.objects.filter(kind__in=COPY_KINDS).defer("cursor"))
    by_key = {account.pk: account for account in accounts}
    jobs = [job for job in jobs if job.account_id in by_key]
    for job in jobs:
        job.account = by_key[job.account_id]
    found = [
        *connections.look(jobs, now),
        *outside.look(now),
        *copies.look(accounts, jobs, rules, now),
        *traders.look(accounts, rules, now),
        *sums.look(now),
    ]
    raised = raising.settle(found, rules, now, STATES)
    outside.heal(now)
    return raised


def tell(
    owner: User,
    kind: str,
    key: str,
    sentence: str,
    *,
    account: int | None = None,
    now: datetime | None = None,
) -> bool:
    """Raise one thing that has happened, by its owner's rules; False where it was told already or is not wanted."""
    return raising.tell(owner, kind, key, sentence, book([owner.pk]), now or timezone.now(), account)
