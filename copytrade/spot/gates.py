"""May spot orders be placed for this account? Who can change that, if not."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from copytrade import audit
from copytrade.models import Account, DeskPolicy, User

OPERATOR, WRITES, KEY, ACCOUNT = "operator", "writes", "key", "account"


class SpotRefused(Exception):
    """The desk does not go on with this. The message is a sentence; nothing was sent."""


@dataclass(frozen=True)
class Gate:
    """A switch that is off. `name`: operator, writes, key, account. `who`: who can open it."""

    name: str
    sentence: str
    who: str


_OPERATOR = Gate(
    OPERATOR, "Spot orders are switched off for this desk.", "Its operator can switch them on, on the Security page."
)  # fmt: skip
_WRITES = Gate(
    WRITES, "This connection only reads here.", "You can switch writing on, on the connection's page."
)  # fmt: skip
_UNTOLD = Gate(
    KEY, "What this key may do is not known yet.",
    "Test the connection: the exchange then says whether it may trade spot.",
)  # fmt: skip
_KEY = Gate(
    KEY, "The key has no permission for spot orders.",
    "Add Spot to the key at the exchange, then test the connection here.",
)  # fmt: skip
_ACCOUNT = Gate(
    ACCOUNT, "Spot orders are switched off for this connection.", "You can switch them on, on the connection's page."
)  # fmt: skip


def closed(account: Account, policy: DeskPolicy | None = None) -> list[Gate]:
    """The switches that are off, in the order in which to open them; empty: orders may be placed."""
    found = [] if _exempt(account) or (policy or audit.policy()).spot_trading else [_OPERATOR]
    found += before_switching_on(account)
    return found if account.spot_enabled else [*found, _ACCOUNT]


def _exempt(account: Account) -> bool:
    """The demo's connections are sandboxes, and whoever offers the demo offers them for trying out."""
    return account.venue == "sandbox" and account.owner.is_demo


def before_switching_on(account: Account) -> list[Gate]:
    """What must hold before the owner can switch spot orders on for this connection."""
    found = [] if account.writes_enabled else [_WRITES]
    if not may_trade_spot(account):
        found.append(_KEY if account.permissions else _UNTOLD)
    return found


def may_trade_spot(account: Account) -> bool:
    """Whether the exchange last said that the key may. Its words are an open set: `SPOT_TRADING`, `Spot`."""
    return any("spot" in str(name).lower() for name in account.permissions)


def set_for_desk(operator: User, on: bool) -> DeskPolicy:
    """The operator's switch. Setting it to what it is already writes nothing. Only an operator may: ValueError."""
    if not operator.is_operator:
        raise ValueError("Only the operator of this desk sets its policy.")
    with transaction.atomic():
        found, _ = DeskPolicy.objects.get_or_create(pk=1)
        if DeskPolicy.objects.filter(pk=1).exclude(spot_trading=on).update(spot_trading=on):
            words = "Spot orders may be placed from this desk" if on else "No spot orders from this desk"
            audit.note(operator, audit.Action.POLICY, subject=words, details={"spot_trading": on})
    found.refresh_from_db()
    return found


def set_for_account(account: Account, on: bool, by: User) -> None:
    """The owner's switch. Off always works; on needs writing and the Spot permission. Raises SpotRefused."""
    if on and (missing := before_switching_on(account)):
        raise SpotRefused(f"{missing[0].sentence} {missing[0].who}")
    with transaction.atomic():
        if Account.objects.filter(pk=account.pk).exclude(spot_enabled=on).update(spot_enabled=on):
            words = f"Spot orders switched {'on' if on else 'off'} for {account.label}"
            audit.note(by, audit.Action.SPOT_SWITCHED, account=account, subject=words, details={"on": on})
    account.spot_enabled = on
