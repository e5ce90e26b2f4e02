"""What each person wants to hear of: the rules in force, and how they are changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from copytrade import audit
from copytrade.models import AlertRule, AuditEntry, QuietHours, Trader, User

from . import words
from .kinds import KINDS, MOST, OFF, About


@dataclass(frozen=True)
class Rule:
    """What holds: `limit` in `unit` (None, "" where the kind has none). `since`: None for a default; what happened
    before it raises nothing."""

    mode: str
    limit: Decimal | None = None
    unit: str = ""
    since: datetime | None = None


class BadLimit(ValueError):
    """A limit that makes no sense; the text is a sentence for its field."""


def default(kind: str) -> Rule:
    about = KINDS[kind]
    return Rule(about.mode, about.limit, about.units[0] if about.units else "")


class Book:
    """The rules of everybody (or of some), read in one query."""

    def __init__(self, rows: Iterable[AlertRule]) -> None:
        self._rows = {(row.owner_id, row.kind, row.trader_id): row for row in rows}
        self._of_kind: dict[tuple[int, str], list[AlertRule]] = {}
        for row in self._rows.values():
            self._of_kind.setdefault((row.owner_id, row.kind), []).append(row)

    def of(self, owner: int, kind: str, trader: int | None = None) -> Rule:
        """The rule for this trader, else for all, else the default."""
        general = self._rows.get((owner, kind, None))
        rule = _rule(general) if general else default(kind)
        own = self._rows.get((owner, kind, trader)) if trader is not None else None
        if own is None:
            return rule
        if own.threshold is None:  # as for everybody
            return Rule(own.mode, rule.limit, rule.unit, _later(own.since, rule.since))
        return _rule(own)

    def all_of(self, owner: int, kind: str) -> list[Rule]:
        """Every rule of the person's that may apply to some trader."""
        rows = self._of_kind.get((owner, kind), [])
        return [self.of(owner, kind), *(self.of(owner, kind, row.trader_id) for row in rows if row.trader_id)]

    def wanted(self, owner: int, kind: str) -> bool:
        """Is this kind raised for any of the person's traders?"""
        return any(rule.mode != OFF for rule in self.all_of(owner, kind))

    def lowest(self, owner: int, kind: str) -> Decimal:
        """The lowest limit of the person's, whether it is on or off: what lasts is over by it either way."""
        return min(rule.limit or Decimal(0) for rule in self.all_of(owner, kind))

    def least(self, owner: int, kind: str) -> Decimal | None:
        """The lowest limit that is on or silent; None where all are off."""
        rules = [rule for rule in self.all_of(owner, kind) if rule.mode != OFF]
        return min((rule.limit for rule in rules if rule.limit is not None), default=None)


def book(owners: Iterable[int] | None = None) -> Book:
    """The rules as they are now. One query."""
    rows = AlertRule.objects.all()
    return Book(rows if owners is None else rows.filter(owner__in=list(owners)))


def _rule(row: AlertRule) -> Rule:
    return Rule(row.mode, row.threshold, row.unit, row.since)


def _later(one: datetime, other: datetime | None) -> datetime:
    return one if other is None else max(one, other)


# --- changing them ---------------------------------------------------------------------------------------
def checked(about: About, limit: Decimal | None, unit: str) -> tuple[Decimal | None, str]:
    """(limit, unit) as they are kept. Raises BadLimit."""
    if not about.units:
        return None, ""
    unit = unit if unit in about.units else about.units[0]
    if limit is None:
        raise BadLimit("A limit is missing here.")
    if not limit.is_finite() or limit <= 0:
        raise BadLimit("The limit has to be above 0.")
    if limit > MOST[unit]:
        raise BadLimit(f"The limit can be {words.limit(MOST[unit], unit)} at most.")
    if limit.as_tuple().exponent < -8:
        raise BadLimit("The limit may have 8 decimal places.")
    return limit, unit


def save(person: User, wanted: Mapping[str, tuple[str, Decimal | None, str]]) -> list[str]:
    """Store {kind: (mode, limit, unit)} for all traders, those that differ from what holds; what changed, in words.

    Limits are those that `checked` gave."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=person.pk)
        held, said = book([person.pk]), []
        for kind, (mode, limit, unit) in wanted.items():
            now = held.of(person.pk, kind)
            if (mode, limit, unit) == (now.mode, now.limit, now.unit):
                continue
            _store(person, kind, None, mode, limit, unit)
            said.append(f"{KINDS[kind].label}: {_in_words(mode, limit, unit)}")
        _note(person, said)
    return said


def override(
    person: User, kind: str, trader: Trader, mode: str, limit: Decimal | None = None, unit: str = ""
) -> AlertRule:
    """Set what holds for one trader instead; without a limit that of all traders holds. The trader is the person's."""
    with transaction.atomic():
        row = _store(person, kind, trader, mode, limit, unit if limit is not None else "")
        _note(person, [f"{KINDS[kind].label}, {trader}: {_in_words(mode, limit, unit)}"])
    return row


def drop(rule: AlertRule) -> None:
    """From here on the rule for all traders holds for this one too, for what happened within the last day as well."""
    with transaction.atomic():
        _note(rule.owner, [f"{KINDS[rule.kind].label}, {rule.trader}: as for all traders"])
        rule.delete()


def overrides(person: User) -> QuerySet[AlertRule]:
    """What holds for single traders."""
    rows = AlertRule.objects.filter(owner=person, trader__isnull=False, kind__in=KINDS)
    return rows.select_related("trader__account", "owner").order_by("trader__name", "trader_id", "kind")


def set_quiet(person: User, begins: time | None, ends: time | None) -> None:
    """Quiet hours by the clock of the person's zone; None, or an end that is the beginning: none."""
    with transaction.atomic():
        rows = QuietHours.objects.filter(owner=person)
        if begins is None or ends is None or begins == ends:
            if rows.delete()[0]:
                _note(person, ["Quiet hours: none"])
            return
        if rows.filter(begins=begins, ends=ends).exists():
            return
        QuietHours.objects.update_or_create(owner=person, defaults={"begins": begins, "ends": ends})
        _note(person, [f"Quiet hours: {begins:%H:%M} to {ends:%H:%M}"])


def _store(
    person: User, kind: str, trader: Trader | None, mode: str, limit: Decimal | None, unit: str
) -> AlertRule:
    values = {"mode": mode, "threshold": limit, "unit": unit, "since": timezone.now()}
    row, _ = AlertRule.objects.update_or_create(owner=person, kind=kind, trader=trader, defaults=values)
    return row


def _in_words(mode: str, limit: Decimal | None, unit: str) -> str:
    return f"{mode}, {words.limit(limit, unit)}" if limit is not None else mode


def _note(person: User, said: list[str]) -> None:
    """One entry for what was changed together: who silences an alarm can be found."""
    if said:
        audit.note(person, AuditEntry.Action.ALERT_RULES, subject="; ".join(said), details={"rules": said})
