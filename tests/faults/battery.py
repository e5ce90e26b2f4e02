"""What every scenario of a settings change stands on: a trader, random edits from a seed, and the judge.

The judge asks the sandbox, not the desk: which bodies arrived, and what is really in force.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from html import unescape
from pathlib import Path

from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import changes, rules, versions
from copytrade.models import Account, SettingsChange, Trader, User
from tests.support.sandbox_process import Sandbox
from tests.support.signed_in import signed_in

State = SettingsChange.State
# Seconds after sending at which the outcome is looked at: the desk's minute, in a second and a half.
LOOKS = (0.1, 0.3, 0.6, 1.0, 1.5)
REPORT = os.environ.get("COPYDESK_FAULT_REPORT", "")
Scenario = Callable[["Desk"], None]


class Desk:
    """alice's desk in one scenario: one trader, one seed."""

    def __init__(
        self, sandbox: Sandbox, account: Account, alice: User, seed: int, environment: dict[str, str]
    ) -> None:
        self.sandbox, self.account, self.alice, self.environment = sandbox, account, alice, environment
        self.random = random.Random(seed)
        self.trader = self.random.choice(self.copied())
        self.were_unknown: set[int] = set()

    # What a person does

    def copied(self) -> list[Trader]:
        """The traders to choose from, in an order that does not hang on the run."""
        found = self.account.traders.filter(copied=True, versions__isnull=False)
        return list(found.distinct().order_by("trader_id"))

    @staticmethod
    def held_by(trader: Trader) -> rules.CopySettings:
        """The settings of a trader that were last read."""
        version = versions.latest(trader)
        assert version
        return versions.settings_of(version)

    def held(self) -> rules.CopySettings:
        return self.held_by(self.trader)

    def edited(self, settings: rules.CopySettings | None = None) -> rules.CopySettings:
        """The settings in force with one to three fields of one config changed, all within the rules."""
        now = settings or self.held()
        draw, place = self.random, self.random.randrange(len(now.configs))
        config = now.configs[place]
        values = {
            "trace_value": Decimal(draw.randint(1, 9999)) / 10,
            "max_hold": Decimal(draw.randint(1000, 10_000_000)) / 100,
            "take_profit": Decimal(draw.randint(1, 4000)) / 1000,
            "stop_loss": Decimal(draw.randint(1, 4000)) / 1000,
            "slippage": Decimal(draw.randint(10, 100)) / 10000,
        }
        if config.leverage_type == rules.FIXED:
            values |= {
                "long_leverage": Decimal(draw.randint(1, 125)),
                "short_leverage": Decimal(draw.randint(1, 125)),
            }
        names = draw.sample(sorted(values), draw.randint(1, 3))
        chosen = {name: int(values[name]) if "leverage" in name else values[name] for name in names}
        made = replace(
            now, configs=(*now.configs[:place], replace(config, **chosen), *now.configs[place + 1 :])
        )
        return made if not rules.same(made, now) else self.edited(now)

    @staticmethod
    def base_of(change: SettingsChange) -> rules.CopySettings:
        """What was in force when the change was begun."""
        assert change.base
        return versions.settings_of(change.base)

    def draft(self) -> SettingsChange:
        return changes.draft(self.trader, self.edited(), self.alice)

    def confirmed(self) -> SettingsChange:
        draft = self.draft()
        return changes.confirm(draft, draft.key)

    def edit_elsewhere(self) -> None:
        """Somebody saves other settings on the exchange's own page."""
        body = rules.to_body(self.trader.trader_id, self.edited(self.truth()))
        self.sandbox.control("POST", "settings", {"account": "follower", "settings": body})

    # The browser

    def browser(self) -> Client:
        """alice, signed in with her password a moment ago: that is what sending asks for."""
        return signed_in(self.alice)

    def page_of(self, change: SettingsChange) -> str:
        return reverse("copy_settings_change", args=[self.trader.pk, change.key])

    def review_form(self, client: Client, change: SettingsChange) -> dict[str, str]:
        """The hidden fields of the form that sends, as the review is rendered."""
        answer = client.get(self.page_of(change))
        assert answer.status_code == 200, answer
        forms = re.findall(r"<form\b.*?</form>", answer.content.decode(), flags=re.DOTALL)
        (form,) = [form for form in forms if 'name="key"' in form]
        fields = {}
        for tag in re.findall(r'<input type="hidden"[^>]*>', form):
            found = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
            fields[found["name"]] = unescape(found.get("value", ""))
        assert fields["key"] == str(change.key)
        return fields

    # What the desk does

    def send(self, change: SettingsChange) -> str:
        return self.noted(change, changes.send(change.pk))

    def noted(self, change: SettingsChange, state: str) -> str:
        if state == State.UNKNOWN:
            self.were_unknown.add(change.pk)
        return state

    def settle(self, change: SettingsChange, looks: Sequence[float] = LOOKS, seconds: float = 20) -> str:
        """Do what worker and tick do until the change is decided; the state it ended in."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            row = SettingsChange.objects.get(pk=change.pk)
            self.noted(change, row.state)
            if row.state not in SettingsChange.OPEN_STATES:
                change.refresh_from_db()
                return row.state
            if row.state == State.CONFIRMED:
                changes.proceed(change.pk)
            elif row.state == State.SENDING and not row.accepted:
                self.wait_for_dead_sender(change)
                self.noted(change, changes.proceed(change.pk))
            else:
                time.sleep(self._pause(row, looks))
                self.noted(change, changes.read_back(change.pk, looks))
        raise AssertionError(f"The change is not decided after {seconds} s: {row.state}")

    @staticmethod
    def _pause(row: SettingsChange, looks: Sequence[float]) -> float:
        planned = (row.sent_at or row.created_at) + timedelta(
            seconds=looks[min(row.read_backs, len(looks) - 1)]
        )
        return min(5.0, max(0.02, (planned - timezone.now()).total_seconds()))

    @staticmethod
    def wait_for_dead_sender(change: SettingsChange) -> None:
        """The time after which a silent sender counts as dead passes."""
        SettingsChange.objects.filter(pk=change.pk).update(look_again_at=timezone.now())

    # The truth

    def truth(self) -> rules.CopySettings:
        return rules.from_answer(self.sandbox.truth()["settings"][str(self.trader.trader_id)])

    @staticmethod
    def is_wanted_by(change: SettingsChange, truth: rules.CopySettings) -> bool:
        """Whether this is what the change asks for, what the exchange fills in included."""
        return rules.same(rules.apply_defaults(rules.from_body(change.body)), truth)

    def bodies(self) -> list[dict]:
        """Every body that reached the exchange, answered or not."""
        return [
            json.loads(call["body"])
            for call in self.sandbox.calls()["calls"]
            if call["operation"] == "update_follower_settings"
        ]

    def reads(self) -> int:
        return sum(call["operation"] == "follower_settings" for call in self.sandbox.calls()["calls"])

    def wait(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, "It did not happen in time."
            time.sleep(0.02)

    # The judge

    def judged(self) -> dict:
        """The facts of this scenario, from the exchange's side."""
        arrived = Counter(json.dumps(body, sort_keys=True) for body in self.bodies())
        rows = list(self.trader.changes.order_by("pk"))
        truth = self.truth()
        applied = [row for row in rows if row.state == State.APPLIED]
        newest = sorted(applied, key=lambda row: row.resolved_at)[-1:]
        asked_for = [json.dumps(row.body, sort_keys=True) for row in rows]
        false = [row for row in newest if not self.is_wanted_by(row, truth)]
        # A change that the person sent again, or merged with an edit of the same field, asks for the same.
        explained = [rules.from_body(row.body) for row in applied]
        missed = [
            row
            for row in rows
            if row.state in (State.NOT_SEEN, State.REJECTED, State.CONFLICT)
            and not any(rules.same(rules.from_body(row.body), other) for other in explained)
            and self.is_wanted_by(row, truth)
        ]
        return {
            "changes": len(rows),
            "bodies": sum(arrived.values()),
            "most": max((arrived[body] / asked_for.count(body) for body in asked_for), default=0),
            "strange": sum(count for body, count in arrived.items() if body not in asked_for),
            "unknown": len(self.were_unknown),
            "ends": [row.state for row in rows],
            "open": sum(row.state in SettingsChange.OPEN_STATES for row in rows),
            "false_applied": len(false),
            "against_truth": len(false) + len(missed),
        }


def judge(name: str, seed: int, desk: Desk) -> None:
    """Hold the scenario against what must be so always, and note it for the table of docs/reliability.md."""
    connection.close_if_unusable_or_obsolete()
    facts = desk.judged()
    if REPORT:
        with Path(REPORT).open("a") as report:
            report.write(json.dumps({"scenario": name, "seed": seed} | facts) + "\n")
    assert facts["most"] <= 1, f"a confirmed change was sent more than once: {facts}"
    assert facts["strange"] == 0, f"a body arrived that nobody reviewed: {facts}"
    assert facts["open"] == 0, f"a change was left open: {facts}"
    assert facts["false_applied"] == 0, f"APPLIED, and the exchange holds something else: {facts}"
    assert facts["against_truth"] == 0, f"not applied, and the exchange holds it: {facts}"
