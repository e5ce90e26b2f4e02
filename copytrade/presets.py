"""Less typing: settings from a template, another trader, a file or the de-risk preset, for several traders.

Each trader gets a change of his own, drafted against his own settings; a ChangeGroup only holds together
what was reviewed together. One that is refused, or fails later, stops nothing else.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from . import audit, changes, derisk, effects, portable, versions
from .models import (
    AuditEntry,
    ChangeGroup,
    SettingsChange,
    SettingsTemplate,
    SettingsVersion,
    TrackingOrder,
    Trader,
    User,
)
from .rules import CopySettings

Origin = SettingsChange.Origin
Action = AuditEntry.Action
MOST_TRADERS = 50
MOST_TEMPLATES = 200
LONGEST_NAME = SettingsTemplate._meta.get_field("name").max_length or 80
LONGEST_LABEL = ChangeGroup._meta.get_field("label").max_length or 120
RECENT = 50


class PresetRefused(Exception):
    """It is not done. The message is a sentence for the person."""


@dataclass(frozen=True)
class Source:
    """Where settings come from: `label` in words, and what they make of one trader's present settings."""

    origin: str
    label: str
    target: Callable[[Trader, CopySettings], CopySettings]


# Templates


def save(owner: User, name: str, settings: CopySettings, *, how: str = "saved") -> SettingsTemplate:
    """Keep settings under a name. PresetRefused: no name, one in use, or settings that break a rule."""
    name = _name(name)
    body = portable.body_of(settings)
    if violations := portable.check(body):
        raise PresetRefused(f"These settings cannot become a template: {violations[0].message}")
    if SettingsTemplate.objects.filter(owner=owner).count() >= MOST_TEMPLATES:
        raise PresetRefused(f"There are {MOST_TEMPLATES} templates already. Delete one that you do not need.")
    try:
        with transaction.atomic():
            template = SettingsTemplate.objects.create(owner=owner, name=name, body=body)
            audit.note(
                owner, Action.TEMPLATE_SAVED, subject=f"Template “{name}” {how}", details={"body": body}
            )
    except IntegrityError:
        raise _taken(name) from None
    return template


def rename(template: SettingsTemplate, name: str) -> None:
    """Another name for a template. PresetRefused: none, or one in use."""
    name, before = _name(name), template.name
    if name == before:
        return
    try:
        with transaction.atomic():
            SettingsTemplate.objects.filter(pk=template.pk).update(name=name, updated_at=timezone.now())
            subject = f"Template “{before}” renamed to “{name}”"
            audit.note(template.owner, Action.TEMPLATE_SAVED, subject=subject)
    except IntegrityError:
        raise _taken(name) from None
    template.name = name


def delete(template: SettingsTemplate) -> None:
    """Forget a template. Settings that were sent from it stay as they are."""
    with transaction.atomic():
        subject, details = f"Template “{template.name}” deleted", {"body": template.body}
        audit.note(template.owner, Action.TEMPLATE_DELETED, subject=subject, details=details)
        template.delete()


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise PresetRefused("Give the template a name.")
    if len(name) > LONGEST_NAME:
        raise PresetRefused(f"A name has at most {LONGEST_NAME} characters.")
    return name


def _taken(name: str) -> PresetRefused:
    return PresetRefused(
        f"There is a template “{name}” already. Choose another name, or delete that one first."
    )


# Sources


def from_template(template: SettingsTemplate) -> Source:
    settings = portable.settings_in(template.body)
    return Source(Origin.TEMPLATE, f"Template “{template.name}”", lambda trader, before: settings)


def from_trader(trader: Trader) -> Source:
    """What is in force for a trader, as last read. PresetRefused when that is not known."""
    settings = in_force(trader)
    return Source(Origin.COPY, f"Settings of {trader}", lambda other, before: settings)


def from_file(settings: CopySettings, name: str = "") -> Source:
    label = f"Imported settings “{name}”" if name else "Imported settings"
    return Source(Origin.IMPORT, label, lambda trader, before: settings)


def from_derisk(options: derisk.Options) -> Source:
    """PresetRefused when nothing was chosen to be lowered."""
    if options.empty:
        raise PresetRefused("Choose at least one thing to lower.")

    def target(trader: Trader, before: CopySettings) -> CopySettings:
        usual = effects.typical(recent_copies([trader.pk]).get(trader.pk, []))
        return derisk.lowered(before, options, int(usual.leverage) if usual else None)

    return Source(Origin.DERISK, f"De-risk: {options.words()}", target)


def in_force(trader: Trader) -> CopySettings:
    """The settings last read. PresetRefused when there are none, or they cannot be understood."""
    version = versions.latest(trader)
    settings = versions.understood(version.answer) if version else None
    if settings is None:
        raise PresetRefused(f"The settings of {trader} are not known yet. Open them once, then try again.")
    return settings


def exported(user: User, settings: CopySettings, name: str, *, trader: Trader | None = None) -> str:
    """The text of a settings file, noted in the audit log."""
    audit.note(user, Action.EXPORTED, trader=trader, subject=f"Settings exported: {name}")
    return portable.write(settings, name)


