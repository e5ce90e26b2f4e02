"""Does it add up? Our sum of a trader's results against the exchange's own total, and what a difference means.

`verdict` is pure and is what the page says. `check` is a chore: it raises an issue where a difference that nothing
explains outlasts two readings of both sides, and closes it when they agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_UP, Decimal
from typing import Any

from django.db import connection
from django.db.models import Count, Q, Sum
from django.utils import timezone

from . import issues
from .models import CoverageGap, DataIssue, PeriodSummary, SyncJob, TrackingOrder, Trader
from .models.orders import OPENED_VALUE
from .statistics.exact import EXACT
from .statistics.parts import true_up_before

# Both sides are sums of amounts that the exchange rounds, its total once more.
TOLERANCE = Decimal("0.01")
MOST_AT_ONCE = 200

AGREES, EXPLAINED, UNEXPLAINED, UNKNOWN = "agrees", "explained", "unexplained", "unknown"


@dataclass(frozen=True)
class Facts:
    """What a comparison hangs on. Money in USDT. `total_read`, `history_read`: when each side was read last;
    `last_close`: of the newest copy in the ledger. `missing`: copies that left the open list and are looked
    up in the history; `lost`: that closed beyond it; `lost_value`: of their positions when they were opened, None
    where that is not known of one. `gaps`: stretches of the past that could not be read.
    `provisional`: net of all that closed since the last true-up, whatever period is shown.
    """

    ledger: Decimal
    exchange: Decimal | None
    copied: bool
    walking: bool
    gaps: int
    missing: int
    lost: int
    lost_value: Decimal | None
    provisional: Decimal
    total_read: datetime | None
    history_read: datetime | None
    last_close: datetime | None


@dataclass(frozen=True)
class Verdict:
    """`state` is AGREES, EXPLAINED, UNEXPLAINED or UNKNOWN; `difference` is our sum minus the exchange's total."""

    state: str
    difference: Decimal | None
    sentence: str


def verdict(facts: Facts) -> Verdict:
    """What the two sums say of each other. A difference up to TOLERANCE is rounding."""
    if facts.exchange is None:
        return Verdict(
            UNKNOWN, None, "The exchange tells no total for this trader, so nothing can be compared."
        )
    difference = EXACT.subtract(facts.ledger, facts.exchange)
    if not difference:
        return Verdict(AGREES, difference, "The exchange's own total agrees, to the last digit.")
    if difference.copy_abs() <= TOLERANCE:
        return Verdict(AGREES, difference, "The exchange's own total agrees: up to 0.01 USDT is rounding.")
    why = _explained(facts, difference)
    if why:
        return Verdict(EXPLAINED, difference, why)
    return Verdict(
        UNEXPLAINED,
        difference,
        f"{_too_much(facts) or 'Nothing that the desk knows explains the difference.'} Reading again may; if it stays, "
        "look for copies that the exchange shows and the history here does not.",
    )


def _explained(facts: Facts, difference: Decimal) -> str:
    """Why the sums may differ without anything being wrong; "" for no reason."""
    if facts.walking:
        return "The past is still being read. The comparison counts once that is done."
    if not facts.copied:
        return "The total is from when this trader was last in your list. What closed later is not in it."
    if facts.missing:
        copies = "1 copy has" if facts.missing == 1 else f"{facts.missing} copies have"
        return f"{copies} left the open list and not reached the history: closed, and not counted here yet."
    if facts.total_read is None or facts.history_read is None or facts.history_read < facts.total_read:
        return "The total was read after the history. The next reading of the history will tell."
    if facts.last_close and facts.last_close > facts.total_read:
        return "A copy closed after the total was read. The next reading of the total will tell."
    if true_up_before(facts.history_read) > facts.total_read:
        return (
            "Profit shares were trued up after the total was read. The next reading of the total will tell."
        )
    if facts.provisional and difference.copy_abs() <= facts.provisional.copy_abs():
        return "It is no larger than what is provisional: it may go with the next true-up, at 00:00 UTC."
    return _for_good(facts, difference.copy_abs())


