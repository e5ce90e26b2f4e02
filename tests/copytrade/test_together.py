"""Several tables in one query: the same rows as by one query each."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.models import F, QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade.models import (
    OrderRevision,
    SettingsVersion,
    TrackingOrder,
    Trader,
    TraderNote,
    User,
)
from copytrade.reports.trader_around import trader_around
from copytrade.together import Hidden, Prepared, Query, Words, refer, together
from tests.support.ledger_rows import BIG, account_of, closed_copy, open_copy, trader_of, version_of
from tests.support.whole_world import rows_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def trader(alice: User) -> Trader:
    return trader_of(account_of(alice))


def fields(row) -> dict:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_every_field_of_every_row_is_what_its_own_query_gives(trader: Trader) -> None:
    closed_copy(trader, 1, "5.10000000000000000000001", extras={"depth": 1.5, "text": 'a "quoted" ∆'})
    closed_copy(trader, 2, "-0.00")
    open_copy(trader, 3, open_time=None)
    version_of(trader)
    orders = TrackingOrder.objects.order_by("-tracking_no")
    found, versions, nothing = together(orders, SettingsVersion.objects.all(), TraderNote.objects.all())
    assert [fields(row) for row in found] == [fields(row) for row in orders]
    assert [str(row.net_profit) for row in found] == [str(row.net_profit) for row in orders]
    assert found[0].tracking_no == BIG + 3, "above 2 to the power of 53, and exact"
    assert [fields(row) for row in versions] == [fields(row) for row in SettingsVersion.objects.all()]
    assert nothing == []
    assert (
        together(TraderNote.objects.none(), orders)[0] == [] and len(together(orders.none(), orders)[1]) == 3
    )


def test_rows_of_every_kind_are_read_as_their_own_queries_read_them(alice: User, client_of: Any) -> None:
    rows_of(alice, "Northwind")
    client_of(alice)  # a session
    kinds = [model for model in apps.get_models() if model.objects.exists()]
    assert {User, Session, TrackingOrder, Trader} <= set(kinds) and len(kinds) > 25
    for model in kinds:
        own = list(model.objects.order_by("pk"))
        (found,) = together(model.objects.order_by("pk"))
        assert [fields(row) for row in found] == [fields(row) for row in own], model
        assert [list(map(type, fields(row).values())) for row in found] == [
            list(map(type, fields(row).values())) for row in own
        ], model


def test_annotations_and_parts_of_rows_come_along(trader: Trader) -> None:
    order = closed_copy(trader, 1)
    OrderRevision.objects.create(order=order, changed={"net_profit": ["4.00", "5"]})
    revisions = OrderRevision.objects.annotate(closed_at=F("order__close_time"), of=F("order__net_profit"))
    ((row,), (part,)) = together(revisions, TrackingOrder.objects.only("symbol"))
    assert (row.closed_at, row.of) == (order.close_time, order.net_profit)
    assert isinstance(row.of, Decimal)
    assert part.symbol == "BTCUSDT" and "status" in part.get_deferred_fields()


def test_prepared_queries_give_what_each_gives_with_the_values_of_this_time(
    alice: User, charlie: User
) -> None:
    hers, his = trader_of(account_of(alice)), trader_of(account_of(charlie))
    orders = [closed_copy(trader, number) for trader in (hers, his) for number in (1, 2, 3)]
    written = []

    @Prepared
    def asked(trader: Any, keys: Any, since: Any) -> Sequence[QuerySet[Any]]:
        written.append(trader)
        own = TrackingOrder.objects.filter(trader=trader).order_by("pk")
        return own.filter(pk__one_of=keys, close_time__gte=since), own.only("symbol")[:2]

    ever, later = timezone.now() - timedelta(days=9), timezone.now() + timedelta(days=1)
    keys = [order.pk for order in orders[1:]]
    for trader, since, found in ((hers, ever, orders[1:3]), (his, ever, orders[3:]), (his, later, [])):
        first, second = asked(trader=trader.pk, keys=keys, since=since)
        assert [fields(row) for row in first] == [
            fields(TrackingOrder.objects.get(pk=row.pk)) for row in found
        ]
        assert [row.trader_id for row in second] == [trader.pk] * 2
    assert asked(trader=his.pk, keys=[], since=ever)[0] == []
    assert len(written) == 1, "the text is written once"


def test_a_hidden_value_finds_the_same_rows_and_is_not_planned_for(trader: Trader) -> None:
    """Wherever it stands: in a query of Django's, and in words of our own."""
    orders = [closed_copy(trader, number, "1") for number in range(4)]
    since = Hidden("since", "timestamptz")
    late = TrackingOrder.objects.filter(close_time__gte=since).order_by("pk")
    words = Words(
        "SELECT count(*) AS n FROM copytrade_trackingorder WHERE close_time >= %(since)s", since=since
    )
    asked = Prepared(lambda: [late, words])
    for place in range(4):
        rows, (n,) = asked(since=orders[place].close_time)
        expected = [one.pk for one in orders if one.close_time >= orders[place].close_time]
        assert [row.pk for row in rows] == expected and n == len(expected)
    for text in (str(late.query.sql_with_params()[0]), words.sql):
        assert "(SELECT %s::timestamptz)" in text


