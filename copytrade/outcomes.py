"""What became of a change that was sent: found out by reading, never by sending again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings as django_settings
from django.utils import timezone

from . import health, rules, versions
from .clients import NoKey, talking_to
from .exchange.errors import ExchangeError
from .models import SettingsChange, SettingsVersion, Trader
from .vault import VaultError

State = SettingsChange.State
# Seconds after sending at which an unknown outcome is looked at.
READ_BACK_AFTER = (1.0, 3.0, 10.0, 30.0, 60.0)
# A reading that has said nothing for so long after its call's deadline is taken over by the next worker.
READING_IS_LATE_AFTER = timedelta(seconds=2)
CANNOT_BE_READ = "cannot be read back"
# The name in an answer -> how the setting is called where differences are named.
_CALLED = {
    "symbols": "Symbols",
    "traceType": "Size of each copy",
    "traceValue": "Size of each copy",
    "maxHoldSize": "Most held",
    "takeProfitRatio": "Take profit",
    "stopLossRatio": "Stop loss",
    "slippageRatio": "Slippage",
    "marginType": "Margin type",
    "leverageType": "Leverage type",
    "longLeverage": "Long leverage",
    "shortLeverage": "Short leverage",
}


def read_settings(trader: Trader, *, interactive: bool = True) -> SettingsVersion:
    """Fetch what the exchange holds now and store it. Raises ExchangeError, NoKey, VaultError."""
    try:
        with talking_to(
            trader.account, interactive=interactive, purpose=f"to read the settings of {trader}"
        ) as client:
            version = versions.read(trader, client)
    except ExchangeError as error:
        health.failed(trader.account, error)
        raise
    health.succeeded(trader.account)
    return version


def read_back(change_id: int, delays: Sequence[float] = READ_BACK_AFTER) -> str:
    """Look once at what the exchange holds and decide, or say when to look again; the state after it.

    `delays`: seconds after sending at which to look. Equal to ours: APPLIED. Accepted, and something else
    is there: CONFLICT. Neither by the last look: NOT_SEEN when it is still the base, else CONFLICT.
    """
    change = load(change_id)
    if change.state not in (State.SENDING, State.UNKNOWN) or not claim(change):
        return change.state
    began = timezone.now()
    try:
        version = read_settings(change.trader)
    except (ExchangeError, NoKey, VaultError) as error:
        return _look_again(change, delays, failed=getattr(error, "sentence", str(error)))
    found, mine = versions.understood(version.answer), versions.wanted(change)
    if found is not None and rules.same(found, mine):
        return _decide(change, State.APPLIED, [])
    base = versions.understood(change.base.answer) if change.base else None
    unchanged = found is not None and base is not None and rules.same(found, base)
    if not (change.accepted and not unchanged) and not _last_look(change, delays, began):
        return _look_again(change, delays)
    not_kept = not_kept_of(mine, version.answer)
    if change.accepted:
        return _decide(change, State.CONFLICT, not_kept, _kept_otherwise(not_kept, unchanged))
    if unchanged:
        words = "The change has not arrived: the exchange still holds the settings from before. You may send it again."
        return _decide(change, State.NOT_SEEN, [], words)
    words = "The exchange holds neither the settings from before nor yours."
    return _decide(change, State.CONFLICT, not_kept, words)


def not_kept_of(mine: rules.CopySettings, answer: list[dict]) -> list[list[str]]:
    """[[what, sent, read back]] in words; what the answer does not carry at all is named as such."""
    found = versions.understood(answer)
    if found is None:
        return []
    untold = {words for name, words in _CALLED.items() if not any(name in item for item in answer)}
    rows = in_words(mine, found)
    for row in rows:
        if any(row[0] == words or row[0].startswith((f"{words} ", f"{words},")) for words in untold):
            row[2] = CANNOT_BE_READ
    return rows


def _kept_otherwise(not_kept: list[list[str]], unchanged: bool) -> str:
    if not_kept and all(row[2] == CANNOT_BE_READ for row in not_kept):
        return (
            "The exchange took the change, but its answer leaves out some of the settings: "
            "they cannot be confirmed. Look at them on the exchange's own page."
        )
    if unchanged:
        return "The exchange took the change but still shows the old settings."
    return "The exchange took the change but holds something else."


def become_unknown(change: SettingsChange, words: str) -> None:
    """The answer to the write is not known; the first look is due a second after it was sent."""
    first_look = (change.sent_at or timezone.now()) + timedelta(seconds=READ_BACK_AFTER[0])
    move(
        change,
        State.SENDING,
        State.UNKNOWN,
        error_message=words,
        look_again_at=max(first_look, timezone.now()),
    )


def claim(change: SettingsChange) -> bool:
    """Take this change for as long as one reading may last; False when another worker took it a moment ago.

    Without it every tick would start one more reading of an exchange that is slow to answer. A claim says
    nothing about sending: that is decided by the step into SENDING.
    """
    until = timezone.now() + timedelta(seconds=django_settings.EXCHANGE_DEADLINE) + READING_IS_LATE_AFTER
    unclaimed = SettingsChange.objects.filter(
        pk=change.pk, state=change.state, look_again_at=change.look_again_at
    )
    if unclaimed.update(look_again_at=until) != 1:
        return False
    change.look_again_at = until
    return True


def _last_look(change: SettingsChange, delays: Sequence[float], began: datetime) -> bool:
    """Was this look made late enough to be the last? By when it began: a process that slept between the answer and
    here has an old answer, however late it is now."""
    sent = change.sent_at or change.created_at
    return began >= sent + timedelta(seconds=delays[-1]) or change.read_backs + 1 >= len(delays)


def _look_again(change: SettingsChange, delays: Sequence[float], failed: str = "") -> str:
    """Plan the next look. A look that could not be made does not count, and the change stays open."""
    now, looks = timezone.now(), change.read_backs + (0 if failed else 1)
    sent = change.sent_at or change.created_at
    planned = sent + timedelta(seconds=delays[min(looks, len(delays) - 1)])
    fields = {"read_backs": looks, "look_again_at": max(planned, now + timedelta(seconds=5 if failed else 0))}
    if failed:
        fields["error_message"] = f"The outcome could not be read yet. {failed}"
    move(change, change.state, State.UNKNOWN, **fields)
    return load(change.pk).state


def _decide(change: SettingsChange, state: str, not_kept: list, words: str = "") -> str:
    move(
        change, change.state, state, resolved_at=timezone.now(), look_again_at=None,
        not_kept=not_kept, error_code="", error_message=words, read_backs=change.read_backs + 1,
    )  # fmt: skip
    return load(change.pk).state


def move(change: SettingsChange, before: str, after: str, **fields) -> bool:
    """The step from one state to the next, taken by one process only."""
    moved = SettingsChange.objects.filter(pk=change.pk, state=before).update(state=after, **fields) == 1
    if moved:
        change.state = after
        for name, value in fields.items():
            setattr(change, name, value)
    return moved


def load(change_id: int) -> SettingsChange:
    """The change as it stands now, with what sending needs."""
    return SettingsChange.objects.select_related("trader__account", "base").get(pk=change_id)


def in_words(before: rules.CopySettings, after: rules.CopySettings) -> list[list[str]]:
    """[[what, before, after]] as the rows of a change keep it."""
    return [[line.label, line.before, line.after] for line in rules.differences(before, after)]
