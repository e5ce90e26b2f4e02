"""Reports are read window by window, and end as what one look at the whole would have shown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.conf import settings as django_settings
from django.db.models import F
from django.utils import timezone

from copytrade import connections, retention, tasks
from copytrade.affiliate import KINDS, AskRefused, ask, fetching, totals
from copytrade.affiliate.asking import MOST_WAITING
from copytrade.exchange.checks import to_ms
from copytrade.models import Account, AffiliateReport, AffiliateRow, AffiliateStanding, User
from tests.support.sandbox_process import Sandbox

from . import partner_server as servers
from .partner_server import PartnerServer, commission

COMMISSIONS, USERS, TRADING = KINDS["commissions"], KINDS["users"], KINDS["trading"]
State = AffiliateReport.State
BOTH = {"product_type": "both"}


def days(back: int, until: int = 0) -> dict[str, date]:
    today = timezone.now().astimezone(UTC).date()
    return {"since": today - timedelta(days=back), "until": today - timedelta(days=until)}


def read_all(report: AffiliateReport) -> AffiliateReport:
    while fetching.read(report.pk) == fetching.MORE:
        pass
    report.refresh_from_db()
    return report


def records(report: AffiliateReport) -> list[dict[str, Any]]:
    return list(AffiliateRow.objects.filter(report=report).values_list("record", flat=True))


# --- against the sandbox ------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", KINDS)
def test_each_kind_is_read_and_its_totals_are_the_exact_sums_of_its_rows(
    affiliate: Account, slug: str
) -> None:
    kind = KINDS[slug]
    chosen = days(20) | {"product_type": "both"} | {"from_account_type": "SPOT", "to_account_type": "SPOT"}
    report = read_all(ask(affiliate, kind, {name: chosen.get(name) for name in kind.asks}))
    assert (report.state, report.error, report.done) == (State.DONE, "", len(report.steps))
    rows = records(report)
    assert rows and report.rows == len(rows)
    found = totals.totals(report, kind)
    assert sum(one.n for one in found) == len(rows)
    for place, column in enumerate(kind.summed):
        whole = sum((Decimal(row[column.name]) for row in rows), Decimal(0))
        assert sum((one.sums[place][0] or Decimal(0) for one in found), Decimal(0)) == whole


def test_a_year_of_users_in_five_windows_holds_each_user_once(affiliate: Account, sandbox: Sandbox) -> None:
    report = read_all(ask(affiliate, USERS, days(364)))
    assert len(report.steps) == 5 and report.state == State.DONE
    uids = [row["uid"] for row in records(report)]
    assert len(uids) == len(set(uids)) > 25
    windows = {(step["start"], step["end"]) for step in report.steps}
    asked = [call for call in sandbox.calls()["calls"] if call["operation"] == "affiliate_users"]
    assert len(windows) == len(asked) == 5


def test_the_sums_of_windows_are_the_sums_of_all_their_days(affiliate: Account) -> None:
    """The sandbox sums over a call's window; commissions of the same days, one by one, must come to the same."""
    trading = read_all(ask(affiliate, TRADING, days(180)))
    assert len(trading.steps) == 3
    single = read_all(ask(affiliate, COMMISSIONS, days(180) | BOTH))
    volume: Counter[int] = Counter()
    for row in records(single):
        volume[row["uid"]] += Decimal(row["taker_amount"]) + Decimal(row["maker_amount"])
    sums = {
        row["uid"]: Decimal(row["spot_trading_amount"]) + Decimal(row["futures_trading_amount"])
        for row in records(trading)
    }
    assert len(sums) == trading.rows
    assert {uid: one for uid, one in sums.items() if one} == dict(volume)


def test_a_range_beyond_the_interface_is_refused_with_its_sentence_before_any_call(
    affiliate: Account, sandbox: Sandbox
) -> None:
    before = len(sandbox.calls()["calls"])
    for slug, back in (("users", 366), ("trading", 366), ("withdrawals", 31)):
        with pytest.raises(AskRefused, match="only"):
            ask(affiliate, KINDS[slug], days(back))
    assert len(sandbox.calls()["calls"]) == before
    assert not AffiliateReport.objects.exists()


def test_the_withdrawals_of_another_wallet_and_of_one_id_are_their_own_questions(affiliate: Account) -> None:
    kind, chosen = KINDS["withdrawals"], days(29) | {"from_account_type": "SPOT", "to_account_type": "FUND"}
    every = records(read_all(ask(affiliate, kind, chosen)))
    assert every
    one = records(read_all(ask(affiliate, kind, chosen | {"withdraw_id": every[0]["withdraw_id"]})))
    assert one == [every[0]]


