"""Bills of a wallet: filtered, newest first, paged by key; sums by asset; the balance over time; do they add up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.db import connection
from django.db.models import Count, Q, QuerySet, Sum

from copytrade.models import Account, AccountFacts, Balance, Bill, SyncJob
from copytrade.steps import bills as walk
from copytrade.steps.chain import Break, Link, breaks

# What the interface names, what was seen, in the words of a person. Every other type is shown as it comes.
TYPES = {
    "deposit": "Deposit",
    "withdraw": "Withdrawal",
    "trade_in": "Trade, received",
    "trade_out": "Trade, given",
    "transfer_in": "Transfer in",
    "transfer_out": "Transfer out",
}
NEWEST_FIRST = ("-at", "-place", "-pk")
MOST_POINTS, MOST_LINKS, MOST_BREAKS = 5000, 50_000, 50
# The exchange's clock and ours, and the time that a call takes: what moved around a balance's reading is not judged.
CLOSE_BY = timedelta(seconds=60)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class BillFilters:
    """What the address asks for: an asset, a type as the exchange spells it, a span of time."""

    coin: str = ""
    biz_type: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class BillPage:
    """`next` is the key of the older page, `previous` that of the newer one; "" where there is none."""

    bills: list[Bill]
    next: str
    previous: str


@dataclass(frozen=True)
class Difference:
    """Something that does not add up, in one sentence."""

    coin: str
    at: datetime
    amount: Decimal
    sentence: str


@dataclass(frozen=True)
class Check:
    """What the check found. `compared`: assets whose last bill was held against a balance; `open`: those for which
    that could not be done, and why."""

    bills: int
    unchecked: int
    differences: list[Difference]
    more: int
    compared: int
    why_not: str


@dataclass(frozen=True)
class Reach:
    """How far back the bills go. `state` as steps.bills.state; `gaps`: (from, to, reason)."""

    state: str
    complete_from: datetime | None
    gaps: list[tuple[datetime, datetime, str]]


def type_words(biz_type: str) -> str:
    return TYPES.get(biz_type, "")


def bills_of(account: Account, wallet: str, filters: BillFilters = BillFilters()) -> QuerySet[Bill]:
    """The bills that the filters match, in no order."""
    rows = Bill.objects.filter(account=account, wallet=wallet)
    if filters.coin:
        rows = rows.filter(coin=filters.coin)
    if filters.biz_type:
        rows = rows.filter(biz_type=filters.biz_type)
    if filters.since:
        rows = rows.filter(at__gte=filters.since)
    return rows.filter(at__lt=filters.until) if filters.until else rows


def page_of(rows: QuerySet[Bill], after: str = "", before: str = "", limit: int = 40) -> BillPage:
    """One page, newest first, ties by number; bills without a time have none. Raises ValueError for a key that no
    page gave out."""
    rows = rows.exclude(at=None)
    if before and not after:
        found = list(rows.filter(_beyond(before, "gt")).order_by("at", "place", "pk")[: limit + 1])
        if len(found) > limit:
            shown = found[limit - 1 :: -1]
            return BillPage(shown, _key(shown[-1]), _key(shown[0]))
    if after:
        rows = rows.filter(_beyond(after, "lt"))
    found = list(rows.order_by(*NEWEST_FIRST)[: limit + 1])
    shown = found[:limit]
    return BillPage(
        shown, _key(shown[-1]) if len(found) > limit else "", _key(shown[0]) if after and shown else ""
    )


def sums(rows: QuerySet[Bill]) -> list[dict]:
    """By asset: how many, what came in, what went out, the change, and the fees; the busiest first."""
    return list(
        rows.order_by()
        .values("coin")
        .annotate(
            n=Count("pk"),
            came=Sum("delta", filter=Q(delta__gt=0)),
            went=Sum("delta", filter=Q(delta__lt=0)),
            change=Sum("delta"),
            fee=Sum("fees"),
        )
        .order_by("-n", "coin")
    )


def choices(account: Account, wallet: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The assets met, and (type, its words) of those met and those that the interface names."""
    rows = Bill.objects.filter(account=account, wallet=wallet).order_by()
    coins = sorted(rows.values_list("coin", flat=True).distinct())
    met = set(rows.values_list("biz_type", flat=True).distinct()) | set(TYPES)
    return [coin for coin in coins if coin], [(one, TYPES.get(one, one)) for one in sorted(met) if one]