def test_words_of_our_own_stand_beside_queries_and_their_values_come_by_name(trader: Trader) -> None:
    closed_copy(trader, 1, "5.10000000000000000000001")

    @Prepared
    def asked(trader: Any, least: Any) -> Sequence[Query]:
        told = Words(
            """SELECT o.net_profit::text AS net, o.close_time AS at, '100 %% of "it"' AS words, %(least)s + 0 AS least
            FROM copytrade_trackingorder o WHERE o.trader_id = %(trader)s AND o.net_profit >= %(least)s""",
            least=least,
            trader=trader,
        )
        return told, TrackingOrder.objects.filter(trader=trader), told

    (order,) = TrackingOrder.objects.all()
    for _ in range(2):
        first, (row,), again = asked(trader=trader.pk, least=Decimal(1))
        net, at, words, least = first
        assert (net, words, least) == ("5.10000000000000000000001", '100 % of "it"', 1)
        assert datetime.fromisoformat(at) == order.close_time
        assert fields(row) == fields(order) and again == first
        assert asked(trader=trader.pk, least=Decimal(6))[0] == (), "no row"
    with CaptureQueriesContext(connection):
        assert asked(trader=trader.pk, least=Decimal(1))[0] == first, (
            "the same where queries are written down"
        )


def test_rows_are_given_what_they_refer_to_as_by_a_join(trader: Trader) -> None:
    closed_copy(trader, 1)
    orders, traders = together(TrackingOrder.objects.all(), Trader.objects.all())
    refer(orders, "trader", {one.pk: one for one in traders})
    with CaptureQueriesContext(connection) as captured:
        assert orders[0].trader is traders[0]
    assert not captured
    with pytest.raises(KeyError):
        refer(orders, "trader", {})


def test_what_stands_around_a_trader_is_one_query(trader: Trader) -> None:
    for number in range(30):
        closed_copy(trader, number)
        open_copy(trader, 100 + number)
        TraderNote.objects.create(trader=trader, day=timezone.now().date(), text="A note")
    named = trader.orders.values_list("pk", flat=True)[0]
    with CaptureQueriesContext(connection) as captured:
        around = trader_around(trader, [named])
        assert around.open[0].trader == trader and around.open[0].order.trader == trader
    assert len(captured) == 1
    assert (len(around.open), len(around.latest), len(around.notes), len(around.named)) == (20, 8, 30, 1)


def test_only_corrections_of_the_last_days_and_of_the_result_alone_are_true_ups(trader: Trader) -> None:
    closed_here = closed_copy(trader, 1, "4", 1)
    long_ago = closed_copy(trader, 2, "4", 30)
    elsewhere = closed_copy(trader_of(trader.account, 9, "Other"), 3, "4", 1)
    for order, changed in [
        (closed_here, {"net_profit": ["4.5", "4"], "update_time": ["a", "b"]}),
        (closed_here, {"net_profit": [None, "4.5"], "close_time": [None, "now"]}),
        (closed_here, {"sl_trigger_price": ["1", "2"]}),
        (long_ago, {"net_profit": ["5", "4"]}),
        (elsewhere, {"net_profit": ["6", "4"]}),
    ]:
        OrderRevision.objects.create(
            order=order, changed=changed, seen_at=timezone.now() - timedelta(hours=1)
        )
    (found,) = trader_around(trader).trued_up
    assert (found.order, found.symbol) == (closed_here.pk, "BTCUSDT")
    assert (found.before, found.after, found.difference) == (Decimal("4.5"), Decimal(4), Decimal("-0.5"))


def test_a_strangers_order_is_not_named(trader: Trader, charlie: User) -> None:
    other = closed_copy(trader_of(account_of(charlie)), 5)
    assert trader_around(trader, [other.pk]).named == {}


def test_the_database_keeps_the_plan_of_a_prepared_query(trader: Trader) -> None:
    @Prepared
    def rows(pk: Any, name: Any) -> Sequence[QuerySet[Any]]:
        return (Trader.objects.filter(pk=pk, name__gte=name),)

    names = [rows(pk=trader.pk, name=name)[0] for name in ("", "A'; --", "zzz")]
    assert [len(found) for found in names] == [1, 1, 0]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans + custom_plans FROM pg_prepared_statements "
            "WHERE statement LIKE '%copytrade_trader%name%'"
        )
        assert cursor.fetchall() == [(3,)], "one statement, asked three times"


@pytest.mark.django_db(transaction=True)
def test_every_thread_asks_by_its_own_connection() -> None:
    @Prepared
    def people() -> Sequence[QuerySet[Any]]:
        return (User.objects.all(),)

    def ask() -> list[Any]:
        try:
            return [people(), together(User.objects.all())]
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        assert ask() == thread.submit(ask).result() == [[[]], [[]]]


def test_what_was_not_asked_for_is_asked_for_when_it_is_read_and_the_row_can_be_saved(trader: Trader) -> None:
    closed_copy(trader, 1, "5.1")
    ((row,),) = together(TrackingOrder.objects.only("symbol"))
    assert row.get_deferred_fields() == TrackingOrder.objects.only("symbol").get().get_deferred_fields()
    assert (row._state.adding, row._state.db) == (False, connection.alias)
    assert row.net_profit == Decimal("5.1") and row.trader == trader
    row.symbol = "ETHUSDT"
    row.save(update_fields=["symbol"])
    assert TrackingOrder.objects.get().symbol == "ETHUSDT" and row == TrackingOrder.objects.get()


def test_a_model_that_makes_its_rows_itself_is_refused(
    trader: Trader, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = Trader.__init__
    monkeypatch.setattr(Trader, "__init__", lambda self, *told, **named: usual(self, *told, **named))
    with pytest.raises(TypeError, match="Trader makes its rows itself"):
        together(Trader.objects.all())
