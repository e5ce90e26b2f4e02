"""Closing fees of the daily sums that were there before they had them, and pages to be made again.

Complete in itself: later code may count otherwise, and then remakes what it counts otherwise (rollups.verify).
"""

import copytrade.models.fields
from django.db import migrations, models

FILL = """
UPDATE copytrade_dayresult d SET close_fees = f.close_fees, unestimated = f.unestimated
FROM (
    SELECT trader_id, day, symbol, coalesce(trim_scale(sum(fee) * 0.000000000001), 0) AS close_fees,
        count(*) FILTER (WHERE fee IS NULL) AS unestimated
    FROM (
        SELECT o.trader_id, (o.close_time AT TIME ZONE coalesce(z.name, 'UTC'))::date AS day, o.symbol,
            CASE WHEN o.open_price_avg <> 0 AND coalesce(o.open_fill_size, o.open_size) <> 0 THEN div(
                o.open_fee * o.close_avg_price * o.close_size * 1000000000000,
                o.open_price_avg * coalesce(o.open_fill_size, o.open_size)
            ) END AS fee
        FROM copytrade_trackingorder o
        JOIN copytrade_account a ON a.id = o.account_id
        JOIN copytrade_user u ON u.id = a.owner_id
        LEFT JOIN (SELECT DISTINCT name FROM pg_timezone_names) z ON z.name = u.zone
        WHERE o.closed AND o.close_time IS NOT NULL AND o.open_time IS NOT NULL AND o.net_profit IS NOT NULL
    ) x GROUP BY 1, 2, 3
) f WHERE (d.trader_id, d.day, d.symbol) = (f.trader_id, f.day, f.symbol)
"""

ADD_UP = """
UPDATE copytrade_accountday d SET close_fees = f.close_fees, unestimated = f.unestimated
FROM (
    SELECT account_id, day, sum(close_fees) AS close_fees, sum(unestimated) AS unestimated
    FROM copytrade_dayresult GROUP BY 1, 2
) f WHERE (d.account_id, d.day) = (f.account_id, f.day)
"""

MARK = "UPDATE copytrade_trader SET summaries_stale_since = clock_timestamp()"


def fill(apps, schema_editor):
    for statement in (FILL, ADD_UP, MARK):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [
        ("copytrade", "0008_total_differs_since"),
    ]

    operations = [
        migrations.AddField(
            model_name="accountday",
            name="close_fees",
            field=copytrade.models.fields.NumericField(default=0),
        ),
        migrations.AddField(
            model_name="accountday",
            name="unestimated",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="dayresult",
            name="close_fees",
            field=copytrade.models.fields.NumericField(
                default=0, help_text="Sum of the estimates, where there is one."
            ),
        ),
        migrations.AddField(
            model_name="dayresult",
            name="unestimated",
            field=models.PositiveIntegerField(
                default=0, help_text="Copies whose closing fee cannot be estimated."
            ),
        ),
        migrations.AddField(
            model_name="perioddetail",
            name="daily",
            field=models.JSONField(default=list),
        ),
        migrations.AddIndex(
            model_name="orderrevision",
            index=models.Index(fields=["seen_at"], name="revisions_lately"),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
