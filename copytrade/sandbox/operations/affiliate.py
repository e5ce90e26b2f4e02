"""The six affiliate operations. Who is no affiliate gets empty pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from copytrade.sandbox import windows

from .call import Call, Row, items_envelope, page_number_envelope, sub_affiliate_envelope

DEAL_DAYS = 30


def _is_affiliate(call: Call) -> bool:
    return call.account == "affiliate"


def commissions(call: Call) -> Row:
    """Commissions by product, 7 days back by default."""
    start, end = windows.commissions(call["startTime"], call["endTime"], call.now_ms)
    rows = call.venue.affiliate.commissions(
        start, end, call.now_ms, uid=call["uid"], coin=call["coin"], product=call["productType"]
    )
    return _paged(call, "channelCommissionInfoItems", rows)


def users(call: Call) -> Row:
    """Users who registered within the window."""
    start, end = windows.affiliate(call["startTime"], call["endTime"], call.now_ms)
    rows = call.venue.affiliate.user_items(start, end, call.now_ms, call["uid"])
    return _paged(call, "channelUserInfoItemList", rows)


def trades_and_assets(call: Call) -> Row:
    """One record per user, summed over the window."""
    start, end = windows.affiliate(call["startTime"], call["endTime"], call.now_ms)
    rows = call.venue.affiliate.trades_and_assets(start, end, call.now_ms, call["uid"])
    return _paged(call, "records", rows)


def internal_withdrawals(call: Call) -> Row:
    """Withdrawals of the past 31 days between two kinds of wallet."""
    start, end = windows.past_month(call["startTime"], call["endTime"], call.now_ms)
    wallets = (call["fromAccountType"], call["toAccountType"])
    rows = call.venue.affiliate.withdrawals(start, end, call.now_ms, wallets) if _is_affiliate(call) else []
    for param, name in (("coin", "coin"), ("withdrawID", "withdrawId")):
        rows = [row for row in rows if call[param] in (None, row[name])]
    return items_envelope(rows, call["page"], call["pageSize"])


def sub_affiliates(call: Call) -> Row:
    """One record per sub-affiliate and day. Kept for affiliates before it comes here."""
    start, end = windows.anything(call["startTime"], call["endTime"], call.now_ms)
    rows = call.venue.affiliate.sub_affiliates(start, end, call.now_ms, call["productType"], call["subUid"])
    return sub_affiliate_envelope(rows, call["pageNum"], call["pageSize"])


def deal_data(call: Call) -> Row:
    """Volumes of direct customers, with the dates that were applied: today and 30 days back by default."""
    end = call["endTime"] or datetime.fromtimestamp(call.now_ms / 1000, UTC).date()
    start = call["startTime"] or end - timedelta(days=min(DEAL_DAYS, (end - end.min).days))
    windows.in_order(start.toordinal(), end.toordinal())
    data = (
        call.venue.affiliate.deal_data(start, end, call.now_ms, call["userIds"])
        if _is_affiliate(call)
        else []
    )
    return {"data": data, "startTime": start.isoformat(), "endTime": end.isoformat()}


def _paged(call: Call, name: str, rows: list[Row]) -> Row:
    return page_number_envelope(name, rows if _is_affiliate(call) else [], call["page"], call["pageSize"])
