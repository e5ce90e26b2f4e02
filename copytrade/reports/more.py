"""What one more egress address would give: the planner's own answer, with today's accounts and a larger budget."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import exp

from django.conf import settings
from django.db.models import Count, F, FloatField, Value
from django.db.models.functions import Greatest, Least, Ln, Round

from copytrade import egress
from copytrade.intervals import bounds
from copytrade.models import COPY_KINDS, Account, SyncJob
from copytrade.scheduling import rates, room
from copytrade.scheduling.plan import Job, plan

# Rates within some 10 % of each other count as one: a desk of thousands of accounts is a few hundred jobs.
FINENESS = 10


@dataclass(frozen=True)
class OneMore:
    """The middle interval of the open lists, in seconds, with the addresses there are and with one more."""

    venue: str
    label: str
    accounts: int
    addresses: int
    now: float
    then: float

    @property
    def helps(self) -> bool:
        return self.then < 0.95 * self.now


def one_more(venues: Collection[str]) -> list[OneMore]:
    """One answer per venue that is read at all; a query each, and no name of anybody."""
    found = (_one_more(venue) for venue in sorted(set(venues) & set(settings.VENUES)))
    return [answer for answer in found if answer]


def _one_more(venue: str) -> OneMore | None:
    groups = _groups(venue)
    addresses = egress.names()
    budget = sum(room.usable(name, venue) for name in addresses)
    accounts = sum(n for kind, n, _ in groups if kind == SyncJob.Kind.OPEN)
    if not accounts or budget <= 0:
        return None
    more = budget * (len(addresses) + 1) / len(addresses)
    label = settings.VENUES[venue]["label"]
    return OneMore(venue, label, accounts, len(addresses), _middle(groups, budget), _middle(groups, more))


def _groups(venue: str) -> list[tuple[str, int, Job]]:
    """(kind, how many, all of them as one job) of the readings at a venue that are alike.

    n jobs of rate r and weight w get the same interval as one of n r and n w, and cost as much."""
    rate = Least(
        (F("changes") + Value(rates.PRIOR_CHANGES)) / (F("exposure") + Value(rates.PRIOR_EXPOSURE)),
        Value(rates.FASTEST),
    )
    rows = (
        SyncJob.objects.filter(account__venue=venue, kind__in=COPY_KINDS)
        .exclude(account__state=Account.State.REFUSED)
        .annotate(
            step=Round(Ln(Greatest(rate, Value(1e-12))) * Value(float(FINENESS)), output_field=FloatField()),
            weighs=Round(F("weight"), output_field=FloatField()),
        )
        .order_by()
        .values_list("kind", "step", "weighs")
        .annotate(n=Count("pk"))
    )
    groups = []
    for kind, step, weight, n in rows:
        limits = bounds(venue, kind)
        groups.append(
            (kind, n, Job(n * exp(step / FINENESS), n * max(weight, 1.0), limits.floor, limits.cap))
        )
    return groups


def _middle(groups: list[tuple[str, int, Job]], budget: float) -> float:
    """The interval of the open list in the middle, as the planner would choose it."""
    intervals = plan([job for _, _, job in groups], budget)
    open_lists = sorted(
        (interval, n)
        for (kind, n, _), interval in zip(groups, intervals, strict=True)
        if kind == SyncJob.Kind.OPEN
    )
    half, seen = sum(n for _, n in open_lists) / 2, 0
    for interval, n in open_lists:
        seen += n
        if seen >= half:
            return interval
    return 0.0
