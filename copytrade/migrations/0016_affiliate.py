"""The affiliate pages: what was asked, its rows, whether a key is an affiliate's, and who has the pages in the menu."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import copytrade.models.fields

# Of the connections that there are nothing has been asked yet: their people see the pages, which offer to ask.
SHOW = """
UPDATE copytrade_user AS person SET affiliate_shown = TRUE
 WHERE EXISTS (SELECT FROM copytrade_account WHERE owner_id = person.id)
"""


class Migration(migrations.Migration):
    dependencies = [("copytrade", "0015_channels")]

    operations = [
        migrations.AddField(
            model_name='user',
            name='affiliate_shown',
            field=models.BooleanField(db_default=False, default=False, help_text="A connection of theirs is an affiliate's, or was not asked yet: the pages stand in the menu."),
        ),
        migrations.CreateModel(
            name='AffiliateReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(help_text='A key of affiliate.kinds.KINDS.', max_length=24)),
                ('asked', models.JSONField(default=dict, help_text='What the person chose, in one form; blanks left out.')),
                ('steps', models.JSONField(default=list, help_text="The calls' windows, newest first: product, start, end (ms).")),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('running', 'being read'), ('done', 'complete'), ('failed', 'failed')], default='waiting', max_length=8)),
                ('done', models.PositiveIntegerField(default=0, help_text='Steps that are read to their end.')),
                ('page', models.PositiveIntegerField(default=0, help_text='The last page stored of the step under way.')),
                ('rows', models.PositiveIntegerField(default=0)),
                ('bad', models.PositiveIntegerField(default=0, help_text='Records that could not be understood.')),
                ('bad_records', models.JSONField(default=list, help_text='The first of those: reason and raw text.')),
                ('told', models.JSONField(default=dict, help_text='What the answer said beside its rows.')),
                ('error', models.CharField(blank=True, max_length=500)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('lease_token', models.UUIDField(blank=True, null=True)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='affiliate_reports', to='copytrade.account')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='AffiliateRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.PositiveIntegerField()),
                ('page', models.PositiveIntegerField()),
                ('position', models.PositiveIntegerField(help_text='The order in which they were read.')),
                ('key', models.CharField(blank=True, help_text="What tells it from others; '' when nothing does.", max_length=64)),
                ('at', models.DateTimeField(null=True)),
                ('uid', models.BigIntegerField(null=True)),
                ('coin', models.TextField(null=True)),
                ('product', models.TextField(null=True)),
                ('n1', copytrade.models.fields.NumericField(null=True)),
                ('n2', copytrade.models.fields.NumericField(null=True)),
                ('n3', copytrade.models.fields.NumericField(null=True)),
                ('n4', copytrade.models.fields.NumericField(null=True)),
                ('n5', copytrade.models.fields.NumericField(null=True)),
                ('record', models.JSONField(default=dict)),
                ('report', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='records', to='copytrade.affiliatereport')),
            ],
            options={
                'ordering': ['position'],
            },
        ),
        migrations.CreateModel(
            name='AffiliateStanding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key_set_at', models.DateTimeField()),
                ('may', models.BooleanField()),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='affiliate_standing', to='copytrade.account')),
            ],
        ),
        migrations.AddIndex(
            model_name='affiliatereport',
            index=models.Index(fields=['account', 'kind', '-id'], name='affiliate_reports_of'),
        ),
        migrations.AddIndex(
            model_name='affiliatereport',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'running'])), fields=['due_at'], name='affiliate_reports_due'),
        ),
        migrations.AddIndex(
            model_name='affiliaterow',
            index=models.Index(fields=['report', 'position'], name='affiliate_rows_in_order'),
        ),
        migrations.AddIndex(
            model_name='affiliaterow',
            index=models.Index(fields=['report', 'key'], name='affiliate_rows_by_key'),
        ),
        migrations.RunSQL(SHOW, migrations.RunSQL.noop),
    ]
