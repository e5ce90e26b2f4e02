"""Changes of settings in the simulation: the states of copytrade.sending and copytrade.outcomes, step by step.

One number stands for a whole set of settings, and each change wants a number of its own, so that the exchange's
side can tell how often each was sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from copytrade.exchange.errors import ExchangeError, OutcomeUnknown

from .desk import Desk, Steps
from .truth import MINUTE, SECOND

if TYPE_CHECKING:
    from .workers import Worker

CONFIRMED, SENDING, UNKNOWN = "confirmed", "sending", "unknown"
APPLIED, NOT_SEEN, CONFLICT, REJECTED = "applied", "not_seen", "conflict", "rejected"
OPEN_STATES = (CONFIRMED, SENDING, UNKNOWN)
LOOKS = (SECOND, 3 * SECOND, 10 * SECOND, 30 * SECOND, 60 * SECOND)
CALL, SENDER, GIVE_UP = 22 * SECOND, 30 * SECOND, 2 * MINUTE


@dataclass(frozen=True)
class Change:
    """A confirmed change; times in ms by the desk's clock."""

    number: int
    account: int
    base: int
    created: int
    look_at: int
    state: str = CONFIRMED
    sent_at: int = 0
    accepted: bool = False
    looks: int = 0

    @property
    def waits(self) -> bool:
        """For somebody to send it, or to look."""
        return self.state in OPEN_STATES


def confirm(desk: Desk, account: int) -> None:
    """A person confirms a change of what the exchange holds now."""
    number = 1000 + len(desk.store["changes"])
    base = desk.world.accounts[account].settings
    desk.store.put("changes", number, Change(number, account, base, desk.now(), desk.now()))
    desk.alarm(desk.now())


def take_due(desk: Desk) -> Change | None:
    """Claim a change that waits for somebody."""
    now = desk.now()
    for change in desk.store["changes"].values():
        if change.waits and change.look_at <= now:
            taken = replace(change, look_at=now + CALL)
            desk.store.put("changes", change.number, taken)
            return taken
    return None


def move(desk: Desk, change: Change, state: str, **facts: object) -> Change | None:
    """The step from one state to the next, taken by one process only; None when another was first."""
    held: Change = desk.store["changes"][change.number]
    if held.state != change.state and "the step to sending is not fenced" not in desk.bugs:
        return None
    moved = replace(held, state=state, **facts)
    desk.store.put("changes", change.number, moved)
    desk.note("change", change.number, "is", state)
    desk.alarm(moved.look_at)
    return moved


def proceed(worker: Worker, change: Change) -> Steps:
    """Whatever the change needs next: send it, or look at its outcome."""
    desk = worker.desk
    yield 0
    if change.state == CONFIRMED:
        yield from _send(worker, change)
        return
    if change.state == SENDING and not change.accepted:
        lost = move(desk, change, UNKNOWN)
        if lost is None:
            return
        change = lost
        yield 0
    yield from _look(worker, change)


def _send(worker: Worker, change: Change) -> Steps:
    desk, account = worker.desk, worker.desk.world.accounts[change.account]
    try:
        theirs = yield from worker.call(lambda: desk.world.settings(account))
    except (ExchangeError, ArithmeticError):
        if desk.now() - change.created < GIVE_UP:
            move(desk, change, CONFIRMED, look_at=desk.now() + 4 * SECOND)
        else:
            move(desk, change, REJECTED)
        return
    if theirs != change.base:
        move(desk, change, APPLIED if theirs == change.number else CONFLICT)
        return
    now = desk.now()
    sending = move(desk, change, SENDING, sent_at=now, look_at=now + SENDER)
    if sending is None:
        return
    yield 0
    try:
        yield from worker.call(lambda: desk.world.change(account, change.number))
    except (OutcomeUnknown, ArithmeticError):
        if "a write whose answer was lost is sent again" in desk.bugs:
            move(desk, sending, CONFIRMED, look_at=desk.now() + SECOND)
        else:
            move(desk, sending, UNKNOWN, look_at=max(now + LOOKS[0], desk.now()))
    except ExchangeError:
        move(desk, sending, REJECTED)
    else:
        accepted = move(desk, sending, SENDING, accepted=True)
        if accepted is not None:
            yield from _look(worker, accepted)


def _look(worker: Worker, change: Change) -> Steps:
    """One look at what the exchange holds."""
    desk, account = worker.desk, worker.desk.world.accounts[change.account]
    began = desk.now()
    try:
        theirs = yield from worker.call(lambda: desk.world.settings(account))
    except (ExchangeError, ArithmeticError):
        move(desk, change, UNKNOWN, look_at=desk.now() + 5 * SECOND)
        return
    # By when it began: a worker that slept over an answer has an old one, however late it is.
    last = began >= change.sent_at + LOOKS[-1] or change.looks + 1 >= len(LOOKS)
    if theirs == change.number:
        move(desk, change, APPLIED)
    elif change.accepted and theirs != change.base:
        move(desk, change, CONFLICT)
    elif last and "an unknown write is taken for applied" in desk.bugs:
        move(desk, change, APPLIED)
    elif last:
        move(desk, change, NOT_SEEN if theirs == change.base else CONFLICT)
    else:
        looks = change.looks + 1
        move(desk, change, UNKNOWN, looks=looks, look_at=max(change.sent_at + LOOKS[looks], desk.now()))
