"""A lease is written thousands of times an hour: with room on its page it is written in place, without touching an index."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("copytrade", "0006_keep_undated_observations"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE copytrade_syncjob SET (fillfactor = 60)",
            "ALTER TABLE copytrade_syncjob RESET (fillfactor)",
        ),
    ]
