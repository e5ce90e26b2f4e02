"""Changing copy settings: recorded before it is sent, sent at most once, then read back.

    DRAFT -> CONFIRMED -> SENDING -> APPLIED | REJECTED | UNKNOWN -> APPLIED | NOT_SEEN | CONFLICT

Here a change is drafted, confirmed, and followed by a linked one: merged, sent again, or a restore.
sending.py sends it, outcomes.py finds out what became of it. A page never sends: it confirms, and a
worker is woken (tasks.hint_change); what that message loses the tick takes up.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from . import audit, rules, symbols, versions
from .models import ChangeGroup, SettingsChange, SettingsVersion, Trader, User
from .outcomes import CANNOT_BE_READ, READ_BACK_AFTER, in_words, read_back, read_settings
from .sending import proceed, send, sender_time, take_up

__all__ = [
    "CANNOT_BE_READ",
    "READ_BACK_AFTER",
    "ChangeInvalid",
    "ChangeRefused",
    "Conflict",
    "again",
    "body_mark",
    "check",
    "confirm",
    "conflict",
    "draft",
    "proceed",
    "read_back",
    "read_settings",
    "resolve",
    "restore",
    "send",
    "sender_time",
    "take_up",
]

State = SettingsChange.State
Origin = SettingsChange.Origin
# How long a worker has to take up a confirmed change before the tick does.
HINT_HAS = timedelta(seconds=5)


class ChangeRefused(Exception):
    """The desk does not go on with this change. The message is a sentence; nothing was sent."""


class ChangeInvalid(ChangeRefused):
    """The settings break rules: `violations` name each field."""

    def __init__(self, violations: list[rules.Violation]):
        super().__init__("These settings cannot be sent: " + violations[0].message)
        self.violations = violations


@dataclass(frozen=True)
class Conflict:
    """What the page of a conflict shows: what the change was built on, what is there now, and the rows
    where theirs or mine differs from the base (rules.merge.Row)."""

    base: SettingsVersion
    theirs: SettingsVersion
    rows: list[rules.Row]


def check(trader: Trader, settings: rules.CopySettings) -> list[rules.Violation]:
    """Every broken rule of these settings for this trader, ours included."""
    body = rules.to_body(trader.trader_id, settings)
    return rules.check_body(body, supported=symbols.supported(trader.account.venue), ours=True)


def body_mark(change: SettingsChange) -> str:
    """What a review was rendered for: a hash of the exact body (64 hex digits)."""
    text = json.dumps(change.body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def draft(
    trader: Trader,
    settings: rules.CopySettings,
    author: User | None,
    *,
    origin: str = Origin.EDIT,
    previous: SettingsChange | None = None,
    group: ChangeGroup | None = None,
) -> SettingsChange:
    """A change under review, against the settings last read. Raises ChangeRefused, ChangeInvalid."""
    base = versions.latest(trader)
    before = versions.understood(base.answer) if base else None
    if base is None or before is None:
        raise ChangeRefused(
            "The settings now in force could not be read, so nothing can be compared. Reload them first."
        )
    if violations := check(trader, settings):
        raise ChangeInvalid(violations)
    if rules.same(before, settings):
        raise ChangeRefused(
            "These are the settings that the exchange holds already: there is nothing to send."
        )
    return SettingsChange.objects.create(
        trader=trader,
        author=author,
        base=base,
        body=rules.to_body(trader.trader_id, settings),
        differences=in_words(before, settings),
        origin=origin,
        previous=previous,
        group=group,
    )


def confirm(
    change: SettingsChange, key: uuid.UUID | str, seen: str | None = None, by: User | None = None
) -> SettingsChange:
    """The person has reviewed it: to be sent now. The same key again changes nothing.

    `seen`: the body_mark that the review carried (None: not asked, as from a command; "" is a wrong one).
    `by`: who pressed it, for the audit log; the author when left out.
    Raises ChangeRefused: another key or body, writes switched off, or another change under way.
    """
    if str(change.key) != str(key):
        raise ChangeRefused("This review is out of date. Open the settings again and review them once more.")
    if seen is not None and seen != body_mark(change):
        raise ChangeRefused(
            "What you reviewed is not what this change would send, so nothing was sent. "
            "Open the settings again and review them once more."
        )
    if change.state != State.DRAFT:
        return change
    if not change.trader.account.writes_enabled:
        raise ChangeRefused("This connection is read-only here. Allow changes on the Connections page first.")
    try:
        with transaction.atomic():
            _commit_intent(change, by or change.author)
    except IntegrityError:
        raise ChangeRefused(
            "Another change for this trader is under way. Wait until its outcome is known."
        ) from None
    change.refresh_from_db()
    return change


def _commit_intent(change: SettingsChange, user: User | None) -> None:
    """DRAFT to CONFIRMED and its line in the audit log: both or neither, and once."""
    drafted = SettingsChange.objects.filter(pk=change.pk, state=State.DRAFT)
    if drafted.update(state=State.CONFIRMED, look_again_at=timezone.now() + HINT_HAS):
        audit.note(
            user,
            audit.Action.SEND,
            trader=change.trader,
            subject=f"Settings for {change.trader} ({Origin(change.origin).label})",
            details={"change": str(change.key), "differences": change.differences},
        )


def conflict(change: SettingsChange) -> Conflict:
    """The three sides of a CONFLICT, by what is known now. Raises ChangeRefused where one is missing."""
    if change.state != State.CONFLICT:
        raise ChangeRefused("This change is not in conflict with anything.")
    theirs = versions.latest(change.trader)
    if change.base is None or theirs is None:
        raise ChangeRefused(_CANNOT_COMPARE)
    rows = rules.three_way(*_sides(change, theirs))
    return Conflict(change.base, theirs, rows)


_CANNOT_COMPARE = (
    "The settings cannot be compared: they could not be read. Open the settings and start from there."
)


def _sides(
    change: SettingsChange, theirs: SettingsVersion
) -> tuple[rules.CopySettings, rules.CopySettings, rules.CopySettings]:
    base = versions.understood(change.base.answer) if change.base else None
    found = versions.understood(theirs.answer)
    if base is None or found is None:
        raise ChangeRefused(_CANNOT_COMPARE)
    return base, found, versions.wanted(change)


def resolve(
    change: SettingsChange, choices: Mapping[str, str], author: User | None, theirs: int | None = None
) -> SettingsChange:
    """A new draft that merges a change in CONFLICT with what is there now, by the person's choices.

    `choices`: {row path: "mine" | "theirs"}; left out: the side that changed. `theirs`: the version that
    the page showed. Raises ChangeRefused (a clash without a choice, or the exchange holds something newer
    than the page showed), ChangeInvalid (the merged settings break rules).
    """
    found = conflict(change)
    if theirs is not None and theirs != found.theirs.pk:
        raise ChangeRefused("The settings changed once more meanwhile. Look at the choices again.")
    try:
        settings = rules.merged(*_sides(change, found.theirs), choices)
    except rules.Unchosen as error:
        raise ChangeRefused(str(error)) from None
    return draft(change.trader, settings, author, origin=Origin.MERGE, previous=change)


def again(change: SettingsChange, author: User | None) -> SettingsChange:
    """A new draft of a change that was not seen, or not taken: linked to it, reviewed and sent on its own.

    Should the first arrive after all, a later reading makes that one APPLIED. Raises ChangeRefused, ChangeInvalid.
    """
    if change.state not in (State.NOT_SEEN, State.REJECTED):
        raise ChangeRefused("Only a change that did not arrive can be sent again.")
    return draft(change.trader, rules.from_body(change.body), author, origin=Origin.AGAIN, previous=change)


def restore(version: SettingsVersion, author: User | None) -> SettingsChange:
    """A draft that brings back a version of the timeline. Raises ChangeRefused, ChangeInvalid."""
    settings = versions.understood(version.answer)
    if settings is None:
        raise ChangeRefused(
            "These settings could not be understood when they were read, so they cannot be sent."
        )
    with transaction.atomic():
        prepared = draft(version.trader, settings, author, origin=Origin.RESTORE)
        audit.note(
            author,
            audit.Action.RESTORE,
            trader=version.trader,
            subject=f"Settings of {version.first_seen_at:%Y-%m-%d %H:%M} UTC for {version.trader}",
            details={"version": version.pk, "change": str(prepared.key), "differences": prepared.differences},
        )
    return prepared
