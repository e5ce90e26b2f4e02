"""The affiliate's year: invited users, what they traded, commissions, withdrawals, sub-affiliates.

Every row of a day follows from (seed, user, day) alone, so the same question has the same answer
whenever it is asked, and new days appear as the clock goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from random import Random
from typing import Any

from .spot.coins import text

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
USERS = 40
USERS_TO_COME = 40
USER_EVERY_DAYS = 11
FIRST_UID = 7_310_000_000_000_000_001
SUB_AFFILIATES = (7_390_000_000_000_000_011, 7_390_000_000_000_000_027, 7_390_000_000_000_000_042)
REBATE = {"SPOT": Decimal("0.4"), "FUTURES": Decimal("0.3")}
FEE = {"SPOT": Decimal("0.001"), "FUTURES": Decimal("0.0006")}
PAIRS = ("BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT")
BTC_IN_USDT = Decimal(60_000)  # what a BTC commission is reckoned with; a round figure of ours

Row = dict[str, Any]


@dataclass(frozen=True)
class User:
    """An invited user. `direct` is false for one whom a sub-agent brought."""

    uid: int
    registered_ms: int
    direct: bool
    verified: bool
    invite_code: str


@dataclass(frozen=True)
class Deal:
    """What a user traded in one product on one day."""

    at_ms: int
    product: str
    coin: str
    symbol: str
    taker: Decimal  # USDT
    maker: Decimal

    @property
    def volume(self) -> Decimal:
        return self.taker + self.maker


class Affiliate:
    """All rows of the sandbox's one affiliate."""

    def __init__(self, seed: int, start_ms: int) -> None:
        self.seed = seed
        random = Random(f"affiliate/{seed}")
        self._users = []
        for number in range(USERS + USERS_TO_COME):
            registered = start_ms - (USERS - number) * USER_EVERY_DAYS * DAY_MS + random.randrange(8 * DAY_MS)
            self._users.append(
                User(
                    FIRST_UID + number * 7919,
                    registered,
                    number % 4 != 3,
                    random.random() < 0.8,
                    f"DESK{number % 5 + 1}",
                )
            )
        self._deals = lru_cache(maxsize=100_000)(self._deals_of)

    def users(self, now_ms: int, uid: int | None = None) -> list[User]:
        """Invited users who have registered and traded by now, newest first."""
        known = [user for user in self._users if user.registered_ms + 3 * HOUR_MS <= now_ms]
        return [user for user in reversed(known) if uid in (None, user.uid)]

    # -- the lists of interface.md, each newest first

    def user_items(self, start: int, end: int, now_ms: int, uid: int | None) -> list[Row]:
        """Affiliate user items, by registration time."""
        return [
            self._user_item(user, now_ms)
            for user in self.users(now_ms, uid)
            if start <= user.registered_ms <= end
        ]

    def commissions(
        self, start: int, end: int, now_ms: int, *, uid: int | None, coin: str | None, product: str
    ) -> list[Row]:
        """Affiliate commission records, by commission time."""
        rows = [
            _commission(user, deal)
            for user in self.users(now_ms, uid)
            for deal in self.deals(user, start, min(end, now_ms))
            if deal.product == product and coin in (None, deal.coin)
        ]
        return sorted(rows, key=lambda row: (-row["date"], row["uid"]))

    def trades_and_assets(self, start: int, end: int, now_ms: int, uid: int | None) -> list[Row]:
        """Trade-and-asset records: one per user, summed over the window."""
        return [self._totals(user, start, min(end, now_ms)) for user in self.users(now_ms, uid)]

    def withdrawals(self, start: int, end: int, now_ms: int, wallets: tuple[str, str]) -> list[Row]:
        """Internal withdrawal records between two kinds of wallet."""
        rows = []
        for day in _days(start, min(end, now_ms)):
            for number in range(2):
                random = Random(f"withdrawal/{self.seed}/{day}/{number}")
                created = day * DAY_MS + random.randrange(DAY_MS)
                chosen = ("SPOT", "SPOT") if number == 0 else (random.choice(("SPOT", "FUND")), "FUND")
                if start <= created <= min(end, now_ms) and chosen == wallets:
                    rows.append(self._withdrawal(random, day * 10 + number, created, now_ms))
        return sorted(rows, key=lambda row: (-row["createTime"], row["withdrawId"]))

    def sub_affiliates(
        self, start: int, end: int, now_ms: int, product: str, sub_uid: int | None
    ) -> list[Row]:
        """Sub-affiliate records: one per sub-affiliate and day of the last year."""
        rows = []
        for day in reversed(_days(max(start, now_ms - 365 * DAY_MS), min(end, now_ms))):
            for uid in SUB_AFFILIATES:
                random = Random(f"sub/{self.seed}/{uid}/{day}/{product}")
                if sub_uid in (None, uid) and random.random() < 0.6:
                    volume = Decimal(random.randrange(50_000, 9_000_000)) / 100
                    fee = volume * FEE[product]
                    rows.append(
                        {
                            "subAffiliateUid": str(uid),
                            "productType": product,
                            "date": _date(day).isoformat(),
                            "tradingVolume": text(volume),
                            "netTradingFee": text(fee),
                            "paidCommission": text(fee * Decimal("0.1")),
                        }
                    )
        return rows

    def deal_data(self, start: date, end: date, now_ms: int, user_ids: list[int]) -> list[Row]:
        """Deal data items of direct customers; ids of anybody else are left out."""
        first = int(datetime(start.year, start.month, start.day, tzinfo=UTC).timestamp() * 1000)
        last = min(
            int(datetime(end.year, end.month, end.day, tzinfo=UTC).timestamp() * 1000) + DAY_MS - 1, now_ms
        )
        rows = []
        for user in self.users(now_ms):
            if user.direct and (not user_ids or user.uid in user_ids):
                volume = self._volumes(user, first, last)
                rows.append(
                    {
                        "userId": user.uid,
                        "spotDealAmountUsdt": text(volume["SPOT"]),
                        "futuresProDealAmountUsdt": text(volume["FUTURES"]),
                        "spotProDealAmountUsdtTemp": text(volume["SPOT"]),
                    }
                )
        return rows

    # -- how

    def deals(self, user: User, start: int, end: int) -> Iterator[Deal]:
        """A user's deals within the window, which reaches back 400 days at most."""
        for day in _days(max(start, user.registered_ms + 2 * HOUR_MS, end - 400 * DAY_MS), end):
            for deal in self._deals(user.uid, day):
                if max(start, user.registered_ms + 2 * HOUR_MS) <= deal.at_ms <= end:
                    yield deal

    def _deals_of(self, uid: int, day: int) -> tuple[Deal, ...]:
        random = Random(f"deals/{self.seed}/{uid}/{day}")
        found = []
        for product, chance in (("SPOT", 0.35), ("FUTURES", 0.45)):
            if random.random() < chance:
                found.append(
                    Deal(
                        day * DAY_MS + random.randrange(DAY_MS),
                        product,
                        "BTC" if random.random() < 0.2 else "USDT",
                        random.choice(PAIRS),
                        Decimal(random.randrange(1_000, 4_000_000)) / 100,
                        Decimal(random.randrange(0, 2_000_000)) / 100,
                    )
                )
        return tuple(found)

    def _volumes(self, user: User, start: int, end: int) -> dict[str, Decimal]:
        volumes = {"SPOT": Decimal(0), "FUTURES": Decimal(0)}
        for deal in self.deals(user, start, end):
            volumes[deal.product] += deal.volume
        return volumes

    def _deposits(self, user: User, start: int, end: int) -> list[tuple[int, Decimal]]:
        """(time, USDT) of deposits, withdrawals negative. The first comes an hour after registration."""
        first = user.registered_ms + HOUR_MS
        moves = [(first, Decimal(500))] if start <= first <= end else []
        for day in _days(max(start, first, end - 400 * DAY_MS), end):
            random = Random(f"deposits/{self.seed}/{user.uid}/{day}")
            at_ms = day * DAY_MS + random.randrange(DAY_MS)
            if random.random() < 0.06 and max(start, first) < at_ms <= end:
                moves.append((at_ms, Decimal(random.randrange(-800, 2_000))))
        return moves

    def _user_item(self, user: User, now_ms: int) -> Row:
        first_trade = user.registered_ms + 2 * HOUR_MS
        deposits = [at for at, amount in self._deposits(user, 0, now_ms) if amount > 0]
        trades = [deal.at_ms for deal in self.deals(user, first_trade, now_ms)]
        return {
            "uid": str(user.uid),
            "registerTime": user.registered_ms,
            "kycResult": user.verified,
            "inviteCode": user.invite_code,
            "firstDeposit": user.registered_ms + HOUR_MS,
            "firstTrade": first_trade,
            "lastDeposit": max([user.registered_ms + HOUR_MS, *deposits]),
            "lastTrade": max([first_trade, *trades]),
        }

    def _totals(self, user: User, start: int, end: int) -> Row:
        moves = [amount for _, amount in self._deposits(user, start, end)]
        volume = self._volumes(user, start, end)
        paid = sum((volume[product] * FEE[product] * REBATE[product] for product in volume), Decimal(0))
        return {
            "uid": str(user.uid),
            "depositAmount": text(sum((m for m in moves if m > 0), Decimal(0))),
            "withdrawalAmount": text(-sum((m for m in moves if m < 0), Decimal(0))),
            "spotTradingAmount": text(volume["SPOT"]),
            "futuresTradingAmount": text(volume["FUTURES"]),
            "commission": text(paid),
        }

    def _withdrawal(self, random: Random, number: int, created: int, now_ms: int) -> Row:
        source, target = random.sample(self._users[:USERS], 2)
        coin = "BTC" if random.random() < 0.2 else "USDT"
        amount = Decimal(random.randrange(1_000, 90_000)) / (1_000_000 if coin == "BTC" else 100)
        finished = created + random.randrange(60_000, HOUR_MS)
        status = "FAILED" if random.random() < 0.1 else "SUCCESS"
        return {
            "fromUserId": source.uid,
            "toUserId": target.uid,
            "withdrawId": str(5_200_000_000_000_000_000 + number),
            "coin": coin,
            "status": status if finished <= now_ms else "PROGRESSING",
            "amount": text(amount),
            "createTime": created,
            "updateTime": min(finished, now_ms) if finished <= now_ms else created,
        }


def _commission(user: User, deal: Deal) -> Row:
    unit = BTC_IN_USDT if deal.coin == "BTC" else Decimal(1)
    fee = (deal.volume * FEE[deal.product] / unit).quantize(Decimal("0.00000001"))
    return {
        "uid": str(user.uid),
        "date": deal.at_ms,
        "coin": deal.coin,
        "productType": deal.product,
        "fee": text(fee),
        "commission": text(fee * REBATE[deal.product]),
        "rate": text(REBATE[deal.product]),
        "symbol": deal.symbol,
        "sourceType": 1 if user.direct else 2,
        "takerAmount": text(deal.taker),
        "makerAmount": text(deal.maker),
    }


def _days(start: int, end: int) -> range:
    return range(start // DAY_MS, end // DAY_MS + 1) if start <= end else range(0)


def _date(day: int) -> date:
    return date(1970, 1, 1) + timedelta(days=day)
