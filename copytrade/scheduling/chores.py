"""Work of the whole desk that comes round: whoever finds a chore due takes it, one at a time, under a lease.

A row per chore holds when it is due, so no process has to remember it, and none may be the only one.
All times are the database's.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.db import connection
from django.db.models import F, Q, Value
from django.db.models.functions import Greatest, Least, Now

from copytrade.models import Chore

# Longer than the hard time limit of the task that runs chores (dashboard/celeryconfig.py).
LEASE = timedelta(seconds=150)
LONGEST_PAUSE = timedelta(minutes=10)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """What a chore does, and how many seconds apart."""

    do: Callable[[], object]
    every: float

    @property
    def period(self) -> timedelta:
        return timedelta(seconds=self.every)


# The one due for longest that nobody is at. Due, too, is a chore whose time lies further ahead than it could have
# been put: the database's clock was set back. One whose worker died is held off for longer each time.
_CLAIM = """
WITH known AS (
    SELECT * FROM unnest(%(names)s::text[], %(periods)s::interval[]) AS known(name, period)
), next AS (
    SELECT chore.name FROM copytrade_chore AS chore JOIN known USING (name)
     WHERE (chore.due_at <= statement_timestamp()
            OR (chore.failures = 0 AND chore.due_at > statement_timestamp() + 2 * known.period))
       AND (chore.lease_until IS NULL OR chore.lease_until < statement_timestamp())
     ORDER BY chore.due_at, chore.name
     LIMIT 1
       FOR NO KEY UPDATE OF chore SKIP LOCKED
)
UPDATE copytrade_chore AS chore
   SET lease_token = %(token)s,
       failures = chore.failures + CASE WHEN chore.lease_until IS NULL THEN 0 ELSE 1 END,
       lease_until = statement_timestamp() + %(lease)s
                   * CASE WHEN chore.lease_until IS NULL THEN 1 ELSE least(2 ^ least(chore.failures, 4), 10) END
  FROM next WHERE chore.name = next.name
RETURNING chore.name
"""


def is_due(works: Mapping[str, Work]) -> bool:
    """Is there a chore to do, or one that was never done? By the same rule as _CLAIM, a clock set back included."""
    waiting = Q(lease_until__gte=Now())
    for name, work in works.items():
        credible = Q(failures__gt=0) | Q(due_at__lte=Now() + 2 * work.period)
        waiting |= Q(name=name, due_at__gt=Now()) & credible
    return Chore.objects.filter(waiting, name__in=works).count() < len(works)


def run_due(works: Mapping[str, Work]) -> list[str]:
    """Do what is due, one after the other and each once; the names. An error is raised after its chore was pushed
    ahead with a pause that grows; what else is due then, or due again by now, is for the next worker."""
    Chore.objects.bulk_create([Chore(name=name, due_at=Now()) for name in works], ignore_conflicts=True)
    done: list[str] = []
    while (taken := _claim({name: work for name, work in works.items() if name not in done})) is not None:
        name, token = taken
        mine = Chore.objects.filter(name=name, lease_token=token)
        period = works[name].period
        try:
            works[name].do()
        except Exception as error:
            _push_ahead(name, token, period, error)
            raise
        mine.update(
            lease_token=None, lease_until=None, failures=0, last_error="", last_success_at=Now(),
            due_at=Least(Greatest(F("due_at") + Value(period), Now() + period / 2), Now() + period),
        )  # fmt: skip
        done.append(name)
    return done


def _claim(works: Mapping[str, Work]) -> tuple[str, uuid.UUID] | None:
    token = uuid.uuid4()
    values = {
        "names": list(works), "periods": [work.period for work in works.values()], "token": token, "lease": LEASE,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        row = cursor.fetchone()
    return (row[0], token) if row else None


def _push_ahead(name: str, token: uuid.UUID, period: timedelta, error: Exception) -> None:
    chore = Chore.objects.filter(name=name, lease_token=token).first()
    if chore is None:
        return
    pause = min(period * 2 ** min(chore.failures, 10), max(period, LONGEST_PAUSE))
    Chore.objects.filter(name=name, lease_token=token).update(
        lease_token=None, lease_until=None, failures=chore.failures + 1, due_at=Now() + pause,
        last_error=f"{type(error).__name__}: {error}"[:500],
    )  # fmt: skip
    log.warning("chore failed", chore=name, error=type(error).__name__, again_in=pause.total_seconds())
