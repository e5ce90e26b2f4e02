"""A row of every kind that an address can name, for one person; and which address names which kind.

A new address with a parameter joins here: a row of its kind in `rows_of`, and its place in `NAMED_BY`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from allauth.mfa.models import Authenticator
from django.utils import timezone

from copytrade import changes, rules
from copytrade.models import (
    Account,
    Alert,
    ChangeGroup,
    DataIssue,
    Invitation,
    SettingsTemplate,
    SyncJob,
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
    "security/invitations/": "invitation",
    "accounts/2fa/webauthn/keys/": "passkey",
}
# Parameters that name no row: a value that is good for any of them.
WORDS = {"form": "csv", "what": "daily", "token": "no-such-token", "key": "no-such-key", "uidb36": "0"}


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
    return _first_rows(user, account, name) | {
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
        "passkey": Authenticator.objects.create(
            user=user, type="webauthn", data=passkeys.registered(f"{name} passkey")
        ),
    }
    group = ChangeGroup.objects.create(owner=user, label=f"{name} group")
    return {kind: row.pk for kind, row in kept.items()} | {"group": group.key}


def values_for(address: Address, rows: dict[str, object]) -> dict[str, object]:
    """The parameters of an address, filled from a person's rows."""
    found: dict[str, object] = {}
    for name, before in address.parameters.items():
        if before in NAMED_BY:
            found[name] = rows[NAMED_BY[before]]
        elif name in WORDS:
            found[name] = WORDS[name]
        else:
            raise AssertionError(
                f"The address {address.name} ({address.route}) has a parameter <{name}> that no row is known for. "
                f"Say which kind of row it names: put {before!r} into NAMED_BY of tests/support/whole_world.py, "
                f"and a row of that kind, of its person's own, into rows_of()."
            )
    return found


def names_a_row(address: Address) -> bool:
    return any(before in NAMED_BY for before in address.parameters.values())
