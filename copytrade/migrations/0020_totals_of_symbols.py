"""The totals of each symbol of all time, beside what is drawn of it. A column that may be empty: no row is rewritten, and
until a trader's summary is made again, the totals of his symbols are added up from his days."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("copytrade", "0019_stills")]

    operations = [
        migrations.AddField(model_name="perioddetail", name="symbols", field=models.JSONField(null=True)),
    ]
