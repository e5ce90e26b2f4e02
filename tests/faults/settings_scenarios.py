"""The faults of settings changes: each scenario is a function with a sentence; the desk's seed chooses the rest."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from django.utils import timezone

from copytrade import changes, rules, versions
from copytrade.models import SettingsChange
from copytrade.sync import run
from tests.support.at_once import at_once

from .battery import LOOKS, Desk, Scenario, State
from .sender import Sender

SCENARIOS: dict[str, Scenario] = {}
WRITE, READ = "update_follower_settings", "follower_settings"


def scenario(sentence: str) -> Callable[[Scenario], Scenario]:
    def keep(function: Scenario) -> Scenario:
        SCENARIOS[sentence] = function
        return function

    return keep


# The answer is lost


@scenario("applied, then the answer times out")
def applied_then_timeout(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "timeout_after", seconds=3)
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change) == State.APPLIED


@scenario("not applied, and the answer times out")
def not_applied_then_timeout(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "timeout_before", seconds=3)
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change) == State.NOT_SEEN


@scenario("applied late, while the desk looks")
def applied_late(desk: Desk) -> None:
    how = desk.random.choice(["close", "error"])
    more = {"answer": "error"} if how == "error" else {}
    desk.sandbox.fault(WRITE, "apply_late", seconds=desk.random.uniform(0.2, 0.9), **more)
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change) == State.APPLIED


@scenario("applied late, after the last look: told when it is read")
def applied_very_late(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "apply_late", seconds=2)
    change = desk.confirmed()
    wanted = rules.from_body(change.body)
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change, LOOKS[:2]) == State.NOT_SEEN
    desk.wait(lambda: rules.same(desk.truth(), wanted))
    run.sync_account(desk.account.pk, ["settings"])
    change.refresh_from_db()
    assert change.state == State.APPLIED
    version = versions.latest(desk.trader)
    assert version and (version.author, version.change_id) == ("me", change.pk), "not “outside”"


@scenario("5xx after applying")
def error_after_applying(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "apply_late", seconds=0, answer="error")
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change) == State.APPLIED


@scenario("5xx without applying")
def error_without_applying(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "http", http=desk.random.choice([500, 502, 503, 504]))
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change) == State.NOT_SEEN


@scenario("connection reset after applying")
def reset_after_applying(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "reset", applied=True)
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change) == State.APPLIED


@scenario("connection reset before applying")
def reset_before_applying(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "reset")
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change) == State.NOT_SEEN


@scenario("half an answer")
def half_an_answer(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "truncated")
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change) == State.APPLIED


@scenario("a web page with status 200 instead of an answer")
def page_instead_of_an_answer(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "html_200")
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    assert desk.settle(change) == State.NOT_SEEN


@scenario("applied and timed out, and reading back fails for a while")
def reading_back_fails_for_a_while(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "timeout_after", seconds=3)
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    wrong = [{"kind": "http", "http": 503}, {"kind": "html_200"}, {"kind": "truncated"}, {"kind": "reset"}]
    desk.sandbox.fault(READ, times=0, **desk.random.choice(wrong))
    for _ in range(3):
        time.sleep(0.05)
        assert changes.read_back(change.pk, (0.0,)) == State.UNKNOWN, "a look that failed decides nothing"
    desk.sandbox.clear_faults()
    assert desk.settle(change) == State.APPLIED


@scenario("not applied, then sent again by the person")
def sent_again(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "reset")
    change = desk.confirmed()
    assert desk.settle(change) == State.NOT_SEEN
    again = changes.again(change, desk.alice)
    changes.confirm(again, again.key)
    assert again.previous_id == change.pk and desk.settle(again) == State.APPLIED
    for _ in range(2):
        changes.proceed(change.pk)
        changes.proceed(again.pk)


@scenario("a field left to the exchange's default")
def left_to_the_default(desk: Desk) -> None:
    desk.trader = next(t for t in desk.copied() if desk.held_by(t).mode == rules.UNIFIED)
    wanted = desk.edited()
    wanted = replace(wanted, configs=(replace(wanted.configs[0], margin_type=None),))
    change = changes.draft(desk.trader, wanted, desk.alice)
    changes.confirm(change, change.key)
    assert desk.settle(change) == State.APPLIED
    assert desk.truth().configs[0].margin_type == rules.TRADER


# The refused, the limited


@scenario("refused by the exchange")
def refused(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "code", code=desk.random.choice([-1140, -1142, -1052, -1190]))
    change = desk.confirmed()
    assert desk.settle(change) == State.REJECTED


@scenario("over the limit")
def over_the_limit(desk: Desk) -> None:
    desk.sandbox.fault(WRITE, "rate_limit", retry_after=1)
    change = desk.confirmed()
    assert desk.settle(change) == State.REJECTED


# kill -9


@scenario("kill -9 before sending")
def killed_before_sending(desk: Desk) -> None:
    desk.sandbox.fault(READ, "timeout_before", seconds=30)
    change, before = desk.confirmed(), desk.reads()
    with Sender(desk.environment) as sender:
        sender.send(change.pk)
        desk.wait(lambda: desk.reads() > before)
        sender.kill()
    desk.sandbox.clear_faults()
    change.refresh_from_db()
    assert change.state == State.CONFIRMED and desk.bodies() == []
    assert desk.settle(change) == State.APPLIED


def _killed_while_the_answer_is_awaited(desk: Desk, kind: str) -> str:
    desk.sandbox.fault(WRITE, kind, seconds=30)
    change = desk.confirmed()
    with Sender(desk.environment) as sender:
        sender.send(change.pk)
        desk.wait(lambda: len(desk.bodies()) == 1)
        sender.kill()
    change.refresh_from_db()
    assert change.state == State.SENDING and not change.accepted
    assert changes.proceed(change.pk) == State.SENDING, "its sender may still be at it"
    desk.sandbox.clear_faults()
    return desk.settle(change)


@scenario("kill -9 while sending, applied")
def killed_while_sending_applied(desk: Desk) -> None:
    assert _killed_while_the_answer_is_awaited(desk, "timeout_after") == State.APPLIED


@scenario("kill -9 while sending, not applied")
def killed_while_sending_not_applied(desk: Desk) -> None:
    assert _killed_while_the_answer_is_awaited(desk, "timeout_before") == State.NOT_SEEN


@scenario("kill -9 after the answer, before it was read back")
def killed_after_the_answer(desk: Desk) -> None:
    change, before = desk.confirmed(), desk.reads()
    desk.sandbox.fault(READ, "timeout_before", after=1, seconds=30)
    with Sender(desk.environment) as sender:
        sender.send(change.pk)
        desk.wait(lambda: desk.reads() > before + 1)
        sender.kill()
    desk.sandbox.clear_faults()
    change.refresh_from_db()
    assert change.state == State.SENDING and change.accepted
    assert desk.settle(change) == State.APPLIED


@scenario("kill -9 at any moment")
def killed_at_any_moment(desk: Desk) -> None:
    change = desk.confirmed()
    with Sender(desk.environment) as sender:
        sender.send(change.pk)
        time.sleep(desk.random.uniform(0, 0.12))
        sender.kill()
    time.sleep(0.2)  # what was on its way arrives
    assert desk.settle(change) in (State.APPLIED, State.NOT_SEEN)


# Several at once


@scenario("four workers at once, and every message twice")
def many_workers(desk: Desk) -> None:
    change = desk.confirmed()
    at_once(*[lambda: changes.proceed(change.pk)] * 4)
    assert desk.settle(change) == State.APPLIED
    for _ in range(4):
        changes.proceed(change.pk)
        changes.send(change.pk)


@scenario("the message to the worker is lost")
def message_lost(desk: Desk) -> None:
    change = desk.confirmed()
    desk.wait(lambda: change.pk in changes.take_up(timezone.now()), seconds=8)
    assert desk.settle(change) == State.APPLIED


@scenario("two tabs")
def two_tabs(desk: Desk) -> None:
    first, second = desk.draft(), desk.draft()

    def tab(change: SettingsChange) -> None:
        client = desk.browser()
        client.post(desk.page_of(change), desk.review_form(client, change))

    if desk.random.random() < 0.5:
        at_once(lambda: tab(first), lambda: tab(second))
    else:
        tab(first)
        tab(second)
    ends = [desk.settle(row) for row in desk.trader.changes.exclude(state=State.DRAFT)]
    assert ends.count(State.APPLIED) == 1
    assert set(ends) <= {State.APPLIED, State.CONFLICT}, "the other never overwrites"
    assert len(desk.bodies()) == 1


@scenario("an edit made elsewhere before sending")
def edited_elsewhere_before(desk: Desk) -> None:
    change = desk.draft()
    desk.edit_elsewhere()
    theirs = desk.truth()
    changes.confirm(change, change.key)
    assert desk.settle(change) == State.CONFLICT
    assert desk.bodies() == [] and rules.same(desk.truth(), theirs), "nobody is overwritten"


@scenario("an edit made elsewhere, then merged and sent")
def merged(desk: Desk) -> None:
    change = desk.draft()
    desk.edit_elsewhere()
    changes.confirm(change, change.key)
    assert desk.settle(change) == State.CONFLICT
    rows = changes.conflict(change).rows
    choices = {row.path: "mine" for row in rows if row.clash}
    both = changes.resolve(change, choices, desk.alice)
    changes.confirm(both, both.key)
    assert desk.settle(both) == State.APPLIED
    assert desk.bodies() == [both.body], "the first was never sent"
    kept = {(line.label, line.after) for line in rules.differences(desk.base_of(change), desk.truth())}
    assert {(row.label, row.theirs if row.default == "theirs" else row.mine) for row in rows} == kept


@scenario("an edit made elsewhere while the outcome is unknown")
def edited_elsewhere_after(desk: Desk) -> None:
    kind = desk.random.choice(["timeout_after", "timeout_before"])
    desk.sandbox.fault(WRITE, kind, seconds=3)
    change = desk.confirmed()
    assert desk.send(change) == State.UNKNOWN
    desk.edit_elsewhere()
    assert desk.settle(change) == State.CONFLICT


# The browser


@scenario("double click")
def double_click(desk: Desk) -> None:
    change = desk.draft()
    client, other = desk.browser(), desk.browser()
    form = desk.review_form(client, change)
    at_once(
        lambda: client.post(desk.page_of(change), form),
        lambda: other.post(desk.page_of(change), form),
        lambda: other.post(desk.page_of(change), form),
    )
    assert desk.settle(change) == State.APPLIED
    assert len(desk.bodies()) == 1


@scenario("a replayed form, a reload, the back button")
def replayed_form(desk: Desk) -> None:
    change = desk.draft()
    client = desk.browser()
    form = desk.review_form(client, change)
    client.post(desk.page_of(change), form)
    assert desk.settle(change) == State.APPLIED
    for _ in range(3):
        client.post(desk.page_of(change), form)
        client.get(desk.page_of(change))
        changes.proceed(change.pk)
    assert len(desk.bodies()) == 1


@scenario("tampered hidden fields")
def tampered_fields(desk: Desk) -> None:
    change, other = desk.draft(), desk.draft()
    client = desk.browser()
    form = desk.review_form(client, change)
    for key in (
        str(other.key),
        str(uuid.UUID(int=desk.random.getrandbits(128))),
        "",
        "nonsense\x00",
        "9" * 5000,
    ):
        answer = client.post(desk.page_of(change), form | {"key": key})
        assert 400 <= answer.status_code < 500
    for name in set(form) - {"key", "csrfmiddlewaretoken"}:
        answer = client.post(desk.page_of(change), form | {name: "0" * 64})
        assert 400 <= answer.status_code < 500, f"{name} may be anything"
    assert desk.bodies() == [] and {row.state for row in desk.trader.changes.all()} == {State.DRAFT}
    more = {"body": "{}", "traceValue": "99999", "trader": "1", "base": "1", "state": "applied"}
    client.post(desk.page_of(change), form | more)
    assert desk.settle(change) == State.APPLIED
    assert desk.bodies() == [change.body], "what was reviewed is what was sent"
