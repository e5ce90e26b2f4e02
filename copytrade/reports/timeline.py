"""The time line of a trader's settings: every version that was read, who made it, and what it changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from copytrade import rules, versions
from copytrade.models import SettingsChange, SettingsVersion, Trader

Author = SettingsVersion.Author
_COPYING = {True: "yes", False: "no", None: "not told"}


@dataclass(frozen=True)
class Entry:
    """One version. `differences` are to the version before it, in words; empty for the first one.

    `change`: the change behind it, if it was made here. `restorable`: whether it can be sent again at all.
    """

    version: SettingsVersion
    at: datetime
    author_words: str
    differences: list[rules.Difference]
    change: SettingsChange | None
    is_current: bool
    restorable: bool

    @property
    def drift(self) -> bool:
        """Whether it was changed outside the desk."""
        return self.version.author == Author.OUTSIDE


def timeline(trader: Trader, limit: int = 50, before: SettingsVersion | None = None) -> list[Entry]:
    """The newest `limit` versions, newest first; `before`: only those older than this one. Two queries."""
    rows = trader.versions.select_related("change__author").order_by("-first_seen_at", "-id")
    newest = rows.values_list("pk", flat=True).first()
    if before is not None:
        rows = rows.filter(first_seen_at__lte=before.first_seen_at).exclude(
            first_seen_at=before.first_seen_at, pk__gte=before.pk
        )
    found = list(rows[: limit + 1])
    older = [*found[1:], None][: len(found)]
    return [
        _entry(version, past, version.pk == newest)
        for version, past in zip(found[:limit], older[:limit], strict=True)
    ]


def _entry(version: SettingsVersion, past: SettingsVersion | None, is_current: bool) -> Entry:
    settings = versions.understood(version.answer)
    return Entry(
        version=version,
        at=version.first_seen_at,
        author_words=_author(version, settings),
        differences=_differences(past, version) if past else [],
        change=version.change,
        is_current=is_current,
        restorable=settings is not None and not is_current,
    )


def _author(version: SettingsVersion, settings: rules.CopySettings | None) -> str:
    change = version.change
    if version.author != Author.ME or change is None:
        return str(version.get_author_display())
    words = f"sent from this desk ({change.get_origin_display()})"
    if change.author is not None:
        words = f"sent from this desk by {change.author} ({change.get_origin_display()})"
    if settings is not None and not rules.same(settings, versions.wanted(change)):
        return words + ", but not held as it was sent"
    return words


def _differences(past: SettingsVersion, version: SettingsVersion) -> list[rules.Difference]:
    found = []
    if past.copy_enable != version.copy_enable:
        words = [_COPYING[each.copy_enable] for each in (past, version)]
        found.append(rules.Difference("This trader is copied", *words))
    if past.fingerprint == version.fingerprint:
        return found
    before, after = versions.understood(past.answer), versions.understood(version.answer)
    if before is None or after is None:
        words = ["understood" if each else "not understood" for each in (before, after)]
        return [*found, rules.Difference("The exchange's answer", *words)]
    return found + rules.differences(before, after)
