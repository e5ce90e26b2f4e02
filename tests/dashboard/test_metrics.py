"""/metrics: who may read it, what it tells, and that it tells of nobody."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from copytrade import issues, meters
from copytrade.models import Alert, Chore, CoverageGap, SettingsChange, User
from dashboard import environment
from tests.support.ledger_rows import account_of, closed_copy, open_copy, trader_of

pytestmark = pytest.mark.django_db
URL = "/metrics"
TOKEN = "a-token-of-no-desk-0123456789"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def operator(alice: User) -> User:
    alice.is_operator = True
    alice.save()
    return alice


@pytest.fixture
def scraper(settings: object) -> Client:
    settings.METRICS_TOKEN = TOKEN  # type: ignore[attr-defined]
    return Client(headers={"Authorization": f"Bearer {TOKEN}"})


@pytest.fixture
def full(operator: User, redis_client: redis.Redis) -> User:
    """A desk with one of everything that there is a metric of."""
    account = account_of(operator, "Seaside")
    trader = trader_of(account)
    open_copy(trader, 1)
    closed_copy(trader, 2)
    issues.tell(account, "gap", "x", "A gap.")
    CoverageGap.objects.create(account=account, end=account.created_at, reason="Beyond the window.")
    Chore.objects.create(name="watch", last_success_at=account.created_at)
    Alert.objects.create(owner=operator, account=account, kind="data_stale", key="k", sentence="Stale.")
    SettingsChange.objects.create(
        trader=trader, author=operator, body={}, differences=[], state=SettingsChange.State.APPLIED
    )
    meters.count("default", "my_traders", "ok", 10, 0.3, venue="sandbox")
    meters.count("default", "my_traders", "ok", 10, 30, venue="sandbox")
    meters.count("default", "my_traders", "Unreachable", 10, 0.02, venue="sandbox")
    return operator


def told(client: Client) -> dict[str, dict[tuple[str, ...], float]]:
    """Sample name -> {label values in the order of the labels' names: value}."""
    answer = client.get(URL)
    assert answer.status_code == 200
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(value for _, value in sorted(sample.labels.items()))] = (
                sample.value
            )
    return found


def test_it_speaks_as_prometheus_reads(scraper: Client) -> None:
    answer = scraper.get(URL)
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert b"# HELP copydesk_accounts Connected accounts." in answer.content


def test_nobody_is_sent_to_sign_in_and_a_person_finds_no_such_page(
    charlie: User, client_of: Callable[[User], Client]
) -> None:
    assert Client().get(URL).headers["Location"].startswith("/accounts/login/")
    assert client_of(charlie).get(URL).status_code == 404


def test_the_operator_reads_it_signed_in(operator: User, client_of: Callable[[User], Client]) -> None:
    assert client_of(operator).get(URL).status_code == 200


@pytest.mark.parametrize(
    "header",
    ["Bearer wrong", "Bearer ", "Bearer", "", "Basic " + TOKEN, TOKEN, f"Bearer {TOKEN}x", "Bearer é"],
)
def test_a_wrong_token_is_refused_even_with_a_session(
    scraper: Client, operator: User, client_of: Callable[[User], Client], header: str
) -> None:
    for client in (Client(), client_of(operator)):
        answer = client.get(URL, headers={"Authorization": header})
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="metrics"')
        assert b"copydesk_" not in answer.content


def test_a_desk_without_a_token_takes_none(settings: object) -> None:
    settings.METRICS_TOKEN = ""  # type: ignore[attr-defined]
    for header in ("Bearer ", "Bearer", "Bearer x"):
        assert Client().get(URL, headers={"Authorization": header}).status_code == 401


def test_it_is_read_and_never_written(scraper: Client) -> None:
    assert scraper.post(URL).status_code == 405
    assert scraper.head(URL).status_code == 200


def test_a_token_that_can_be_guessed_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("short", "x" * 23, "with spaces " * 3, "ü" * 30):
        monkeypatch.setenv("METRICS_TOKEN", value)
        with pytest.raises(ImproperlyConfigured, match="METRICS_TOKEN must be at least 24"):
            environment.token("METRICS_TOKEN")
    monkeypatch.setenv("METRICS_TOKEN", TOKEN)
    assert environment.token("METRICS_TOKEN") == TOKEN
    monkeypatch.delenv("METRICS_TOKEN")
    assert environment.token("METRICS_TOKEN") == ""


def test_a_token_may_lie_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN + "\n")
    monkeypatch.setenv("METRICS_TOKEN_FILE", str(tmp_path / "token"))
    assert environment.token("METRICS_TOKEN") == TOKEN


def test_the_numbers_are_those_of_the_desk(scraper: Client, full: User) -> None:
    numbers = told(scraper)
    assert numbers["copydesk_accounts"] == {("active", "sandbox"): 1}
    assert numbers["copydesk_orders_not_closed"] == {("open",): 1, ("missing",): 0, ("lost",): 0}
    assert numbers["copydesk_data_issues_open"] == {("gap",): 1}
    assert numbers["copydesk_readings"][("open",)] == 1
    assert numbers["copydesk_staleness_seconds"][("open", "0.5")] < 60
    assert numbers["copydesk_chore_failures"] == {("watch",): 0}
    assert numbers["copydesk_weight_last_hour"] == {("default", "sandbox"): 30}
    assert numbers["copydesk_weight_floor_last_hour"] == {("default", "sandbox"): 20}


def test_calls_are_counters_and_their_times_a_histogram(scraper: Client, full: User) -> None:
    numbers = told(scraper)
    key = ("default", "my_traders", "ok", "sandbox")
    assert numbers["copydesk_calls_total"][key] == 2
    assert numbers["copydesk_weight_total"][key] == 20
    assert numbers["copydesk_call_seconds_sum"][key] == pytest.approx(30.3)
    buckets = {
        bound: number
        for (egress, bound, *rest), number in numbers["copydesk_call_seconds_bucket"].items()
        if (egress, *rest) == key
    }
    assert buckets["0.2"] == 0 and buckets["0.5"] == 1 and buckets["20.0"] == 1 and buckets["+Inf"] == 2


def test_it_tells_of_nobody(scraper: Client, full: User) -> None:
    body = scraper.get(URL).content.decode()
    for secret in ("alice", "Seaside", "Northwind", str(account_of(full, "Z").pk + 10**6), TOKEN, "70234567"):
        assert secret not in body


def test_every_metric_is_documented_and_no_other(scraper: Client, full: User) -> None:
    families = text_string_to_metric_families(scraper.get(URL).content.decode())
    told_of = {family.name + ("_total" if family.type == "counter" else "") for family in families}
    section = (ROOT / "docs/running.md").read_text().split("## Metrics", 1)[1].split("\n## ", 1)[0]
    documented = set(re.findall(r"^\| `(copydesk_\w+)`", section, re.MULTILINE))
    assert len(told_of) > 25
    assert told_of == documented


def test_a_desk_of_twenty_accounts_costs_as_many_queries_as_one_of_ten(scraper: Client, alice: User) -> None:
    counts = []
    for round_ in range(2):
        for number in range(10):
            trader = trader_of(account_of(alice, f"{round_}-{number}"))
            open_copy(trader, number)
        scraper.get(URL)
        with CaptureQueriesContext(connection) as captured:
            scraper.get(URL)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 14


def test_without_redis_the_database_still_speaks(scraper: Client, alice: User, settings: object) -> None:
    account_of(alice)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # type: ignore[attr-defined]
    assert told(scraper)["copydesk_accounts"] == {("active", "sandbox"): 1}
