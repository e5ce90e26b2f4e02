"""Settings that somebody else changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from copytrade import rules, versions
from copytrade.models import Alert, SettingsVersion

from .raising import Found, end

Kind = Alert.Kind
# How far back changes from outside are looked for: longer than any pause between two looks.
LOOK_BACK = timedelta(days=2)
DIFFERENCES_TOLD = 3


def look(now: datetime) -> Iterator[Found]:
    """One for each version that somebody else made; over once settings were sent from this desk again."""
    recent = SettingsVersion.objects.filter(
        author=SettingsVersion.Author.OUTSIDE, first_seen_at__gt=now - LOOK_BACK
    )
    keys = {f"{Kind.SETTINGS_OUTSIDE}:{pk}": pk for pk in recent.values_list("pk", flat=True)}
    for known in Alert.objects.filter(key__in=keys).values_list("key", flat=True):
        del keys[known]
    new = recent.filter(pk__in=keys.values()).select_related("trader__account")
    for version in new:
        yield _found(version)


def heal(now: datetime) -> None:
    """Those after which settings were sent from here are over."""
    later = SettingsVersion.objects.filter(
        trader=OuterRef("trader"),
        author=SettingsVersion.Author.ME,
        first_seen_at__gt=OuterRef("created_at"),
    )
    rows = Alert.objects.filter(Exists(later), kind=Kind.SETTINGS_OUTSIDE, resolved_at=None, times=1)
    end(list(rows.values_list("pk", flat=True)), now)


def _found(version: SettingsVersion) -> Found:
    trader = version.trader
    return Found(
        Kind.SETTINGS_OUTSIDE,
        f"{Kind.SETTINGS_OUTSIDE}:{version.pk}",
        trader.account.owner_id,
        f"{trader}: {_what_changed(version)}",
        account=trader.account_id,
        trader=trader.pk,
        at=version.first_seen_at,
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
