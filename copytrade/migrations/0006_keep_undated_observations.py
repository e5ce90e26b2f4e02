from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("copytrade", "0005_fill_daily_sums")]

    operations = [
        migrations.AddField(
            model_name="trackingorder",
            name="beneath",
            field=models.JSONField(
                help_text="Of two observations, one of which told no opening time, the one that the row does not show.",
                null=True,
            ),
        ),
    ]
