"""Passes over the open list: which pages, when an absence is believed, and who is absent."""

from __future__ import annotations

from datetime import UTC, datetime

from copytrade.steps.merge import Identity
from copytrade.steps.passes import MOST_PASSES, Pass, Verdict, absent, judge

START = datetime(2026, 1, 1, tzinfo=UTC)


def order(number: int, opened: datetime | None = START, side: str = "LONG") -> Identity:
    return Identity(number, 1, "BTCUSDT", side, opened)


def passed(*pages: list[int], full: int = 2) -> Pass:
    """A pass over pages of these numbers; a page of `full` numbers is a full one."""
    done = Pass()
    for place, numbers in enumerate(pages):
        goes_on = done.take(map(order, numbers), [], full=len(numbers) == full)
        assert goes_on == (place < len(pages) - 1)
    return done


def test_a_page_that_is_not_full_is_the_last() -> None:
    assert passed([1]).pages == 1 and passed([1, 2], [3, 4], []).pages == 3


def test_a_list_of_one_page_is_believed_at_once() -> None:
    assert judge([passed([1])], None, missing=True) is Verdict.AGREED


def test_a_longer_list_is_believed_when_two_passes_in_a_row_agree() -> None:
    one, same, other = passed([1, 2], [3]), passed([1, 2], [3]), passed([1, 2], [4])
    assert judge([one], None, missing=True) is Verdict.AGAIN
    assert judge([one, same], None, missing=True) is Verdict.AGREED
    assert judge([other, one, same], None, missing=True) is Verdict.AGREED
    assert judge([one, other], None, missing=True) is Verdict.AGAIN


def test_the_pass_of_the_reading_before_counts_as_one() -> None:
    one, other = passed([1, 2], [3]), passed([1, 2], [4])
    assert judge([one], one.digest(), missing=True) is Verdict.AGREED
    assert judge([one], other.digest(), missing=True) is Verdict.AGAIN
    assert judge([one, other], other.digest(), missing=True) is Verdict.AGAIN, "it was not the one before"


def test_passes_that_never_agree_are_partial() -> None:
    moving = [passed([1, 2], [number]) for number in range(3, 3 + MOST_PASSES)]
    assert judge(moving, None, missing=True) is Verdict.PARTIAL


def test_nobody_missing_needs_no_second_pass() -> None:
    assert judge([passed([1, 2], [3])], None, missing=False) is Verdict.AGREED


def test_a_page_that_comes_again_instead_of_the_next_is_no_end_of_the_list() -> None:
    stuck = Pass()
    assert stuck.take([order(1), order(2)], [], full=True)
    assert not stuck.take([order(1), order(2)], [], full=True)
    assert stuck.broken
    assert judge([stuck], stuck.digest(), missing=False) is Verdict.AGAIN
    assert judge([stuck] * MOST_PASSES, stuck.digest(), missing=False) is Verdict.PARTIAL


def test_who_is_on_no_page_is_absent() -> None:
    known = [order(1), order(2), order(3)]
    assert absent(known, passed([1, 2], [])) == [order(3)]


def test_another_order_of_the_same_number_does_not_stand_for_it() -> None:
    seen = Pass()
    seen.take([order(1, side="SHORT")], [], full=False)
    assert absent([order(1), order(1, side="SHORT")], seen) == [order(1)]
    undated = Pass()
    undated.take([order(1, None)], [], full=False)
    assert absent([order(1)], undated) == []


def test_a_record_that_could_not_be_read_is_not_absent_and_without_a_number_nobody_is() -> None:
    named, unnamed = Pass(), Pass()
    named.take([order(1)], [2], full=False)
    assert absent([order(1), order(2), order(3)], named) == [order(3)]
    unnamed.take([order(1)], [None], full=False)
    assert absent([order(1), order(2)], unnamed) == []
