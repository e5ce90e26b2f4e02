"""Storing what an account says of itself: facts, balances, bills of both wallets, a lead trader's own orders.

All merges are idempotent: what is stored already is not written again. Of two answers that differ about the same
bill or order, the later one stays. The caller holds the lease of the reading (sync/leases.py), so nobody else writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import Model

from . import ledger
from .exchange import records as wire
from .exchange.decoding import BadRecord
from .exchange.jsontext import to_text
from .models import Account, AccountFacts, Balance, BalanceDay, Bill, LeadOrder

LONGEST = (
    200  # characters of a text that is searched and sorted; a longer one is cut, and whole among the extras
)
PADDED = 40

Row = TypeVar("Row", bound=Model)
Answer = TypeVar("Answer", bound=wire.Record)


@dataclass(frozen=True)
class Stored:
    """What came of storing: rows that are new, rows that changed, records that were set aside."""

    added: int = 0
    changed: int = 0
    bad: int = 0


def store_account(account: Account, info: wire.AccountInfo, at: datetime) -> Stored:
    """The facts and balances of an answer."""
    absent = {line.partition(":")[0] for line in info.drift if line.endswith(": missing")}
    facts = _facts(info, absent)
    known = AccountFacts.objects.filter(account=account).first()
    AccountFacts.objects.update_or_create(account=account, defaults=facts | {"read_at": at})
    changed = known is None or any(getattr(known, name) != value for name, value in facts.items())
    if info.permissions is not None and "permissions" not in absent:
        told = list(info.permissions)
        Account.objects.filter(pk=account.pk).exclude(permissions=told).update(permissions=told)
    if "balances" in absent:
        return Stored(changed=int(changed))
    done = _balances(account, info.balances or (), at)
    return Stored(done.added, done.changed + changed)


def store_bills(
    account: Account, wallet: str, records: Sequence[wire.Bill], bad: Iterable[BadRecord], at: datetime
) -> Stored:
    """Bills of one answer, good and bad."""
    unfit = [(one.raw, one.reason) for one in bad]
    rows: dict[str, dict[str, Any]] = {}
    for record in records:
        if not record.bill_id or len(record.bill_id) > LONGEST:
            unfit.append((_raw(record), f"billId is empty or longer than {LONGEST} characters."))
        else:
            rows[record.bill_id] = _bill(record)
    kept = _merge(Bill, {"account": account, "wallet": wallet}, "bill_id", rows, at)
    operation = "bills" if wallet == Bill.Wallet.SPOT else "funding_bills"
    return Stored(kept.added, kept.changed, ledger.keep_bad(account, operation, unfit, at))


def store_lead(
    account: Account, records: Sequence[wire.LeadOrder], bad: Iterable[tuple[str, str]], at: datetime
) -> Stored:
    """A lead trader's own orders, of some pages. Of two with the same number, the one updated later counts."""
    rows: dict[int, dict[str, Any]] = {}
    for record in records:
        told = _lead(record)
        other = rows.get(record.tracking_no)
        if other is None or not _older(told["update_time"], other["update_time"]):
            rows[record.tracking_no] = told
    kept = _merge(LeadOrder, {"account": account}, "tracking_no", rows, at, newest="update_time")
    return Stored(kept.added, kept.changed, ledger.keep_bad(account, "lead_order_history", list(bad), at))


def _facts(info: wire.AccountInfo, absent: set[str]) -> dict[str, Any]:
    rates = info.commission_rates
    commissions = info.symbol_commissions
    return {
        "maker_commission": info.maker_commission,
        "taker_commission": info.taker_commission,
        "maker_rate": rates.maker if rates else None,
        "taker_rate": rates.taker if rates else None,
        "can_trade": info.can_trade,
        "can_withdraw": info.can_withdraw,
        "can_deposit": info.can_deposit,
        "brokered": info.brokered,
        "self_trade_prevention": info.require_self_trade_prevention,
        "prevent_sor": info.prevent_sor,
        "update_time": info.update_time,
        "account_type": info.account_type,
        "permissions": None if "permissions" in absent else list(info.permissions or ()),
        "uid": info.uid,
        "symbol_commissions": None if commissions is None else ledger.jsonable(commissions),
        "balances_told": "balances" not in absent,
        "extras": ledger.jsonable(info.extras),
    }


