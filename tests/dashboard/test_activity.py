"""Activity: what was read and written, and what could not be understood."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
import redis
import time_machine
from django.core.cache import caches
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import meters
from copytrade.models import Account, DataIssue, SettingsChange, SyncJob, SyncRun, Trader, User
from copytrade.reports import activity as figures
from dashboard.templatetags import desk
from tests.dashboard.test_overview import FRAME, text
from tests.support.ledger_rows import account_of
from tests.support.page_tables import read as table
from tests.support.page_tables import words

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User) -> Account:
    return Account.objects.create(owner=alice, label="Seaside", venue="sandbox")


def runs(account: Account, number: int, **fields: object) -> None:
    SyncRun.objects.bulk_create(SyncRun(account=account, kind="open", **fields) for _ in range(number))


def listed(answer: HttpResponse, heading: str = "runs-title") -> list[list[str]]:
    """The rows of the section with that heading, each as the words of its cells."""
    html = answer.content.decode()
    start = html.index(f'aria-labelledby="{heading}"')
    return table(html[start : html.index("</section>", start)])


def test_readings_are_listed_with_their_result(client: Client, account: Account) -> None:
    runs(account, 1, times=40, pages=41, seen=120, changed=3)
    runs(account, 1, error_code="-1047", error_message="The secret does not fit the key.")
    runs(account, 1, bad=2)
    runs(account, 1)
    html = client.get(reverse("activity")).content.decode()
    assert "40 times since" in html
    assert "The secret does not fit the key." in html
    assert "2 not understood" in html
    assert "complete" in html and "3 changed" in html


def test_only_problems_can_be_asked_for(client: Client, account: Account) -> None:
    runs(account, 3)
    runs(account, 1, error_code="-1047")
    runs(account, 1, bad=1)
    assert len(listed(client.get(reverse("activity"), {"errors": "1"}))) == 2


def test_the_address_filters_by_connection_and_reading(client: Client, account: Account, alice: User) -> None:
    other = Account.objects.create(owner=alice, label="Family", venue="sandbox")
    runs(account, 2)
    SyncRun.objects.create(account=other, kind="history")
    url = reverse("activity")
    assert len(listed(client.get(url, {"account": other.pk}))) == 1
    assert len(listed(client.get(url, {"kind": "history"}))) == 1
    assert len(listed(client.get(url, {"account": account.pk, "kind": "history"}))) == 0


@pytest.mark.parametrize(
    "query", ["account=x", "account=٣", "kind=zzz", "page=99", "page=-1", "page=x", "errors=<b>"]
)
def test_a_nonsense_filter_is_no_filter(client: Client, account: Account, query: str) -> None:
    runs(account, 2)
    answer = client.get(reverse("activity") + "?" + query)
    assert answer.status_code == 200
    assert len(listed(answer)) == 2


def test_a_strangers_connection_is_no_filter_either(
    account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    runs(account, 2)
    answer = client_of(charlie).get(reverse("activity"), {"account": account.pk})
    assert len(listed(answer)) == 0
    assert b"Seaside" not in answer.content


def test_settings_changes_are_listed_without_drafts(client: Client, account: Account, alice: User) -> None:
    trader = Trader.objects.create(account=account, trader_id=1, name="Northwind Steady")
    common = {"trader": trader, "author": alice, "body": {}, "differences": [["Stop loss", "off", "20 %"]]}
    SettingsChange.objects.create(state=SettingsChange.State.APPLIED, **common)
    SettingsChange.objects.create(state=SettingsChange.State.DRAFT, **common)
    answer = client.get(reverse("activity"))
    assert len(listed(answer, "written-title")) == 1
    html = answer.content.decode()
    assert "applied and read back" in html
    assert "Stop loss" in html


def test_what_went_wrong_with_a_change_stands_beside_its_state(
    client: Client, account: Account, alice: User
) -> None:
    trader = Trader.objects.create(account=account, trader_id=1, name="Northwind Steady")
    common = {"trader": trader, "author": alice, "body": {}, "differences": [["Stop loss", "off", "20 %"]]}
    SettingsChange.objects.create(state=SettingsChange.State.APPLIED, **common)
    before = queries_of(client)
    assert "<small>The" not in client.get(reverse("activity")).content.decode()
    for sentence in ("The ratio is above <b>1</b>.", "The exchange did not answer."):
        SettingsChange.objects.create(state=SettingsChange.State.REJECTED, error_message=sentence, **common)
    assert queries_of(client) == before
    html = client.get(reverse("activity")).content.decode()
    assert "<small>The ratio is above &lt;b&gt;1&lt;/b&gt;.</small>" in html
    assert "<small>The exchange did not answer.</small>" in html


def test_older_readings_are_a_page_away(client: Client, account: Account) -> None:
    runs(account, 120)
    html = client.get(reverse("activity"), {"kind": "open"}).content.decode()
    assert "?kind=open&amp;page=2" in html and "Newer" not in html
    last = client.get(reverse("activity"), {"kind": "open", "page": "5"}).content.decode()
    assert last.count('<th scope="row" class="first">') == 20
    assert "?kind=open&amp;page=4" in last and "Older" not in last


@pytest.mark.parametrize("page", ["0", "-1", "x", "9" * 30])
def test_a_page_that_there_cannot_be_is_no_error(client: Client, account: Account, page: str) -> None:
    runs(account, 30)
    assert client.get(reverse("activity"), {"page": page}).status_code == 200


def queries_of(client: Client) -> int:
    client.get(reverse("activity"))
    with CaptureQueriesContext(connection) as captured:
        client.get(reverse("activity"))
    return len(captured)


def test_the_page_asks_the_same_number_of_questions_for_10_rows_and_for_20(
    client: Client, account: Account
) -> None:
    runs(account, 10)
    ten = queries_of(client)
    runs(account, 10)
    assert queries_of(client) == ten


@pytest.mark.parametrize("operator", [False, True])
def test_the_page_asks_the_same_number_of_questions_for_10_accounts_and_for_20(
    client: Client, alice: User, operator: bool
) -> None:
    alice.is_operator = operator
    alice.save()
    counts = []
    for round_ in range(2):
        for number in range(10):
            made = account_of(alice, f"A{round_}-{number}")
            DataIssue.objects.create(account=made, kind="gap", subject="x", sentence="y")
            runs(made, 1)
        counts.append(queries_of(client))
    assert counts[0] == counts[1] <= FRAME + 5


def test_htmx_gets_the_readings_alone(client: Client, account: Account) -> None:
    runs(account, 1)
    html = client.get(reverse("activity"), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in html
    assert 'id="runs"' in html


def test_htmx_gets_the_figures_alone_when_they_follow(client: Client, alice: User) -> None:
    account_of(alice)
    headers = {"HX-Request": "true", "HX-Target": "live"}
    html = client.get(reverse("activity"), headers=headers).content.decode()
    assert "<html" not in html and 'id="runs"' not in html
    assert 'id="live"' in html and "Your accounts" in html


def test_without_a_connection_the_page_says_what_to_do(client: Client) -> None:
    assert b"Add a connection" in client.get(reverse("activity")).content


# --- the figures ---


def page(client: Client) -> str:
    return text(client.get(reverse("activity")).content.decode())


def read(account: Account, kind: str, seconds: float, **fields: object) -> SyncJob:
    job = account.jobs.get(kind=kind)
    at = timezone.now() - timedelta(seconds=seconds)
    SyncJob.objects.filter(pk=job.pk).update(last_success_at=at, **fields)
    return job


def test_the_age_of_the_data_is_told_against_its_plan(client: Client, alice: User) -> None:
    for number, seconds in enumerate([10, 20, 30, 4000]):
        read(account_of(alice, f"A{number}"), "open", seconds, interval=30)
    shown = page(client)
    assert "Open orders 30 s 20 s 1 h 1 h 1 of 4" in shown


def test_a_persons_ages_are_counted_as_those_of_the_desk(alice: User) -> None:
    assert figures.staleness_of([]) == figures.staleness(alice)
    for number, seconds in enumerate([5, 10.25, 20, 30, 31, 4000, 90_000]):
        account = account_of(alice, f"A{number}")
        read(account, "open", seconds, interval=30 + number, failures=number % 2)
        if number > 4:
            read(account, "history", seconds, interval=None)
    Account.objects.filter(label="A1").update(state="refused")
    now = timezone.now()
    told = figures.staleness_of(figures.board_of(alice)[1], now)
    assert told == figures.staleness(alice, now)
    assert told[0].jobs == 6 and told[0].late == 2 and told[0].failing == 2


def test_a_refused_account_is_not_late_but_stopped(client: Client, alice: User) -> None:
    account = account_of(alice)
    read(account, "open", 90_000)
    Account.objects.update(state="refused")
    shown = page(client)
    assert "Open orders – – – – –" in shown
    assert "Stopped, so that the exchange does not disable the key. Mend the key" in shown


def test_the_operator_sees_the_whole_desk_and_others_their_own(
    client: Client, alice: User, charlie: User, client_of: Callable[[User], Client]
) -> None:
    read(account_of(alice, "Seaside"), "open", 7200, interval=5)
    account_of(charlie, "Harbour")
    assert "1 of 1" not in page(client_of(charlie))
    charlie.is_operator = True
    charlie.save()
    shown = page(client_of(charlie))
    assert "1 of 2" in shown and "All accounts of the desk: 2 active" in shown
    assert "Seaside" not in shown and "alice" not in shown


def test_weight_spent_stands_beside_its_floor(client: Client, alice: User, redis_client: redis.Redis) -> None:
    account_of(alice)
    for _ in range(9):
        meters.count("default", "my_traders", "ok", 10, 0.1, venue="sandbox")
    meters.count("default", "my_traders", "Unreachable", 10, 0.1, venue="sandbox")
    meters.count("default", "my_traders", "ok", 10, 0.1, venue="weex")
    shown = page(client)
    assert "Spent 100 in 10 calls" in shown
    assert "Floor, 10 for an answer 90 1.11×" in shown
    assert "1 Unreachable" in shown
    assert "WEEX" not in shown


OPENED = {"HX-Request": "true", "HX-Target": "minutes-table"}


def test_the_list_of_readings_follows_by_itself_on_a_page_with_that_table_open(
    client: Client, alice: User, redis_client: redis.Redis
) -> None:
    """The list asks for the address of its page, which names what is open."""
    account_of(alice)
    headers = {"HX-Request": "true", "HX-Target": "runs"}
    html = client.get(reverse("activity") + "?show=minutes", headers=headers).content.decode()
    assert 'id="runs"' in html and "minutes-table" not in html


def test_the_table_of_the_last_hour_has_the_weight_of_every_minute(
    client: Client, alice: User, redis_client: redis.Redis
) -> None:
    account_of(alice)
    address, now = reverse("activity"), timezone.now()
    assert 'id="minutes-table"' not in client.get(address).content.decode(), "nothing was spent"
    spent = {0: 30, 1: 10, 17: 1234, 59: 7}
    for ago, weight in spent.items():
        at = (now - timedelta(minutes=ago)).timestamp()
        meters.count("default", "my_traders", "ok", weight, 0.1, venue="sandbox", now=at)
    meters.count("second", "my_traders", "ok", 5, 0.1, venue="sandbox", now=now.timestamp())
    html = client.get(address).content.decode()
    pictures = re.findall(r'role="img" aria-label="([^"]+)" data-table="minutes-table"', html)
    assert len(pictures) == 2 and "1 281 together, 1 234 in the busiest" in pictures[0].replace("\u202f", " ")
    assert '<div id="minutes" hx-preserve="true"><p class="fold small" id="minutes-table">' in html
    with time_machine.travel(now, tick=False):
        part = client.get(f"{address}?show=minutes", headers=OPENED).content.decode()
    columns = re.findall(r'<th scope="col" class="num">(.*?)</th>', part)
    assert len(columns) == 2 and columns[1] == f"{columns[0]} by way of second"
    assert table(part) == [
        [
            desk.when_text(now - timedelta(minutes=ago)),
            words(desk.quantity(spent.get(ago, 0))),
            "0" if ago else "5",
        ]
        for ago in range(60)
    ]
    assert "<html" not in part
    assert "Request weight by minute" in client.get(f"{address}?show=minutes").content.decode(), (
        "without a script"
    )


def test_where_nothing_was_spent_the_table_of_the_last_hour_is_empty(
    client: Client, alice: User, redis_client: redis.Redis
) -> None:
    answer = client.get(reverse("activity") + "?show=minutes", headers=OPENED)
    assert answer.status_code == 200 and table(answer.content.decode()) == []


def test_a_call_that_weighs_less_has_a_lower_floor(
    client: Client, alice: User, redis_client: redis.Redis
) -> None:
    account_of(alice)
    meters.count("default", "my_traders", "ok", 10, 0.1, venue="sandbox")
    meters.count("default", "server_time", "ok", 1, 0.1, venue="sandbox")
    assert "Floor, 10 for an answer 11 1.00×" in page(client)


def test_calls_by_operation_are_the_operators(client: Client, alice: User, redis_client: redis.Redis) -> None:
    account_of(alice)
    meters.count("default", "my_traders", "ok", 10, 0.25, venue="sandbox")
    meters.count("default", "my_traders", "RateLimited", 0, 0.75, venue="sandbox")
    assert "my_traders" not in page(client)
    alice.is_operator = True
    alice.save()
    assert "my_traders 2 1 0.50 s 1 RateLimited" in page(client)


def test_without_counters_the_page_says_that_nothing_depends_on_them(
    client: Client, alice: User, redis_client: redis.Redis
) -> None:
    account_of(alice)
    assert "No call in the last hour, or the counters were restarted." in page(client)


def test_one_more_address_helps_when_the_quota_is_short(
    client: Client, alice: User, redis_client: redis.Redis
) -> None:
    account = account_of(alice)
    assert "One more address would not make a difference" in page(client)
    jobs = SyncJob.objects.filter(account=account)
    jobs.update(weight=100_000)
    caches["process"].clear()  # as a minute later
    assert "One more address would have the open lists of Sandbox exchange read every" in page(client)


# --- retry ---


def test_a_failed_reading_has_a_button_that_makes_it_due_now(client: Client, alice: User) -> None:
    account = account_of(alice)
    later = timezone.now() + timedelta(minutes=9)
    job = read(account, "history", 60, failures=3, last_error="The exchange did not answer.", due_at=later)
    html = client.get(reverse("activity")).content.decode()
    assert html.count("Read now") == 1 and "The exchange did not answer." in html
    answer = client.post(reverse("reading_retry", args=[job.pk]), follow=True)
    assert "the order history are read again now" in text(answer.content.decode())
    job.refresh_from_db()
    assert job.due_at <= timezone.now()


def test_a_second_press_changes_nothing(client: Client, alice: User) -> None:
    job = read(account_of(alice), "open", 60, failures=1, due_at=timezone.now() + timedelta(minutes=9))
    client.post(reverse("reading_retry", args=[job.pk]))
    before = SyncJob.objects.values().get(pk=job.pk)
    client.post(reverse("reading_retry", args=[job.pk]))
    assert SyncJob.objects.values().get(pk=job.pk) == before


def test_a_refused_key_is_not_tried_but_leads_to_its_connection(client: Client, alice: User) -> None:
    account = account_of(alice)
    later = timezone.now() + timedelta(minutes=9)
    job = read(account, "open", 60, failures=3, due_at=later)
    Account.objects.update(state="refused")
    answer = client.post(reverse("reading_retry", args=[job.pk]))
    assert answer.headers["Location"] == reverse("connection", args=[account.pk])
    job.refresh_from_db()
    assert job.due_at == later


def test_a_stranger_cannot_have_alices_account_read(
    alice: User, charlie: User, client_of: Callable[[User], Client]
) -> None:
    later = timezone.now() + timedelta(minutes=9)
    job = read(account_of(alice), "open", 60, failures=1, due_at=later)
    assert client_of(charlie).post(reverse("reading_retry", args=[job.pk])).status_code == 404
    job.refresh_from_db()
    assert job.due_at == later


def test_accounts_in_trouble_stand_first_and_the_rest_is_counted(client: Client, alice: User) -> None:
    for number in range(30):
        account_of(alice, f"A{number:02}")
    read(Account.objects.get(label="A29"), "open", 60, failures=2)
    Account.objects.filter(label="A28").update(state="refused")
    board = listed(client.get(reverse("activity")), "board-title")
    named = [re.match(r"A\d\d", cells[0]) for cells in board]
    assert [name.group() for name in named if name][:3] == ["A28", "A29", "A00"]
    counted = "25 of 30 accounts, those in trouble first."
    assert counted in page(client)
    headers = {"HX-Request": "true", "HX-Target": "live"}
    assert counted in text(client.get(reverse("activity"), headers=headers).content.decode())
