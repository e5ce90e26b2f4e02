"""The few closed orders that are in no daily sum are found without looking at the others."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copytrade', '0009_costs_of_days'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='trackingorder',
            index=models.Index(condition=models.Q(('closed', True), models.Q(('close_time', None), ('open_time', None), ('net_profit', None), _connector='OR')), fields=['account'], name='order_uncounted'),
        ),
    ]
