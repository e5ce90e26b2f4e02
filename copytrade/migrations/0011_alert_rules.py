"""Rules, quiet hours and folded alerts; alerts that are there already may be told since they were raised."""

import copytrade.models.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copytrade', '0010_uncounted_orders'),
    ]

    operations = [
        migrations.CreateModel(
            name='AlertRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('key_refused', 'key refused'), ('data_stale', 'data is stale'), ('settings_outside', 'settings changed outside the desk'), ('opened', 'copy opened'), ('closed', 'copy closed'), ('loss', 'loss of a copy'), ('partial', 'partial copy'), ('drawdown', 'drawdown'), ('margin', 'margin in use'), ('quiet', 'trader quiet'), ('gone', 'trader gone'), ('reconciliation', 'sums do not agree'), ('quota', 'request budget short'), ('channel_off', 'channel switched off')], max_length=32)),
                ('mode', models.CharField(choices=[('on', 'on'), ('silent', 'silent'), ('off', 'off')], default='on', max_length=8)),
                ('threshold', copytrade.models.fields.NumericField(blank=True, null=True)),
                ('unit', models.CharField(blank=True, max_length=8)),
                ('since', models.DateTimeField(default=django.utils.timezone.now, help_text='When it was last changed: what happened before it raises nothing.')),
            ],
        ),
        migrations.CreateModel(
            name='QuietHours',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('begins', models.TimeField()),
                ('ends', models.TimeField()),
            ],
        ),
        migrations.AddField(
            model_name='alert',
            name='folded_into',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='folded', to='copytrade.alert'),
        ),
        migrations.AddField(
            model_name='alert',
            name='loud_at',
            field=models.DateTimeField(blank=True, help_text='From when on channels may tell it: at once, or after quiet hours. None: they do not.', null=True),
        ),
        migrations.AddField(
            model_name='alert',
            name='order',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='copytrade.trackingorder'),
        ),
        migrations.AddField(
            model_name='alert',
            name='silent',
            field=models.BooleanField(default=False, help_text='In the inbox only: not counted, not told.'),
        ),
        migrations.AddField(
            model_name='alert',
            name='times',
            field=models.PositiveIntegerField(default=1, help_text='How many it stands for.'),
        ),
        migrations.AlterField(
            model_name='alert',
            name='account',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='copytrade.account'),
        ),
        migrations.AlterField(
            model_name='alert',
            name='kind',
            field=models.CharField(choices=[('key_refused', 'key refused'), ('data_stale', 'data is stale'), ('settings_outside', 'settings changed outside the desk'), ('opened', 'copy opened'), ('closed', 'copy closed'), ('loss', 'loss of a copy'), ('partial', 'partial copy'), ('drawdown', 'drawdown'), ('margin', 'margin in use'), ('quiet', 'trader quiet'), ('gone', 'trader gone'), ('reconciliation', 'sums do not agree'), ('quota', 'request budget short'), ('channel_off', 'channel switched off')], max_length=32),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('send', 'settings sent'), ('restore', 'restore prepared'), ('template_used', 'template used'), ('template_saved', 'template saved'), ('template_deleted', 'template deleted'), ('imported', 'settings imported'), ('exported', 'settings exported'), ('policy', "operator's policy changed"), ('alert_rules', 'alert rules changed')], max_length=32),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(condition=models.Q(('folded_into', None), ('read_at', None), ('resolved_at', None)), fields=['owner'], name='alerts_waiting'),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(condition=models.Q(('resolved_at', None)), fields=['kind'], name='alerts_not_healed'),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(condition=models.Q(('loud_at__isnull', False)), fields=['loud_at'], name='alerts_to_tell'),
        ),
        migrations.AddField(
            model_name='alertrule',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alert_rules', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='alertrule',
            name='trader',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='alert_rules', to='copytrade.trader'),
        ),
        migrations.AddField(
            model_name='quiethours',
            name='owner',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='quiet_hours', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='alertrule',
            constraint=models.UniqueConstraint(fields=('owner', 'kind', 'trader'), name='one_rule_per_kind_and_trader', nulls_distinct=False),
        ),
        migrations.RunSQL(
            "UPDATE copytrade_alert SET loud_at = created_at",
            # Before this step every alert had an account.
            "DELETE FROM copytrade_alert WHERE account_id IS NULL; SET CONSTRAINTS ALL IMMEDIATE",
        ),
    ]
