"""Windows and pages are put together so that no record is lost or doubled, whichever end of a window counts."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from django.utils import timezone

from copytrade.affiliate import ask
from copytrade.exchange.checks import to_ms

from . import partner_server as servers
from .asked import COMMISSIONS, State, days, read_all, records
from .partner_server import commission


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
