"""Sums that do not agree with the exchange's own, where nothing explains it (copytrade/reconcile.py found them)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from copytrade.models import Alert, DataIssue, Trader

from .raising import Found

Kind = Alert.Kind


def look(now: datetime) -> Iterator[Found]:
    """One for each trader whose issue is open; over when it is closed, by agreeing or by its reader."""
    issues = DataIssue.objects.filter(kind=DataIssue.Kind.RECONCILIATION, state=DataIssue.State.OPEN)
    issues = list(issues.select_related("account"))
    named = {issue.details.get("trader") for issue in issues if isinstance(issue.details.get("trader"), int)}
    known = set(Trader.objects.filter(pk__in=named).values_list("pk", "account_id")) if named else set()
    for issue in issues:
        trader = issue.details.get("trader")
        yield Found(
            Kind.RECONCILIATION,
            f"{Kind.RECONCILIATION}:{issue.pk}:{issue.last_seen_at:%Y%m%d}",
            issue.account.owner_id,
            issue.sentence,
            account=issue.account_id,
            trader=trader if (trader, issue.account_id) in known else None,
            at=issue.last_seen_at,
        )
