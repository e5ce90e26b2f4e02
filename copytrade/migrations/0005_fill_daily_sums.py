"""Daily sums of the orders that were there before there were daily sums.

Complete in itself: later code may count otherwise, and then remakes what it counts otherwise (rollups.verify).
"""

import django.db.models.deletion
from django.db import migrations, models

FILL = """
INSERT INTO copytrade_dayresult
    (account_id, trader_id, day, symbol, n, wins, losses, net, gross, won, lost, open_fees, margin)
SELECT o.account_id, o.trader_id, (o.close_time AT TIME ZONE coalesce(z.name, 'UTC'))::date, o.symbol, count(*),
    count(*) FILTER (WHERE o.net_profit > 0), count(*) FILTER (WHERE o.net_profit < 0),
    sum(o.net_profit), sum(coalesce(o.realized_pnl, o.net_profit)),
    coalesce(sum(o.net_profit) FILTER (WHERE o.net_profit > 0), 0),
    coalesce(-sum(o.net_profit) FILTER (WHERE o.net_profit < 0), 0),
    sum(coalesce(o.open_fee, 0)), sum(coalesce(o.open_margin_amount, 0))
FROM copytrade_trackingorder o
JOIN copytrade_account a ON a.id = o.account_id
JOIN copytrade_user u ON u.id = a.owner_id
LEFT JOIN (SELECT DISTINCT name FROM pg_timezone_names) z ON z.name = u.zone
WHERE o.closed AND o.close_time IS NOT NULL AND o.open_time IS NOT NULL AND o.net_profit IS NOT NULL
GROUP BY 1, 2, 3, 4
ON CONFLICT (trader_id, day, symbol) DO NOTHING
"""

ADD_UP = """
INSERT INTO copytrade_accountday
    (account_id, day, n, wins, losses, net, gross, won, lost, open_fees, margin)
SELECT account_id, day, sum(n), sum(wins), sum(losses), sum(net), sum(gross), sum(won), sum(lost),
    sum(open_fees), sum(margin)
FROM copytrade_dayresult GROUP BY account_id, day
ON CONFLICT (account_id, day) DO NOTHING
"""


def fill(apps, schema_editor):
    schema_editor.execute(FILL)
    schema_editor.execute(ADD_UP)


class Migration(migrations.Migration):

    dependencies = [
        ("copytrade", "0004_period_details_notes_visits"),
    ]

    operations = [
        migrations.AddField(
            model_name="account",
            name="sums_checked_at",
            field=models.DateTimeField(
                blank=True, help_text="When its daily sums were last held against its orders.", null=True
            ),
        ),
        migrations.AlterField(
            model_name="dayresult",
            name="account",
            field=models.ForeignKey(
                db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE,
                related_name="day_results", to="copytrade.account",
            ),
        ),
        migrations.AlterField(
            model_name="dayresult",
            name="trader",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="day_results",
                to="copytrade.trader",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
