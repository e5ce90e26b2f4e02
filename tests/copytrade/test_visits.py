"""When a person was here: a visit begins after half an hour without a page, and is written once a minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from copytrade import visits
from copytrade.models import User

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def minutes(number: float) -> datetime:
    return NOON + timedelta(minutes=number)


def test_the_first_page_ever_begins_a_visit_that_has_none_before_it(alice: User) -> None:
    assert visits.note(alice, NOON)
    alice.refresh_from_db()
    assert (alice.here_since, alice.last_here_at, alice.was_here_at) == (NOON, NOON, None)


def test_pages_close_together_are_one_visit_whose_last_page_moves_on(alice: User) -> None:
    for at in (0, 5, 34, 60):
        visits.note(alice, minutes(at))
    alice.refresh_from_db()
    assert (alice.here_since, alice.last_here_at, alice.was_here_at) == (NOON, minutes(60), None)


def test_after_a_pause_the_last_page_before_it_is_what_news_are_counted_from(alice: User) -> None:
    for at in (0, 10, 40, 41.5):
        visits.note(alice, minutes(at))
    alice.refresh_from_db()
    assert (alice.here_since, alice.last_here_at, alice.was_here_at) == (
        minutes(40), minutes(41.5), minutes(10),
    )  # fmt: skip


def test_a_page_within_a_minute_of_the_last_costs_no_query(alice: User) -> None:
    visits.note(alice, NOON)
    with CaptureQueriesContext(connection) as caught:
        assert not visits.note(alice, minutes(0.9))
    assert len(caught) == 0
    assert visits.note(alice, minutes(1))


def test_two_pages_at_the_same_moment_begin_one_visit(alice: User) -> None:
    visits.note(alice, NOON)
    one, other = User.objects.get(pk=alice.pk), User.objects.get(pk=alice.pk)
    assert visits.note(one, minutes(45))
    assert not visits.note(other, minutes(45.01))
    assert (other.was_here_at, other.here_since) == (NOON, minutes(45)), "it reads what the first one wrote"
    alice.refresh_from_db()
    assert alice.was_here_at == NOON
