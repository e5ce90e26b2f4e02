"""Records that do not fit are set aside as they came, each with an issue (quarantine.py tries them again)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

from django.db import connection, transaction
from django.utils import timezone

from copytrade import issues
from copytrade.models import Account, DataIssue

_KEEP_BAD = """
INSERT INTO copytrade_badrecord AS b (account_id, operation, fingerprint, raw, reason, first_seen_at, last_seen_at,
                                      times, tried_with)
SELECT %s, %s, u.fingerprint, u.raw, u.reason, %s, %s, u.times, ''
FROM unnest(%s::text[], %s::text[], %s::text[], %s::int[]) AS u (fingerprint, raw, reason, times)
ON CONFLICT (account_id, operation, fingerprint) DO UPDATE
SET times = b.times + EXCLUDED.times, last_seen_at = greatest(b.last_seen_at, EXCLUDED.last_seen_at), read_at = NULL
RETURNING b.fingerprint, b.reason, xmax = 0
"""


def keep_bad(
    account: Account, operation: str, records: Sequence[tuple[str, str]], seen_at: datetime | None = None
) -> int:
    """Set aside (raw text, reason) pairs and raise an issue for each new one; the same record again only counts.
    How many there were."""
    if not records:
        return 0
    seen_at = seen_at or timezone.now()
    found: dict[str, list] = {}
    for raw, reason in records:
        raw = raw.replace("\x00", "\\u0000")
        mark = hashlib.sha256(raw.encode()).hexdigest()
        found.setdefault(mark, [raw, reason[:500], 0])[2] += 1
    marks = sorted(found)
    columns = [[found[mark][place] for mark in marks] for place in range(3)]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_KEEP_BAD, [account.pk, operation, seen_at, seen_at, marks, *columns])
        for mark, reason in [(mark, reason) for mark, reason, new in cursor.fetchall() if new]:
            tell_bad(account, operation, mark, reason, seen_at)
    return len(records)


def tell_bad(account: Account, operation: str, mark: str, reason: str, at: datetime) -> None:
    """The issue of a record that could not be read; its subject is the record's fingerprint."""
    sentence = (
        f"A record could not be understood ({reason[:300]}) It is kept as it came, and left out of every figure. "
        "It is tried again after every upgrade of Copydesk."
    )
    issues.tell(account, DataIssue.Kind.BAD_RECORD, mark, sentence, {"operation": operation}, at)
