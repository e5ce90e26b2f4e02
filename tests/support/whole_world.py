"""A row of every kind that an address can name, for one person; and which address names which kind.

A new address with a parameter joins here: a row of its kind in `rows_of`, and its place in `NAMED_BY`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from django.db.models import Model
from django.utils import timezone

from copytrade import changes, rules
from copytrade.affiliate import KINDS
from copytrade.models import (
    Account,
    AccountFacts,
    AffiliateReport,
    AffiliateRow,
    AffiliateStanding,
    Alert,
    AlertRule,
    Balance,
    Bill,
    ChangeGroup,
    Channel,
    DataIssue,
    Invitation,
    LeadOrder,
    SettingsChange,
    SettingsTemplate,
    SettingsVersion,
    SpotOrder,
    SpotTicket,
    SyncJob,
    TrackingOrder,
    Trader,
    TraderNote,
    User,
)
from tests.support import passkeys
from tests.support.addresses import Address
from tests.support.ledger_rows import UNIFIED, account_of, closed_copy, open_copy, trader_of, version_of

ELSEWISE = replace(UNIFIED, configs=(replace(UNIFIED.configs[0], trace_value=Decimal(50)),))

# What stands before a parameter in the route (earlier parameters are `*`), and the kind of row that it names.
NAMED_BY = {
    "traders/": "trader",
    "traders/*/notes/": "note",
    "traders/*/settings/restore/": "version",
    "traders/*/settings/change/": "change",
    "orders/": "order",
    "templates/": "template",
    "templates/changes/": "group",
    "templates/traders/": "trader",
    "connections/": "account",
    "activity/retry/": "job",
    "issues/": "issue",
    "alerts/": "alert",
    "alerts/rules/traders/": "alert_rule",
    "alerts/channels/": "channel",
    "account/": "account",
    "affiliate/": "account",
    "lead/": "account",
    "spot/": "account",
    "spot/*/tickets/": "spot_ticket",
    "security/invitations/": "invitation",
    "accounts/2fa/webauthn/keys/": "passkey",
}
# Parameters that name no row, by what stands before them or by their name: the words that they may be.
WORDS: dict[str, tuple[object, ...]] = {
    "alerts/channels/add/": ("webhook", "messenger"),
    "affiliate/*/": tuple(KINDS),
    "gone/": (UUID(int=7),),
    "form": ("csv", "jsonl"),
    "what": ("daily", "breakdowns"),
    "token": ("no-such-token",),
    "key": ("no-such-key",),
    "uidb36": ("0",),
}
# Where the rows of a kind are found by whose they are: the model, the way to its person, and its name in addresses.
OWNED: dict[str, tuple[type[Model], str, str]] = {
    "trader": (Trader, "account__owner", "pk"),
    "note": (TraderNote, "trader__account__owner", "pk"),
    "version": (SettingsVersion, "trader__account__owner", "pk"),
    "change": (SettingsChange, "trader__account__owner", "key"),
    "order": (TrackingOrder, "account__owner", "pk"),
    "template": (SettingsTemplate, "owner", "pk"),
    "group": (ChangeGroup, "owner", "key"),
    "account": (Account, "owner", "pk"),
    "job": (SyncJob, "account__owner", "pk"),
    "issue": (DataIssue, "account__owner", "pk"),
    "alert": (Alert, "owner", "pk"),
    "report": (AffiliateReport, "account__owner", "pk"),
    "spot_ticket": (SpotTicket, "account__owner", "key"),
}


def names_of(user: User, kind: str) -> list[object]:
    """What all rows of a kind that are a person's are called in addresses, in the order they were made."""
    model, owner, name = OWNED[kind]
    return list(model.objects.filter(**{owner: user}).order_by("pk").values_list(name, flat=True))


