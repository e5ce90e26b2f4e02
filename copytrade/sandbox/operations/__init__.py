"""What each operation answers. A handler takes a Call and returns the JSON value of the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import account, affiliate, copying, spot
from .call import Call

HANDLERS: dict[str, Callable[[Call], Any]] = {
    "affiliate_commissions": affiliate.commissions,
    "affiliate_users": affiliate.users,
    "affiliate_trades_and_assets": affiliate.trades_and_assets,
    "internal_withdrawals": affiliate.internal_withdrawals,
    "sub_affiliates": affiliate.sub_affiliates,
    "deal_data": affiliate.deal_data,
    "place_order": spot.place_order,
    "place_orders": spot.place_orders,
    "order": spot.order,
    "account": account.account,
    "bills": account.bills,
    "funding_bills": account.funding_bills,
    "follower_settings": copying.follower_settings,
    "update_follower_settings": copying.update_follower_settings,
    "open_tracking_orders": copying.open_tracking_orders,
    "tracking_order_history": copying.tracking_order_history,
    "my_traders": copying.my_traders,
    "lead_order_history": copying.lead_order_history,
}

__all__ = ["HANDLERS", "Call"]
