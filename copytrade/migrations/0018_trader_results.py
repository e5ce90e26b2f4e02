"""The sums of a trader's days over his symbols, kept for what does not ask for symbols; and an index for what asks for one.

Complete in itself: later code may count otherwise, and then remakes what it counts otherwise (rollups.verify).
"""

import django.db.models.deletion
from django.db import migrations, models

import copytrade.models.fields

ADD_UP = """
INSERT INTO copytrade_traderresult
    (account_id, trader_id, day, n, wins, losses, net, gross, won, lost, open_fees, margin, close_fees, unestimated)
SELECT account_id, trader_id, day, sum(n), sum(wins), sum(losses), sum(net), sum(gross), sum(won), sum(lost),
    sum(open_fees), sum(margin), sum(close_fees), sum(unestimated)
FROM copytrade_dayresult GROUP BY account_id, trader_id, day
ON CONFLICT (trader_id, day) DO NOTHING
"""


# Nobody adds to a day while it is summed up; what an older process still writes, the next look at the sums finds.
LOCK = "LOCK TABLE copytrade_dayresult IN SHARE ROW EXCLUSIVE MODE"
LOOK = "UPDATE copytrade_account SET sums_checked_at = NULL"


def fill(apps, schema_editor):
    for statement in (LOCK, ADD_UP, LOOK):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("copytrade", "0017_newest_run")]

    operations = [
        migrations.CreateModel(
            name="TraderResult",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE,
                        related_name="trader_results", to="copytrade.account",
                    ),
                ),
                (
                    "trader",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="whole_days",
                        to="copytrade.trader",
                    ),
                ),
                ("day", models.DateField()),
                ("n", models.PositiveIntegerField()),
                ("wins", models.PositiveIntegerField()),
                ("losses", models.PositiveIntegerField()),
                ("net", copytrade.models.fields.NumericField()),
                ("gross", copytrade.models.fields.NumericField()),
                ("won", copytrade.models.fields.NumericField()),
                ("lost", copytrade.models.fields.NumericField()),
                ("open_fees", copytrade.models.fields.NumericField()),
                ("margin", copytrade.models.fields.NumericField()),
                ("close_fees", copytrade.models.fields.NumericField(default=0)),
                ("unestimated", models.PositiveIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("trader", "day"), name="one_sum_per_trader_and_day")
                ],
                "indexes": [models.Index(fields=["account", "day"], name="trader_results_of_account")],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="dayresult",
            index=models.Index(fields=["account", "symbol", "day"], name="results_of_symbol"),
        ),
        migrations.RemoveIndex(model_name="dayresult", name="results_of_account"),
    ]
