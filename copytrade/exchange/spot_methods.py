"""Spot and account operations of the client. Source: interface.md, Endpoints, "Spot trading and account"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from . import envelopes, paging
from .checks import NewOrder
from .decoding import decode_one
from .envelopes import BatchResult, Page
from .errors import Malformed
from .methods import Methods
from .outcomes import unknown
from .records import AccountInfo, Bill, OrderAcceptance, SpotOrder


class SpotMethods(Methods):
    """Spot orders, the account and its bills."""

    def place_order(
        self,
        *,
        symbol: str,
        side: str,
        type: str,  # noqa: A002 (the interface's name)
        quantity: Decimal,
        time_in_force: str | None = None,
        price: Decimal | None = None,
        new_client_order_id: str | None = None,
    ) -> OrderAcceptance:
        """Place a spot order: TRADE, needs the permission Spot and `allow_writes`. Weight 0, order count 1.

        side: BUY or SELL. type: LIMIT (needs time_in_force GTC, IOC or FOK, and price) or MARKET.
        new_client_order_id: used by an active order already, the call succeeds and no second order is made.
        Errors: Rejected (-1054 with fault "balance" when the money is short); OutcomeUnknown, then look with
        `order(orig_client_order_id=...)`.
        """
        operation, data = self._call(
            "place_order", symbol=symbol, side=side, type=type, time_in_force=time_in_force,
            quantity=quantity, price=price, new_client_order_id=new_client_order_id,
        )  # fmt: skip
        try:
            return decode_one(OrderAcceptance, data)
        except Malformed:
            error = unknown(operation, "the acceptance cannot be understood", http_status=200)
        raise error

    def place_orders(self, *, symbol: str, orders: Sequence[NewOrder]) -> BatchResult:
        """Place up to 10 spot orders of one symbol: TRADE, needs the permission Spot. Weight 0, order
        count 5.

        One result per order; a failed one carries error_code (for example INSUFFICIENT_BALANCE) and does not
        stop the others. Errors: as `place_order`; Rejected -1150 where the exchange has no batches.
        """
        operation, data = self._call("place_orders", symbol=symbol, orders=orders)
        try:
            return envelopes.batch(operation, data, len(orders))
        except Malformed:
            error = unknown(operation, "the results cannot be understood", http_status=200)
        raise error

    def order(self, *, order_id: int | None = None, orig_client_order_id: str | None = None) -> SpotOrder:
        """One spot order, by its id or by the client's own; one of the two is needed. Weight 2.

        Errors: Rejected -2200 when there is no such order.
        """
        _, data = self._call("order", order_id=order_id, orig_client_order_id=orig_client_order_id)
        return decode_one(SpotOrder, data)

    def account(self) -> AccountInfo:
        """Fee rates, permissions, balances. Weight 5."""
        _, data = self._call("account")
        return decode_one(AccountInfo, data)

    def bills(
        self,
        *,
        coin_id: int | None = None,
        biz_type: str | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        limit: int = 10,
    ) -> Page[Bill]:
        """Spot account bills created after and before the given times (aware). limit: 1-100. Weight 5.

        The answer is a bare list and has no pages: narrow the times to see more.
        """
        operation, data = self._call(
            "bills", coin_id=coin_id, biz_type=biz_type, after=after, before=before, limit=limit
        )
        return envelopes.page(operation, data, size=limit)

    def funding_bills(
        self,
        *,
        coin_id: int | None = None,
        biz_type: str | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        page: int = 1,
        page_size: int = 10,
    ) -> Page[Bill]:
        """One page of funding account bills. page_size: 1-100. Weight 5."""
        operation, data = self._call(
            "funding_bills", coin_id=coin_id, biz_type=biz_type, start_time=start_time, end_time=end_time,
            page=page, page_size=page_size,
        )  # fmt: skip
        return envelopes.page(operation, data, page, page_size)

    def iter_funding_bills(
        self,
        *,
        coin_id: int | None = None,
        biz_type: str | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        page_size: int = 100,
    ) -> Iterator[Page[Bill]]:
        """All pages of funding account bills."""
        return paging.numbered(
            lambda page: self.funding_bills(
                coin_id=coin_id,
                biz_type=biz_type,
                start_time=start_time,
                end_time=end_time,
                page=page,
                page_size=page_size,
            ),
            lambda bill: bill.bill_id,
        )
