"""Who gets which page: the owner hers, a stranger 404, nobody the sign-in page. Every address is tried."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator

import pytest
from django.http import Http404
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from copytrade.models import (
    Account,
    BadRecord,
    DataIssue,
    SyncJob,
    SyncRun,
    TrackingOrder,
    Trader,
    User,
)
from dashboard import access

pytestmark = pytest.mark.django_db

# What is open to everybody, and why.
OPEN = {
    "healthz",  # asked by a container's health check
    "demo",  # the demo's button stands on the sign-in page
    "setup",  # before there is anybody who could sign in
    "join",  # an invitation
    "look",  # the theme of the sign-in page
    "gone",  # how far a deletion is, for whoever knows its key: there is nobody left to sign in
}
# Beside a signed-in operator, a program with METRICS_TOKEN: tests/dashboard/test_metrics.py.

POST_ONLY = {
    "demo",
    "look",
    "connection_test",
    "channel_test",
    "channel_switch",
    "digest_plan",
    "invitations",
    "invitation_withdraw",
    "copy_settings_check",
    "zone",
    "alert_read",
    "alerts_read",
    "sending_policy",
    "reading_retry",
    "issue_retry",
    "issue_dismiss",
}


def ours(resolver: URLResolver | None = None) -> Iterator[URLPattern]:
    """The desk's own routes, without those of the sign-in package."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLPattern):
            yield pattern


def address(pattern: URLPattern, pk: int) -> str:
    values: dict[str, object] = {}
    for name, converter in pattern.pattern.converters.items():
        values[name] = {"IntConverter": pk, "UUIDConverter": uuid.uuid4()}.get(type(converter).__name__, "x")
    return reverse(str(pattern.name), kwargs=values)


@pytest.fixture
def account(alice: User) -> Account:
    return Account.objects.create(owner=alice, label="Main", venue="sandbox", key_hint="-key")


@pytest.fixture
def trader(account: Account) -> Trader:
    return Trader.objects.create(account=account, trader_id=702345678901234567, name="Northwind Steady")


def test_nobody_is_sent_to_the_sign_in_page_from_every_page() -> None:
    client = Client()
    for pattern in ours():
        if pattern.name in OPEN:
            continue
        url = address(pattern, 1)
        for answer in (client.get(url), client.post(url)):
            assert answer.status_code == 302, url
            assert answer.headers["Location"].startswith("/accounts/login/"), url


def test_a_part_asked_for_after_signing_out_reloads_the_page() -> None:
    answer = Client().get(reverse("connections"), headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (401, "true")


def test_a_stranger_gets_404_on_every_row_of_alices(
    account: Account, trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    order = TrackingOrder.objects.create(
        account=account, trader=trader, tracking_no=1, symbol="BTCUSDT", position_side="LONG", status="open"
    )
    pks = {"order": order.pk, "trader": trader.pk}
    client = client_of(charlie)
    tried = 0
    for pattern in ours():
        if "pk" not in pattern.pattern.converters:
            continue
        name = str(pattern.name)
        known = pks.get(name, trader.pk if name.startswith("copy_settings") else account.pk)
        url = address(pattern, known)
        for answer in (client.get(url), client.post(url)):
            assert answer.status_code in {404, 405}, url
        statuses = {client.get(url).status_code, client.post(url).status_code}
        assert 404 in statuses, url
        tried += 1
    assert tried >= 8


def test_a_row_that_never_was_looks_the_same_as_somebody_elses(
    account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(charlie)
    theirs = client.get(reverse("connection", args=[account.pk]))
    never = client.get(reverse("connection", args=[account.pk + 1000]))
    assert theirs.status_code == never.status_code == 404
    pages = [re.search(rb"<main.*</main>", answer.content, re.S) for answer in (theirs, never)]
    assert pages[0] and pages[1] and pages[0].group() == pages[1].group()


@pytest.mark.parametrize("name", sorted(POST_ONLY))
def test_looking_at_a_button_does_not_press_it(
    name: str, alice: User, trader: Trader, account: Account, client_of: Callable[[User], Client]
) -> None:
    pattern = next(p for p in ours() if p.name == name)
    pk = trader.pk if name.startswith("copy_settings") else account.pk
    assert client_of(alice).get(address(pattern, pk)).status_code == 405


def test_the_queries_hold_only_the_persons_own_rows(
    account: Account, trader: Trader, alice: User, charlie: User
) -> None:
    SyncRun.objects.create(account=account, kind="open")
    BadRecord.objects.create(account=account, operation="x", fingerprint="y", raw="{}", reason="z")
    SyncJob.objects.create(account=account, kind="open")
    DataIssue.objects.create(account=account, kind="gap", subject="x", sentence="y")
    request = RequestFactory().get("/")
    request.user = alice
    own = [
        access.accounts(request),
        access.traders(request),
        access.runs(request),
        access.bad_records(request),
        access.jobs(request),
        access.issues(request),
    ]
    assert [query.count() for query in own] == [1] * 6
    request.user = charlie
    others = [
        access.accounts(request),
        access.traders(request),
        access.runs(request),
        access.bad_records(request),
        access.jobs(request),
        access.issues(request),
    ]
    assert [query.count() for query in others] == [0] * 6
    for read in (access.account_read, access.account_write):
        with pytest.raises(Http404):
            read(request, account.pk)


def test_the_operator_has_no_way_into_other_peoples_accounts(
    account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    charlie.is_operator = True
    charlie.save()
    assert client_of(charlie).get(reverse("connection", args=[account.pk])).status_code == 404


def test_operators_pages_do_not_exist_for_others(alice: User, client_of: Callable[[User], Client]) -> None:
    client = client_of(alice)
    assert client.post(reverse("invitations"), {"note": "x"}).status_code == 404
    assert client.post(reverse("invitation_withdraw", args=[1])).status_code == 404
