"""The audit log: who signed in, sent, imported, exported or used what, in words that outlive the rows they name.

An entry belongs to a person, who alone reads it; one without a person is the desk's, and its operator reads it.
What happens often is folded: one entry a day that counts (`count`, `count_readings`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import F, QuerySet
from django.utils import timezone

from .models import Account, AuditEntry, DeskPolicy, Trader, User

Action = AuditEntry.Action
SUBJECT_LENGTH = AuditEntry._meta.get_field("subject").max_length or 200
SIGN_INS = (Action.SIGNED_IN, Action.SIGN_IN_FAILED, Action.SIGNED_OUT)

# The filter of the page: a word, its name, and the actions it stands for.
GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("sign-ins", "Sign-ins and sign-outs", SIGN_INS),
    ("factors", "Password and second factor", (
        Action.PASSWORD, Action.EMAIL, Action.SECOND_FACTOR, Action.RECOVERY_CODES)),
    ("keys", "Keys", (Action.KEY_STORED, Action.KEY_USED, Action.KEY_READ, Action.WRITES)),
)  # fmt: skip

# One statement, so that a use counts once whatever happens: taken off the jobs and added to the day, or neither.
_COUNT_READINGS = """
WITH due AS (
    SELECT job.id, job.account_id, job.key_uses AS n FROM copytrade_syncjob AS job
     WHERE job.key_uses > 0 ORDER BY job.id FOR NO KEY UPDATE SKIP LOCKED
), taken AS (
    UPDATE copytrade_syncjob AS job SET key_uses = job.key_uses - due.n FROM due WHERE job.id = due.id
)
INSERT INTO copytrade_auditentry AS entry
       (user_id, at, action, account_id, trader_id, subject, details, times, last_at, fold)
SELECT account.owner_id, %(now)s, 'key_read', account.id, NULL, left(account.label || ': read with its key', 200),
       '{}', sum(due.n), %(now)s, 'key_read:' || account.id || ':' || %(day)s
  FROM due JOIN copytrade_account AS account ON account.id = due.account_id
 GROUP BY account.id
    ON CONFLICT (fold) DO UPDATE SET times = entry.times + excluded.times, last_at = excluded.last_at
"""


@dataclass(frozen=True)
class Filters:
    """What of the log is asked for; empty is all of it. `kind`: an action, or a word of GROUPS. Times are aware."""

    kind: str = ""
    account: int | None = None
    since: datetime | None = None
    until: datetime | None = None


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


def count(user: User | None, action: str, *, of: str, subject: str, details: dict[str, Any]) -> AuditEntry:
    """The same as `note` for what may happen many times: one entry a UTC day for each `of`, which counts."""
    now = timezone.now()
    fold = f"{action}:{user.pk if user else 'desk'}:{of}:{now:%Y-%m-%d}"[:200]
    entry, made = AuditEntry.objects.get_or_create(
        fold=fold,
        defaults={
            "user": user, "at": now, "last_at": now, "action": Action(action), "subject": _cut(subject),
            "details": details,
        },
    )  # fmt: skip
    if not made:
        AuditEntry.objects.filter(pk=entry.pk).update(times=F("times") + 1, last_at=now)
    return entry


def key_used(account: Account, purpose: str) -> None:
    """A key was opened because its owner did something; `purpose` goes on after the connection's name."""
    AuditEntry.objects.create(
        user_id=account.owner_id, account=account, action=Action.KEY_USED,
        subject=_cut(f"{account.label}: key used {purpose}"),
    )  # fmt: skip


def count_readings(now: datetime | None = None) -> int:
    """Move the readings that the jobs counted into the log: an entry for each account and UTC day; how many."""
    now = now or timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_READINGS, {"now": now, "day": f"{now:%Y-%m-%d}"})
        return cursor.rowcount


def entries(
    user: User | None,
    asked: Filters = Filters(),
    *,
    before: int | None = None,
) -> QuerySet[AuditEntry]:
    """The deeds of one person (None: what is the desk's), newest first; `before`: those older than that entry."""
    rows = AuditEntry.objects.filter(user=user).select_related("account", "trader", "user").order_by("-id")
    actions = next((of for word, _, of in GROUPS if word == asked.kind), None)
    if actions is not None:
        rows = rows.filter(action__in=actions)
    elif asked.kind in Action.values:
        rows = rows.filter(action=asked.kind)
    if asked.account:
        rows = rows.filter(account=asked.account)
    if asked.since:
        rows = rows.filter(at__gte=asked.since)
    if asked.until:
        rows = rows.filter(at__lt=asked.until)
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
