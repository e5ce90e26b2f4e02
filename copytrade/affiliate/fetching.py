"""Reading a report, step by step and page by page. Killed at any point, the next worker goes on from the last page.

Each page is stored with the place it was read at, in one transaction that commits only while the lease is held. A
worker that goes on reads the last stored page once more: when it is as it was, the next one follows; when the list has
moved, the step begins anew. Nothing is lost and nothing counted twice.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now
from django.utils import timezone

from copytrade import health
from copytrade.clients import NoKey, talking_to
from copytrade.exchange import ranges
from copytrade.exchange.client import ExchangeClient
from copytrade.exchange.envelopes import DealPage, Page
from copytrade.exchange.errors import ExchangeError, RateLimited, Rejected
from copytrade.models import AffiliateReport, AffiliateRow
from copytrade.vault import VaultError

from . import rows
from .asking import typed
from .kinds import KINDS, Kind, fetch, pages
from .standing import PERMISSION_MISSING, remember

BUDGET_SECONDS = 10.0  # then whatever else waits has its turn
MARGIN = timedelta(minutes=1)  # kept from the end of the exchange's reach, which moves on while calls wait
TRIES = 6  # of what may pass: an exchange that is away, an answer that cannot be read, a worker that dies
PAUSE = timedelta(seconds=5)  # after a failure; twice that after the next
KEPT_BAD = 5
MOST_ROWS = 500_000
DONE, MORE, TAKEN = "done", "more", "taken"
State = AffiliateReport.State

log = structlog.get_logger(__name__)


class LeaseLost(Exception):
    """Another worker has this report now, or it was removed: stop, and write nothing."""


class TooMuch(Exception):
    """More rows than a report holds."""


def lease_time() -> timedelta:
    """Longer than the longest pause between two commits: a call with its waiting, and a page's storing."""
    return timedelta(seconds=max(settings.SYNC_LEASE_SECONDS, settings.EXCHANGE_DEADLINE + 1) + 10)


def due() -> list[int]:
    """The reports that somebody should read on now and nobody is at, oldest first."""
    return list(_free().order_by("due_at", "pk").values_list("pk", flat=True)[:100])


def _free():
    free = Q(lease_until=None) | Q(lease_until__lt=Now())
    return AffiliateReport.objects.filter(free, state__in=AffiliateReport.OPEN_STATES, due_at__lte=Now())


def read(report_id: int, *, budget: float = BUDGET_SECONDS) -> str:
    """Read a report on, if it is due and free: DONE (or failed for good), MORE, TAKEN, or a sentence of what failed
    and is tried again. Only errors that nobody foresaw are raised."""
    report = claim(report_id)
    if report is None:
        return TAKEN
    try:
        return _read(report, budget)
    except LeaseLost:
        return TAKEN
    except Exception:
        _release(report, due_at=Now() + PAUSE, failures=report.failures + 1)
        raise


def _read(report: AffiliateReport, budget: float) -> str:
    try:
        if report.failures > TRIES:
            return _give_up(report, "Reading it was interrupted again and again. Ask for fewer days.")
        if not health.reading_allowed(report.account):
            return _give_up(report, report.account.state_reason)
        with talking_to(report.account) as client:
            return _read_on(report, client, time.monotonic() + budget)
    except TooMuch:
        return _give_up(report, f"It has more than {MOST_ROWS:,} rows. Ask for fewer days.")
    except (ExchangeError, NoKey, VaultError) as error:
        return _failed(report, error)


def claim(report_id: int) -> AffiliateReport | None:
    """Take a report, by a conditional UPDATE; a lease that ran out means that its holder died."""
    token = uuid.uuid4()
    taken = _free().filter(pk=report_id).update(
        lease_token=token, lease_until=Now() + lease_time(), state=State.RUNNING,
        failures=F("failures") + Case(When(lease_until=None, then=0), default=1),
    )  # fmt: skip
    if not taken:
        return None
    return AffiliateReport.objects.select_related("account", "account__owner").get(pk=report_id)


def _read_on(report: AffiliateReport, client: ExchangeClient, until: float) -> str:
    kind = KINDS[report.kind]
    while report.done < len(report.steps):
        if not _read_step(report, kind, client, until):
            _release(report, due_at=Now())
            return MORE
    health.succeeded(report.account)
    with fenced(report):
        rows.settle(report, kind)
        report.state, report.error = State.DONE, ""
        report.rows = AffiliateRow.objects.filter(report=report).count()
        AffiliateReport.objects.filter(pk=report.pk).update(
            state=report.state, error="", rows=report.rows, finished_at=Now()
        )
    _release(report)
    return DONE


def _read_step(report: AffiliateReport, kind: Kind, client: ExchangeClient, until: float) -> bool:
    """One step from where it stands to its end; False when the time is up before."""
    one_page = fetch(client, kind, report.asked, _step(report, kind))
    first, total = 1, None
    if report.page:
        page = one_page(report.page)
        if _stands(report, kind, page):
            first = report.page + 1
            if page.next is None:
                return _end_step(report, page.total)
        else:
            _begin_anew(report)
    for number, page in pages(kind, one_page, first):
        _store(report, kind, number, page)
        if page.next is not None and time.monotonic() > until:
            return False
        total = page.total
    return _end_step(report, total)


