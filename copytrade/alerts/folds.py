"""A storm: more than MOST of one kind for one person within WINDOW become one alert that counts them.

Those before the storm that were told stay told. One that came at once is told at once, and told once; one that grew
out of alerts told singly is told when its ten minutes are over, with the number that it has then.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta

from copytrade.models import Alert

from .kinds import KINDS

MOST = 10
WINDOW = timedelta(minutes=10)


def store(rows: list[Alert], now: datetime) -> None:
    """Insert new alerts, folding where it storms. Inside the transaction of whoever raises."""
    if not rows:
        return
    groups: dict[tuple[int, str], list[Alert]] = defaultdict(list)
    for row in rows:
        groups[row.owner_id, row.kind].append(row)
    lately = _lately(groups, now)
    heads, moved = [], []
    for of, new in groups.items():
        head, before = lately.get(of, (None, []))
        if head is None and len(new) + len(before) <= MOST:
            continue
        moved += before
        heads.append(_fold(head, before, new, now))
    Alert.objects.bulk_create([head for head in heads if head.pk is None])
    Alert.objects.bulk_update([head for head in heads if head.pk is not None], _GROWS)
    for one in [*moved, *rows]:
        one.folded_into_id = one.folded_into.pk if one.folded_into else None
    Alert.objects.bulk_create(rows)
    if moved:
        Alert.objects.bulk_update(moved, ["folded_into", "loud_at"])


_GROWS = ["times", "sentence", "silent", "loud_at", "account", "trader", "read_at", "resolved_at"]


def _lately(groups: dict, now: datetime) -> dict[tuple[int, str], tuple[Alert | None, list[Alert]]]:
    """(owner, kind) -> the storm that is under way, and the single ones of the last ten minutes. One query."""
    owners, kinds = {owner for owner, _ in groups}, {kind for _, kind in groups}
    rows = Alert.objects.filter(
        owner__in=owners, kind__in=kinds, created_at__gt=now - WINDOW, folded_into=None
    ).order_by("created_at", "pk")
    found: dict[tuple[int, str], tuple[Alert | None, list[Alert]]] = {}
    for row in rows:
        head, single = found.get((row.owner_id, row.kind), (None, []))
        if row.times > 1:
            head = row
        else:
            single.append(row)
        found[row.owner_id, row.kind] = head, single
    return found


def _fold(head: Alert | None, before: list[Alert], new: list[Alert], now: datetime) -> Alert:
    """The storm with these in it; each of them knows it, and is not told by itself any more."""
    every = [*before, *new]
    first = every[0]
    if head is None:
        loud = [one for one in every if not one.silent]
        told = any(one.loud_at and one.loud_at <= now for one in before)
        begins = min(one.created_at for one in every)
        at = max((one.loud_at for one in loud if one.loud_at), default=None)
        head = Alert(
            owner_id=first.owner_id, kind=first.kind, key=f"storm:{first.kind}:{first.key}"[:160],
            created_at=now, times=0, silent=not loud, account_id=first.account_id, trader_id=first.trader_id,
            loud_at=max(at, begins + WINDOW) if at and told else at,
        )  # fmt: skip
    elif head.silent and any(not one.silent for one in every):
        head.silent, head.loud_at = False, max(one.loud_at for one in every if one.loud_at)
    for one in every:
        one.folded_into, one.loud_at = head, one.loud_at if one in before and _is_told(one, now) else None
    head.times += len(every)
    head.read_at = head.resolved_at = None
    if any(one.account_id != head.account_id for one in every):
        head.account = None
    if any(one.trader_id != head.trader_id for one in every):
        head.trader = None
    head.sentence = f"{KINDS[head.kind].many.format(n=head.times)} within 10 minutes."
    return head


def _is_told(one: Alert, now: datetime) -> bool:
    return one.loud_at is not None and one.loud_at <= now
