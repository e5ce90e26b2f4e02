"""What the desk speaks up about by itself: a key refused, data gone stale, settings changed outside.

`watch` looks at the stored rows and not at events, so nothing that raises or heals an alert can be lost
with a killed worker, and looking twice changes nothing: every alert has a key that names its occasion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from . import rules, versions
from .intervals import interval_of
from .models import Account, Alert, SettingsVersion, SyncJob, User

Kind = Alert.Kind
# A page calls data stale after a minute or two; a person is called only when it does not mend by itself.
STALE_AFTER_INTERVALS = 4
STALE_AT_LEAST = timedelta(minutes=15)
# How far back changes from outside are looked for: longer than any pause between two looks.
LOOK_BACK = timedelta(days=2)
DIFFERENCES_TOLD = 3


def watch(now: datetime | None = None) -> int:
    """Raise what is new, resolve what has healed; how many were raised. Safe at any time, by any number."""
    now = now or timezone.now()
    return _keys_refused(now) + _data_stale(now) + _settings_outside(now)


def inbox(user: User, *, show: str = "open", kind: str = "") -> QuerySet[Alert]:
    """A person's alerts, newest first. `show`: "open" (neither read nor healed), or "all"."""
    rows = Alert.objects.filter(owner=user).select_related("account", "trader")
    if kind in Kind.values:
        rows = rows.filter(kind=kind)
    return rows if show == "all" else rows.filter(read_at=None, resolved_at=None)


def waiting(user: User) -> int:
    """How many are neither read nor healed."""
    return Alert.objects.filter(owner=user, read_at=None, resolved_at=None).count()


def mark_read(alerts: QuerySet[Alert]) -> int:
    """Mark those not read yet; how many there were."""
    return alerts.filter(read_at=None).update(read_at=timezone.now())


def _raise(rows: Iterable[Alert]) -> int:
    """Store those whose key is new. Two lookers at once leave one row each."""
    rows = list(rows)
    known = set(Alert.objects.filter(key__in=[row.key for row in rows]).values_list("key", flat=True))
    new = [row for row in rows if row.key not in known]
    Alert.objects.bulk_create(new, ignore_conflicts=True)
    return len(new)


def _resolve(alerts: QuerySet[Alert], now: datetime) -> None:
    alerts.filter(resolved_at=None).update(resolved_at=now)


def _keys_refused(now: datetime) -> int:
    """One for each time that a key was given up; over once its owner has acted."""
    refused = list(Account.objects.filter(state=Account.State.REFUSED))
    rows = [
        Alert(
            owner_id=account.owner_id,
            account=account,
            kind=Kind.KEY_REFUSED,
            key=f"{Kind.KEY_REFUSED}:{account.pk}:{account.state_since:%Y%m%dT%H%M%S.%f}",
            sentence=_cut(f"{account.label}: {account.state_reason}"),
            created_at=now,
        )
        for account in refused
    ]
    open_ones = Alert.objects.filter(kind=Kind.KEY_REFUSED).exclude(key__in=[row.key for row in rows])
    _resolve(open_ones, now)
    return _raise(rows)


def _data_stale(now: datetime) -> int:
    """One for each account and time of silence, whatever the number of readings that fail.

    None is raised while the key is refused or waits to become active: that is another alert, or none.
    """
    stale: dict[int, list[tuple[datetime, SyncJob]]] = defaultdict(list)
    for job in SyncJob.objects.select_related("account"):
        since = job.last_success_at or max(job.account.created_at, job.account.key_set_at)
        limit = max(STALE_AT_LEAST, STALE_AFTER_INTERVALS * interval_of(job))
        if now - since > limit:
            stale[job.account_id].append((since, job))
    open_ones = Alert.objects.filter(kind=Kind.DATA_STALE, resolved_at=None)
    _resolve(open_ones.exclude(account__in=stale), now)
    told = set(open_ones.values_list("account_id", flat=True))
    return _raise(
        _stale_alert(*min(found, key=lambda pair: (pair[0], pair[1].pk)), now)
        for account_id, found in stale.items()
        if account_id not in told and _key_works(found[0][1].account)
    )


def _key_works(account: Account) -> bool:
    return account.state not in (Account.State.REFUSED, Account.State.PENDING)


def _stale_alert(since: datetime, job: SyncJob, now: datetime) -> Alert:
    account, what = job.account, job.get_kind_display()
    if job.last_success_at:
        words = f"{account.label}: {what} not read since {since:%Y-%m-%d %H:%M} UTC."
    else:
        words = (
            f"{account.label}: {what} not read at all since the key was entered, {since:%Y-%m-%d %H:%M} UTC."
        )
    return Alert(
        owner_id=account.owner_id,
        account=account,
        kind=Kind.DATA_STALE,
        key=f"{Kind.DATA_STALE}:{account.pk}:{job.kind}:{since:%Y%m%dT%H%M%S.%f}",
        sentence=_cut(f"{words} {job.last_error}".strip()),
        created_at=now,
    )


def _settings_outside(now: datetime) -> int:
    """One for each version that somebody else made; over once settings were sent from this desk again."""
    recent = SettingsVersion.objects.filter(
        author=SettingsVersion.Author.OUTSIDE, first_seen_at__gt=now - LOOK_BACK
    )
    keys = {f"{Kind.SETTINGS_OUTSIDE}:{pk}": pk for pk in recent.values_list("pk", flat=True)}
    for known in Alert.objects.filter(key__in=keys).values_list("key", flat=True):
        del keys[known]
    new = recent.filter(pk__in=keys.values()).select_related("trader__account")
    raised = _raise(_outside_alert(version) for version in new)
    later = SettingsVersion.objects.filter(
        trader=OuterRef("trader"),
        author=SettingsVersion.Author.ME,
        first_seen_at__gt=OuterRef("created_at"),
    )
    _resolve(Alert.objects.filter(Exists(later), kind=Kind.SETTINGS_OUTSIDE), now)
    return raised


def _outside_alert(version: SettingsVersion) -> Alert:
    trader = version.trader
    return Alert(
        owner_id=trader.account.owner_id,
        account=trader.account,
        trader=trader,
        kind=Kind.SETTINGS_OUTSIDE,
        key=f"{Kind.SETTINGS_OUTSIDE}:{version.pk}",
        sentence=_cut(f"{trader}: {_what_changed(version)}"),
        # The time of the version, not of the look: what came after it is then known to be later.
        created_at=version.first_seen_at,
    )


def _what_changed(version: SettingsVersion) -> str:
    """The differences to the version before, a few in words."""
    before = version.trader.versions.filter(first_seen_at__lt=version.first_seen_at).first()
    parts = []
    if before and before.copy_enable != version.copy_enable and version.copy_enable is not None:
        parts.append("copying is on" if version.copy_enable else "copying is off")
    old, new = (versions.understood(v.answer) if v else None for v in (before, version))
    if new is None:
        return "the settings were changed outside the desk to something that it cannot read."
    found = rules.differences(old, new) if old else []
    parts += [f"{d.label} from {d.before} to {d.after}" for d in found[:DIFFERENCES_TOLD]]
    if len(found) > DIFFERENCES_TOLD:
        parts.append(f"and {len(found) - DIFFERENCES_TOLD} more")
    return f"changed outside the desk: {'; '.join(parts)}." if parts else "changed outside the desk."


def _cut(sentence: str) -> str:
    """One line of at most 500 characters: names and reasons come from the exchange."""
    line = " ".join(sentence.split())
    return line if len(line) <= 500 else line[:499] + "…"
