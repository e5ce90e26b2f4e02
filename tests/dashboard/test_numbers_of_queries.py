"""What a page asks the database is little, and the same for ten rows and for a thousand."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from bench import ledgers
from copytrade.models import Alert, BadRecord, DataIssue, OrderRevision, SyncRun, TrackingOrder, User
from tests.support.signed_in import signed_in

pytestmark = pytest.mark.django_db

FEW, MANY = 10, 1000
SIGNED_IN, OF_A_PAGE, OF_A_PART = 1, 6, 3  # the session with its user; the most of others
PART = {"HX-Request": "true"}
# (the name of an address, what it is asked for); what stands in braces is of the desk that is asked.
PAGES = (
    ("overview", ""),
    ("overview", "?period=all"),
    ("traders", ""),
    ("traders", "?period=30"),
    ("trader", ""),
    ("trader", "?period=all"),
    ("trader", "?period=range&from={from_}&to={to}"),
    ("compare", "?trader={trader}&trader={other}"),
    ("open_orders", ""),
    ("history", ""),
    ("history", "?trader={trader}"),
    ("history", "?symbol=BTCUSDT"),
    ("history", "?side=SHORT&result=loss"),
    ("order", ""),
    ("connection", ""),
    ("activity", ""),
    ("alerts", ""),
    ("issues", ""),
)
PARTS = (
    ("overview", "?show=chart"),
    ("overview", "?show=equity"),
    ("traders", "?period=30"),
    ("trader", "?period=all"),
    ("trader", "?period=all&show=equity"),
    ("trader", "?period=all&show=chart"),
    ("trader", "?period=all&show=margin"),
    ("trader", "?period=all&show=holding"),
    ("trader", "?period=range&from={from_}&to={to}&show=holding"),
    ("open_orders", ""),
    ("history", ""),
)


class Desk:
    """Somebody with so many closed copies and notices of every kind, some open copies, and a browser of theirs."""

    def __init__(self, n: int) -> None:
        owner = User.objects.create_user(f"owner-{n}", f"owner-{n}@example.com", "a-password-of-20-chars")
        self.n, self.client = n, signed_in(owner)
        trader, other, *_ = ledgers.stored(owner, n, opened=max(FEW, n // 10))
        ledgers.counted(owner)
        copies = list(
            TrackingOrder.objects.filter(account__owner=owner, closed=True).order_by("close_time", "pk")
        )
        assert len(copies) == n
        self._notices(owner, copies)
        self.rows = {"trader": trader.pk, "order": copies[-1].pk, "connection": trader.account_id}
        today = timezone.now().date()
        self.words = {
            "trader": trader.pk, "other": other.pk,
            "from_": today - timedelta(days=250), "to": today - timedelta(days=40),
        }  # fmt: skip

    def _notices(self, owner: User, copies: list[TrackingOrder]) -> None:
        account = copies[0].account
        numbers = range(self.n)
        Alert.objects.bulk_create(
            Alert(
                owner=owner,
                account=account,
                kind="data_stale",
                key=f"{account.pk}:{n}",
                sentence=f"Sentence {n}.",
            )
            for n in numbers
        )
        records = BadRecord.objects.bulk_create(
            BadRecord(account=account, operation="open", fingerprint=f"{n}", raw="{}", reason="no")
            for n in numbers
        )
        DataIssue.objects.bulk_create(
            DataIssue(account=account, kind="bad_record", subject=str(record.pk), sentence="A record.")
            for record in records
        )
        SyncRun.objects.bulk_create(SyncRun(account=account, kind="open") for _ in numbers)
        OrderRevision.objects.bulk_create(
            OrderRevision(order=copy, changed={"net_profit": ["1", "2"]}) for copy in copies
        )

    def asks(self, name: str, query: str, headers: dict[str, str]) -> int:
        """How many questions the second look costs: the first one tells the desk that somebody looks."""
        address = reverse(name, args=[self.rows[name]] if name in self.rows else []) + query.format(
            **self.words
        )
        with time_machine.travel(timezone.now(), tick=False):
            self.client.get(address, headers=headers)
            with CaptureQueriesContext(connection) as captured:
                answer = self.client.get(address, headers=headers)
        assert answer.status_code == 200, f"{address}: {answer.status_code}"
        return len(captured) - SIGNED_IN


def test_pages_and_parts_ask_as_little_of_a_thousand_rows_as_of_ten() -> None:
    """One test for all of them: what takes time is to make the thousand rows, and that each process makes its own."""
    desks = [Desk(number) for number in (FEW, MANY)]
    for asked, headers, most in ((PAGES, {}, OF_A_PAGE), (PARTS, PART, OF_A_PART)):
        few, many = ({one: desk.asks(*one, headers) for one in asked} for desk in desks)
        assert many == few
        assert {one: number for one, number in many.items() if number > most} == {}
