"""Delete everything: a person leaves with all that is theirs, at once for them and in bounded steps for the database.

`begin` makes the account unusable in one short transaction: the data key first (without it the stored exchange keys
are noise; a backup made before has it still, as the page says), then the keys, the readings, the sign-in and every
session. `proceed` is the chore that removes the rows, some thousands at a time, the leaves before what they hang on,
and the person last. Where a worker dies the next one goes on: what is left is what there is to do.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

from django.contrib.sessions.models import Session
from django.db import models, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from . import audit
from .models import (
    Account,
    AuditEntry,
    CopySymbols,
    Credential,
    DataKey,
    DeskPolicy,
    Erasure,
    SettingsChange,
    SpotOrder,
    SyncJob,
    TrackingOrder,
    User,
)  # fmt: skip

# Rows of one table that one step removes, and the seconds after which a worker turns to other work.
STEP, BUDGET_SECONDS = 2000, 8.0
# What is written to the exchange, the way from there to the person, and its name in a sentence.
WRITES: tuple[tuple[Any, str, str], ...] = (
    (SettingsChange, "trader__account__owner", "A change of your settings"),
    (SpotOrder, "account__owner", "A spot order of yours"),
)
# Tables whose rows outlive whom they point to (SET_NULL), and yet go with the person.
PERSONAL = {("copytrade.AuditEntry", "user")}


class NotNow(Exception):
    """It cannot begin as things stand; the message is a sentence for the person."""


def begin(user: User, successor: User | None = None) -> Erasure:
    """Make the account unusable and put its deletion in line. Twice is once. Raises NotNow.

    `successor`: who runs the desk after its operator; asked for while other people are at it.
    """
    with transaction.atomic():
        person = User.objects.select_for_update().get(pk=user.pk)
        if (under_way := Erasure.objects.filter(user=person).first()) is not None:
            return under_way
        _hand_over(person, successor)
        _withdraw_what_waits(person)
        DataKey.objects.filter(user=person).delete()
        Credential.objects.filter(account__owner=person).delete()
        # A reading that is being stored holds its job: this waits for it, and later ones find no job.
        list(SyncJob.objects.select_for_update().filter(account__owner=person).order_by("pk"))
        SyncJob.objects.filter(account__owner=person).delete()
        words = {
            "state": Account.State.REFUSED,
            "state_reason": "Being deleted.",
            "uid": None,
            "key_hint": "",
        }
        Account.objects.filter(owner=person).update(**words, writes_enabled=False)
        _forget_the_sign_in(person)
        audit.note(
            None, AuditEntry.Action.DESK, subject="Somebody deleted themselves with everything of theirs"
        )
        return Erasure.objects.create(user=person)


def others(user: User) -> QuerySet[User]:
    """Who else is at the desk and could run it."""
    return User.objects.filter(is_active=True, is_demo=False).exclude(pk=user.pk).order_by("username")


def _hand_over(person: User, successor: User | None) -> None:
    if person.is_demo:
        raise NotNow("The demo is shared by its visitors: nobody can delete it.")
    if not person.is_operator:
        return
    rest = others(person)
    if successor is not None and rest.filter(pk=successor.pk).update(is_operator=True):
        audit.note(None, AuditEntry.Action.DESK, subject="Another person runs this desk now")
    elif rest.filter(is_operator=False).exists() and not rest.filter(is_operator=True).exists():
        raise NotNow("You run this desk and other people use it. Say who runs it after you.")


def _withdraw_what_waits(person: User) -> None:
    """What waits to be sent never is; what is on its way cannot be called back, and is waited for."""
    for model, path, what in WRITES:
        mine = model._base_manager.filter(**{path: person})
        list(mine.filter(state__in=model.OPEN_STATES).select_for_update(of=("self",)).order_by("pk"))
        if mine.filter(state=model.State.SENDING).exists():
            raise NotNow(f"{what} is being sent at this moment. Try again in a minute.")
        mine.filter(state=model.State.CONFIRMED).delete()


def _forget_the_sign_in(person: User) -> None:
    """No name, no address, no password, no session. The row stands until everything that hangs on it is gone."""
    person.username, person.email, person.first_name, person.last_name = (
        f"deleted-{uuid.uuid4().hex}",
        "",
        "",
        "",
    )
    person.is_active = person.is_operator = person.is_staff = person.is_superuser = False
    person.set_unusable_password()
    person.save()
    for model, field in _holders(User):
        if model._meta.app_label == "copytrade":
            continue
        mine = model._base_manager.filter(**{field: person})
        if any(one.name == "session_key" for one in model._meta.get_fields()):
            Session.objects.filter(session_key__in=list(mine.values_list("session_key", flat=True))).delete()
        mine.delete()  # addresses of mail, second factors, the list of sessions


def proceed(seconds: float = BUDGET_SECONDS) -> int:
    """Remove rows of the people who asked for it until all are gone or the time is up; how many rows."""
    ends, gone = time.monotonic() + seconds, 0
    for erasure in Erasure.objects.filter(done_at=None).select_related("user").order_by("pk"):
        for removed in _steps(erasure):
            gone += removed
            if time.monotonic() > ends:
                return gone
    return gone


def _steps(erasure: Erasure) -> Iterator[int]:
    """The rows that each step removed. The last step removes the person, and says when."""
    person = erasure.user
    if person is None:  # removed by somebody else, by hand
        Erasure.objects.filter(pk=erasure.pk).update(done_at=timezone.now())
        return
    if erasure.orders is None:
        erasure.orders = TrackingOrder.objects.filter(account__owner=person).count()
        Erasure.objects.filter(pk=erasure.pk).update(orders=erasure.orders)
    for model, path in plan():
        while removed := _remove(model, path, person):
            orders = removed if model is TrackingOrder else 0
            Erasure.objects.filter(pk=erasure.pk).update(
                removed=F("removed") + removed, removed_orders=F("removed_orders") + orders
            )
            yield removed
    yield from _sessions(person)
    yield _person(erasure, person)


def _remove(model: type[models.Model], path: str, person: User) -> int:
    """Up to STEP rows in a transaction of their own, and what points to them is emptied: how many rows went."""
    mine = model._base_manager.filter(**{path: person}).order_by()
    with transaction.atomic():
        keys = list(mine.values_list("pk", flat=True)[:STEP])
        going = model._base_manager.filter(pk__in=keys)
        # Deleting alone takes them in any order, and a summary being stored holds its traders in that of their keys.
        list(going.select_for_update().order_by("pk").values_list("pk"))
        return going.delete()[0] if keys else 0


def _sessions(person: User) -> Iterator[int]:
    """Sessions that the list did not know of; their data name the person."""
    last = ""
    while rows := list(Session.objects.filter(session_key__gt=last).order_by("session_key")[:500]):
        last = rows[-1].session_key
        mine = [row.session_key for row in rows if row.get_decoded().get("_auth_user_id") == str(person.pk)]
        yield Session.objects.filter(session_key__in=mine).delete()[0]


def _person(erasure: Erasure, person: User) -> int:
    """The person, with whatever a request or a chore that was under way wrote meanwhile.

    The lock keeps anything from being attached to the person while they go; it would fail, not stay behind."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=person.pk)
        gone = AuditEntry.objects.filter(user=person).delete()[0] + person.delete()[0]
        Erasure.objects.filter(pk=erasure.pk).update(
            user=None, done_at=timezone.now(), removed=F("removed") + gone
        )
        if not User.objects.filter(is_demo=False).exists():
            _begin_anew()
    return gone


