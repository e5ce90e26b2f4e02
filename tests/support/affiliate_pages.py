"""The affiliate pages in tests: a question asked and answered, reports as if stored by a worker, what is listed."""

from __future__ import annotations

import re
from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any

from django.test import Client
from django.utils import timezone

from copytrade.affiliate import fetching
from copytrade.models import Account, AffiliateReport, AffiliateRow
from tests.support.page_text import text

AFFILIATE = {"key": "affiliate-key", "secret": "affiliate-secret", "passphrase": "sandbox"}
QUESTIONS: dict[str, dict[str, str]] = {
    "commissions": {"product_type": "both"},
    "users": {},
    "trading": {},
    "withdrawals": {"from_account_type": "SPOT", "to_account_type": "SPOT"},
    "sub-affiliates": {"product_type": "FUTURES"},
    "deals": {},
}


def day(back: int) -> str:
    return (timezone.now().astimezone(UTC).date() - timedelta(days=back)).isoformat()


def days(back: int, until: int = 0) -> dict[str, str]:
    return {"since": day(back), "until": day(until)}


def page_of(account: Account, slug: str) -> str:
    return f"/affiliate/{account.pk}/{slug}/"


def asked(client: Client, account: Account, slug: str, **more: str) -> str:
    """Ask by the form, let a worker read it, and give the page's address."""
    answer = client.post(page_of(account, slug) + "ask/", QUESTIONS[slug] | more)
    assert answer.status_code == 302, text(answer.content.decode())
    for report in fetching.due():
        while fetching.read(report) == fetching.MORE:
            pass
    return answer["Location"]


def get(client: Client, url: str, status: int = 200, **headers: Any) -> str:
    answer = client.get(url, **headers)
    assert answer.status_code == status
    return answer.content.decode()


def listed(html: str) -> list[str]:
    """The headings of the rows of the report's table."""
    return re.findall(r'<th scope="row" class="[^"]*">(.*?)</th>', html.split('id="rows"')[1])


def row_of(report: AffiliateReport, position: int = 0, **record: Any) -> AffiliateRow:
    """A row of commissions as it would have been stored."""
    amount = record.get("commission")
    return AffiliateRow(
        report=report, step=0, page=1, position=position, record=record, coin=record.get("coin"),
        n1=Decimal(amount) if amount else None, uid=record.get("uid"), at=report.finished_at,
    )  # fmt: skip


def made(account: Account, *rows: dict[str, Any], slug: str = "commissions", **more: Any) -> AffiliateReport:
    report = AffiliateReport.objects.create(
        account=account, kind=slug, state="done", rows=len(rows), finished_at=timezone.now(), **more
    )
    AffiliateRow.objects.bulk_create(row_of(report, place, **one) for place, one in enumerate(rows))
    return report
