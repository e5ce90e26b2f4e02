"""The audit log: who sent, restored, imported or used what, in words that outlive the rows they name."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import QuerySet

from .models import Account, AuditEntry, DeskPolicy, Trader, User

Action = AuditEntry.Action
SUBJECT_LENGTH = AuditEntry._meta.get_field("subject").max_length or 200


def note(
    user: User | None,
    action: str,
    *,
    account: Account | None = None,
    trader: Trader | None = None,
    subject: str,
    details: dict[str, Any] | None = None,
) -> AuditEntry:
    """Write one entry; written in the caller's transaction, so it stands if and only if the deed does.

    `subject`: one line that can be read when the rows are gone, cut at 200 characters. `details`: plain
    values (settings in words, keys of changes), never a secret; dates, decimals and ids become text.
    `account` is taken from the trader when it is left out. ValueError for an action that is not listed.
    """
    return AuditEntry.objects.create(
        user=user,
        action=Action(action),
        account=account or (trader.account if trader else None),
        trader=trader,
        subject=_cut(subject),
        details=json.loads(json.dumps(details or {}, default=str)),
    )


def entries(user: User, *, action: str = "", before: int | None = None) -> QuerySet[AuditEntry]:
    """The deeds of one person, newest first; `before`: only those written before the entry of this id."""
    rows = AuditEntry.objects.filter(user=user).select_related("account", "trader", "user").order_by("-id")
    if action in Action.values:
        rows = rows.filter(action=action)
    return rows.filter(pk__lt=before) if before else rows


def policy() -> DeskPolicy:
    """The operator's switches as they are now; everything off while they were never touched."""
    return DeskPolicy.objects.order_by("pk").first() or DeskPolicy()


def set_second_factor_for_sending(operator: User, demanded: bool) -> DeskPolicy:
    """The operator's switch. Setting it to what it is already writes nothing. Only an operator may: ValueError."""
    if not operator.is_operator:
        raise ValueError("Only the operator of this desk sets its policy.")
    found, _ = DeskPolicy.objects.get_or_create(pk=1)
    if DeskPolicy.objects.filter(pk=1).exclude(second_factor_for_sending=demanded).exists():
        found.second_factor_for_sending = demanded
        found.save()
        words = "A second factor is required for sending" if demanded else "Sending needs no second factor"
        note(operator, Action.POLICY, subject=words, details={"second_factor_for_sending": demanded})
    return found


def _cut(subject: str) -> str:
    return subject if len(subject) <= SUBJECT_LENGTH else subject[: SUBJECT_LENGTH - 1] + "…"
