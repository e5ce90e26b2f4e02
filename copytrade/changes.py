"""Changing copy settings: recorded before it is sent, sent at most once, then read back.

    DRAFT -> CONFIRMED -> SENDING -> APPLIED | REJECTED | UNKNOWN -> APPLIED | NOT_SEEN | CONFLICT

SENDING is committed before the socket opens, and the only way into it is one conditional UPDATE: so a
double click, a second worker or a repeated message cannot send a second body. An answer that was lost
leaves UNKNOWN, which is answered by reading, never by sending.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings as django_settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from . import health, rules, symbols, versions
from .clients import NoKey, talking_to
from .exchange.errors import (
    ExchangeError,
    Malformed,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)
from .models import SettingsChange, SettingsVersion, Trader, User
from .vault import VaultError

State = SettingsChange.State
# Seconds after sending at which an unknown outcome is looked at.
READ_BACK_AFTER = (1.0, 3.0, 10.0, 30.0, 60.0)
# A sender that has said nothing for so long after its call's deadline is dead.
SENDER_IS_DEAD_AFTER = timedelta(seconds=10)
# A confirmed change that could not even be prepared within this time is given up, unsent.
GIVE_UP_UNSENT_AFTER = timedelta(minutes=2)


class ChangeRefused(Exception):
    """The desk does not go on with this change. The message is a sentence; nothing was sent."""


class ChangeInvalid(ChangeRefused):
    """The settings break rules: `violations` name each field."""

    def __init__(self, violations: list[rules.Violation]):
        super().__init__("These settings cannot be sent: " + violations[0].message)
        self.violations = violations


def read_settings(trader: Trader, *, interactive: bool = True) -> SettingsVersion:
    """Fetch what the exchange holds now and store it. Raises ExchangeError, NoKey, VaultError."""
    try:
        with talking_to(trader.account, interactive=interactive) as client:
            version = versions.read(trader, client)
    except ExchangeError as error:
        health.failed(trader.account, error)
        raise
    health.succeeded(trader.account)
    return version


def check(trader: Trader, settings: rules.CopySettings) -> list[rules.Violation]:
    """Every broken rule of these settings for this trader, ours included."""
    body = rules.to_body(trader.trader_id, settings)
    return rules.check_body(body, supported=symbols.supported(trader.account.venue), ours=True)


def draft(trader: Trader, settings: rules.CopySettings, author: User | None) -> SettingsChange:
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
        differences=_in_words(before, settings),
    )


def confirm(change: SettingsChange, key: uuid.UUID | str) -> SettingsChange:
    """The person has reviewed it: to be sent now. The same key again changes nothing.

    Raises ChangeRefused: another key, writes switched off, a draft replaced, or another change under way.
    """
    if str(change.key) != str(key):
        raise ChangeRefused("This review is out of date. Open the settings again and review them once more.")
    if change.state != State.DRAFT:
        return change
    if not change.trader.account.writes_enabled:
        raise ChangeRefused("This connection is read-only here. Allow changes on the Connections page first.")
    try:
        with transaction.atomic():
            SettingsChange.objects.filter(pk=change.pk, state=State.DRAFT).update(
                state=State.CONFIRMED, look_again_at=timezone.now() + timedelta(seconds=5)
            )
    except IntegrityError:
        raise ChangeRefused(
            "Another change for this trader is under way. Wait until its outcome is known."
        ) from None
    change.refresh_from_db()
    return change


def send(change_id: int) -> str:
    """Send a confirmed change, once; the state it ended in. Safe to call at any time, by anyone."""
    change = _load(change_id)
    if change.state != State.CONFIRMED:
        return change.state
    refusal = _obstacle(change)
    if refusal is not None:
        return refusal
    now = timezone.now()
    if not _move(change, State.CONFIRMED, State.SENDING, sent_at=now, look_again_at=now + sender_time()):
        return _load(change_id).state
    _post(change)
    if _load(change_id).state in (State.SENDING, State.UNKNOWN) and change.accepted:
        return read_back(change_id)
    return _load(change_id).state


def sender_time() -> timedelta:
    """How long a sender may be silent before its change is looked at by others."""
    return timedelta(seconds=django_settings.EXCHANGE_DEADLINE) + SENDER_IS_DEAD_AFTER


def _obstacle(change: SettingsChange) -> str | None:
    """The state a change ends in before anything is sent, or None when the way is free."""
    trader = change.trader
    if not trader.account.writes_enabled:
        return _end_unsent(change, "read_only", "This connection is read-only here. Nothing was sent.")
    try:
        theirs = read_settings(trader)
    except (Unreachable, RateLimited, Malformed) as error:
        if timezone.now() - change.created_at < GIVE_UP_UNSENT_AFTER:
            _move(
                change, State.CONFIRMED, State.CONFIRMED, look_again_at=timezone.now() + timedelta(seconds=4)
            )
            return State.CONFIRMED
        return _end_unsent(change, "unreachable", f"Nothing was sent. {error.sentence}")
    except ExchangeError as error:
        return _end_unsent(change, str(error.code or ""), f"Nothing was sent. {error.sentence}")
    except (NoKey, VaultError) as error:
        return _end_unsent(change, "no_key", f"Nothing was sent. {error}")
    return _overtaken(change, theirs)


def _overtaken(change: SettingsChange, theirs: SettingsVersion) -> str | None:
    """The state a change ends in because the exchange holds something else than was reviewed, or None."""
    found = versions.understood(theirs.answer)
    if theirs.copy_enable is False and not (change.base and change.base.copy_enable is False):
        # Whether a write would start the copying is not known, and the review did not ask (open-points.md).
        words = "This trader is not copied any more. Nothing was sent. Review the settings once more."
        _move(
            change, State.CONFIRMED, State.CONFLICT,
            resolved_at=timezone.now(), error_code="changed_elsewhere", error_message=words,
        )  # fmt: skip
        return State.CONFLICT
    if found is not None and rules.same(found, _target(change)):
        words = "The exchange already held exactly these settings, so nothing was sent."
        _move(change, State.CONFIRMED, State.APPLIED, resolved_at=timezone.now(), error_message=words)
        return State.APPLIED
    base = versions.understood(change.base.answer) if change.base else None
    if found is None or base is None or not rules.same(found, base):
        words = "The settings were changed elsewhere after you opened them. Nothing was sent."
        changed_there = _in_words(base, found) if base and found else []
        _move(
            change, State.CONFIRMED, State.CONFLICT,
            resolved_at=timezone.now(), error_code="changed_elsewhere", error_message=words, not_kept=changed_there,
        )  # fmt: skip
        return State.CONFLICT
    return None


def _end_unsent(change: SettingsChange, code: str, words: str) -> str:
    _move(
        change,
        State.CONFIRMED,
        State.REJECTED,
        resolved_at=timezone.now(),
        error_code=code,
        error_message=words,
    )
    return State.REJECTED


def _post(change: SettingsChange) -> None:
    """The one place that writes settings. Everything that is not a clear yes or no is UNKNOWN."""
    trader = change.trader
    try:
        with talking_to(trader.account, interactive=True) as client:
            client.update_follower_settings(
                trader_id=trader.trader_id,
                settings=_target(change),
                supported=symbols.supported(trader.account.venue),
            )
    except (Rejected, Unauthorized, RateLimited, Unreachable) as error:
        health.failed(trader.account, error)
        words = error.sentence
        if isinstance(error, (RateLimited, Unreachable)):
            words = f"The exchange did not take the change. {error.sentence}"
        _move(
            change, State.SENDING, State.REJECTED, accepted=False,
            resolved_at=timezone.now(), error_code=str(error.code or ""), error_message=words,
        )  # fmt: skip
    except (NoKey, VaultError) as error:  # before the socket opens: the key went, or is another account's now
        _move(
            change, State.SENDING, State.REJECTED, accepted=False,
            resolved_at=timezone.now(), error_code="no_key", error_message=f"Nothing was sent. {error}",
        )  # fmt: skip
    except Exception as error:
        words = error.sentence if isinstance(error, (OutcomeUnknown, Malformed)) else "The answer was lost."
        _become_unknown(change, words)
        if not isinstance(error, ExchangeError):
            raise
    else:
        change.accepted = True
        _move(change, State.SENDING, State.SENDING, accepted=True)


def _become_unknown(change: SettingsChange, words: str) -> None:
    first_look = (change.sent_at or timezone.now()) + timedelta(seconds=READ_BACK_AFTER[0])
    _move(
        change,
        State.SENDING,
        State.UNKNOWN,
        error_message=words,
        look_again_at=max(first_look, timezone.now()),
    )


def read_back(change_id: int, delays: Sequence[float] = READ_BACK_AFTER) -> str:
    """Look once at what the exchange holds and decide, or say when to look again; the state after it.

    `delays`: seconds after sending at which to look. Equal to ours: APPLIED. Accepted, and something else
    is there: CONFLICT. Neither by the last look: NOT_SEEN when it is still the base, else CONFLICT.
    """
    change = _load(change_id)
    if change.state not in (State.SENDING, State.UNKNOWN):
        return change.state
    try:
        version = read_settings(change.trader)
    except (ExchangeError, NoKey, VaultError) as error:
        return _look_again(change, delays, failed=getattr(error, "sentence", str(error)))
    found, mine = versions.understood(version.answer), _target(change)
    if found is not None and rules.same(found, mine):
        return _decide(change, State.APPLIED, [])
    not_kept = _in_words(mine, found) if found is not None else []
    base = versions.understood(change.base.answer) if change.base else None
    unchanged = found is not None and base is not None and rules.same(found, base)
    if change.accepted and not unchanged:
        return _decide(
            change, State.CONFLICT, not_kept, "The exchange took the change but holds something else."
        )
    if not _last_look(change, delays):
        return _look_again(change, delays)
    if change.accepted:
        return _decide(
            change, State.CONFLICT, not_kept, "The exchange took the change but still shows the old settings."
        )
    if unchanged:
        words = "The change has not arrived: the exchange still holds the settings from before. You may send it again."
        return _decide(change, State.NOT_SEEN, [], words)
    return _decide(
        change, State.CONFLICT, not_kept, "The exchange holds neither the settings from before nor yours."
    )


def take_up(now: datetime | None = None, limit: int = 50) -> list[int]:
    """The changes that wait for somebody: confirmed but unsent, to be looked at, or left by a dead sender."""
    due = SettingsChange.objects.filter(
        state__in=SettingsChange.OPEN_STATES, look_again_at__lte=now or timezone.now()
    )
    return list(due.order_by("look_again_at").values_list("pk", flat=True)[:limit])


def proceed(change_id: int) -> str:
    """Do whatever a change needs next: send it, or look at its outcome; the state after it."""
    change = _load(change_id)
    if change.state == State.CONFIRMED:
        return send(change_id)
    if change.state == State.SENDING and not change.accepted:
        if change.look_again_at and timezone.now() < change.look_again_at:
            return change.state  # its sender may still be at it
        _become_unknown(change, "The sending was interrupted, so its outcome is not known.")
    return read_back(change_id)


def _target(change: SettingsChange) -> rules.CopySettings:
    return rules.from_body(change.body)


def _last_look(change: SettingsChange, delays: Sequence[float]) -> bool:
    sent = change.sent_at or change.created_at
    return timezone.now() >= sent + timedelta(seconds=delays[-1]) or change.read_backs + 1 >= len(delays)


def _look_again(change: SettingsChange, delays: Sequence[float], failed: str = "") -> str:
    """Plan the next look. A look that could not be made does not count, and the change stays open."""
    now, looks = timezone.now(), change.read_backs + (0 if failed else 1)
    sent = change.sent_at or change.created_at
    planned = sent + timedelta(seconds=delays[min(looks, len(delays) - 1)])
    fields = {"read_backs": looks, "look_again_at": max(planned, now + timedelta(seconds=5 if failed else 0))}
    if failed:
        fields["error_message"] = f"The outcome could not be read yet. {failed}"
    _move(change, change.state, State.UNKNOWN, **fields)
    return State.UNKNOWN


def _decide(change: SettingsChange, state: str, not_kept: list, words: str = "") -> str:
    _move(
        change, change.state, state, resolved_at=timezone.now(), look_again_at=None,
        not_kept=not_kept, error_message=words, read_backs=change.read_backs + 1,
    )  # fmt: skip
    return _load(change.pk).state


def _move(change: SettingsChange, before: str, after: str, **fields) -> bool:
    """The step from one state to the next, taken by one process only."""
    moved = SettingsChange.objects.filter(pk=change.pk, state=before).update(state=after, **fields) == 1
    if moved:
        change.state = after
        for name, value in fields.items():
            setattr(change, name, value)
    return moved


def _load(change_id: int) -> SettingsChange:
    return SettingsChange.objects.select_related("trader__account", "base").get(pk=change_id)


def _in_words(before: rules.CopySettings, after: rules.CopySettings) -> list[list[str]]:
    return [[line.label, line.before, line.after] for line in rules.differences(before, after)]