def _balances(account: Account, told: Sequence[wire.Balance], at: datetime) -> Stored:
    """The balances of an answer, and their days. An asset that is not named any more has gone, and stays known."""
    rows = {one.asset[:LONGEST]: one for one in told}
    known = {row.asset: row for row in Balance.objects.filter(account=account)}
    new, changed = [], []
    for asset, one in rows.items():
        values = {
            "free": one.free,
            "locked": one.locked,
            "extras": _extras(one, asset=one.asset),
            "gone_at": None,
        }
        row = known.get(asset)
        if row is None:
            new.append(Balance(account=account, asset=asset, **values))
        elif _put(row, values):
            changed.append(row)
    gone = [row for asset, row in known.items() if asset not in rows and row.gone_at is None]
    for row in gone:
        row.gone_at = at
    Balance.objects.bulk_create(new)
    Balance.objects.bulk_update([*changed, *gone], ["free", "locked", "extras", "gone_at"], batch_size=500)
    _note_day(account, [*new, *changed, *gone], at)
    return Stored(len(new), len(changed) + len(gone))


def _note_day(account: Account, rows: Sequence[Balance], at: datetime) -> None:
    """What changed, under today (UTC), overwritten until the day is over. An asset that has gone holds nothing."""
    day = at.astimezone(UTC).date()
    days = [
        BalanceDay(
            account=account, asset=row.asset, day=day,
            free=None if row.gone_at else row.free, locked=None if row.gone_at else row.locked,
        )
        for row in rows
    ]  # fmt: skip
    BalanceDay.objects.bulk_create(
        days, update_conflicts=True, unique_fields=["account", "asset", "day"], update_fields=["free", "locked"],
        batch_size=1000,
    )  # fmt: skip


def _bill(record: wire.Bill) -> dict[str, Any]:
    number = record.bill_id
    short = number.isascii() and number.isdigit() and len(number) <= PADDED
    return {
        "place": number.zfill(PADDED) if short else number,
        "coin_id": record.coin_id,
        "coin": _cut(record.coin_name),
        "biz_type": _cut(record.biz_type),
        "fill_size": record.fill_size,
        "fill_value": record.fill_value,
        "delta": record.delta_amount,
        "after": record.after_amount,
        "fees": record.fees,
        "at": record.created_time,
        "extras": _extras(record, coinName=record.coin_name, bizType=record.biz_type),
    }


_LEAD = (
    "open_order_id", "open_leverage", "open_price_avg", "open_time", "open_size", "open_fee", "open_margin_amount",
    "open_fill_size", "tp_trigger_price", "sl_trigger_price", "realized_pnl", "profit_rate", "net_profit",
    "follow_count", "created_time", "update_time",
)  # fmt: skip


def _lead(record: wire.LeadOrder) -> dict[str, Any]:
    texts = {"symbol": record.symbol, "positionSide": record.position_side, "status": record.status}
    return {
        "symbol": _cut(record.symbol),
        "position_side": _cut(record.position_side),
        "status": _cut(record.status),
        "extras": _extras(record, **texts),
        **{name: getattr(record, name) for name in _LEAD},
    }


def _merge(
    model: type[Row],
    own: Mapping[str, Any],
    key: str,
    rows: Mapping[Any, dict[str, Any]],
    at: datetime,
    newest: str = "",
) -> Stored:
    """Add rows that are not there, and change those that differ and are not newer than this answer. `newest`: the
    column by which an answer can be older than what is stored, whenever it is read."""
    objects = model._default_manager
    known = {getattr(row, key): row for row in objects.filter(**own, **{f"{key}__in": list(rows)})}
    new, changed = [], []
    for name, values in rows.items():
        row: Any = known.get(name)
        if row is None:
            new.append(model(**own, **{key: name}, **values, first_seen_at=at, seen_at=at))
            continue
        overtaken = row.seen_at > at or (newest and _older(values[newest], getattr(row, newest)))
        if not overtaken and _put(row, values):
            row.seen_at = at
            changed.append(row)
    objects.bulk_create(new, ignore_conflicts=True, batch_size=1000)
    fields = [*next(iter(rows.values()), {}), "seen_at"]
    if changed:
        objects.bulk_update(changed, fields, batch_size=500)
    return Stored(len(new), len(changed))


def _put(row: Any, values: Mapping[str, Any]) -> bool:
    """Set the values; True when one of them is another. Numbers that are equal are no difference."""
    different = any(getattr(row, name) != value for name, value in values.items())
    for name, value in values.items():
        setattr(row, name, value)
    return different


def _older(one: datetime | None, other: datetime | None) -> bool:
    return other is not None and (one is None or one < other)


def _cut(text: str | None) -> str:
    return (text or "")[:LONGEST]


def _extras(record: wire.Record, **texts: str | None) -> dict[str, Any]:
    """Fields the interface does not name, and texts that were cut, whole."""
    cut = {name: text for name, text in texts.items() if text and len(text) > LONGEST}
    return ledger.jsonable(record.extras | cut)


def _raw(record: wire.Record) -> str:
    told = {
        name: _plain(value) for name, value in vars(record).items() if name != "drift" and value is not None
    }
    return to_text(told)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal | datetime) else value