def curve(account: Account, wallet: str, coin: str) -> list[tuple[datetime, Decimal]]:
    """(when, balance after) of an asset, oldest first: the newest 5,000 bills."""
    rows = Bill.objects.filter(
        account=account, wallet=wallet, coin=coin, at__isnull=False, after__isnull=False
    )
    return list(rows.order_by(*NEWEST_FIRST).values_list("at", "after")[:MOST_POINTS])[::-1]


def reach_of(job: SyncJob | None) -> Reach:
    if job is None:
        return Reach("waiting", None, [])
    gaps = [(_moment(low), _moment(high), reason) for low, high, reason in job.cursor.get("gaps", [])]
    return Reach(walk.state(job.cursor), job.complete_from, gaps)


def check(account: Account, wallet: str, job: SyncJob | None, facts: AccountFacts | None) -> Check:
    """Do the changes add up to the balances: each bill with the one before it, and, of the spot wallet, the last
    bill of each asset with the balance that the account operation tells. A handful of queries, however many bills."""
    rows = Bill.objects.filter(account=account, wallet=wallet)
    whole = Q(at__isnull=False, after__isnull=False, delta__isnull=False)
    counts = rows.aggregate(n=Count("pk"), unchecked=Count("pk", filter=~whole))
    found = [
        _break(one, coin)
        for coin in _suspects(account, wallet)
        for one in breaks(_links(rows.filter(whole, coin=coin)))[0]
    ]
    compared, wrong, why_not = _against_balances(account, wallet, job, facts)
    found = wrong + sorted(found, key=lambda one: one.at, reverse=True)
    return Check(
        counts["n"],
        counts["unchecked"],
        found[:MOST_BREAKS],
        max(0, len(found) - MOST_BREAKS),
        compared,
        why_not,
    )


# Bills whose balance does not follow from the one before them by our order of the bills of a moment.
_SUSPECTS = """
SELECT coin FROM (
    SELECT coin, after, delta, lag(after) OVER (PARTITION BY coin ORDER BY at, place) AS before
      FROM copytrade_bill
     WHERE account_id = %s AND wallet = %s AND at IS NOT NULL AND after IS NOT NULL AND delta IS NOT NULL) AS chain
 WHERE before + delta <> after GROUP BY coin ORDER BY coin LIMIT 50
"""


