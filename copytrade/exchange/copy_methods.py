"""Copy-trading operations of the client. Source: interface.md, Endpoints, "Copy trading"."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from functools import partial

from copytrade.rules import CopySettings

from . import checks, envelopes, paging
from .decoding import decode_one
from .envelopes import Cursor, Page, SettingsAnswer
from .errors import Malformed
from .methods import Methods
from .operations import OPERATIONS
from .outcomes import unknown
from .records import CopiedTrader, FollowerOrder, LeadOrder, Success


class CopyMethods(Methods):
    """What a follower, or a lead trader, may ask. Every call weighs 10."""

    def follower_settings(self, *, trader_id: int) -> SettingsAnswer:
        """The settings by which this account copies one trader.

        trader_id: copy trader UID. Unified settings answer one item, per-symbol ones an item per symbol.
        Errors: Rejected -1142 for a trader that was never copied.
        """
        operation, data = self._call("follower_settings", trader_id=trader_id)
        return envelopes.settings(operation, data)

    def update_follower_settings(
        self, *, trader_id: int, settings: CopySettings, supported: Collection[str] | None = None
    ) -> Success:
        """Write the settings of one trader: TRADE, needs the permission Futures and `allow_writes`.

        settings: every field of the mode is sent. supported: the symbols of copy trading; None when not known,
        and then per-symbol settings are refused. New copies follow the new settings, open ones do not change.
        Errors: LocalRefusal with every broken rule; Rejected; OutcomeUnknown, then read back with
        `follower_settings` and never send again by itself.
        """
        name = "update_follower_settings"
        operation = self._writable(name)
        checks.prepare(operation, {"trader_id": trader_id, "settings": settings}, self._now())
        data = self._send(operation, checks.settings_body(trader_id, settings, supported))
        reason = "its answer is not the success that the interface describes"
        try:
            success = decode_one(Success, data)
        except Malformed:
            success = None
        if success is None or success.code != "200":
            raise unknown(OPERATIONS[name], reason, http_status=200)
        return success

    def open_tracking_orders(
        self, *, symbol: str | None = None, limit: int = 100, page: int = 1, trader_id: int | None = None
    ) -> Page[FollowerOrder]:
        """One page of open tracking orders.

        limit: 1-100. page: from 1. trader_id: only this trader's (a filter by an older document's word).
        The answer is a bare list: `next` is set when the page is full. Unrealised results are not part of it.
        """
        sent = {"symbol": symbol, "limit": limit, "page": page, "trader_id": trader_id}
        operation, data = self._call("open_tracking_orders", **sent)
        return envelopes.page(operation, data, page, limit)

    def tracking_order_history(
        self,
        *,
        symbol: str | None = None,
        limit: int = 100,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        cursor: Cursor | None = None,
    ) -> Page[FollowerOrder]:
        """One page of the tracking-order history.

        limit: 1-100. start_time, end_time: aware, at most 90 days apart; which of an order's times they filter
        is not documented. cursor: `next` of the page before. Errors: -1170 too long or too far back.
        """
        sent = {"symbol": symbol, "limit": limit, "start_time": start_time, "end_time": end_time}
        operation, data = self._call("tracking_order_history", **sent, **_keys(cursor))
        return envelopes.page(operation, data, size=limit)

    def my_traders(self, *, page: int = 1, page_size: int = 100) -> Page[CopiedTrader]:
        """One page of the traders copied now, with the money put to each (USDT). page_size: 1-100."""
        operation, data = self._call("my_traders", page=page, page_size=page_size)
        return envelopes.page(operation, data, page, page_size)

    def lead_order_history(
        self,
        *,
        symbol: str | None = None,
        limit: int = 100,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        cursor: Cursor | None = None,
    ) -> Page[LeadOrder]:
        """One page of a lead trader's own history; copy-trade keys only (others: Rejected -3236).

        Parameters as in `tracking_order_history`.
        """
        sent = {"symbol": symbol, "limit": limit, "start_time": start_time, "end_time": end_time}
        operation, data = self._call("lead_order_history", **sent, **_keys(cursor))
        return envelopes.page(operation, data, size=limit)

    # --- walks ----------------------------------------------------------------------------------------------

    def iter_open_tracking_orders(
        self, *, symbol: str | None = None, trader_id: int | None = None, limit: int = 100
    ) -> Iterator[Page[FollowerOrder]]:
        """All pages of open orders. The list may move meanwhile: repeats are dropped, gaps are possible."""
        return paging.numbered(
            lambda page: self.open_tracking_orders(
                symbol=symbol, trader_id=trader_id, limit=limit, page=page
            ),
            _tracking_no,
        )

    def iter_my_traders(self, *, page_size: int = 100) -> Iterator[Page[CopiedTrader]]:
        """All pages of copied traders."""
        return paging.numbered(
            lambda page: self.my_traders(page=page, page_size=page_size), lambda trader: trader.trader_id
        )

    def iter_history(
        self, start: datetime, end: datetime, *, symbol: str | None = None, limit: int = 100
    ) -> Iterator[Page[FollowerOrder]]:
        """All pages of one range of at most 90 days. Errors: Malformed when the cursor does not lead on."""
        fetch = partial(
            self.tracking_order_history, symbol=symbol, limit=limit, start_time=start, end_time=end
        )
        return paging.cursored(lambda cursor: fetch(cursor=cursor), _tracking_no)

    def iter_history_windows(
        self, now: datetime, *, symbol: str | None = None, limit: int = 100, days: int = paging.RANGE_DAYS
    ) -> Iterator[tuple[datetime, datetime, Page[FollowerOrder]]]:
        """(start, end, page) of everything, in windows backwards from `now`, until four windows in a row are
        empty or the exchange goes back no further."""
        return paging.windows(
            lambda start, end: self.iter_history(start, end, symbol=symbol, limit=limit), now, days=days
        )

    def iter_lead_history(
        self, start: datetime, end: datetime, *, symbol: str | None = None, limit: int = 100
    ) -> Iterator[Page[LeadOrder]]:
        """All pages of one range of a lead trader's history."""
        fetch = partial(self.lead_order_history, symbol=symbol, limit=limit, start_time=start, end_time=end)
        return paging.cursored(lambda cursor: fetch(cursor=cursor), _tracking_no)

    def iter_lead_history_windows(
        self, now: datetime, *, symbol: str | None = None, limit: int = 100, days: int = paging.RANGE_DAYS
    ) -> Iterator[tuple[datetime, datetime, Page[LeadOrder]]]:
        """As `iter_history_windows`, of a lead trader's history."""
        return paging.windows(
            lambda start, end: self.iter_lead_history(start, end, symbol=symbol, limit=limit), now, days=days
        )


def _tracking_no(order: FollowerOrder | LeadOrder) -> int:
    return order.tracking_no


def _keys(cursor: Cursor | None) -> dict[str, int]:
    return {} if cursor is None else {"cursor_id": cursor.id, "cursor_time": cursor.time_ms}
