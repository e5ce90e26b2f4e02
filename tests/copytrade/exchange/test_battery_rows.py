"""The battery, third part: answers whose rows are odd, for every reading operation."""

from dataclasses import replace
from datetime import timedelta

import pytest

from copytrade.exchange import (
    Cursor,
    Malformed,
)
from copytrade.rules import same

from .battery import LISTS, READS, rows

NEEDED_ARGUMENTS = {"sub_affiliates": {"product_type": "SPOT"}}


def plain_and_odd(desk, name, kind, **more):
    """The same call twice: as it is, and with a fault in its rows."""
    arguments = desk.arguments(name)
    client = desk.client(name)
    plain = getattr(client, name)(**arguments)
    desk.sandbox.fault(name, kind, **more)
    return plain, getattr(client, name)(**arguments)


# The only digits in strings of affiliate users are uids, which the interface itself shows in both forms.
UNTOLD = {("numbers_for_strings", "affiliate_users")}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", ["numbers_for_strings", "strings_for_numbers"])
def test_values_in_the_other_form_are_the_same_values(desk, name, kind):
    plain, odd = plain_and_odd(desk, name, kind)
    if name == "follower_settings":
        assert same(odd.settings, plain.settings)
    else:
        assert [replace(row, drift=[]) for row in rows(odd)] == [
            replace(row, drift=[]) for row in rows(plain)
        ]
    assert not getattr(odd, "bad", [])
    if (kind, name) not in UNTOLD:
        assert any("is meant" in note for note in odd.drift)


@pytest.mark.parametrize("name", READS)
def test_fields_of_a_later_version_are_kept(desk, name):
    plain, odd = plain_and_odd(desk, name, "extra_fields")
    assert len(rows(odd)) == len(rows(plain))
    assert any("addedLater: not in the interface" in note for note in odd.drift)
    if name != "follower_settings":
        assert rows(odd)[0].extras["addedLater"]["values"] == [1, None, "2.50"]


@pytest.mark.parametrize("name", READS)
def test_a_missing_field_costs_no_record(desk, name):
    plain, odd = plain_and_odd(desk, name, "missing_fields")
    assert len(rows(odd)) == len(rows(plain))
    assert not getattr(odd, "bad", [])
    assert any("missing" in note for note in odd.drift) or name in ("account", "order")


@pytest.mark.parametrize("name", LISTS)
def test_records_that_mean_nothing_are_kept_apart(desk, name):
    """Without its identity a record is bad: reported and kept raw, and the call still succeeds."""
    identity = {
        "trackingNo", "traderId", "billId", "uid", "withdrawId", "subAffiliateUid", "userId",
    }  # fmt: skip
    plain, odd = plain_and_odd(desk, name, "missing_fields", fields=sorted(identity))
    assert odd.records == []
    assert len(odd.bad) == len(plain.records)
    assert all("missing" in bad.reason and bad.raw.startswith("{") for bad in odd.bad)


@pytest.mark.parametrize(
    "name", ["tracking_order_history", "lead_order_history", "open_tracking_orders", "bills"]
)
def test_a_value_unheard_of_is_kept_verbatim(desk, name):
    _, odd = plain_and_odd(desk, name, "unknown_status")
    assert {getattr(row, "status", None) or row.biz_type for row in odd.records} == {"UNHEARD_OF"}
    assert odd.bad == []


@pytest.mark.parametrize("kind", ["duplicate_rows", "reorder_rows"])
@pytest.mark.parametrize("walk", ["iter_open_tracking_orders", "iter_my_traders"])
def test_a_doubled_or_turned_list_gives_each_record_once(desk, walk, kind):
    def records():
        found = [record for page in getattr(desk.client(), walk)() for record in page.records]
        return {getattr(record, "tracking_no", None) or record.trader_id: record for record in found}, len(
            found
        )

    plain, _ = records()
    desk.sandbox.fault("*", kind, times=0)
    odd, count = records()
    assert odd == plain
    assert count == len(plain)


@pytest.mark.parametrize(
    "walk", ["iter_my_traders", "iter_affiliate_users", "iter_sub_affiliates", "iter_history"]
)
def test_a_page_that_comes_twice_never_passes_for_the_end(desk, walk):
    """A shorter list would be taken for the truth: traders that were left, users that never were."""
    name = {"iter_history": "tracking_order_history"}.get(walk, walk.removeprefix("iter_"))
    client = desk.client(name)
    now = client.server_time()
    given = {"iter_history": {"start": now - timedelta(days=90), "end": now}}.get(
        walk, NEEDED_ARGUMENTS.get(name, {})
    )
    size = {"limit": 2} if walk == "iter_history" else {"page_size": 2}
    desk.sandbox.fault(name, "repeat_page", after=1)
    with pytest.raises(Malformed):
        list(getattr(client, walk)(**given, **size))


@pytest.mark.parametrize("walk", ["iter_history", "iter_lead_history"])
def test_a_cursor_that_loops_is_malformed(desk, walk):
    name = {"iter_history": "tracking_order_history", "iter_lead_history": "lead_order_history"}[walk]
    client = desk.client(name)
    now = client.server_time()
    desk.sandbox.fault(name, "cursor_loop", times=0, after=1)
    with pytest.raises(Malformed):
        list(getattr(client, walk)(now - timedelta(days=90), now, limit=10))
    assert len(desk.received(name)) <= 4


@pytest.mark.parametrize(
    "name", ["affiliate_users", "internal_withdrawals", "sub_affiliates", "my_traders", "funding_bills"]
)
def test_a_list_that_claims_to_go_on_for_ever_ends(desk, name):
    desk.sandbox.fault(name, "cursor_loop", times=0)
    client = desk.client(name)
    pages = list(getattr(client, f"iter_{name}")(**NEEDED_ARGUMENTS.get(name, {})))
    assert sum(len(page.records) for page in pages) > 0
    assert len(desk.received(name)) < 20


def test_a_cursor_is_handed_back_as_it_came(desk):
    client = desk.client()
    first = client.tracking_order_history(limit=5)
    assert isinstance(first.next, Cursor)
    second = client.tracking_order_history(limit=5, cursor=first.next)
    assert not {order.tracking_no for order in first.records} & {
        order.tracking_no for order in second.records
    }
