"""The readings of what an account says of itself: made, pinned to their account's address, and stretched.

They are not part of the plan of the copy quota (planner.py): three of the four go to the spot root, whose pool they
leave mostly to people, and the fourth is asked with copy-trade keys alone. Their intervals are fixed and sparse, and
grow where many accounts share an address. A chore (tasks.CHORES), safe at any time and by any number.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

from django.db import connection
from django.db.models import Count, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from copytrade import egress
from copytrade.exchange.operations import CONTRACT, SPOT
from copytrade.intervals import bounds
from copytrade.models import OWN_KINDS, Account, SyncJob

from . import room

# Of the spot root's weight, what these readings may take on average; people and the affiliate pages have the rest.
SPOT_SHARE = 0.3
# Of the copy quota, what lead traders' own histories may take.
LEAD_SHARE = 0.02
MOVES = 0.1
# They give way to whatever is due (SyncJob.priority). What a first reading weighs, until it is measured.
LAST = 2
WEIGHTS = dict.fromkeys(OWN_KINDS, 5.0) | {SyncJob.Kind.LEAD: 10.0}

_PIN = """
UPDATE copytrade_syncjob AS own SET egress = first.egress
  FROM copytrade_syncjob AS first
 WHERE first.account_id = own.account_id AND first.kind = 'open' AND own.kind = ANY(%(kinds)s::text[])
   AND own.egress <> first.egress AND own.lease_token IS NULL
"""
_LOAD = """
SELECT job.egress, account.venue, job.kind, sum(job.weight)
  FROM copytrade_syncjob AS job JOIN copytrade_account AS account ON account.id = job.account_id
 WHERE job.kind = ANY(%(kinds)s::text[]) AND account.state <> %(refused)s AND NOT job.cursor ? 'not_lead'
 GROUP BY 1, 2, 3
"""
_STRETCH = """
UPDATE copytrade_syncjob AS job SET interval = %(seconds)s
  FROM copytrade_account AS account
 WHERE account.id = job.account_id AND account.venue = %(venue)s AND job.egress = %(egress)s AND job.kind = %(kind)s
   AND (job.interval IS NULL OR abs(job.interval - %(seconds)s) > %(moves)s * job.interval)
   AND job.lease_token IS NULL
"""


def keep_up() -> int:
    """Make what is missing, and plan all; how many jobs were made or got another interval or address."""
    written = _make()
    values = {"kinds": list(OWN_KINDS), "refused": Account.State.REFUSED, "moves": MOVES}
    with connection.cursor() as cursor:
        cursor.execute(_PIN, values)
        written += cursor.rowcount
        cursor.execute(_LOAD, values)
        for each in _stretched(cursor.fetchall()):
            cursor.execute(_STRETCH, values | each)
            written += cursor.rowcount
        return written


def _make() -> int:
    """What copying rests on is read first: the others begin once the open list has been read, one after the other
    as their share of the quota lets. Thousands that were due at once would hold up the copies for minutes."""
    ready = SyncJob.objects.filter(kind=SyncJob.Kind.OPEN, last_success_at__isnull=False)
    own = SyncJob.objects.filter(account=OuterRef("account"), kind__in=OWN_KINDS).order_by().values("account")
    there = Coalesce(Subquery(own.annotate(n=Count("pk")).values("n")), 0)
    lacking = ready.annotate(there=there).filter(there__lt=len(OWN_KINDS)).order_by("account_id")
    found = list(lacking.values_list("account_id", "egress", "account__venue"))
    ahead, now = _waiting() if found else {}, timezone.now()
    jobs = []
    for account, name, venue in found:
        for kind in OWN_KINDS:
            place = name, venue, _root(kind)
            weight = WEIGHTS[kind]
            due = now + timedelta(seconds=ahead.get(place, 0.0) / _share(*place))
            ahead[place] = ahead.get(place, 0.0) + weight
            jobs.append(
                SyncJob(account_id=account, kind=kind, egress=name, priority=LAST, weight=weight, due_at=due)
            )
    SyncJob.objects.bulk_create(jobs, ignore_conflicts=True)
    return len(jobs)


def _waiting() -> dict[tuple[str, str, str], float]:
    """What the first readings that are still to come weigh, by address, venue and root."""
    never = SyncJob.objects.filter(kind__in=OWN_KINDS, last_success_at=None, failures=0)
    weights: dict[tuple[str, str, str], float] = defaultdict(float)
    rows = never.order_by().values_list("egress", "account__venue", "kind").annotate(Sum("weight"))
    for name, venue, kind, weight in rows:
        weights[name, venue, _root(kind)] += weight
    return weights


def _stretched(rows: list[tuple[str, str, str, float]]) -> list[dict[str, object]]:
    """The interval of each kind at each address and venue."""
    loads: dict[tuple[str, str, str], float] = defaultdict(float)
    for name, venue, kind, weight in rows:
        loads[name, venue, _root(kind)] += weight / bounds(venue, kind).floor
    found = []
    for name, venue, kind, _ in rows:
        factor = max(1.0, loads[name, venue, _root(kind)] / max(_share(name, venue, _root(kind)), 1e-6))
        seconds = bounds(venue, kind).floor * min(factor, 1000.0)
        found.append({"egress": name, "venue": venue, "kind": kind, "seconds": seconds})
    return found


def _root(kind: str) -> str:
    return CONTRACT if kind == SyncJob.Kind.LEAD else SPOT


def _share(name: str, venue: str, root: str) -> float:
    """Weight per second that they may take there; where an address is stopped, as if it had some: it comes back."""
    usable = room.usable(name, venue, root) if name in egress.names() else 0.0
    return (LEAD_SHARE if root == CONTRACT else SPOT_SHARE) * usable if usable > 0 else 1.0
