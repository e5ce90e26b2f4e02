"""Sums of the ledger, kept beside it: per day for the charts and totals, per period for what hangs on order.

Rows are derived: each can be made again from the orders, and is held against them (copytrade/rollups.py).
Money is exact, in USDT. Only closed copies with a result and both times count (reports/copies.py).
"""

from __future__ import annotations

from django.db import models

from .accounts import Account
from .fields import NumericField
from .traders import Trader


class DayResult(models.Model):
    """Closed copies of one (account, trader, day of closing, symbol). Days are those of the owner's zone.

    The two indexes begin with the trader and the account, and the trader's key answers for the account too:
    more would only slow down the ledger's writing.
    """

    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="day_results", db_index=False, db_constraint=False
    )
    trader = models.ForeignKey(Trader, on_delete=models.CASCADE, related_name="day_results", db_index=False)
    day = models.DateField()
    symbol = models.CharField(max_length=64)
    n = models.PositiveIntegerField(help_text="Closed copies.")
    wins = models.PositiveIntegerField(help_text="Net above 0.")
    losses = models.PositiveIntegerField(help_text="Net below 0.")
    net = NumericField(help_text="Sum of netProfit.")
    gross = NumericField(help_text="Sum of realizedPnl.")
    won = NumericField(help_text="Sum of net above 0.")
    lost = NumericField(help_text="Sum of net below 0, as a number above 0.")
    open_fees = NumericField(help_text="Sum of openFee.")
    margin = NumericField(help_text="Sum of openMarginAmount.")
    close_fees = NumericField(default=0, help_text="Sum of the estimates, where there is one.")
    unestimated = models.PositiveIntegerField(
        default=0, help_text="Copies whose closing fee cannot be estimated."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["trader", "day", "symbol"], name="one_result_per_day_and_symbol")
        ]
        indexes = [models.Index(fields=["account", "symbol", "day"], name="results_of_symbol")]


class PeriodSummary(models.Model):
    """The summary of one (account, trader, period): what the traders table and the overview show.

    `period` is a key of rollups.PERIODS ("7", "30", "90", "365", "all"); it ends with `as_of`, a day of the
    owner's zone, today included. `figures` holds the order-dependent figures of statistics.Summary by their
    names there: decimals as text, None where undefined.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="summaries")
    trader = models.ForeignKey(Trader, on_delete=models.CASCADE, related_name="summaries")
    period = models.CharField(max_length=8)
    as_of = models.DateField()
    closed_copies = models.PositiveIntegerField(default=0)
    net = NumericField()
    net_before = NumericField(help_text="Net of what closed before the period: added to the capital base.")
    figures = models.JSONField(default=dict)
    spark = models.JSONField(
        default=list, help_text="Cumulative net at most 40 copies, oldest first, as text."
    )
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trader", "period"], name="one_summary_per_period")]
        indexes = [models.Index(fields=["account", "period"], name="summaries_of_account")]


class WholeDay(models.Model):
    """A day of the owner's zone, over parts that are kept as well. Columns as in DayResult."""

    day = models.DateField()
    n = models.PositiveIntegerField()
    wins = models.PositiveIntegerField()
    losses = models.PositiveIntegerField()
    net = NumericField()
    gross = NumericField()
    won = NumericField()
    lost = NumericField()
    open_fees = NumericField()
    margin = NumericField()
    close_fees = NumericField(default=0)
    unestimated = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


class TraderResult(WholeDay):
    """All closed copies of a trader on one day of the owner's zone: the sum of the DayResults of his symbols."""

    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="trader_results", db_index=False, db_constraint=False
    )
    trader = models.ForeignKey(Trader, on_delete=models.CASCADE, related_name="whole_days", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trader", "day"], name="one_sum_per_trader_and_day")]
        indexes = [models.Index(fields=["account", "day"], name="trader_results_of_account")]


class AccountDay(WholeDay):
    """All closed copies of an account on one day of its owner's zone: the sum of its TraderResults."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="days")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "day"], name="one_sum_per_account_and_day")]


class PeriodDetail(models.Model):
    """What a trader's page draws for a period, made together with its PeriodSummary; see rollups/details.py.

    JSON with numbers as text: `curve` [[microseconds, cumulative net, drawdown], ...] at most 800 points that keep
    every visible peak; `margin` [[microseconds, margin in use], ...] the same; `still` and `margin_still` the same
    lines in at most 130 and 80 points, chosen from the copies too: all that the page draws at once; `margin_steps`
    how many points `margin` has (these three None: made before they were kept); `daily` [[day, net], ...] of days
    with closed copies; `breakdowns` {by: [row, ...]} as statistics.breakdown; `scatter` [[microseconds held, net,
    order key], ...] at most 200; `costs` the sums that the cost gap is told from, by month, and for "all" what the
    newest copies say of realizedPnl; `previous` the figures of the period before, {} where there are none; `symbols`
    {symbol: [n, wins, losses, net, gross]} for "all" alone (None there: made before it was kept).
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="details")
    trader = models.ForeignKey(Trader, on_delete=models.CASCADE, related_name="details")
    period = models.CharField(max_length=8)
    as_of = models.DateField()
    still = models.JSONField(null=True)
    margin_still = models.JSONField(null=True)
    margin_steps = models.IntegerField(null=True)
    curve = models.JSONField(default=list)
    margin = models.JSONField(default=list)
    daily = models.JSONField(default=list)
    breakdowns = models.JSONField(default=dict)
    scatter = models.JSONField(default=list)
    costs = models.JSONField(default=dict)
    previous = models.JSONField(default=dict)
    symbols = models.JSONField(null=True)
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trader", "period"], name="one_detail_per_period")]
