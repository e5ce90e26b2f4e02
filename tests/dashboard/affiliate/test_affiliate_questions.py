"""The questions of an affiliate: each is asked by its form, within its bounds, by its owner alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from copytrade import connections
from copytrade.affiliate import KINDS
from copytrade.models import Account, AffiliateReport, User
from tests.support.affiliate_pages import AFFILIATE, QUESTIONS, asked, day, days, get, listed, page_of
from tests.support.page_text import text
from tests.support.sandbox_process import Sandbox

# --- each operation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", KINDS)
def test_a_question_is_asked_read_and_shown(client: Client, account: Account, slug: str) -> None:
    url = asked(client, account, slug, **days(20))
    html = get(client, url)
    report = AffiliateReport.objects.get()
    assert f"{report.rows} rows" in text(html) and report.rows
    assert len(listed(html)) == min(report.rows, 25)
    for column in KINDS[slug].columns:
        assert column.label in text(html)
    assert get(client, page_of(account, slug)).count('id="answer"') == 1, (
        "the latest is shown without its number"
    )


@pytest.mark.parametrize("slug", KINDS)
def test_a_stranger_and_nobody_get_nothing(
    account: Account, charlie: User, client_of: Callable[[User], Client], slug: str
) -> None:
    report = AffiliateReport.objects.create(
        account=account, kind=slug, state="done", finished_at=timezone.now()
    )
    url = page_of(account, slug)
    stranger, nobody = client_of(charlie), Client()
    for address in (url, f"{url}?report={report.pk}", f"{url}export.csv"):
        assert stranger.get(address).status_code == 404
        assert nobody.get(address)["Location"].startswith("/accounts/login/")
    for address in (f"{url}ask/", f"/affiliate/{account.pk}/standing/"):
        assert stranger.post(address, days(3)).status_code == 404
        assert nobody.post(address, days(3)).status_code == 302
    mine = connections.add(charlie, label="Hers", venue="sandbox", **AFFILIATE)
    assert stranger.get(f"{page_of(mine, slug)}?report={report.pk}").status_code == 404
    assert AffiliateReport.objects.count() == 1


@pytest.mark.parametrize(
    ("slug", "chosen", "sentence"),
    [
        ("users", {"since": day(400)}, "The exchange tells of the last 365 days only."),
        ("trading", {"since": day(366)}, "The exchange tells of the last 365 days only."),
        ("withdrawals", {"since": day(31)}, "The exchange tells of the past month only (31 days)."),
        ("commissions", {"since": "2001-01-01"}, "The desk asks for at most 10 years at once."),
        ("commissions", {"until": "2100-01-01"}, "(UTC). Choose that day or an earlier one."),
        ("users", {"since": day(2), "until": day(3)}, "The last day must not be before the first."),
        ("users", {"since": day(3), "until": day(3), "uid": "x7"}, "x7 is not a user"),
        ("users", {"since": ""}, "Choose a day."),
        ("users", {"since": "soon"}, "Write the day as year-month-day"),
        ("commissions", {"coin": "DOGE"}, "Choose one of the list."),
        ("commissions", {"product_type": ""}, "This field is required."),
        ("sub-affiliates", {"product_type": "MARGIN"}, "Choose one of the list."),
        ("sub-affiliates", {"sub_uid": "1" * 20}, "it has digits only, at most 19"),
        ("withdrawals", {"from_account_type": "CARD"}, "Choose one of the list."),
        ("withdrawals", {"withdraw_id": "a\x07b"}, "Copy the withdrawal"),
        ("deals", {"user_ids": "12, twelve"}, "twelve is not a user"),
        (
            "deals",
            {"user_ids": " ".join(map(str, range(201)))},
            "at most 200 customers at once; these are 201",
        ),
        ("deals", {"since": day(1), "until": day(2)}, "The last day must not be before the first."),
    ],
)
def test_each_bound_is_said_beside_its_field_and_nothing_is_asked(
    client: Client, account: Account, sandbox: Sandbox, slug: str, chosen: dict[str, str], sentence: str
) -> None:
    before = len(sandbox.calls()["calls"])
    answer = client.post(page_of(account, slug) + "ask/", QUESTIONS[slug] | days(3) | chosen)
    assert answer.status_code == 400
    assert sentence in text(answer.content.decode()).replace("&#x27;", "'")
    assert "field-bad" in answer.content.decode()
    assert not AffiliateReport.objects.exists() and len(sandbox.calls()["calls"]) == before


@pytest.mark.parametrize(("slug", "back"), [("users", 364), ("trading", 364), ("withdrawals", 30)])
def test_the_date_pickers_cannot_leave_the_bounds(
    client: Client, account: Account, slug: str, back: int
) -> None:
    html = get(client, page_of(account, slug))
    for name in ("since", "until"):
        [field] = re.findall(rf'<input type="date" name="{name}"[^>]*>', html)
        assert f'min="{day(back)}"' in field and f'max="{day(0)}"' in field
    report = client.post(page_of(account, slug) + "ask/", QUESTIONS[slug] | days(back))
    assert report.status_code == 302, "the earliest day that can be picked can be asked for"