def rows_of(user: User, name: str) -> dict[str, object]:
    """What each kind of row is called in addresses (its pk or its key), all of one person, all of one trader.

    Every text in them holds `name`, so that a page of somebody else can be searched for it.
    """
    account = account_of(user, f"{name} account")
    trader = trader_of(account, name=f"{name} trader")
    closed_copy(trader, 1)
    order = open_copy(trader, 2, symbol=f"{name}USDT")
    version = version_of(trader)
    change = changes.draft(trader, ELSEWISE, user)
    ticket = SpotTicket.objects.create(account=account, author=user, symbol=f"{name}USDT")
    SpotOrder.objects.create(
        ticket=ticket, account=account, client_order_id=f"{name}-1", side="BUY", type="MARKET", quantity=1
    )
    return _first_rows(user, account, name) | {
        "alert_rule": AlertRule.objects.create(owner=user, kind="loss", trader=trader, mode="off").pk,
        "spot_ticket": ticket.key,
        "account": account.pk,
        "trader": trader.pk,
        "order": order.pk,
        "version": version.pk,
        "change": change.key,
        "note": TraderNote.objects.create(trader=trader, day=timezone.now().date(), text=f"{name} note").pk,
    }


def _first_rows(user: User, account: Account, name: str) -> dict[str, object]:
    body = rules.to_body(1, UNIFIED)
    body.pop("traderId")
    kept: dict[str, Any] = {
        "template": SettingsTemplate.objects.create(owner=user, name=f"{name} template", body=body),
        "job": SyncJob.objects.get(account=account, kind="open"),
        "issue": DataIssue.objects.create(
            account=account, kind="gap", subject=name, sentence=f"{name} issue"
        ),
        "alert": Alert.objects.create(
            owner=user, kind="data_stale", key=f"{name} alert", account=account, sentence=f"{name} alert"
        ),
        "invitation": Invitation.objects.create(
            token_hash=name, invited_by=user, note=name, expires_at=timezone.now() + timedelta(days=1)
        ),
        "channel": Channel.objects.create(
            owner=user, kind="webhook", label=f"{name} channel", service="x.test"
        ),
        "passkey": Authenticator.objects.create(
            user=user, type="webauthn", data=passkeys.registered(f"{name} passkey")
        ),
    }
    kept["report"] = _report_of(account, name)
    _own_of(account, name)
    group = ChangeGroup.objects.create(owner=user, label=f"{name} group")
    return {kind: row.pk for kind, row in kept.items()} | {"group": group.key}


def _report_of(account: Account, name: str) -> AffiliateReport:
    """A complete report of commissions, with one row."""
    AffiliateStanding.objects.create(account=account, key_set_at=account.key_set_at, may=True)
    report = AffiliateReport.objects.create(
        account=account, kind="commissions", state="done", rows=1, finished_at=timezone.now()
    )
    record = {"symbol": f"{name} symbol", "commission": "1.5"}
    AffiliateRow.objects.create(report=report, step=0, page=1, position=0, n1=Decimal("1.5"), record=record)
    return report


def _own_of(account: Account, name: str) -> None:
    """A balance, a bill and an own order as a lead trader."""
    now = timezone.now()
    AccountFacts.objects.create(account=account, read_at=now, account_type=f"{name} type", balances_told=True)
    Balance.objects.create(account=account, asset=f"{name} coin", free=1, locked=0)
    Bill.objects.create(
        account=account,
        wallet="spot",
        bill_id=f"{name}-1",
        place="1",
        coin=f"{name} coin",
        delta=1,
        after=1,
        at=now,
    )
    LeadOrder.objects.create(
        account=account,
        tracking_no=1,
        symbol=f"{name}USDT",
        position_side="LONG",
        status="HAVE_OPEN",
        update_time=now,
    )


def values_for(address: Address, rows: dict[str, object]) -> dict[str, object]:
    """The parameters of an address, filled from a person's rows."""
    found: dict[str, object] = {}
    for name, before in address.parameters.items():
        if before in NAMED_BY:
            found[name] = rows[NAMED_BY[before]]
        else:
            found[name] = words_of(address, name)[0]
    return found


def words_of(address: Address, name: str) -> tuple[object, ...]:
    """What a parameter that names no row may be."""
    before = address.parameters[name]
    if before not in WORDS and name not in WORDS:
        raise AssertionError(
            f"The address {address.name} ({address.route}) has a parameter <{name}> that no row is known for. "
            f"Say which kind of row it names: put {before!r} into NAMED_BY of tests/support/whole_world.py, and a "
            f"row of that kind, of its person's own, into rows_of(). Names it no row, put its words into WORDS."
        )
    return WORDS[before] if before in WORDS else WORDS[name]


def names_a_row(address: Address) -> bool:
    return any(before in NAMED_BY for before in address.parameters.values())