def _step(report: AffiliateReport, kind: Kind) -> dict[str, Any]:
    """The step that is next. What left the exchange's reach while the report waited is cut off, and `told` says so."""
    oldest = ranges.oldest(kind.operation, timezone.now())
    if oldest is not None:
        oldest += MARGIN + timedelta(milliseconds=report.account.clock_offset_ms)
    planned, cut = typed(report.steps[report.done], None), typed(report.steps[report.done], oldest)
    if cut != planned:
        report.told["begins"] = cut["start_time"].isoformat()
    return cut


def _stands(report: AffiliateReport, kind: Kind, page: Page[Any]) -> bool:
    """Is the last stored page still what the exchange gives for its number?"""
    stored = AffiliateRow.objects.filter(report=report, step=report.done, page=report.page)
    kept = list(stored.order_by("position", "id").values_list("record", flat=True))
    return kept == [rows.record_of(kind, record) for record in page.records]


def _begin_anew(report: AffiliateReport) -> None:
    """The list moved between two workers: its step is read from its first page."""
    with fenced(report):
        report.rows -= AffiliateRow.objects.filter(report=report, step=report.done).delete()[0]
        report.page, report.failures = 0, report.failures + 1
        report.bad = report.told.get("bad_before", 0)
        _keep(report, "rows", "page", "failures", "bad")


def _store(report: AffiliateReport, kind: Kind, number: int, page: Page[Any]) -> None:
    if report.rows + len(page.records) > MOST_ROWS:
        raise TooMuch
    if isinstance(page, DealPage):
        applied = {"since": page.start, "until": page.end}
        report.told |= {name: day.isoformat() for name, day in applied.items() if day}
    report.bad += len(page.bad)
    shown = [{"reason": one.reason[:300], "raw": one.raw[:2000]} for one in page.bad]
    report.bad_records = (report.bad_records + shown)[:KEPT_BAD]
    with fenced(report):
        report.rows += rows.store(report, kind, number, page.records)
        report.page = number
        _keep(report, "page", "rows", "bad", "bad_records", "told")


def _end_step(report: AffiliateReport, total: int | None) -> bool:
    """The step is read. `total`: how many records the exchange counts in it; fewer came is said, not hidden."""
    came = AffiliateRow.objects.filter(report=report, step=report.done).count()
    short = (total or 0) - came - (report.bad - report.told.get("bad_before", 0))
    if short > 0:
        report.told["short"] = report.told.get("short", 0) + short
    report.done, report.page, report.failures = report.done + 1, 0, 0
    report.told["bad_before"] = report.bad
    with fenced(report):
        _keep(report, "done", "page", "failures", "told")
    return True


def _keep(report: AffiliateReport, *names: str) -> None:
    AffiliateReport.objects.filter(pk=report.pk).update(**{name: getattr(report, name) for name in names})


@contextmanager
def fenced(report: AffiliateReport) -> Iterator[None]:
    """A transaction that commits only while the report's lease is held, and renews it."""
    with transaction.atomic():
        mine = AffiliateReport.objects.select_for_update(no_key=True)
        if not mine.filter(pk=report.pk, lease_token=report.lease_token).exists():
            raise LeaseLost
        yield
        AffiliateReport.objects.filter(pk=report.pk).update(lease_until=Now() + lease_time())


def _release(report: AffiliateReport, **fields: Any) -> None:
    mine = AffiliateReport.objects.filter(pk=report.pk, lease_token=report.lease_token)
    mine.update(lease_token=None, lease_until=None, **fields)


def _failed(report: AffiliateReport, error: ExchangeError | NoKey | VaultError) -> str:
    """What passes is tried again after a pause that grows; what does not ends the report, with its sentence."""
    words = getattr(error, "sentence", str(error))
    if isinstance(error, ExchangeError):
        health.failed(report.account, error)
    if isinstance(error, Rejected) and error.code == PERMISSION_MISSING:
        remember(report.account, may=False, reason=words)
    if not getattr(error, "retry", False) or report.failures >= TRIES:
        return _give_up(report, words)
    pause = max(PAUSE * 2**report.failures, timedelta(seconds=getattr(error, "retry_after", 0.0)))
    waited = 0 if isinstance(error, RateLimited) else 1  # the limit is nobody's failure
    _release(report, due_at=Now() + pause, failures=report.failures + waited, error=words[:500])
    log.warning("affiliate report waits", report=report.pk, error=type(error).__name__)
    return words


def _give_up(report: AffiliateReport, words: str) -> str:
    """Ended without an answer: what was read so far would pass for a whole, so its rows go."""
    with fenced(report):
        AffiliateRow.objects.filter(report=report).delete()
        AffiliateReport.objects.filter(pk=report.pk).update(
            state=State.FAILED, error=words[:500], finished_at=Now(), rows=0
        )
    _release(report)
    return DONE