def test_each_operation_is_asked_with_what_the_interface_names_and_its_page_size(
    affiliate: Account, sandbox: Sandbox
) -> None:
    """interface.md, Limits: at most 200 withdrawals a page; 100 is the default of the other lists."""
    before = {call["n"] for call in sandbox.calls()["calls"]}
    chosen = days(2) | {"product_type": "FUTURES", "coin": "BTC", "uid": 7, "sub_uid": 9, "user_ids": [3, 4]}
    for kind in KINDS.values():
        read_all(ask(affiliate, kind, chosen))
    new = [call for call in sandbox.calls()["calls"] if call["n"] not in before]
    asked = {call["operation"]: parse_qs(call["query"]) for call in new}
    bodies = {call["operation"]: json.loads(call["body"]) for call in new if call["body"]}
    sizes = {name: one["pageSize"] for name, one in asked.items() if "pageSize" in one}
    assert sizes == {
        "affiliate_commissions": ["100"], "affiliate_users": ["100"], "affiliate_trades_and_assets": ["100"],
        "internal_withdrawals": ["200"],
    }  # fmt: skip
    commissions = asked["affiliate_commissions"]
    assert (commissions["uid"], commissions["coin"], commissions["productType"]) == (
        ["7"],
        ["BTC"],
        ["FUTURES"],
    )
    assert asked["deal_data"]["userIds"] == ["3", "4"]
    assert asked["deal_data"]["startTime"] == [chosen["since"].isoformat()]
    sub = bodies["sub_affiliates"]
    assert (sub["subUid"], sub["productType"], sub["pageSize"], sub["pageNum"]) == (9, "FUTURES", 100, 1)


def test_deal_data_of_some_customers_says_which_days_the_exchange_took(affiliate: Account) -> None:
    kind = KINDS["deals"]
    everybody = read_all(ask(affiliate, kind, {}))
    assert everybody.told["since"] < everybody.told["until"]
    two = sorted(row["user_id"] for row in records(everybody))[:2]
    some = read_all(ask(affiliate, kind, {"user_ids": two} | days(3)))
    assert sorted(row["user_id"] for row in records(some)) == two
    assert some.told["since"] == days(3)["since"].isoformat()


def test_unknown_values_missing_and_unknown_fields_are_kept_as_they_came(
    affiliate: Account, sandbox: Sandbox
) -> None:
    sandbox.fault("affiliate_commissions", "extra_fields", times=1)
    report = read_all(ask(affiliate, COMMISSIONS, days(3) | {"product_type": "SPOT"}))
    assert all(row["extras"] for row in records(report))
    sandbox.fault("internal_withdrawals", "unknown_status", times=1)
    report = read_all(ask(affiliate, KINDS["withdrawals"], days(29)))
    assert {row["status"] for row in records(report)} - {"SUCCESS", "FAILED", "PROGRESSING"}
    fields = ["commission", "coin", "date"]
    sandbox.fault("affiliate_commissions", "missing_fields", times=1, fields=fields)
    report = read_all(ask(affiliate, COMMISSIONS, days(4) | {"product_type": "SPOT"}))
    assert report.rows and all(row["commission"] is None and row["coin"] is None for row in records(report))
    [total] = totals.totals(report, COMMISSIONS)
    assert total.names == (None, "SPOT") and total.sums[0] == (None, report.rows), "not told is not 0"


def test_a_key_that_is_no_affiliates_is_not_asked_further(follower: Account) -> None:
    assert connections.test(follower).ok
    with pytest.raises(AskRefused, match="Ask the exchange first"):
        ask(follower, USERS, days(3))
    assert AffiliateStanding.objects.get(account=follower).may is False


# --- the same question --------------------------------------------------------------------------------------


def test_the_same_question_is_the_same_report_until_it_is_old_or_asked_again(affiliate: Account) -> None:
    first = ask(affiliate, USERS, days(3))
    assert ask(affiliate, USERS, days(3), again=True) == first, "it is under way"
    read_all(first)
    assert ask(affiliate, USERS, days(3)) == first
    assert ask(affiliate, USERS, days(4)) != first
    second = ask(affiliate, USERS, days(3), again=True)
    assert second != first
    read_all(second)
    AffiliateReport.objects.update(finished_at=timezone.now() - timedelta(minutes=16))
    assert ask(affiliate, USERS, days(3)) not in (first, second)


def test_only_so_many_wait_at_a_time(affiliate: Account) -> None:
    for back in range(MOST_WAITING):
        ask(affiliate, USERS, days(back))
    with pytest.raises(AskRefused, match="being read already"):
        ask(affiliate, USERS, days(MOST_WAITING))


def test_reports_live_for_ninety_days_and_go_with_their_account(affiliate: Account) -> None:
    old, new = (read_all(ask(affiliate, USERS, days(back))) for back in (200, 201))
    AffiliateReport.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=91))
    retention.tidy()
    assert list(AffiliateReport.objects.all()) == [new]
    assert set(AffiliateRow.objects.values_list("report", flat=True)) == {new.pk}
    connections.remove(affiliate)
    assert not AffiliateReport.objects.exists() and not AffiliateRow.objects.exists()


