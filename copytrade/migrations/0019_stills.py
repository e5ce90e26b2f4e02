"""The few points that a trader's page draws, beside the many that are read off it. Columns that may be empty: no row is
rewritten, and until its summary is made again a row is drawn from its many points."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("copytrade", "0018_trader_results")]

    operations = [
        migrations.AddField(model_name="perioddetail", name="still", field=models.JSONField(null=True)),
        migrations.AddField(model_name="perioddetail", name="margin_still", field=models.JSONField(null=True)),
        migrations.AddField(model_name="perioddetail", name="margin_steps", field=models.IntegerField(null=True)),
    ]
