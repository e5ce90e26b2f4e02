"""The six affiliate operations as pages know them: what may be asked, how it is walked, and which column is what.

Source: interface.md "Endpoints", Affiliate, and the records under "Resources and their fields".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from copytrade.exchange import paging
from copytrade.exchange.checks import OMITTED
from copytrade.exchange.client import ExchangeClient
from copytrade.exchange.envelopes import Page
from copytrade.exchange.operations import OPERATIONS, Operation

BOTH = "both"  # a choice of ours: the operation takes one product a call, so both are two walks
LARGEST_PAGE = {"internal_withdrawals": 200}  # where the interface states one; 100, its default, elsewhere


@dataclass(frozen=True)
class Column:
    """A column of a report. `name`: the record's field. `shown`: how a page writes it: time, day, id, text, amount,
    rate, flag, source or status. `kept`: the row's typed column, "" where the record's JSON alone has it.
    `wide`: left out on a phone. `summed`: in the totals and, where windows are sums, added up over them."""

    name: str
    label: str
    shown: str
    kept: str = ""
    wide: bool = False
    summed: bool = False
    note: str = ""


@dataclass(frozen=True)
class Kind:
    """One page. `asks`: the form's fields, in order. `windowed`: a longer range is read window by window.
    `identity`: what tells a record from others; none: two equal ones may both be real. `sums`: a record is a sum over
    its window. `groups`: the totals are told apart by these."""

    slug: str
    title: str
    lead: str
    operation: Operation
    columns: tuple[Column, ...]
    asks: tuple[str, ...]
    identity: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    windowed: bool = True
    sums: bool = False
    usual_days: int | None = None  # what the form offers at first; None: the exchange's own dates
    sort: str = ""  # how a page is sorted until somebody chooses; "-" is the largest or newest first
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    @property
    def summed(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.summed)


def _uid(name: str = "uid", label: str = "User") -> Column:
    return Column(name, label, "id", "uid")


def _amount(number: int, name: str, label: str, *, wide: bool = False) -> Column:
    return Column(name, label, "amount", f"n{number}", wide=wide, summed=True)


_COIN = Column("coin", "Coin", "text", "coin")
_PRODUCT = Column("product_type", "Product", "text", "product")

COMMISSIONS = Kind(
    "commissions", "Commissions", "What your invited users' trading paid you.",
    OPERATIONS["affiliate_commissions"],
    (
        Column("date", "Paid", "time", "at"), _uid(), _COIN, _PRODUCT, Column("symbol", "Symbol", "text", wide=True),
        _amount(1, "commission", "Commission"), _amount(2, "fee", "Net fee"),
        Column("rate", "Rate", "rate", "n3", wide=True), Column("source_type", "Source", "source", wide=True),
        _amount(4, "taker_amount", "Taker volume", wide=True), _amount(5, "maker_amount", "Maker volume", wide=True),
    ),
    ("since", "until", "product_type", "coin", "uid"), groups=("coin", "product"), usual_days=7, sort="-date",
    notes=("Amounts are in the coin of their row. The exchange does not say in which unit volumes are.",),
)  # fmt: skip
USERS = Kind(
    "users", "Invited users", "Who signed up with your codes, and since when they trade.",
    OPERATIONS["affiliate_users"],
    (
        _uid(), Column("register_time", "Registered", "time", "at"),
        Column("kyc_result", "Identity checked", "flag"), Column("invite_code", "Code", "text"),
        Column("first_deposit", "First deposit", "time", wide=True),
        Column("first_trade", "First trade", "time", wide=True),
        Column("last_deposit", "Last deposit", "time", wide=True), Column("last_trade", "Last trade", "time"),
    ),
    ("since", "until", "uid"), identity=("uid",), usual_days=90, sort="-register_time",
    notes=("A time that never was and one that was not told look the same in the answer.",),
)  # fmt: skip
TRADING = Kind(
    "trading", "Trading and assets", "What each invited user moved and traded in the days you choose.",
    OPERATIONS["affiliate_trades_and_assets"],
    (
        _uid(), _amount(1, "deposit_amount", "Deposits"), _amount(2, "withdrawal_amount", "Withdrawals"),
        _amount(3, "spot_trading_amount", "Spot volume"), _amount(4, "futures_trading_amount", "Futures volume"),
        _amount(5, "commission", "Commission"),
    ),
    ("since", "until", "uid"), identity=("uid",), sums=True, usual_days=90, sort="-commission",
    notes=("The exchange adds up each call's days; more than 90 days are several calls, whose sums are added here. "
           "It does not say in which unit they are.",),
)  # fmt: skip
WITHDRAWALS = Kind(
    "withdrawals", "Internal withdrawals", "Transfers between users, of the past month.",
    OPERATIONS["internal_withdrawals"],
    (
        Column("create_time", "Made", "time", "at"), Column("withdraw_id", "Withdrawal", "id"),
        _uid("from_user_id", "From user"), Column("to_user_id", "To user", "id"), _COIN,
        _amount(1, "amount", "Amount"), Column("status", "Status", "status", "product"),
        Column("update_time", "Updated", "time", wide=True),
    ),
    ("since", "until", "from_account_type", "to_account_type", "coin", "withdraw_id"),
    identity=("withdraw_id",), groups=("coin", "product"), windowed=False, usual_days=30,
    sort="-create_time",
)  # fmt: skip
SUB_AFFILIATES = Kind(
    "sub-affiliates", "Sub-affiliates", "What your sub-affiliates brought, a row per day.",
    OPERATIONS["sub_affiliates"],
    (
        Column("date", "Day", "day", "at"), _uid("sub_affiliate_uid", "Sub-affiliate"), _PRODUCT,
        _amount(1, "trading_volume", "Volume"), _amount(2, "net_trading_fee", "Net fee"),
        _amount(3, "paid_commission", "Rebate paid"),
    ),
    ("product_type", "since", "until", "sub_uid"), identity=("sub_affiliate_uid", "product_type", "date"),
    groups=("product", "uid"), windowed=False, usual_days=30, sort="-date",
    notes=("The exchange does not say in which unit these amounts are.",),
)  # fmt: skip
DEALS = Kind(
    "deals", "Deal data", "The volume of your direct customers, in USDT.",
    OPERATIONS["deal_data"],
    (
        _uid("user_id", "Customer"), _amount(1, "spot_deal_amount_usdt", "Spot, USDT"),
        _amount(2, "futures_pro_deal_amount_usdt", "Futures, USDT"),
        _amount(3, "spot_pro_deal_amount_usdt_temp", "Spot, raw", wide=True),
    ),
    ("since", "until", "user_ids"), identity=("user_id",), windowed=False,
    sort="-futures_pro_deal_amount_usdt",
    notes=("The raw spot volume comes from a partner system, as the exchange puts it.",),
)  # fmt: skip

KINDS: dict[str, Kind] = {
    kind.slug: kind for kind in (COMMISSIONS, USERS, TRADING, WITHDRAWALS, SUB_AFFILIATES, DEALS)
}


def choices(kind: Kind, name: str) -> tuple[str, ...]:
    """What the interface allows for a field."""
    return next((row.choices for row in kind.operation.parameters if row.arg == name), ())


Asked = Mapping[str, Any]
Fetch = Callable[[int], Page[Any]]


def fetch(client: ExchangeClient, kind: Kind, asked: Asked, step: Asked) -> Fetch:
    """`fetch(number)` gives one page of one step. `step`: its product and window, typed; see affiliate.plan."""
    given = {name: asked[name] for name in kind.asks if name in asked and name not in NOT_SENT} | {
        name: step[name] for name in ("product_type", "start_time", "end_time") if step.get(name) is not None
    }
    if kind is DEALS:
        return lambda _: client.deal_data(**given)
    call = getattr(client, kind.operation.name)
    if kind is SUB_AFFILIATES:
        given = {"start_time": OMITTED, "end_time": OMITTED} | given
    size = LARGEST_PAGE.get(kind.operation.name, 100)
    return lambda number: partial(call, **given)(page=number, page_size=size)


NOT_SENT = ("since", "until", "product_type")  # they are in the steps


def pages(kind: Kind, one_page: Fetch, first: int) -> Iterator[tuple[int, Page[Any]]]:
    """(number, page) from the page `first` on, by the client's own rules of paging."""
    at = [first]

    def from_there(number: int) -> Page[Any]:
        at[0] = max(number, first)
        return one_page(at[0])

    if not kind.identity:
        walk = paging.anonymous(from_there)
    else:
        walk = paging.numbered(
            from_there, lambda record: tuple(getattr(record, name) for name in kind.identity)
        )
    for page in walk:
        yield at[0], page


def usual(kind: Kind, today: date) -> tuple[date, date] | None:
    """The days that a form offers at first."""
    if kind.usual_days is None:
        return None
    return date.fromordinal(today.toordinal() - kind.usual_days + 1), today
