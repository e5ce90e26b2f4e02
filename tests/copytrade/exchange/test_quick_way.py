"""The quick way of a kind is the kind itself, only quicker: it never reads a value in another way."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from copytrade.exchange import kinds
from copytrade.exchange.decoding import Drift, decode, plan_of
from copytrade.exchange.kinds import ODD, BadValue, quick
from copytrade.exchange.records import FollowerOrder

from .samples import sample

KINDS = [
    kinds.long,
    kinds.loose_long,
    kinds.integer,
    kinds.money,
    kinds.text,
    kinds.moment,
    kinds.moment_text,
]
NUMERIC = st.text(string.digits + "+-.eE _\u0661\x00", max_size=70)
VALUES = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text() | NUMERIC
    | st.decimals(allow_nan=False, allow_infinity=False) | st.lists(st.integers())
    | st.integers(0, 2 * kinds.LAST_MS) | st.integers(0, 2 * kinds.LAST_MS).map(str)
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
@given(value=VALUES, required=st.booleans())
@example(value="", required=True)
@example(value="", required=False)
@example(value="0.10", required=False)
@example(value="-0", required=False)
@example(value="1" * 61, required=False)
@example(value=True, required=False)
@example(value="1763000000000", required=False)
def test_what_the_quick_way_reads_the_kind_reads_alike_and_without_a_note(kind, value, required):
    found = quick(kind, required)(value)
    if found is ODD:
        return
    notes: list[str] = []
    expected = kind(value, notes.append)
    assert (found, str(found), type(found)) == (expected, str(expected), type(expected))
    assert notes == []
    assert not (required and found is None)


def test_nothing_of_an_ordinary_order_goes_the_slow_way():
    plan = plan_of(FollowerOrder)
    for row in [*sample("open_tracking_orders"), *sample("tracking_order_history")["list"]]:
        odd = [name for _, name, usual, _ in plan.fields if usual(row.get(name)) is ODD]
        assert odd == [name for name in odd if row.get(name) is None or name == "closeTime"]


def test_a_record_read_is_the_record_that_its_class_makes():
    """Reading sets the attributes past __init__; equality, repr and being frozen must not suffer."""
    row = sample("open_tracking_orders")[0] | {"addedLater": 1}
    drift = Drift()
    order = decode(FollowerOrder, row, lambda note: drift.update([note]))
    fields = {name: getattr(order, name) for name in FollowerOrder.__dataclass_fields__}
    assert order == FollowerOrder(**fields)
    assert repr(order) == repr(FollowerOrder(**fields))
    assert order.extras == {"addedLater": 1} and drift == {"addedLater: not in the interface": 1}
    with pytest.raises(AttributeError):
        order.symbol = "ETHUSDT"


def test_two_records_share_no_list_that_one_of_them_may_change():
    first, second = (decode(FollowerOrder, sample("open_tracking_orders")[0], print) for _ in range(2))
    assert first.extras is not second.extras and first.drift is not second.drift


def test_what_is_no_object_is_bad():
    with pytest.raises(BadValue, match="is not an object"):
        decode(FollowerOrder, [1], print)
