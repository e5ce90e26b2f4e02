"""A person's alerts as they are read: folded ones as one, filters, and what is read."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.utils import timezone

from copytrade.models import Alert, User

SHOWN = ("open", "read", "healed", "all")


def inbox(
    user: User, *, show: str = "open", kind: str = "", account: int | None = None, trader: int | None = None
) -> QuerySet[Alert]:
    """A person's alerts, newest first, those that are folded into another left out. `show`: "open" (neither read nor
    healed), "read", "healed", or "all"."""
    rows = Alert.objects.filter(owner=user, folded_into=None).select_related("account", "trader")
    if kind in Alert.Kind.values:
        rows = rows.filter(kind=kind)
    if account is not None:
        rows = rows.filter(Q(account=account) | Q(folded__account=account)).distinct()
    if trader is not None:
        rows = rows.filter(Q(trader=trader) | Q(folded__trader=trader)).distinct()
    if show == "open":
        return rows.filter(read_at=None, resolved_at=None)
    if show == "read":
        return rows.filter(read_at__isnull=False)
    return rows.filter(resolved_at__isnull=False) if show == "healed" else rows


def unread(user: User) -> QuerySet[Alert]:
    """Those neither read nor healed; without silent ones, and those folded into another."""
    return Alert.objects.filter(owner=user, read_at=None, resolved_at=None, silent=False, folded_into=None)


def waiting(user: User) -> int:
    """How many are unread."""
    return unread(user).count()


def mark_read(alerts: QuerySet[Alert]) -> int:
    """Mark those not read yet, with all that is folded into them; how many there were, each folded one once."""
    now, chosen = timezone.now(), list(alerts.values_list("pk", flat=True))
    Alert.objects.filter(folded_into__in=chosen, read_at=None).update(read_at=now)
    return Alert.objects.filter(pk__in=chosen, read_at=None).update(read_at=now)
