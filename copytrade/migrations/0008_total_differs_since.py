"""Since when a trader's total has differed from the ledger without a reason."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("copytrade", "0007_room_for_leases")]

    operations = [
        migrations.AddField(
            model_name="trader",
            name="total_differs_since",
            field=models.DateTimeField(
                blank=True,
                help_text="The exchange's total has differed from the ledger, unexplained, since.",
                null=True,
            ),
        ),
    ]
