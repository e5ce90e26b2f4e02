"""Rows as readings leave them, for tests of alerts: an account that was read a moment ago, traders, copies."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count

from django.utils import timezone

from copytrade.models import Account, Alert, SyncJob, TrackingOrder, Trader, User

KINDS = ("open", "history", "traders", "settings")
_number = count(1)


def account_of(owner: User, label: str = "Main", **fields: object) -> Account:
    """An account connected nine days ago, whose past is read and whose readings all succeeded a moment ago."""
    now = timezone.now()
    values = {"venue": "weex", "state": "active", "created_at": now - timedelta(days=9)}
    account = Account.objects.create(owner=owner, label=label, **(values | fields))
    cursors = {"history": {"until": now.isoformat()}}
    SyncJob.objects.bulk_create(
        SyncJob(account=account, kind=kind, last_success_at=now, cursor=cursors.get(kind, {}))
        for kind in KINDS
    )
    return account


def trader_of(account: Account, name: str = "Northwind Steady", **fields: object) -> Trader:
    values = {"trader_id": 702345678901234000 + next(_number), "copied": True}
    return Trader.objects.create(account=account, name=name, **(values | fields))


def copy_of(trader: Trader, *, net: str | None = None, ago: float = 10, **fields: object) -> TrackingOrder:
    """A copy that closed `ago` minutes ago with this net, an hour after it was opened; open where there is none."""
    now, closed = timezone.now(), net is not None
    moment = now - timedelta(minutes=ago)
    values = {
        "symbol": "BTCUSDT", "position_side": "LONG", "status": "CLOSED" if closed else "HAVE_OPEN",
        "open_leverage": 10, "open_margin_amount": Decimal(100), "open_size": Decimal(1),
        "open_fill_size": Decimal(1), "open_time": moment - timedelta(hours=1) if closed else moment,
        "close_time": moment if closed else None, "net_profit": Decimal(net) if net else None, "closed": closed,
    }  # fmt: skip
    return TrackingOrder.objects.create(
        account=trader.account,
        trader=trader,
        tracking_no=9007199254740993 + next(_number),
        **(values | fields),
    )


def later(**span: float) -> datetime:
    return timezone.now() + timedelta(**span)


def said(alert: Alert) -> str:
    """Its sentence with plain spaces where amounts and units are held together."""
    return alert.sentence.replace("\u202f", " ")