def _begin_anew() -> None:
    """The last account is gone: the desk is as new, and the set-up token of its log opens it again."""
    DeskPolicy.objects.all().delete()
    CopySymbols.objects.filter(source="operator").delete()
    AuditEntry.objects.filter(user=None).delete()


# --- what hangs on a person, told by the models themselves ------------------------------------------------
def plan() -> list[tuple[type[models.Model], str]]:
    """Every table with rows of a person, and the path from there to the person, leaves first. No table is named
    here: one that is added later is found by its foreign keys."""
    found: list[tuple[type[models.Model], str]] = []
    _walk((User,), "", found)
    depth = {model: max(path.count("__") for one, path in found if one is model) for model, _ in found}
    return sorted(found, key=lambda row: (-depth[row[0]], row[0]._meta.label, row[1]))


def _walk(
    way: tuple[type[models.Model], ...], path: str, found: list[tuple[type[models.Model], str]]
) -> None:
    for model, field in _holders(way[-1]):
        if model not in way:  # rows that point to rows of their own table belong to the same person
            longer = f"{field}__{path}" if path else field
            found.append((model, longer))
            _walk((*way, model), longer, found)


def _holders(owner: type[models.Model]) -> list[tuple[type[models.Model], str]]:
    """(model, field) of each foreign key to `owner` whose rows go when the row that they point to goes."""
    rows: list[tuple[Any, str]] = []
    for relation in owner._meta.get_fields(include_hidden=True):
        if not isinstance(relation, models.ManyToOneRel):  # one-to-one relations are such ones, too
            continue
        place = (relation.related_model._meta.label, relation.field.name)
        if relation.on_delete is models.CASCADE or place in PERSONAL:
            rows.append((relation.related_model, relation.field.name))
    return sorted(rows, key=lambda row: (row[0]._meta.label, row[1]))
