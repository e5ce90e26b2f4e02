"""Sending a confirmed change: at most once, after a last look at what the exchange holds.

SENDING is committed before the socket opens, and the only way into it is one conditional UPDATE: so a
double click, a second worker or a repeated message cannot send a second body. An answer that was lost
leaves UNKNOWN, which is answered by reading (outcomes.py), never by sending.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings as django_settings
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
from .models import SettingsChange, SettingsVersion
from .outcomes import State, become_unknown, claim, in_words, load, move, read_back, read_settings
from .scheduling import boosts
from .vault import VaultError

# A sender that has said nothing for so long after its call's deadline is dead.
SENDER_IS_DEAD_AFTER = timedelta(seconds=10)
# A confirmed change that could not even be prepared within this time is given up, unsent.
GIVE_UP_UNSENT_AFTER = timedelta(minutes=2)


def send(change_id: int) -> str:
    """Send a confirmed change, once; the state it ended in. Safe to call at any time, by anyone."""
    change = load(change_id)
    if change.state != State.CONFIRMED or not claim(change) or _stopped(change):
        return load(change_id).state
    now = timezone.now()
    if not move(change, State.CONFIRMED, State.SENDING, sent_at=now, look_again_at=now + sender_time()):
        return load(change_id).state
    _post(change)
    boosts.change_in_flight(change.trader.account)
    if change.accepted:
        return read_back(change_id)
    return load(change_id).state


def sender_time() -> timedelta:
    """How long a sender may be silent before its change is looked at by others."""
    return timedelta(seconds=django_settings.EXCHANGE_DEADLINE) + SENDER_IS_DEAD_AFTER


def _stopped(change: SettingsChange) -> bool:
    """Whether the change does not go out: its end, or its wait, is then recorded. Nothing was sent."""
    if not change.trader.account.writes_enabled:
        return _end_unsent(change, "read_only", "This connection is read-only here. Nothing was sent.")
    try:
        theirs = read_settings(change.trader)
    except (Unreachable, RateLimited, Malformed) as error:
        if timezone.now() - change.created_at < GIVE_UP_UNSENT_AFTER:
            again = timezone.now() + timedelta(seconds=4)
            return move(change, State.CONFIRMED, State.CONFIRMED, look_again_at=again) or True
        return _end_unsent(change, "unreachable", f"Nothing was sent. {error.sentence}")
    except ExchangeError as error:
        return _end_unsent(change, str(error.code or ""), f"Nothing was sent. {error.sentence}")
    except (NoKey, VaultError) as error:
        return _end_unsent(change, "no_key", f"Nothing was sent. {error}")
    return _needless_or_overtaken(change, theirs)


def _needless_or_overtaken(change: SettingsChange, theirs: SettingsVersion) -> bool:
    """Whether the exchange holds something else than the person saw: already ours, or somebody's edit."""
    found = versions.understood(theirs.answer)
    if theirs.copy_enable is False and not (change.base and change.base.copy_enable is False):
        # Whether a write would start the copying is not known, and the review did not ask (open-points.md).
        words = "This trader is not copied any more. Nothing was sent. Review the settings once more."
        return _end_unsent(change, "changed_elsewhere", words, State.CONFLICT)
    if found is not None and rules.same(found, versions.wanted(change)):
        words = "The exchange already held exactly these settings, so nothing was sent."
        return _end_unsent(change, "", words, State.APPLIED)
    base = versions.understood(change.base.answer) if change.base else None
    if found is not None and base is not None and rules.same(found, base):
        return False
    words = "The settings were changed elsewhere after you opened them. Nothing was sent."
    changed_there = in_words(base, found) if base and found else []
    return _end_unsent(change, "changed_elsewhere", words, State.CONFLICT, not_kept=changed_there)


def _end_unsent(
    change: SettingsChange, code: str, words: str, state: str = State.REJECTED, **fields: list
) -> bool:
    now = timezone.now()
    move(
        change, State.CONFIRMED, state,
        resolved_at=now, look_again_at=None, error_code=code, error_message=words, **fields,
    )  # fmt: skip
    return True


def _post(change: SettingsChange) -> None:
    """The one place that writes settings. Everything that is not a clear yes or no is UNKNOWN."""
    trader = change.trader
    try:
        with talking_to(trader.account, interactive=True, purpose=f"to send settings of {trader}") as client:
            client.update_follower_settings(
                trader_id=trader.trader_id,
                settings=rules.from_body(change.body),
                supported=symbols.supported(trader.account.venue),
            )
    except (Rejected, Unauthorized, RateLimited, Unreachable) as error:
        health.failed(trader.account, error)
        words = error.sentence
        if isinstance(error, (RateLimited, Unreachable)):
            words = f"The exchange did not take the change. {error.sentence}"
        _refused(change, str(error.code or ""), words)
    except (NoKey, VaultError) as error:  # before the socket opens: the key went, or is another account's now
        _refused(change, "no_key", f"Nothing was sent. {error}")
    except Exception as error:
        words = error.sentence if isinstance(error, (OutcomeUnknown, Malformed)) else "The answer was lost."
        become_unknown(change, words)
        if not isinstance(error, ExchangeError):
            raise
    else:
        change.accepted = True
        move(change, State.SENDING, State.SENDING, accepted=True)


def _refused(change: SettingsChange, code: str, words: str) -> None:
    move(
        change, State.SENDING, State.REJECTED, accepted=False,
        resolved_at=timezone.now(), look_again_at=None, error_code=code, error_message=words,
    )  # fmt: skip


def take_up(now: datetime | None = None, limit: int = 50) -> list[int]:
    """The changes that wait for somebody: confirmed but unsent, to be looked at, or left by a dead sender."""
    due = SettingsChange.objects.filter(
        state__in=SettingsChange.OPEN_STATES, look_again_at__lte=now or timezone.now()
    )
    return list(due.order_by("look_again_at").values_list("pk", flat=True)[:limit])


def proceed(change_id: int) -> str:
    """Do whatever a change needs next: send it, or look at its outcome; the state after it."""
    change = load(change_id)
    if change.state == State.CONFIRMED:
        return send(change_id)
    if change.state == State.SENDING and not change.accepted:
        if change.look_again_at and timezone.now() < change.look_again_at:
            return change.state  # its sender may still be at it
        become_unknown(change, "The sending was interrupted, so its outcome is not known.")
    return read_back(change_id)
