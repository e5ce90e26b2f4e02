"""The end of a reading that succeeded: lease, due time, what the planner learns and the record of it, in one statement.

Half of what an unchanged reading computed went into building the statements of these; so they are one, in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from copytrade.models import SyncJob

from .leases import kept_of
from .reading import Reading

# `due`: at once without an interval; else one interval after the last deadline, so that deadlines do not drift, and
# between nine tenths of one and one from now: what was missed is not caught up with, and a crowd that fell due
# together comes apart. Never later than a hint that came while the job was held (leases.release). The record folds as
# reading.note_run has it.
_DONE = """
WITH handed_back AS (
    UPDATE copytrade_syncjob
       SET lease_token = NULL, lease_until = NULL, key_uses = key_uses + 1, failures = 0,
           last_success_at = statement_timestamp(), last_error = %(trouble)s, priority = %(priority)s,
           changes = coalesce(%(changes)s, changes), exposure = coalesce(%(exposure)s, exposure),
           weight = coalesce(%(weight)s, weight),
           cursor = coalesce(%(cursor)s::jsonb, cursor),
           due_at = CASE WHEN due_at = %(was_due)s THEN due.at ELSE least(due_at, due.at) END
      FROM (SELECT CASE WHEN %(interval)s::interval IS NULL THEN statement_timestamp() ELSE
                   least(greatest(%(was_due)s + %(interval)s::interval,
                                  statement_timestamp() + %(interval)s::interval * 0.9),
                         statement_timestamp() + %(interval)s::interval) END AS at) AS due
     WHERE id = %(job)s AND lease_token = %(token)s
 RETURNING id
), folded AS (
    UPDATE copytrade_syncrun
       SET times = times + 1, weight = weight + %(spent)s, last_at = %(now)s, changed = 0, pages = %(pages)s,
           seen = %(seen)s, bad = %(bad)s
     WHERE id = (SELECT id FROM copytrade_syncrun WHERE account_id = %(account)s AND kind = %(kind)s
                  ORDER BY id DESC LIMIT 1)
       AND %(changed)s = 0 AND changed = 0 AND error_code = '' AND error_message = %(trouble)s
       AND EXISTS (SELECT FROM handed_back)
 RETURNING id
), noted AS (
    INSERT INTO copytrade_syncrun (account_id, kind, first_at, last_at, times, pages, seen, changed, bad, weight,
                                   error_code, error_message)
    SELECT %(account)s, %(kind)s, %(now)s, %(now)s, 1, %(pages)s, %(seen)s, %(changed)s, %(bad)s, %(spent)s, '',
           %(trouble)s
     WHERE EXISTS (SELECT FROM handed_back) AND NOT EXISTS (SELECT FROM folded)
)
SELECT count(*) FROM handed_back
"""


def done(
    job: SyncJob, reading: Reading, interval: timedelta | None, priority: int, observed: Mapping[str, float]
) -> bool:
    """Hand the job back, due after `interval` (None: at once), and write the reading down; False, and nothing
    written, when the job was not ours any more. `observed`: what the planner learns (changes, exposure, weight).

    What was changed of `job.cursor` since the last fence is stored with it: a step that had no rows to go with."""
    cursor = kept_of(job)[0]
    values = {
        "job": job.pk, "token": job.lease_token, "was_due": job.due_at, "interval": interval, "priority": priority,
        "trouble": reading.trouble[:500], "account": job.account_id, "kind": job.kind, "now": timezone.now(),
        "spent": reading.weight, "changed": int(reading.changed), "pages": reading.pages, "seen": reading.seen,
        "bad": reading.bad, "changes": observed.get("changes"), "exposure": observed.get("exposure"),
        "weight": observed.get("weight"), "cursor": None if cursor == job.kept[0] else cursor,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_DONE, values)
        return cursor.fetchone()[0] == 1