# --- stitching ----------------------------------------------------------------------------------------------


@pytest.fixture
def partner(
    alice: User, redis_client: object, settings: Any
) -> Iterator[Callable[..., tuple[Account, PartnerServer]]]:
    """partner(rows, within): an affiliate's account at an exchange with these commissions."""
    opened: list[PartnerServer] = []

    def make(rows: list[dict[str, Any]], within: servers.Within = servers.both_ends) -> Any:
        server = PartnerServer(rows, within)
        opened.append(server)
        venue = django_settings.VENUES["sandbox"] | {"spot": server.url, "contract": server.url}
        settings.VENUES = django_settings.VENUES | {"sandbox": venue}
        account = connections.add(
            alice, label="Partner", venue="sandbox", key="key-of-1", secret="secret-of-1", passphrase="word"
        )
        Account.objects.filter(pk=account.pk).update(state="active")
        AffiliateStanding.objects.create(account=account, key_set_at=account.key_set_at, may=True)
        return account, server

    yield make
    for server in opened:
        server.__exit__()


def year() -> tuple[dict[str, date], list[tuple[int, int]]]:
    """Nearly a year of whole days, and its windows in ms."""
    chosen = days(360, 1)
    found = ask_windows(chosen)
    return chosen, found


def ask_windows(chosen: dict[str, date]) -> list[tuple[int, int]]:
    from copytrade.exchange import ranges

    found = ranges.windows(COMMISSIONS.operation, chosen["since"], chosen["until"], timezone.now())
    return [(to_ms(start), to_ms(end)) for start, end in found]


@pytest.mark.parametrize(
    "within",
    [servers.both_ends, servers.without_the_end, servers.without_the_beginning, servers.no_ends_at_all],
    ids=lambda one: one.__name__,
)
def test_no_record_is_lost_or_doubled_at_a_boundary_whichever_end_counts(partner: Any, within: Any) -> None:
    chosen, windows = year()
    assert len(windows) == 4
    edges = [end for _, end in windows[:-1]]
    rows = [
        commission(edge + around, uid=number) for number, edge in enumerate(edges) for around in (-1, 0, 1)
    ]
    rows += [commission(edges[0], uid=50)] * 3, commission(edges[0], uid=50, amount="2")  # type: ignore[operator]
    rows = [row for one in rows for row in (one if isinstance(one, list) else [one])]
    account, _ = partner(rows, within)
    report = read_all(ask(account, COMMISSIONS, chosen | {"product_type": "SPOT"}))
    assert report.state == State.DONE, report.error
    found = Counter((row["uid"], row["date"], row["commission"]) for row in records(report))
    real = Counter(
        (
            int(r["uid"]),
            datetime.fromtimestamp(r["date"] / 1000, UTC).isoformat(timespec="milliseconds"),
            r["commission"],
        )
        for r in rows
    )
    assert found == real, "three equal records at one millisecond are three"
    assert report.rows == len(rows)