def _for_good(facts: Facts, size: Decimal) -> str:
    """Why no later reading may make the sums agree, `size` USDT apart; "" for no reason."""
    if facts.lost and (why := _lost(facts, size)):
        return why
    if facts.gaps:
        return (
            "A part of the past could not be read. Copies from before the ledger, or in a gap, are not in our sum; "
            "there may be any number of them, and they explain a difference of any size."
        )
    return ""


def _lost(facts: Facts, size: Decimal) -> str:
    """How copies that closed beyond the history explain a difference; "" where it is larger than they were."""
    one = facts.lost == 1
    gone = f"{_copies(facts.lost)} closed beyond the exchange's history; "
    gone += "its result is not known" if one else "their results are not known"
    if facts.lost_value is None:
        return f"{gone}, nor {'how large it was' if one else 'how large all of them were'}."
    opened = f"{'It' if one else 'They'} {_opened(facts)}"
    if size <= facts.lost_value:
        return f"{gone}. {opened}, and the difference is no larger than that."
    if EXACT.subtract(size, facts.provisional.copy_abs()) <= facts.lost_value:
        return f"{gone}. {opened}, and with what is provisional the difference is no larger than that."
    return ""


def _too_much(facts: Facts) -> str:
    """That the copies which closed beyond the history do not explain an unexplained difference; "" without any."""
    if not facts.lost:
        return ""
    return (
        f"The {_copies(facts.lost)} that closed beyond the exchange's history cannot explain so much, unless a price "
        f"more than doubled: {'it' if facts.lost == 1 else 'they'} {_opened(facts)}."
    )


def _copies(count: int) -> str:
    return f"{count} {'copy' if count == 1 else 'copies'}"


def _opened(facts: Facts) -> str:
    """Rounded up, so that what is no larger than the value is no larger than what is said."""
    value = (facts.lost_value or Decimal(0)).quantize(Decimal("0.01"), ROUND_UP, EXACT)
    amount = f"{value:,f}".replace(",", "\u202f")
    return f"opened {'a position' if facts.lost == 1 else 'positions'} of {amount} USDT"


def subject_of(trader: Trader) -> str:
    """What the issue is about: one per trader of an account."""
    return f"total of trader {trader.trader_id}"


def check(now: datetime | None = None) -> int:
    """Compare every trader whose sums differ, or did at the last look; how many were looked at. Two queries, and some
    for each of those. Any number of workers may do so at once."""
    now = now or timezone.now()
    traders = Trader.objects.filter(pk__in=_candidates()).select_related("account")
    for trader in traders:
        _look(trader, now)
    return len(traders)


def provisional_of(figures: Mapping[str, Any], now: datetime) -> Decimal:
    """The net that may still change, by the figures kept of all time: what they hold from before the last true-up has
    been settled since."""
    begun = figures.get("provisional_from")
    if not begun or datetime.fromisoformat(begun) != true_up_before(now):
        return Decimal(0)
    return Decimal(figures.get("provisional_net") or 0)


def lost_value(lost: int, valued: int, value: Decimal | None) -> Decimal | None:
    """What lost copies were worth when they were opened, by the sum of those `valued`; None unless it is all."""
    return (value or Decimal(0)) if valued == lost else None