# Several traders at once


def prepare(owner: User, traders: Sequence[Trader], source: Source) -> ChangeGroup:
    """A draft for each trader, or the sentence why there is none; nothing is sent.

    PresetRefused: no trader, too many, or one that is not the owner's.
    """
    if not traders:
        raise PresetRefused("Choose at least one trader.")
    if len(traders) > MOST_TRADERS:
        raise PresetRefused(f"Choose at most {MOST_TRADERS} traders at once.")
    if any(trader.account.owner_id != owner.pk for trader in traders):
        raise PresetRefused("Settings are changed by their owner only.")
    with transaction.atomic():
        group = ChangeGroup.objects.create(owner=owner, label=_cut(source.label))
        drafts = [_draft(group, trader, source) for trader in traders]
        group.refused = [refusal for refusal in drafts if refusal is not None]
        group.save(update_fields=["refused"])
        action = Action.IMPORTED if source.origin == Origin.IMPORT else Action.TEMPLATE_USED
        details = {"group": group.key, "traders": [str(trader) for trader in traders]}
        subject = f"{source.label}: prepared for {len(traders)} trader{'s' if len(traders) > 1 else ''}"
        audit.note(owner, action, subject=subject, details=details)
    return group


def _draft(group: ChangeGroup, trader: Trader, source: Source) -> list | None:
    """Make the draft; [trader pk, sentence] when that is refused."""
    try:
        target = source.target(trader, in_force(trader))
        changes.draft(trader, target, group.owner, origin=source.origin, group=group)
    except changes.ChangeInvalid as invalid:
        words = [violation.message for violation in invalid.violations]
        more = f" And {len(words) - 3} more." if len(words) > 3 else ""
        return [trader.pk, " ".join(dict.fromkeys(words[:3])) + more]
    except (changes.ChangeRefused, PresetRefused) as refused:
        return [trader.pk, str(refused)]
    return None


def confirm(group: ChangeGroup, key: uuid.UUID | str, chosen: Mapping[int, str]) -> list[int]:
    """Confirm the chosen drafts, each on its own; the ids of those to be sent now. Sent by others: see tasks.

    `chosen`: id of a change -> the mark of the body that was shown (changes.body_mark). The same key again
    confirms nothing more. Raises changes.ChangeRefused when nothing at all can be sent; the review then stays.
    """
    if str(group.key) != str(key):
        raise changes.ChangeRefused("This review is out of date. Prepare it again and review it once more.")
    with transaction.atomic():
        held = ChangeGroup.objects.select_for_update().get(pk=group.pk)
        if held.confirmed_at is not None:
            return []
        drafts = held.changes.filter(pk__in=list(chosen), state=SettingsChange.State.DRAFT)
        confirmed, refused = [], []
        for draft in drafts.select_related("trader__account", "base").order_by("pk"):
            try:
                changes.confirm(draft, draft.key, seen=chosen[draft.pk], by=group.owner)
                confirmed.append(draft.pk)
            except changes.ChangeRefused as error:
                refused.append([draft.trader_id, str(error)])
        if not confirmed:
            words = refused[0][1] if refused else "Choose at least one trader to send to."
            raise changes.ChangeRefused(words)
        held.refused = [*held.refused, *refused]
        held.confirmed_at = timezone.now()
        held.save(update_fields=["refused", "confirmed_at"])
    group.refused, group.confirmed_at = held.refused, held.confirmed_at
    return confirmed


def _cut(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"


# What the pages of several traders need, in one query for all of them


def latest_versions(traders: Iterable[Trader]) -> dict[int, SettingsVersion]:
    """Trader pk -> the version in force; traders without one are absent."""
    rows = SettingsVersion.objects.filter(trader__in=[trader.pk for trader in traders])
    return {
        row.trader_id: row
        for row in rows.order_by("trader_id", "-first_seen_at", "-id").distinct("trader_id")
    }


def recent_copies(trader_pks: Sequence[int]) -> dict[int, list[tuple]]:
    """Trader pk -> (margin in USDT, leverage, symbol) of his last 50 copies, newest first."""
    order = [F("open_time").desc(), F("tracking_no").desc()]
    newest = Window(RowNumber(), partition_by=F("trader"), order_by=order)
    rows = (
        TrackingOrder.objects.filter(trader__in=trader_pks).annotate(place=newest).filter(place__lte=RECENT)
    )
    found: dict[int, list[tuple]] = defaultdict(list)
    for pk, *copy in rows.values_list("trader", "open_margin_amount", "open_leverage", "symbol"):
        found[pk].append(tuple(copy))
    return dict(found)


def open_symbols(trader_pks: Sequence[int]) -> dict[int, set[str]]:
    """Trader pk -> symbols of his open copies."""
    rows = TrackingOrder.objects.filter(trader__in=trader_pks, closed=False)
    found: dict[int, set[str]] = defaultdict(set)
    for pk, symbol in rows.values_list("trader", "symbol").distinct():
        found[pk].add(symbol)
    return dict(found)
