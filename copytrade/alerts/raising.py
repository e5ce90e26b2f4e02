"""From what was found to rows: by each person's rules, each once, in order; and what lasts is over when it ends.

All of it in one transaction, one at a time: two that look at once leave what one would have left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from copytrade.locks import RAISING_LOCK
from copytrade.models import Alert, QuietHours, User
from copytrade.rollups import zone_of

from . import folds
from .hours import told_from
from .kinds import KINDS, OFF, ON, STATES
from .rules import Book, Rule
from .words import one_line

MOST_AT_ONCE = 5000  # what is beyond that is new at the next look too


@dataclass(frozen=True)
class Found:
    """Something that was noticed. `at`: when it happened; what happened before its rule was made raises nothing.
    `holds_only`: of what lasts, it keeps an alert that is there from being over and raises none.
    `created_at`: the alert's time where it is not that of the look."""

    kind: str
    key: str
    owner: int
    sentence: str
    account: int | None = None
    trader: int | None = None
    order: int | None = None
    at: datetime | None = None
    holds_only: bool = False
    created_at: datetime | None = None

    @property
    def subject(self) -> tuple:
        """What can have one alert at a time, of a kind that lasts."""
        own = self.key if self.kind in _BY_OCCASION else None
        return (self.kind, self.account, self.trader, self.order, own)


# Each of these ends with its occasion, and the next one is another alert.
_BY_OCCASION = frozenset({Alert.Kind.KEY_REFUSED, Alert.Kind.GONE})


def settle(found: Iterable[Found], rules: Book, now: datetime, states: Collection[str] = ()) -> int:
    """Store what is new, in the order of its happening; how many. `states`: the kinds of which `found` tells all that
    last, so that what is not among it is over. Some queries, however many there are."""
    found = sorted(found, key=lambda one: (one.created_at or one.at or now, one.key))
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [RAISING_LOCK])
        held = _still_open(found, now, states)
        wanted = [(one, rule) for one in found if one.subject not in held and (rule := _applies(one, rules))]
        wanted = wanted[:MOST_AT_ONCE]
        known = _known([one.key for one, _ in wanted], now)
        rows = _rows([(one, rule) for one, rule in wanted if one.key not in known], now)
        folds.store(rows, now)
    return len(rows)


def _still_open(found: Sequence[Found], now: datetime, states: Collection[str]) -> set[tuple]:
    """The subjects that have an alert which is not over. Those that are over now are marked so."""
    lasting = {one.subject for one in found if one.kind in STATES}
    rows = Alert.objects.filter(kind__in=list(states), resolved_at=None, times=1)
    held, over = set(), []
    for pk, key, *subject in rows.values_list("pk", "key", "kind", "account_id", "trader_id", "order_id"):
        mine = (*subject, key if subject[0] in _BY_OCCASION else None)
        if mine in lasting:
            held.add(mine)
        else:
            over.append(pk)
    end(over, now)
    return held


def end(alerts: Collection[int], now: datetime) -> None:
    """Mark these as over, and the folded ones that have no other part."""
    if not alerts:
        return
    Alert.objects.filter(pk__in=alerts, resolved_at=None).update(resolved_at=now)
    heads = list(Alert.objects.filter(folded__in=alerts, resolved_at=None).values_list("pk", flat=True))
    lasting = Alert.objects.filter(folded_into=OuterRef("pk"), resolved_at=None)
    Alert.objects.filter(~Exists(lasting), pk__in=heads).update(resolved_at=now)


def _applies(one: Found, rules: Book) -> Rule | None:
    """The rule by which it is raised; None where it is not."""
    rule = rules.of(one.owner, one.kind, one.trader)
    if one.holds_only or rule.mode == OFF:
        return None
    if one.kind not in STATES and rule.since and one.at and one.at < rule.since:
        return None
    return rule


def _known(keys: list[str], now: datetime) -> set[str]:
    """Those that have an alert. One that had been over and lasts again opens again, and is not told again."""
    rows = Alert.objects.filter(key__in=keys)
    known = set(rows.values_list("key", flat=True)) if keys else set()
    if known:
        back = rows.filter(kind__in=STATES, resolved_at__isnull=False)
        heads = list(back.filter(folded_into__isnull=False).values_list("folded_into", flat=True))
        Alert.objects.filter(pk__in=heads).update(resolved_at=None)
        back.update(resolved_at=None)
    return known


def _rows(new: Sequence[tuple[Found, Rule]], now: datetime) -> list[Alert]:
    """Alerts that are not stored yet, each once, with the time from which they may be told."""
    made: dict[str, Alert] = {}
    from_when = told_when({one.owner for one, _ in new}, now)
    for one, rule in new:
        loud = rule.mode == ON
        made.setdefault(
            one.key,
            Alert(
                owner_id=one.owner, kind=one.kind, key=one.key, account_id=one.account, trader_id=one.trader,
                order_id=one.order, sentence=one_line(one.sentence), created_at=one.created_at or now,
                silent=not loud, loud_at=from_when[one.owner] if loud else None,
            ),
        )  # fmt: skip
    return list(made.values())


def told_when(owners: Collection[int], now: datetime) -> dict[int, datetime]:
    """From when on channels may tell each of these people something: now, or when their quiet hours end."""
    if not owners:
        return {}
    hours = {row.owner_id: row for row in QuietHours.objects.filter(owner__in=owners).select_related("owner")}
    return {
        owner: told_from(now, row.begins, row.ends, zone_of(row.owner)) if (row := hours.get(owner)) else now
        for owner in owners
    }


def tell(
    owner: User, kind: str, key: str, sentence: str, rules: Book, now: datetime, account: int | None = None
) -> bool:
    """Raise one thing that has happened; False where its key is known, or its owner does not want to hear of it."""
    if KINDS[kind].state:
        raise ValueError("What lasts is raised by looking, so that it can be over.")
    return settle([Found(kind, key, owner.pk, sentence, account=account, at=now)], rules, now) == 1
