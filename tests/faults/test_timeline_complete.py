"""A hundred random changes from both sides: the time line has each once, and every version can be had again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from copytrade import changes, reports, rules, versions
from copytrade.models import SettingsVersion
from copytrade.sync import run

from .battery import Desk, State
from .test_settings_faults import SEEDS, make_desk

__all__ = ["make_desk"]
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
CHANGES, RESTORED = 100, 12
BY = {"me": SettingsVersion.Author.ME, "outside": SettingsVersion.Author.OUTSIDE}


def one_more(desk: Desk) -> tuple[str, int | None]:
    """A change of one side, read by the desk; (whose, our change)."""
    if desk.random.random() < 0.5:
        desk.edit_elsewhere()
        assert run.sync_account(desk.account.pk, ["settings"]) == {"settings": ""}
        return "outside", None
    if desk.random.random() < 0.2:
        kind = desk.random.choice(["truncated", "reset"])
        desk.sandbox.fault("update_follower_settings", kind, applied=True)
    change = desk.confirmed()
    assert desk.settle(change) == State.APPLIED
    return "me", change.pk


@pytest.mark.parametrize("seed", SEEDS)
def test_the_timeline_has_every_change_once_with_its_author_and_each_can_be_restored(
    seed: int, make_desk: Callable[[int], Desk]
) -> None:
    desk = make_desk(seed)
    expected: list[tuple[str, int | None, rules.CopySettings]] = []
    for _ in range(CHANGES):
        whose, change_id = one_more(desk)
        expected.append((whose, change_id, desk.truth()))
    entries = reports.timeline(desk.trader, limit=CHANGES + 50)
    assert len(entries) == CHANGES + 1, "and the first reading"
    assert entries[0].is_current and not any(entry.is_current for entry in entries[1:])
    for entry, (whose, change_id, settings) in zip(reversed(entries[:-1]), expected, strict=True):
        assert entry.version.author == BY[whose] and entry.version.change_id == change_id
        assert entry.drift == (whose == "outside")
        assert rules.same(versions.settings_of(entry.version), settings)
        assert entry.differences, "it says what changed"
    _paged_alike(desk, [entry.version.pk for entry in entries])
    for entry in desk.random.sample(entries[1:], RESTORED):
        _restored(desk, entry.version)


def _paged_alike(desk: Desk, everything: list[int]) -> None:
    found: list[int] = []
    before = None
    while page := reports.timeline(desk.trader, limit=17, before=before):
        found += [entry.version.pk for entry in page]
        before = page[-1].version
    assert found == everything


def _restored(desk: Desk, version: SettingsVersion) -> None:
    wanted = versions.settings_of(version)
    if rules.same(wanted, desk.held()):
        return
    change = changes.restore(version, desk.alice)
    changes.confirm(change, change.key)
    assert desk.settle(change) == State.APPLIED
    assert rules.same(desk.truth(), wanted)
    newest = versions.latest(desk.trader)
    assert newest and rules.same(versions.settings_of(newest), wanted) and newest.change_id == change.pk