def test_equal_records_on_both_sides_of_a_page_stay_two(partner: Any) -> None:
    start = to_ms(datetime.combine(days(2)["since"], time(12), UTC))
    rows = [commission(start)] * 250
    account, server = partner(rows)
    report = read_all(ask(account, COMMISSIONS, days(2) | {"product_type": "SPOT"}))
    assert report.rows < 250, (
        "pages that are equal to the last row end the walk: the client cannot tell them apart"
    )
    server.rows = [commission(start + number // 2) for number in range(250)]
    report = read_all(ask(account, COMMISSIONS, days(2) | {"product_type": "SPOT"}, again=True))
    assert report.rows == 250


# --- killed, slow, refused ----------------------------------------------------------------------------------


class Killed(BaseException):
    """What no handler catches: the process is gone."""


def many(number: int, back: int = 3) -> list[dict[str, Any]]:
    start = to_ms(datetime.combine(days(back)["since"], time(1), UTC))
    return [commission(start + one, uid=one) for one in range(number)]


@pytest.mark.parametrize("moved", [False, True])
def test_a_killed_worker_is_followed_by_one_that_goes_on_from_its_last_page(
    partner: Any, monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    account, server = partner(many(450))
    report = ask(account, COMMISSIONS, days(3) | {"product_type": "SPOT"})
    stored = fetching.rows.store

    def store_and_die(*args: Any) -> int:
        if args[2] == 4:
            raise Killed
        return stored(*args)

    with monkeypatch.context() as patched:
        patched.setattr(fetching.rows, "store", store_and_die)
        with pytest.raises(Killed):
            fetching.read(report.pk)
    assert AffiliateRow.objects.filter(report=report).count() == 300
    assert fetching.read(report.pk) == fetching.TAKEN, "its lease still stands"
    AffiliateReport.objects.update(lease_until=F("lease_until") - timedelta(minutes=10))
    assert fetching.due() == [report.pk]
    asked = len(server.asked)
    if moved:
        server.rows.append(commission(server.rows[-1]["date"] + 1, uid=9999))
    assert read_all(report).state == State.DONE
    assert report.rows == len(server.rows) == len({row["uid"] for row in records(report)})
    pages = [one["page"] for one in server.asked[asked:]]
    assert pages == ([3, 1, 2, 3, 4, 5] if moved else [3, 4, 5])


def test_a_worker_that_slept_through_its_lease_writes_nothing(affiliate: Account) -> None:
    report = ask(affiliate, USERS, days(3))
    slept = fetching.claim(report.pk)
    AffiliateReport.objects.update(lease_until=F("lease_until") - timedelta(minutes=10))
    other = fetching.claim(report.pk)
    assert slept is not None and other is not None and other.failures == 1
    with pytest.raises(fetching.LeaseLost), fetching.fenced(slept):
        AffiliateRow.objects.create(report=report, step=0, page=1, position=0)
    assert not AffiliateRow.objects.exists()
    with fetching.fenced(other):
        AffiliateRow.objects.create(report=report, step=0, page=1, position=0)
    assert AffiliateRow.objects.count() == 1


def test_a_long_report_is_handed_on_after_its_time_and_ends_complete(partner: Any) -> None:
    account, _ = partner(many(350))
    report = ask(account, COMMISSIONS, days(3) | {"product_type": "SPOT"})
    outcomes = []
    while not outcomes or outcomes[-1] == fetching.MORE:
        outcomes.append(fetching.read(report.pk, budget=-1.0))
    report.refresh_from_db()
    assert outcomes[:-1] == [fetching.MORE] * 3 and report.state == State.DONE
    assert report.rows == 350 and report.failures == 0


def test_a_list_that_never_stands_still_ends_with_a_sentence_and_no_rows(partner: Any) -> None:
    account, server = partner(many(250))
    report = ask(account, COMMISSIONS, days(3) | {"product_type": "SPOT"})
    for number in range(fetching.TRIES + 3):
        fetching.read(report.pk, budget=-1.0)
        server.rows.append(commission(server.rows[-1]["date"] + 1, uid=1000 + number))
    report.refresh_from_db()
    assert report.state == State.FAILED and "Ask for fewer days" in report.error
    assert not AffiliateRow.objects.exists()


def test_what_passes_is_tried_again_and_what_does_not_ends_with_its_sentence(
    affiliate: Account, sandbox: Sandbox
) -> None:
    report = ask(affiliate, USERS, days(3))
    sandbox.fault("affiliate_users", "html_200", times=20)
    assert "cannot be understood" in fetching.read(report.pk) or report.error is not None
    report.refresh_from_db()
    assert report.state == State.RUNNING and report.error and report.failures == 1
    assert fetching.read(report.pk) == fetching.TAKEN, "it waits"
    sandbox.clear_faults()
    AffiliateReport.objects.update(due_at=timezone.now())
    assert read_all(report).state == State.DONE and report.error == ""
    sandbox.fault("affiliate_users", "code", times=20, code=-1170)
    refused = read_all(ask(affiliate, USERS, days(4)))
    assert refused.state == State.FAILED and refused.error


def test_a_key_that_stops_being_an_affiliates_is_known_for_that(affiliate: Account, sandbox: Sandbox) -> None:
    sandbox.fault("sub_affiliates", "code", times=1, code=-1051)
    report = read_all(ask(affiliate, KINDS["sub-affiliates"], days(3) | BOTH))
    assert report.state == State.FAILED and "affiliate account" in report.error
    assert AffiliateStanding.objects.get(account=affiliate).may is False


def test_a_limit_is_waited_for_and_is_no_failure(affiliate: Account, sandbox: Sandbox) -> None:
    report = ask(affiliate, USERS, days(3))
    sandbox.fault("affiliate_users", "rate_limit", times=1, retry_after=30)
    fetching.read(report.pk)
    report.refresh_from_db()
    assert report.is_open and report.failures == 0
    assert report.due_at > timezone.now() + timedelta(seconds=8)


def test_a_worker_is_woken_for_what_was_asked_and_for_what_got_lost(
    affiliate: Account, redis_client: Any
) -> None:
    report = ask(affiliate, USERS, days(3))
    assert tasks.hint_report(report.pk)
    assert redis_client.llen("celery:readings.default") == 1
    assert tasks.hint_reports() == 1, "nobody is at it"
    assert fetching.claim(report.pk) is not None
    assert tasks.hint_reports() == 0, "somebody is"
