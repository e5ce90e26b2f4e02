"""Files of an affiliate's answers: exactly the rows that the page shows, complete, and without formulas."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from copytrade.affiliate import KINDS
from copytrade.models import Account, AffiliateReport, AffiliateRow, AuditEntry
from tests.support.affiliate_pages import asked, days, get, made, page_of

# --- files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", KINDS)
def test_files_hold_exactly_the_rows_that_the_page_shows_in_its_order(
    client: Client, account: Account, slug: str
) -> None:
    url = asked(client, account, slug, **days(25))
    column = KINDS[slug].columns[-1].name
    where = f"{page_of(account, slug)}export.%s?sort=-{column}"
    lines = [json.loads(one) for one in _file(client, where % "jsonl").splitlines()]
    table = list(csv.DictReader(io.StringIO(_file(client, where % "csv").removeprefix("\ufeff"), newline="")))
    report = AffiliateReport.objects.get()
    assert len(lines) == len(table) == report.rows
    assert [list(one) for one in table[:1]] == [list(one) for one in lines[:1]]
    html = get(client, url + f"&sort=-{column}")
    shown = re.findall(r"<tr><th scope=\"row\" class=.*?</tr>", html.split('id="rows"')[1])
    for line, row, html_row in zip(lines, table, shown, strict=False):
        for name in ("uid", "user_id", "withdraw_id", "sub_affiliate_uid"):
            if name in line:
                assert line[name] == row[name] and f">{line[name]}<" in html_row
    stored = {
        json.dumps(one, sort_keys=True) for one in AffiliateRow.objects.values_list("record", flat=True)
    }
    for line in lines:
        record = {name: line[name] for name in line if name not in ("also_told", "sums_not_told_in_full")}
        assert any(_same(json.loads(one), record) for one in stored)
    assert AuditEntry.objects.filter(action="exported").count() == 2


def _file(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]


def _same(stored: dict[str, Any], line: dict[str, Any]) -> bool:
    return all(_plain(stored.get(name)) == _plain(value) for name, value in line.items())


def _plain(value: Any) -> str:
    text_of = str(value).replace("+00:00", "Z").removesuffix("T00:00:00.000Z")
    try:
        return str(Decimal(text_of).normalize())
    except ArithmeticError:
        return text_of.lower()


def test_a_formula_stays_text_in_a_file(client: Client, account: Account) -> None:
    made(account, {"symbol": "=cmd()", "extras": {"x": "=1"}})
    [row] = csv.DictReader(
        io.StringIO(_file(client, page_of(account, "commissions") + "export.csv").removeprefix("\ufeff"))
    )
    assert row["symbol"] == "'=cmd()" and row["also_told"] == '{"x": "=1"}'


def test_what_is_not_complete_is_no_file(client: Client, account: Account) -> None:
    assert client.get(page_of(account, "users") + "export.csv").status_code == 404
    client.post(page_of(account, "users") + "ask/", days(3))
    assert client.get(page_of(account, "users") + "export.csv").status_code == 404
    assert client.get(page_of(account, "users") + "export.xlsx").status_code == 404
    assert client.get(page_of(account, "nothing")).status_code == 404
