"""The time line of a trader's settings: complete, in words, each version with its author."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from random import Random

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import changes, reports, rules, versions
from copytrade.models import SettingsVersion, Trader, User
from tests.copytrade.test_changes import confirmed, edit_elsewhere, edited, held
from tests.support.sandbox_process import Sandbox


def store(trader: Trader, settings: rules.CopySettings, copy_enable: bool = True) -> SettingsVersion:
    """A reading, made by nobody we know."""
    return versions.record(
        trader, rules.to_answer(settings, copy_enable=copy_enable), copy_enable, timezone.now()
    )


def lines(entry: reports.Entry) -> list[tuple[str, str, str]]:
    return [(line.label, line.before, line.after) for line in entry.differences]


def test_every_version_with_its_author_and_what_it_changed(
    trader: Trader, sandbox: Sandbox, alice: User
) -> None:
    draft = changes.draft(trader, edited(trader), alice)
    changes.confirm(draft, draft.key)
    changes.send(draft.pk)
    edit_elsewhere(sandbox, trader, take_profit=Decimal("1.5"))
    changes.read_settings(trader)
    newest, mine, first = reports.timeline(trader)
    assert [e.version.author for e in (newest, mine, first)] == ["outside", "me", "first"]
    assert (newest.author_words, newest.drift, newest.is_current, newest.restorable) == (
        "changed outside the desk", True, True, False,
    )  # fmt: skip
    assert [line[::2] for line in lines(newest)] == [("Take profit", "150 % of margin")]
    assert mine.author_words == f"sent from this desk by {alice} (edited)" and mine.change == draft
    assert [line[::2] for line in lines(mine)] == [("Stop loss", "27 % of margin")]
    assert not mine.drift and mine.restorable and not mine.is_current
    assert (first.differences, first.author_words, first.change) == ([], "found at the first reading", None)


def test_what_the_exchange_kept_otherwise_is_not_called_ours_alone(trader: Trader) -> None:
    change = confirmed(trader)
    change.state, change.accepted, change.sent_at = "sending", True, timezone.now()
    change.save()
    store(trader, edited(trader, stop_loss=Decimal("0.5")))
    newest = reports.timeline(trader)[0]
    assert newest.change == change and newest.author_words.endswith("but not held as it was sent")


def test_a_trader_that_is_no_longer_copied_and_an_answer_without_sense_have_words(trader: Trader) -> None:
    now = held(trader)
    store(trader, now, copy_enable=False)
    versions.record(trader, [], None, timezone.now())
    odd, stopped, _ = reports.timeline(trader)
    assert lines(stopped) == [("This trader is copied", "yes", "no")]
    assert lines(odd) == [
        ("This trader is copied", "no", "not told"),
        ("The exchange's answer", "understood", "not understood"),
    ]
    assert not odd.restorable


def test_pages_leave_nothing_out_and_take_two_queries(trader: Trader) -> None:
    now, start = held(trader), timezone.now()
    for number in range(1, 25):
        store(trader, replace(now, configs=(replace(now.configs[0], stop_loss=Decimal(number).scaleb(-2)),)))
    trader.versions.update(first_seen_at=start)  # all in one moment: the order of writing decides
    whole = reports.timeline(trader)
    assert [entry.version.pk for entry in whole] == sorted((e.version.pk for e in whole), reverse=True)
    paged: list[reports.Entry] = []
    while page := reports.timeline(trader, limit=7, before=paged[-1].version if paged else None):
        paged += page
    assert paged == whole and len(whole) == 25
    assert [entry.is_current for entry in paged].count(True) == 1
    for limit in (10, 20):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            reports.timeline(trader, limit=limit)
        assert len(queries) == 2


def test_the_time_line_is_complete_after_edits_from_both_sides(trader: Trader, sandbox: Sandbox) -> None:
    """Every state that the exchange went through while we looked is there, in order, with its author."""
    rng = Random(3)
    expected = [("first", rules.fingerprint(held(trader)))]
    for number in range(20):
        stop = Decimal(number + 30).scaleb(-2)
        if rng.random() < 0.5:
            assert changes.send(confirmed(trader, stop_loss=stop).pk) == "applied"
        else:
            edit_elsewhere(sandbox, trader, stop_loss=stop)
            changes.read_settings(trader)
        author = trader.versions.first().author
        expected.append((author, rules.fingerprint(held(trader))))
    entries = reports.timeline(trader)
    assert [(e.version.author, e.version.fingerprint) for e in reversed(entries)] == expected
    assert {"me", "outside"} <= {author for author, _ in expected}
    assert all(len(entry.differences) == 1 for entry in entries[:-1])
    assert all((entry.change is not None) == (entry.version.author == "me") for entry in entries)


def test_the_version_in_force_at_a_moment(trader: Trader) -> None:
    first, now = versions.latest(trader), timezone.now()
    trader.versions.update(first_seen_at=now - timedelta(days=3), last_seen_at=now - timedelta(days=2))
    second = store(trader, edited(trader))
    assert versions.in_force(trader, now - timedelta(days=4)) is None
    assert versions.in_force(trader, now - timedelta(days=3)) == first
    assert versions.in_force(trader, now - timedelta(hours=1)) == first
    assert versions.in_force(trader, timezone.now()) == second
    first.refresh_from_db()
    assert versions.certain(first, now - timedelta(days=2, hours=1))
    assert not versions.certain(first, now - timedelta(hours=1)), "nobody looked for two days"
