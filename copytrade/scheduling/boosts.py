"""What is read more often for a while: an account on somebody's screen, a change in flight, a trader who closes.

A boost is a time in the job (`boost_until`); the planner takes a boosted job for a lively one, so that it gets its
floor where there is room, and a large part of the budget where there is not. The deadline is brought forward here at
once, so that nobody waits for the planner.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Case, DurationField, F, Q, QuerySet, Value, When
from django.db.models.functions import Greatest, Least, Now

from copytrade.exchange.operations import OPERATIONS
from copytrade.intervals import AT_CAP, BOUNDS, bounds
from copytrade.models import Account, SyncJob, User

from . import room

# Somebody looks: renewed by every look, but written at most every REFRESH.
WATCHED = timedelta(seconds=60)
REFRESH = timedelta(seconds=20)
# A change in flight: its outcome shows in settings and balances.
IN_FLIGHT = timedelta(seconds=60)
# A close was seen at one follower: the others' copies close in the same minute.
CLOSING = timedelta(seconds=45)
# Followers raised by one close at one address: so that a trader with hundreds of them does not take everybody's
# budget, no more than this, and no more than the address reads in this part of the time. Each of them that finds
# the close raises the next.
MOST_FOLLOWERS = 200
CLOSING_SHARE = 0.2
# After the last reading; and where a list that somebody looks at waits as long as it may, the quota being short.
SOONEST = timedelta(seconds=5)
SOONEST_AT_CAP = timedelta(seconds=60)

Kind = SyncJob.Kind


def watched(user: User) -> None:
    """Somebody looks at a page of all their accounts."""
    _watched(SyncJob.objects.filter(account__owner=user))


def watch_account(account: Account) -> None:
    """Somebody looks at a page of this account."""
    _watched(SyncJob.objects.filter(account=account))


def _watched(jobs: QuerySet[SyncJob]) -> None:
    short = When(interval__gte=AT_CAP * BOUNDS["open"].cap, then=Value(SOONEST_AT_CAP))
    soonest = Case(short, default=Value(SOONEST), output_field=DurationField())
    _boost(jobs.filter(kind=Kind.OPEN), WATCHED, WATCHED - REFRESH, soonest)


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
    raised: list[int] = []
    for name in rows.order_by("egress").values_list("egress", flat=True).distinct():
        # Django's LIMIT in a subquery that is locked row by row: the ids first.
        longest_ago = rows.filter(egress=name).order_by(F("last_success_at").asc(nulls_first=True))
        raised += longest_ago.values_list("pk", flat=True)[: _most_followers(name, account.venue)]
    _boost(SyncJob.objects.filter(pk__in=raised), CLOSING, CLOSING / 2)


def _most_followers(name: str, venue: str) -> int:
    """How many may be raised at an address. None where every open list waits as long as it may: whoever was raised
    would make the others wait beyond what they are promised."""
    cap = bounds(venue, Kind.OPEN).cap
    lists = SyncJob.objects.filter(
        Q(boost_until=None) | Q(boost_until__lt=Now()),
        kind=Kind.OPEN, egress=name, account__venue=venue, account__state=Account.State.ACTIVE,
    )  # fmt: skip
    if not lists.filter(Q(interval=None) | Q(interval__lt=AT_CAP * cap)).exists():
        return 0
    readings = room.usable(name, venue) * CLOSING.total_seconds() / OPERATIONS["open_tracking_orders"].weight
    return max(1, min(MOST_FOLLOWERS, int(CLOSING_SHARE * readings)))


def _boost(
    jobs: QuerySet[SyncJob],
    span: timedelta,
    already: timedelta = timedelta(),
    soonest: timedelta | Case = SOONEST,
) -> int:
    """Boost those that are not boosted for `already` more; how many. Their deadlines come forward, to `soonest` after
    the last reading; what failed keeps its pause. A job that somebody writes to at this moment is passed over rather
    than waited for."""
    wanted = Q(boost_until=None) | Q(boost_until__lt=Now() + already)
    rows = jobs.filter(wanted, account__state=Account.State.ACTIVE).order_by("pk")
    soon = Greatest(Now(), F("last_success_at") + soonest)
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
