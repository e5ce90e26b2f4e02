"""What a person asks becomes a row: the same question within minutes is the same report."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from copytrade.exchange import ranges
from copytrade.exchange.checks import to_ms
from copytrade.exchange.kinds import EPOCH
from copytrade.models import Account, AffiliateReport

from .kinds import BOTH, DEALS, Kind, choices
from .standing import standing_of

REUSED_FOR = timedelta(minutes=15)
MOST_WAITING = 5  # of one account; each may be dozens of calls
LISTED = 8


class AskRefused(Exception):
    """This cannot be asked now. The message is a sentence; `field` names the input, "" for all of it."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


def ask(
    account: Account,
    kind: Kind,
    chosen: Mapping[str, Any],
    *,
    again: bool = False,
    now: datetime | None = None,
) -> AffiliateReport:
    """The report of this question: one under way, one of the last minutes (not with `again`), or a new one.

    `chosen`: {field: value} of `kind.asks`; dates as dates, ids as integers, blanks as None or "". Raises AskRefused.
    """
    now = now or timezone.now()
    since, until = chosen.get("since"), chosen.get("until")
    if wrong := ranges.refusal(kind.operation, since, until, now):
        raise AskRefused(wrong[1], wrong[0])
    if standing_of(account).may is not True:
        raise AskRefused("It is not known that this key is an affiliate's. Ask the exchange first.")
    asked = canonical(kind, chosen)
    with transaction.atomic():
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        same = AffiliateReport.objects.filter(account=account, kind=kind.slug, asked=asked)
        if found := same.filter(state__in=AffiliateReport.OPEN_STATES).first():
            return found
        fresh = same.filter(state=AffiliateReport.State.DONE, finished_at__gt=now - REUSED_FOR)
        if not again and (found := fresh.first()):
            return found
        waiting = AffiliateReport.objects.filter(account=account, state__in=AffiliateReport.OPEN_STATES)
        if waiting.count() >= MOST_WAITING:
            raise AskRefused(
                f"{MOST_WAITING} reports are being read already. Wait until one of them is complete."
            )
        return AffiliateReport.objects.create(
            account=account,
            kind=kind.slug,
            asked=asked,
            steps=plan(kind, since, until, chosen, now),
            due_at=now,
        )


def canonical(kind: Kind, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The question in one form, as JSON: fields that were left out are left out."""
    found = {name: chosen.get(name) for name in kind.asks if chosen.get(name) not in (None, "", [])}
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in found.items()}


def plan(
    kind: Kind, since: date | None, until: date | None, chosen: Mapping[str, Any], now: datetime
) -> list[dict[str, Any]]:
    """The windows of the calls, newest first, each product on its own. Times in ms; days stay days."""
    spans: list[dict[str, Any]] = [{}]
    if kind is DEALS:
        spans = [{"since": since and since.isoformat(), "until": until and until.isoformat()}]
    elif since is not None or until is not None:
        first = since or ranges.days(kind.operation, now).first
        last = until or now.astimezone(UTC).date()
        found = ranges.windows(kind.operation, first, last, now, shared=not kind.sums)
        spans = [{"start": to_ms(start), "end": to_ms(end)} for start, end in reversed(found)]
    product = chosen.get("product_type") if "product_type" in kind.asks else None
    products = choices(kind, "product_type") if product == BOTH else [product]
    return [span | ({"product_type": one} if one else {}) for one in products for span in spans]


def typed(step: Mapping[str, Any], oldest: datetime | None) -> dict[str, Any]:
    """A step as the client takes it. What has meanwhile fallen out of the exchange's reach (`oldest`) is cut off."""
    found: dict[str, Any] = {"product_type": step.get("product_type")}
    if "since" in step:
        for name, value in (("start_time", step["since"]), ("end_time", step["until"])):
            found[name] = date.fromisoformat(value) if value else None
        return found
    for name, key in (("start_time", "start"), ("end_time", "end")):
        found[name] = None if step.get(key) is None else EPOCH + timedelta(milliseconds=step[key])
    if oldest is not None and found["start_time"] is not None and found["start_time"] < oldest:
        found["start_time"] = oldest
    return found


def latest(account: Account, kind: Kind) -> AffiliateReport | None:
    """What a page without a choice shows."""
    return AffiliateReport.objects.filter(account=account, kind=kind.slug).first()


def recent(account: Account, kind: Kind) -> list[AffiliateReport]:
    """The last questions of this kind, newest first."""
    return list(AffiliateReport.objects.filter(account=account, kind=kind.slug)[:LISTED])
