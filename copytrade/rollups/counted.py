"""Which orders count, and what they count as, in SQL: the same as reports/copies.py says in Python."""

from __future__ import annotations

COUNTS = "o.closed AND o.close_time IS NOT NULL AND o.open_time IS NOT NULL AND o.net_profit IS NOT NULL"
GROSS = "coalesce(o.realized_pnl, o.net_profit)"
FEE = "coalesce(o.open_fee, 0)"
MARGIN = "coalesce(o.open_margin_amount, 0)"
# The estimate of statistics.costs.close_fee in millionths of a millionth, and whether there is one.
SIZE = "coalesce(o.open_fill_size, o.open_size)"
ESTIMATED = f"""(o.open_price_avg <> 0 AND {SIZE} <> 0 AND o.open_fee IS NOT NULL AND o.close_avg_price IS NOT NULL
        AND o.close_size IS NOT NULL) IS TRUE"""
CLOSE_FEE = f"div(o.open_fee * o.close_avg_price * o.close_size * 1000000000000, o.open_price_avg * {SIZE})"

# The columns of DayResult that are sums over its orders `o`, in this order. Without orders each is 0.
FIGURES = (
    "n",
    "wins",
    "losses",
    "net",
    "gross",
    "won",
    "lost",
    "open_fees",
    "margin",
    "close_fees",
    "unestimated",
)
WHOLE = ("n", "wins", "losses", "unestimated")  # of these, those that count
SUMS = f"""count(o.id) AS n,
    count(o.id) FILTER (WHERE o.net_profit > 0) AS wins,
    count(o.id) FILTER (WHERE o.net_profit < 0) AS losses,
    coalesce(sum(o.net_profit), 0) AS net,
    coalesce(sum({GROSS}), 0) AS gross,
    coalesce(sum(o.net_profit) FILTER (WHERE o.net_profit > 0), 0) AS won,
    coalesce(-sum(o.net_profit) FILTER (WHERE o.net_profit < 0), 0) AS lost,
    coalesce(sum({FEE}), 0) AS open_fees,
    coalesce(sum({MARGIN}), 0) AS margin,
    coalesce(trim_scale(sum({CLOSE_FEE}) FILTER (WHERE {ESTIMATED}) * 0.000000000001), 0) AS close_fees,
    count(o.id) FILTER (WHERE NOT {ESTIMATED}) AS unestimated"""
