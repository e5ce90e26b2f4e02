# ruff: noqa: RUF009 (`wire` declares a field, as dataclasses.field does)
"""The typed answers of the 18 operations, field by field as interface.md "Resources and their fields" lists them.

Names are the interface's in snake_case. Money, sizes and ratios are exact Decimals or None, ids exact integers,
times aware UTC datetimes or None. States and kinds are text, verbatim. `extras` holds fields that the interface
does not name; `drift` (on answers that are one record) says what was tolerated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date as Date
from datetime import datetime
from decimal import Decimal
from typing import Any

from .decoding import each, wire
from .kinds import day, flag, integer, long, loose_long, mapping, moment, moment_text, money, text, texts


@dataclass(frozen=True, kw_only=True)
class Record:
    """What every record has beside its own fields."""

    extras: dict[str, Any] = field(default_factory=dict)
    drift: list[str] = field(default_factory=list, compare=False)


# --- copy trading -------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FollowerOrder(Record):
    """Copy follower tracking order. `close_order_id` is 0 and the close fields None while it is open."""

    tracking_no: int = wire("trackingNo", long, required=True)
    trader_name: str | None = wire("traderName", text)
    open_order_id: int | None = wire("openOrderId", long)
    close_order_id: int | None = wire("closeOrderId", long)
    trader_id: int = wire("traderID", long, required=True)
    symbol: str = wire("symbol", text, required=True)
    open_leverage: int | None = wire("openLeverage", integer)
    open_price_avg: Decimal | None = wire("openPriceAvg", money)
    open_time: datetime | None = wire("openTime", moment)
    open_size: Decimal | None = wire("openSize", money)  # base coin
    open_fee: Decimal | None = wire("openFee", money)  # USDT
    open_margin_amount: Decimal | None = wire("openMarginAmount", money)  # USDT
    open_fill_size: Decimal | None = wire("openFillSize", money)
    position_side: str = wire("positionSide", text, required=True)  # LONG, SHORT, BOTH
    status: str = wire("status", text, required=True)  # HAVE_OPEN, CLOSED, or whatever comes
    tp_trigger_price: Decimal | None = wire("tpTriggerPrice", money)
    sl_trigger_price: Decimal | None = wire("slTriggerPrice", money)
    close_avg_price: Decimal | None = wire("closeAvgPrice", money)
    close_size: Decimal | None = wire("closeSize", money)
    close_time: datetime | None = wire("closeTime", moment_text)
    realized_pnl: Decimal | None = wire("realizedPnl", money)
    profit_rate: Decimal | None = wire("profitRate", money)  # a fraction
    net_profit: Decimal | None = wire("netProfit", money)
    created_time: datetime | None = wire("createdTime", moment)
    update_time: datetime | None = wire("updateTime", moment)


@dataclass(frozen=True, kw_only=True)
class LeadOrder(Record):
    """Copy trader tracking order, as the lead trader sees it. The interface shows names only."""

    tracking_no: int = wire("trackingNo", long, required=True)
    symbol: str = wire("symbol", text, required=True)
    open_order_id: int | None = wire("openOrderId", long)
    open_leverage: int | None = wire("openLeverage", integer)
    open_price_avg: Decimal | None = wire("openPriceAvg", money)
    open_time: datetime | None = wire("openTime", moment)
    open_size: Decimal | None = wire("openSize", money)
    open_fee: Decimal | None = wire("openFee", money)
    open_margin_amount: Decimal | None = wire("openMarginAmount", money)
    open_fill_size: Decimal | None = wire("openFillSize", money)
    position_side: str = wire("positionSide", text, required=True)
    status: str = wire("status", text, required=True)
    tp_trigger_price: Decimal | None = wire("tpTriggerPrice", money)
    sl_trigger_price: Decimal | None = wire("slTriggerPrice", money)
    realized_pnl: Decimal | None = wire("realizedPnl", money)
    profit_rate: Decimal | None = wire("profitRate", money)
    net_profit: Decimal | None = wire("netProfit", money)
    follow_count: int | None = wire("followCount", integer)
    created_time: datetime | None = wire("createdTime", moment)
    update_time: datetime | None = wire("updateTime", moment)


@dataclass(frozen=True, kw_only=True)
class CopiedTrader(Record):
    """Copied trader entry: the money put to one trader, in USDT."""

    trader_id: int = wire("traderId", long, required=True)
    trader_name: str | None = wire("traderName", text)
    copy_trading_balance: Decimal | None = wire("copyTradingBalance", money)
    trace_total_profit: Decimal | None = wire("traceTotalProfit", money)
    total_investment: Decimal | None = wire("totalInvestment", money)
    available_balance: Decimal | None = wire("availableBalance", money)
    transferable_balance: Decimal | None = wire("transferableBalance", money)


@dataclass(frozen=True, kw_only=True)
class LeverageItem(Record):
    """One item of customLeverages in a settings answer."""

    symbol: str = wire("symbol", text, required=True)
    long_leverage: int | None = wire("longLeverage", integer)
    short_leverage: int | None = wire("shortLeverage", integer)


@dataclass(frozen=True, kw_only=True)
class SettingsItem(Record):
    """Copy follower settings as returned: one item when unified, one per symbol otherwise."""

    copy_enable: bool | None = wire("copyEnable", flag)
    symbol: str | None = wire("symbol", text)
    symbols: tuple[str, ...] = wire("symbols", texts)
    product_type: str | None = wire("productType", text)
    setting_mode: str = wire("settingMode", text, required=True)
    trace_type: str | None = wire("traceType", text)
    trace_value: Decimal | None = wire("traceValue", money)
    max_hold_size: Decimal | None = wire("maxHoldSize", money)
    margin_type: str | None = wire("marginType", text)
    margin_coin: str | None = wire("marginCoin", text)
    leverage_type: str | None = wire("leverageType", text)
    long_leverage: int | None = wire("longLeverage", integer)
    short_leverage: int | None = wire("shortLeverage", integer)
    custom_leverages: tuple[LeverageItem, ...] = wire("customLeverages", each(LeverageItem))
    take_profit_ratio: Decimal | None = wire("takeProfitRatio", money)
    stop_loss_ratio: Decimal | None = wire("stopLossRatio", money)
    slippage_ratio: Decimal | None = wire("slippageRatio", money)


@dataclass(frozen=True, kw_only=True)
class Success(Record):
    """Standard success response."""

    code: str = wire("code", text, required=True)  # "200"
    msg: str | None = wire("msg", text)
    request_time: datetime | None = wire("requestTime", moment)


# --- spot and account ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Balance(Record):
    """One asset of an account."""

    asset: str = wire("asset", text, required=True)
    free: Decimal | None = wire("free", money)
    locked: Decimal | None = wire("locked", money)


@dataclass(frozen=True, kw_only=True)
class CommissionRates(Record):
    """Fee rates as fractions."""

    maker: Decimal | None = wire("maker", money)
    taker: Decimal | None = wire("taker", money)


def _rates(value: Any, note: Any) -> CommissionRates | None:
    rates = each(CommissionRates)([value] if value is not None else [], note)
    return rates[0] if rates else None


@dataclass(frozen=True, kw_only=True)
class AccountInfo(Record):
    """Account information. Commissions in basis points, rates as fractions."""

    maker_commission: int | None = wire("makerCommission", integer)
    taker_commission: int | None = wire("takerCommission", integer)
    commission_rates: CommissionRates | None = wire("commissionRates", _rates)
    can_trade: bool | None = wire("canTrade", flag)
    can_withdraw: bool | None = wire("canWithdraw", flag)
    can_deposit: bool | None = wire("canDeposit", flag)
    brokered: bool | None = wire("brokered", flag, absent=True)
    require_self_trade_prevention: bool | None = wire("requireSelfTradePrevention", flag, absent=True)
    prevent_sor: bool | None = wire("preventSor", flag, absent=True)
    update_time: datetime | None = wire("updateTime", moment, absent=True)
    account_type: str | None = wire("accountType", text, absent=True)
    balances: tuple[Balance, ...] = wire("balances", each(Balance))
    permissions: tuple[str, ...] = wire("permissions", texts)
    uid: int | None = wire("uid", long)
    symbol_commissions: dict[str, Any] | None = wire("symbolCommissions", mapping, absent=True)


@dataclass(frozen=True, kw_only=True)
class Bill(Record):
    """One movement on an account. `delta_amount` is negative for a decrease."""

    bill_id: str = wire("billId", text, required=True)
    coin_id: int | None = wire("coinId", integer)
    coin_name: str | None = wire("coinName", text)
    biz_type: str | None = wire("bizType", text)
    fill_size: Decimal | None = wire("fillSize", money, absent=True)
    fill_value: Decimal | None = wire("fillValue", money, absent=True)
    delta_amount: Decimal | None = wire("deltaAmount", money)
    after_amount: Decimal | None = wire("afterAmount", money)
    fees: Decimal | None = wire("fees", money)
    created_time: datetime | None = wire("cTime", moment_text)


@dataclass(frozen=True, kw_only=True)
class SpotOrder(Record):
    """Spot order (order details)."""

    symbol: str = wire("symbol", text, required=True)
    order_id: int = wire("orderId", long, required=True)
    client_order_id: str | None = wire("clientOrderId", text)
    price: Decimal | None = wire("price", money)
    orig_qty: Decimal | None = wire("origQty", money)
    executed_qty: Decimal | None = wire("executedQty", money)
    cummulative_quote_qty: Decimal | None = wire("cummulativeQuoteQty", money)
    status: str = wire("status", text, required=True)
    time_in_force: str | None = wire("timeInForce", text)
    type: str | None = wire("type", text)
    side: str | None = wire("side", text)
    time: datetime | None = wire("time", moment)
    update_time: datetime | None = wire("updateTime", moment)
    is_working: bool | None = wire("isWorking", flag)


@dataclass(frozen=True, kw_only=True)
class OrderAcceptance(Record):
    """Result of placing an order."""

    symbol: str | None = wire("symbol", text)
    order_id: int = wire("orderId", long, required=True)
    client_order_id: str | None = wire("clientOrderId", text)
    transact_time: datetime | None = wire("transactTime", moment)


@dataclass(frozen=True, kw_only=True)
class BatchItem(Record):
    """One order of a batch: accepted (order_id, transact_time) or failed (error_code, error_msg)."""

    symbol: str | None = wire("symbol", text)
    client_order_id: str | None = wire("clientOrderId", text)
    order_id: int | None = wire("orderId", long, absent=True)
    transact_time: datetime | None = wire("transactTime", moment, absent=True)
    error_code: str | None = wire("errorCode", text, absent=True)
    error_msg: str | None = wire("errorMsg", text, absent=True)

    @property
    def accepted(self) -> bool:
        return self.order_id is not None and not self.error_code


# --- affiliate ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Commission(Record):
    """Affiliate commission record. source_type: 1 = direct client, 2 = sub-agent."""

    uid: int = wire("uid", loose_long, required=True)
    date: datetime | None = wire("date", moment)
    coin: str | None = wire("coin", text)
    product_type: str | None = wire("productType", text)
    fee: Decimal | None = wire("fee", money)
    commission: Decimal | None = wire("commission", money)
    rate: Decimal | None = wire("rate", money)
    symbol: str | None = wire("symbol", text)
    source_type: int | None = wire("sourceType", integer)
    taker_amount: Decimal | None = wire("takerAmount", money)
    maker_amount: Decimal | None = wire("makerAmount", money)


@dataclass(frozen=True, kw_only=True)
class AffiliateUser(Record):
    """Affiliate user item. Times that never happened are None."""

    uid: int = wire("uid", loose_long, required=True)
    register_time: datetime | None = wire("registerTime", moment)
    kyc_result: bool | None = wire("kycResult", flag)
    invite_code: str | None = wire("inviteCode", text)
    first_deposit: datetime | None = wire("firstDeposit", moment)
    first_trade: datetime | None = wire("firstTrade", moment)
    last_deposit: datetime | None = wire("lastDeposit", moment)
    last_trade: datetime | None = wire("lastTrade", moment)


@dataclass(frozen=True, kw_only=True)
class TradeAndAsset(Record):
    """Affiliate trade-and-asset record."""

    uid: int = wire("uid", loose_long, required=True)
    deposit_amount: Decimal | None = wire("depositAmount", money)
    withdrawal_amount: Decimal | None = wire("withdrawalAmount", money)
    spot_trading_amount: Decimal | None = wire("spotTradingAmount", money)
    futures_trading_amount: Decimal | None = wire("futuresTradingAmount", money)
    commission: Decimal | None = wire("commission", money)


@dataclass(frozen=True, kw_only=True)
class InternalWithdrawal(Record):
    """Internal withdrawal record. status: SUCCESS, FAILED, PROGRESSING, or whatever comes."""

    from_user_id: int | None = wire("fromUserId", long)
    to_user_id: int | None = wire("toUserId", long)
    withdraw_id: str = wire("withdrawId", text, required=True)
    coin: str | None = wire("coin", text)
    status: str | None = wire("status", text)
    amount: Decimal | None = wire("amount", money)
    create_time: datetime | None = wire("createTime", moment)
    update_time: datetime | None = wire("updateTime", moment)


@dataclass(frozen=True, kw_only=True)
class SubAffiliate(Record):
    """Sub-affiliate record: one sub-affiliate, one day."""

    sub_affiliate_uid: int = wire("subAffiliateUid", loose_long, required=True)
    product_type: str | None = wire("productType", text)
    date: Date | None = wire("date", day)
    trading_volume: Decimal | None = wire("tradingVolume", money)
    net_trading_fee: Decimal | None = wire("netTradingFee", money)
    paid_commission: Decimal | None = wire("paidCommission", money)


@dataclass(frozen=True, kw_only=True)
class DealData(Record):
    """Deal data item: the volume of one direct customer, in USDT."""

    user_id: int = wire("userId", long, required=True)
    spot_deal_amount_usdt: Decimal | None = wire("spotDealAmountUsdt", money)
    futures_pro_deal_amount_usdt: Decimal | None = wire("futuresProDealAmountUsdt", money)
    spot_pro_deal_amount_usdt_temp: Decimal | None = wire("spotProDealAmountUsdtTemp", money)