def _suspects(account: Account, wallet: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(_SUSPECTS, [account.pk, wallet])
        return [coin for (coin,) in cursor.fetchall()]


def _links(rows: QuerySet[Bill]) -> list[Link]:
    told = rows.order_by(*NEWEST_FIRST).values_list("bill_id", "at", "delta", "after", "fees")[:MOST_LINKS]
    return [Link(*row) for row in told][::-1]


def _break(one: Break, coin: str) -> Difference:
    words = (
        f"Bill {one.link.key} leaves {one.link.after:f} {coin}, where {one.before.after:f} before it and its change of "
        f"{one.link.change:f} make {one.expected:f}."
    )
    why = (
        " The difference is its fee: here the change does not contain it."
        if one.is_fee
        else " A bill between them may be missing, or the exchange counts something that it does not tell."
    )
    return Difference(coin, one.link.at, one.missing, words + why)


def _against_balances(
    account: Account, wallet: str, job: SyncJob | None, facts: AccountFacts | None
) -> tuple[int, list[Difference], str]:
    """(assets compared, differences, why nothing was compared)."""
    if wallet != Bill.Wallet.SPOT:
        return (
            0,
            [],
            "The interface tells no balance of the funding wallet, so only the bills themselves are compared.",
        )
    if facts is None or not facts.balances_told or job is None or job.last_success_at is None:
        return 0, [], "Balances or bills have not been read yet."
    if job.last_success_at < facts.read_at + CLOSE_BY or walk.state(job.cursor) == "waiting":
        return (
            0,
            [],
            "The balances are newer than the bills: they are compared after the next reading of the bills.",
        )
    held = {row.asset: row for row in Balance.objects.filter(account=account)}
    wrong, compared = [], 0
    for coin, at, afters, moved in _last(account, facts.read_at):
        row = held.get(coin)
        if moved or (row is not None and (row.free is None or row.locked is None)):
            continue
        compared += 1
        total = Decimal(0) if row is None or row.gone_at else row.free + row.locked
        if total not in afters:
            wrong.append(_unlike(coin, at, afters[0], total, facts.read_at))
    return compared, wrong, ""


def _unlike(coin: str, at: datetime, after: Decimal, total: Decimal, read_at: datetime) -> Difference:
    sentence = (
        f"The last bill leaves {after:f} {coin}; the balance read at {read_at:%Y-%m-%d %H:%M} UTC is {total:f} (free "
        "and locked). Something moved it that no bill here tells of."
    )
    return Difference(coin, at, total - after, sentence)


# Of each asset: the last moment with a bill before the balances were read, the balances that its bills leave, and
# whether something moved too close to that reading to say which came first.
_LAST = """
WITH recent AS (
    SELECT coin, max(at) FILTER (WHERE at <= %(read)s) AS at,
           bool_or(at BETWEEN %(read)s - %(close)s AND %(read)s + %(close)s) AS moved
      FROM copytrade_bill
     WHERE account_id = %(account)s AND wallet = 'spot' AND at IS NOT NULL AND after IS NOT NULL AND coin <> ''
     GROUP BY coin)
SELECT recent.coin, recent.at, array_agg(bill.after ORDER BY bill.place DESC), recent.moved
  FROM recent JOIN copytrade_bill AS bill
    ON bill.account_id = %(account)s AND bill.wallet = 'spot' AND bill.coin = recent.coin AND bill.at = recent.at
 WHERE bill.after IS NOT NULL
 GROUP BY 1, 2, 4 ORDER BY 1
"""


def _last(account: Account, read_at: datetime) -> list[tuple[str, datetime, list[Decimal], bool]]:
    with connection.cursor() as cursor:
        cursor.execute(_LAST, {"account": account.pk, "read": read_at, "close": CLOSE_BY})
        return cursor.fetchall()


def undated(rows: QuerySet[Bill], limit: int = 20) -> list[Bill]:
    """Bills that the exchange told without a time: on no page, and not hidden."""
    return list(rows.filter(at=None).order_by("-place")[:limit])


def busiest(account: Account, wallet: str, limit: int = 8) -> list[str]:
    """The assets with the most bills: the first is drawn where nobody asked for another."""
    rows = Bill.objects.filter(account=account, wallet=wallet).exclude(coin="").order_by()
    return [row["coin"] for row in rows.values("coin").annotate(n=Count("pk")).order_by("-n", "coin")[:limit]]


def _key(bill: Bill) -> str:
    return f"{bill.at.isoformat() if bill.at else ''}_{bill.pk}"


def _beyond(key: str, side: str) -> Q:
    """What stands beyond the bill that this key names, older ("lt") or newer ("gt")."""
    at, _, number = key.partition("_")
    time, pk = datetime.fromisoformat(at), int(number)
    if time.tzinfo is None or not 0 <= pk < 2**63:
        raise ValueError("not the key of a page")
    place = Bill.objects.filter(pk=pk).values_list("place", flat=True).first() or ""
    return (
        Q(**{f"at__{side}": time})
        | Q(at=time, **{f"place__{side}": place})
        | Q(at=time, place=place, **{f"pk__{side}": pk})
    )


def _moment(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)
