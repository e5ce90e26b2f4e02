"""Affiliate operations of the client. Source: interface.md, Endpoints, "Affiliate"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import partial

from . import envelopes, paging
from .checks import OMITTED, Omitted
from .envelopes import DealPage, Page
from .methods import Methods
from .records import AffiliateUser, Commission, InternalWithdrawal, SubAffiliate, TradeAndAsset


class AffiliateMethods(Methods):
    """What a partner who invites users may ask. A key that is no affiliate's gets empty pages."""

    def affiliate_commissions(
        self,
        *,
        uid: int | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        coin: str | None = None,
        product_type: str | None = None,
        page: int = 1,
        page_size: int = 100,
    ) -> Page[Commission]:
        """One page of commissions. Weight 20.

        Range at most three calendar months; by default the last 7 days. coin: USDT or BTC.
        product_type: SPOT (the default) or FUTURES.
        """
        operation, data = self._call(
            "affiliate_commissions", uid=uid, start_time=start_time, end_time=end_time, coin=coin,
            product_type=product_type, page=page, page_size=page_size,
        )  # fmt: skip
        return envelopes.page(operation, data, page, page_size)

    def affiliate_users(
        self,
        *,
        uid: int | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        page: int = 1,
        page_size: int = 100,
    ) -> Page[AffiliateUser]:
        """One page of invited users. Weight 20.

        Range at most 90 days, starting within the last 365 days; by default the 90 days before end_time.
        """
        operation, data = self._call(
            "affiliate_users",
            uid=uid,
            start_time=start_time,
            end_time=end_time,
            page=page,
            page_size=page_size,
        )
        return envelopes.page(operation, data, page, page_size)

    def affiliate_trades_and_assets(
        self,
        *,
        uid: int | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        page: int = 1,
        page_size: int = 100,
    ) -> Page[TradeAndAsset]:
        """One page of the users' trading and asset totals. Weight 20. Range as in `affiliate_users`."""
        operation, data = self._call(
            "affiliate_trades_and_assets", uid=uid, start_time=start_time, end_time=end_time,
            page=page, page_size=page_size,
        )  # fmt: skip
        return envelopes.page(operation, data, page, page_size)

    def internal_withdrawals(
        self,
        *,
        withdraw_id: str | None = None,
        coin: str | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        from_account_type: str | None = None,
        to_account_type: str | None = None,
        page: int = 1,
        page_size: int = 100,
    ) -> Page[InternalWithdrawal]:
        """One page of internal withdrawals of the past month (31 days). Weight 100. page_size: 1-200.

        coin: USDT or BTC. The account types are SPOT (the default) or FUND.
        """
        operation, data = self._call(
            "internal_withdrawals", withdraw_id=withdraw_id, coin=coin, start_time=start_time, end_time=end_time,
            from_account_type=from_account_type, to_account_type=to_account_type, page=page, page_size=page_size,
        )  # fmt: skip
        return envelopes.page(operation, data, page, page_size)

    def sub_affiliates(
        self,
        *,
        product_type: str,
        sub_uid: int | None = None,
        start_time: datetime | Omitted | None = OMITTED,
        end_time: datetime | Omitted | None = OMITTED,
        page: int = 1,
        page_size: int = 100,
    ) -> Page[SubAffiliate]:
        """One page of sub-affiliate figures; affiliate accounts only (others: Rejected -1051). Weight 10.

        product_type: SPOT or FUTURES. start_time, end_time: None is sent as null; leave them out to send nothing.
        """
        operation, data = self._call(
            "sub_affiliates", product_type=product_type, sub_uid=sub_uid, start_time=start_time, end_time=end_time,
            page=page, page_size=page_size,
        )  # fmt: skip
        return envelopes.page(operation, data, page, page_size)

    def deal_data(
        self,
        *,
        user_ids: Sequence[int] | None = None,
        start_time: date | None = None,
        end_time: date | None = None,
    ) -> DealPage:
        """Deal volume of direct customers, all by default, with the UTC dates that were applied. Weight 10."""
        operation, data = self._call("deal_data", user_ids=user_ids, start_time=start_time, end_time=end_time)
        return envelopes.deal(operation, data)

    # --- walks ----------------------------------------------------------------------------------------------

    def iter_affiliate_commissions(
        self,
        *,
        uid: int | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        coin: str | None = None,
        product_type: str | None = None,
        page_size: int = 100,
    ) -> Iterator[Page[Commission]]:
        """All pages of commissions."""
        fetch = partial(
            self.affiliate_commissions, uid=uid, start_time=start_time, end_time=end_time, coin=coin,
            product_type=product_type, page_size=page_size,
        )  # fmt: skip
        return paging.anonymous(lambda page: fetch(page=page))

    def iter_affiliate_users(
        self,
        *,
        uid: int | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        page_size: int = 100,
    ) -> Iterator[Page[AffiliateUser]]:
        """All pages of invited users."""
        fetch = partial(
            self.affiliate_users, uid=uid, start_time=start_time, end_time=end_time, page_size=page_size
        )
        return paging.numbered(lambda page: fetch(page=page), lambda user: user.uid)

    def iter_affiliate_trades_and_assets(
        self,
        *,
        uid: int | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        page_size: int = 100,
    ) -> Iterator[Page[TradeAndAsset]]:
        """All pages of trading and asset totals."""
        fetch = partial(
            self.affiliate_trades_and_assets,
            uid=uid,
            start_time=start_time,
            end_time=end_time,
            page_size=page_size,
        )
        return paging.numbered(lambda page: fetch(page=page), lambda item: item.uid)

    def iter_internal_withdrawals(
        self,
        *,
        coin: str | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        from_account_type: str | None = None,
        to_account_type: str | None = None,
        page_size: int = 200,
    ) -> Iterator[Page[InternalWithdrawal]]:
        """All pages of internal withdrawals."""
        fetch = partial(
            self.internal_withdrawals, coin=coin, start_time=start_time, end_time=end_time,
            from_account_type=from_account_type, to_account_type=to_account_type, page_size=page_size,
        )  # fmt: skip
        return paging.numbered(lambda page: fetch(page=page), lambda item: item.withdraw_id)

    def iter_sub_affiliates(
        self,
        *,
        product_type: str,
        sub_uid: int | None = None,
        start_time: datetime | Omitted | None = OMITTED,
        end_time: datetime | Omitted | None = OMITTED,
        page_size: int = 100,
    ) -> Iterator[Page[SubAffiliate]]:
        """All pages of sub-affiliate figures."""
        fetch = partial(
            self.sub_affiliates, product_type=product_type, sub_uid=sub_uid, start_time=start_time,
            end_time=end_time, page_size=page_size,
        )  # fmt: skip
        return paging.numbered(
            lambda page: fetch(page=page), lambda item: (item.sub_affiliate_uid, item.product_type, item.date)
        )
