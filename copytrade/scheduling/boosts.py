"""What is read more often for a while: an account on somebody's screen, a change in flight, a trader who closes.

A boost is a time in the job (`boost_until`); the planner takes a boosted job for a lively one, so that it gets its
floor where there is room, and a large part of the budget where there is not. The deadline is brought forward here at
once, so that nobody waits for the planner.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Greatest, Least, Now

from copytrade.models import Account, SyncJob, User

# Somebody looks: renewed by every look, but written at most every REFRESH.
WATCHED = timedelta(seconds=60)
REFRESH = timedelta(seconds=20)
# A change in flight: its outcome shows in settings and balances.
IN_FLIGHT = timedelta(seconds=60)
# A close was seen at one follower: the others' copies close in the same minute.
CLOSING = timedelta(seconds=45)
# Followers raised by one close, so that a trader with hundreds of them does not take everybody's budget.
MOST_FOLLOWERS = 200
# After the last reading.
SOONEST = timedelta(seconds=5)

Kind = SyncJob.Kind


def watched(user: User) -> None:
    """Somebody looks at a page of all their accounts."""
    _boost(SyncJob.objects.filter(account__owner=user, kind=Kind.OPEN), WATCHED, WATCHED - REFRESH)


def watch_account(account: Account) -> None:
    """Somebody looks at a page of this account."""
    _boost(SyncJob.objects.filter(account=account, kind=Kind.OPEN), WATCHED, WATCHED - REFRESH)


def change_in_flight(account: Account) -> None:
    """A change of settings was sent: what it brings about is looked for soon."""
    _boost(SyncJob.objects.filter(account=account, kind__in=[Kind.SETTINGS, Kind.OPEN]), IN_FLIGHT)


def close_seen(account: Account, trader_uids: Iterable[int]) -> None:
    """A copy of these traders (by the exchange's numbers) was closed: their other followers' will be, too."""
    uids = set(trader_uids)
    if not uids:
        return
    followers = Account.objects.filter(
        venue=account.venue, traders__trader_id__in=uids, traders__copied=True
    ).values("pk")
    rows = SyncJob.objects.filter(account__in=followers, kind=Kind.OPEN).exclude(account=account)
    # Django's LIMIT in a subquery that is locked row by row: the ids first.
    most = list(
        rows.order_by(F("last_success_at").asc(nulls_first=True)).values_list("pk", flat=True)[
            :MOST_FOLLOWERS
        ]
    )
    _boost(SyncJob.objects.filter(pk__in=most), CLOSING, CLOSING / 2)


def _boost(jobs: QuerySet[SyncJob], span: timedelta, already: timedelta = timedelta()) -> int:
    """Boost those that are not boosted for `already` more; how many. Their deadlines come forward; what failed keeps
    its pause. A job that somebody writes to at this moment is passed over rather than waited for."""
    wanted = Q(boost_until=None) | Q(boost_until__lt=Now() + already)
    rows = jobs.filter(wanted, account__state=Account.State.ACTIVE).order_by("pk")
    soon = Greatest(Now(), F("last_success_at") + SOONEST)
    may = Q(failures=0) & (Q(lease_until=None) | Q(lease_until__lt=Now()))
    with transaction.atomic():
        ids = list(
            rows.select_for_update(skip_locked=True, no_key=True, of=("self",)).values_list("pk", flat=True)
        )
        if not ids:
            return 0
        return SyncJob.objects.filter(pk__in=ids).update(
            boost_until=Now() + span,
            due_at=Case(When(may, then=Least(F("due_at"), soon)), default=F("due_at")),
        )
