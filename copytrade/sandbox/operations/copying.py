"""Copy trading: the follower's settings, open and closed copies, traders; the trader's own history."""

from __future__ import annotations

from typing import Any

from copytrade import rules
from copytrade.sandbox import windows
from copytrade.sandbox.errors import Refusal

from .call import Call, Row, part

MOST_LEVERAGE = 125  # ours: the interface names no maximum
CODES = {
    "missing": -1128,
    "range": -1140,
    "leverage": -1140,
    "unknown_symbol": -1121,
}  # every other rule: -1142


def follower_settings(call: Call) -> list[Row]:
    """The settings for one trader, as the world has them."""
    found = call.venue.world.settings(call.account, call["traderId"])
    if found is None:
        raise Refusal(-1142, "traderId is not a known copy trader.")
    return found


def update_follower_settings(call: Call) -> Row:
    """Replace the settings for one trader. A write that is refused changes nothing."""
    trader_id, settings = checked_settings(call.body, call.venue.world, call.account)
    call.venue.write_settings(call.account, trader_id, settings, call.now_ms)
    return {"code": "200", "msg": "success", "requestTime": call.now_ms}


def checked_settings(body: Row, world: Any, account: str) -> tuple[int, rules.CopySettings]:
    """The trader and the settings of a POST body, defaults applied. Raises Refusal."""
    body = _without_nulls(body)
    broken = rules.check_body(body, supported=world.symbols, ours=False)
    if broken:
        first = broken[0]
        code = CODES.get(first.code, -1142)
        if code == -1128 and _has(body, first.field):  # there, but empty
            code = -1142
        raise Refusal(code, f"{first.field}: {first.message}")
    settings = rules.apply_defaults(rules.from_body(body), world.symbols)
    if _highest_leverage(settings) > MOST_LEVERAGE:
        raise Refusal(-3313)
    trader_id = int(body["traderId"])
    if world.settings(account, trader_id) is None:
        raise Refusal(-1142, "traderId is not a known copy trader.")
    return trader_id, settings


def _without_nulls(value: Any) -> Any:
    """A field that is null counts as left out, as in every other body."""
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _has(body: Any, path: str) -> bool:
    """Whether a body has anything at a path like `symbolTraceConfigs[3].symbol`."""
    for step in path.replace("[", ".").replace("]", "").split("."):
        if isinstance(body, list) and step.isdigit() and int(step) < len(body):
            body = body[int(step)]
        elif isinstance(body, dict) and step in body:
            body = body[step]
        else:
            return False
    return True


def open_tracking_orders(call: Call) -> list[Row]:
    """Open copies, newest first; a bare list."""
    rows = [
        row
        for row in call.venue.world.open_orders(call.account)
        if call["symbol"] in (None, row["symbol"]) and call["traderId"] in (None, row["traderID"])
    ]
    return part(rows, call["page"], call["limit"])


def tracking_order_history(call: Call) -> Row:
    """Closed copies, newest first, by cursor."""
    return _history(call, call.venue.world.closed_orders(call.account))


def lead_order_history(call: Call) -> Row:
    """The asking trader's own closed orders, newest first, by cursor."""
    return _history(call, call.venue.world.lead_history(call.account))


def my_traders(call: Call) -> Row:
    """Traders being copied now."""
    rows = call.venue.world.my_traders(call.account)
    page, size = call["pageNo"], call["pageSize"]
    return {"list": part(rows, page, size), "nextFlag": page * size < len(rows), "total": len(rows)}


def _history(call: Call, rows: list[Row]) -> Row:
    if (call["nextKeyId"] is None) != (call["nextKeyTime"] is None):
        raise Refusal(-1128, "nextKeyId and nextKeyTime belong together.")
    start, end = windows.copy_history(call["startTime"], call["endTime"], call.now_ms)
    keyed = []
    for row in rows:
        key = (_moment(row, call.venue.options.history_by), row["trackingNo"])
        if start <= key[0] <= end and call["symbol"] in (None, row["symbol"]):
            keyed.append((key, row))
    keyed.sort(key=lambda entry: entry[0], reverse=True)
    if call["nextKeyId"] is not None:
        cursor = (call["nextKeyTime"], call["nextKeyId"])
        keyed = [entry for entry in keyed if entry[0] < cursor]
    page = keyed[: call["limit"]]
    more = len(keyed) > len(page)
    last = page[-1][0] if page else (0, 0)
    return {
        "list": [row for _, row in page],
        "nextFlag": more,
        "nextKey": {"nextKeyId": last[1], "nextKeyTime": last[0]} if more else None,
    }


def _moment(row: Row, history_by: str) -> int:
    """The time that history goes by. A trader's order carries no closeTime: its last update is its close."""
    return int(row["openTime"] if history_by == "open" else row.get("closeTime") or row["updateTime"])


def _highest_leverage(settings: rules.CopySettings) -> int:
    pairs: list[Any] = [
        *settings.configs,
        *(custom for config in settings.configs for custom in config.custom_leverages),
    ]
    return max(
        (leverage or 0 for pair in pairs for leverage in (pair.long_leverage, pair.short_leverage)), default=0
    )