def facts_of(trader: Trader, kept: PeriodSummary, now: datetime) -> Facts:
    """The facts of a trader now, by four queries. `kept`: of all time."""
    jobs = {job.kind: job for job in SyncJob.objects.filter(account=trader.account_id)}
    history = jobs.get(SyncJob.Kind.HISTORY)
    orders = TrackingOrder.objects.filter(trader=trader)
    gone = orders.filter(closed=False).aggregate(
        missing=Count("pk", filter=Q(missing_since__isnull=False, lost_since=None)),
        lost=Count("pk", filter=Q(lost_since__isnull=False)),
        valued=Count(OPENED_VALUE, filter=Q(lost_since__isnull=False)),
        value=Sum(OPENED_VALUE, filter=Q(lost_since__isnull=False)),
    )
    last = orders.filter(closed=True, close_time__isnull=False).order_by("-close_time").first()
    return Facts(
        ledger=kept.net,
        exchange=trader.trace_total_profit,
        copied=trader.copied,
        walking=history is None or bool(history.cursor.get("back")) or not history.cursor.get("until"),
        gaps=CoverageGap.objects.filter(account=trader.account_id).count(),
        missing=gone["missing"],
        lost=gone["lost"],
        lost_value=lost_value(gone["lost"], gone["valued"], gone["value"]),
        provisional=provisional_of(kept.figures, now),
        total_read=trader.balances_at,
        history_read=history.last_success_at if history else None,
        last_close=last.close_time if last else None,
    )


def _candidates() -> list[int]:
    """Traders with a total and sums that are up to date, which differ, or differed, or have an open issue."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT t.id FROM copytrade_trader t
            JOIN copytrade_periodsummary s ON s.trader_id = t.id AND s.period = 'all'
            WHERE t.copied AND t.trace_total_profit IS NOT NULL AND t.summaries_stale_since IS NULL
                AND (abs(t.trace_total_profit - s.net) > %s OR t.total_differs_since IS NOT NULL OR EXISTS (
                    SELECT FROM copytrade_dataissue i WHERE i.account_id = t.account_id AND i.kind = %s
                        AND i.subject = 'total of trader ' || t.trader_id AND i.state = 'open'))
            ORDER BY t.total_differs_since DESC NULLS LAST, t.id LIMIT %s""",
            [TOLERANCE, DataIssue.Kind.RECONCILIATION, MOST_AT_ONCE],
        )
        return [key for (key,) in cursor.fetchall()]


def _look(trader: Trader, now: datetime) -> None:
    kept = PeriodSummary.objects.get(trader=trader, period="all")
    facts = facts_of(trader, kept, now)
    found = verdict(facts)
    if found.state == UNEXPLAINED:
        _differs(trader, facts, found, now)
        return
    if trader.total_differs_since:
        Trader.objects.filter(pk=trader.pk).update(total_differs_since=None)
    if found.state == AGREES:
        issues.heal(trader.account, DataIssue.Kind.RECONCILIATION, subject_of(trader), at=now)


def _differs(trader: Trader, facts: Facts, found: Verdict, now: datetime) -> None:
    """The first time it is noted; once both sides have been read anew since then, it is told, once a reading."""
    since = trader.total_differs_since
    if since is None:
        Trader.objects.filter(pk=trader.pk, total_differs_since=None).update(total_differs_since=now)
        return
    if not _read_since(trader, since):
        return
    assert found.difference is not None  # without a total there is no verdict of this kind
    why = _too_much(facts)
    size, side = f"{found.difference.copy_abs():f}", "below" if found.difference < 0 else "above"
    issues.tell(
        trader.account,
        DataIssue.Kind.RECONCILIATION,
        subject_of(trader),
        f"Together, your closed copies of {trader} are {size} USDT {side} the exchange's total"
        f"{'. ' + why if why else ', and nothing that the desk knows explains it.'} Read again now; if it stays, "
        "compare the history with the exchange's own list.",
        {"trader": trader.pk, "ledger": str(facts.ledger), "exchange": str(facts.exchange)},
        at=now,
    )
    Trader.objects.filter(pk=trader.pk).update(total_differs_since=now)


def _read_since(trader: Trader, since: datetime) -> bool:
    kinds = (SyncJob.Kind.TRADERS, SyncJob.Kind.HISTORY)
    jobs = SyncJob.objects.filter(account=trader.account_id, kind__in=kinds, last_success_at__gt=since)
    return jobs.count() == len(kinds)
