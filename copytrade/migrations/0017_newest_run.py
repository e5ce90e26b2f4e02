"""The newest run of a job is found by its number: an index with the time of the last reading made each unchanged one
write to every index of the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("copytrade", "0016_affiliate")]

    operations = [
        migrations.RemoveIndex(model_name="syncrun", name="run_latest"),
        migrations.AddIndex(
            model_name="syncrun",
            index=models.Index(fields=["account", "kind", "-id"], name="run_newest"),
        ),
    ]
