"""What one more egress address would give: the planner's own answer, with today's accounts and a larger budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import (
    Avg,
    Case,
    Count,
    Expression,
    F,
    FilteredRelation,
    FloatField,
    Max,
    Q,
    Value,
    When,
)
from django.db.models.functions import Greatest, Least, Ln, Now, Round

from copytrade import egress
from copytrade.models import COPY_KINDS, Account, SyncJob
from copytrade.scheduling import planner, rates, room

# Open lists whose weight per rate is within some 10 % of each other count as one, and what is not asked about within
# some 40 %: a desk of thousands of accounts is a few hundred rows. Their sums stay exact.
FINENESS, ROUGHLY = 10.0, 3.0
Kind = SyncJob.Kind


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
    names = egress.names()
    usable = {name: room.usable(name, venue) for name in names}
    groups = {name: rows for name, rows in _groups(venue).items() if usable.get(name, 0.0) > 0}
    accounts = sum(row.times for rows in groups.values() for row in rows if row.kind == Kind.OPEN)
    if not accounts:
        return None
    # The new one takes its part of the accounts of each: as if each that there is had so much more to give.
    more = {name: each * (len(names) + 1) / len(names) for name, each in usable.items()}
    label = settings.VENUES[venue]["label"]
    return OneMore(
        venue, label, accounts, len(names), _middle(groups, usable, venue), _middle(groups, more, venue)
    )


def _groups(venue: str) -> dict[str, list[planner.Row]]:
    """The readings at a venue, address by address, those that are alike as one row.

    What closes bring forward goes by the account's open list, so histories and traders are alike when theirs is, too.
    """
    boosted = Case(When(boost_until__gt=Now(), then=Value(True)), default=Value(False))
    walking = Case(When(priority__gt=1, failures=0, then=Value(2)), default=Value(1))
    their = _step(FINENESS, "their__")
    rows = (
        SyncJob.objects.filter(account__venue=venue, kind__in=COPY_KINDS)
        .exclude(account__state=Account.State.REFUSED)
        .alias(their=FilteredRelation("account__jobs", condition=Q(account__jobs__kind=Kind.OPEN)))
        .annotate(
            step=Case(
                When(kind__in=[Kind.TRADERS, Kind.SETTINGS], then=_step(ROUGHLY)), output_field=FloatField()
            ),
            looked_at=boosted,
            open_step=Case(When(~Q(kind=Kind.SETTINGS), then=their), output_field=FloatField()),
            open_looked_at=Case(
                When(~Q(kind=Kind.SETTINGS) & Q(their__boost_until__gt=Now()), then=Value(True)),
                default=Value(False),
            ),
        )
        .order_by()
        .values_list("egress", "kind", "step", "looked_at", "open_step", "open_looked_at")
        .annotate(Count("pk"), Avg("changes"), Avg("exposure"), Avg("weight"), urgency=Max(walking))
    )  # fmt: skip
    found: dict[str, list[planner.Row]] = defaultdict(list)
    for number, (name, kind, _, looked_at, *whose, n, changes, exposure, weight, priority) in enumerate(rows):
        row = planner.Row(
            number, tuple(whose), kind, name, venue, None, changes, exposure, weight, priority,
            failures=0, boosted=looked_at, ahead=0.0, times=n,
        )  # fmt: skip
        found[name].append(row)
    return found


def _step(fineness: float, of: str = "") -> Expression:
    """What the planner's intervals go by: weight per rate (plan.py), in steps."""
    changes = F(f"{of}changes") + Value(rates.PRIOR_CHANGES)
    exposure = F(f"{of}exposure") + Value(rates.PRIOR_EXPOSURE)
    rate = Least(changes / exposure, Value(rates.FASTEST))
    return Round(
        Ln(Greatest(F(f"{of}weight"), Value(1.0)) / rate) * Value(fineness), output_field=FloatField()
    )


def _middle(groups: Mapping[str, Sequence[planner.Row]], usable: Mapping[str, float], venue: str) -> float:
    """The interval of the open list in the middle, as the planner would choose it."""
    open_lists = sorted(
        (interval, row.times)
        for name, rows in groups.items()
        for row, interval in zip(
            rows, planner.intervals(rows, usable[name] * planner.PLANNED, venue), strict=True
        )
        if row.kind == Kind.OPEN
    )
    half, seen = sum(n for _, n in open_lists) / 2, 0
    for interval, n in open_lists:
        seen += n
        if seen >= half:
            return interval
    return 0.0
