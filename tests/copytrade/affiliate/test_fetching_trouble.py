"""Reports whose worker is killed or slow, or whose exchange refuses: complete in the end, or a sentence."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from copytrade import tasks
from copytrade.affiliate import KINDS, ask, fetching
from copytrade.exchange.checks import to_ms
from copytrade.models import Account, AffiliateReport, AffiliateRow, AffiliateStanding
from tests.support.sandbox_process import Sandbox

from .asked import BOTH, COMMISSIONS, USERS, State, days, read_all, records
from .partner_server import commission


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
