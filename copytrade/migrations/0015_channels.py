"""Channels, deliveries and digests. The chore that mailed alerts is another one now."""

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

class Migration(migrations.Migration):

    dependencies = [
        ('copytrade', '0014_spot_orders'),
    ]

    operations = [
        migrations.CreateModel(
            name='Channel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('mail', 'e-mail'), ('apprise', 'messenger'), ('webhook', 'signed webhook')], max_length=8)),
                ('label', models.CharField(max_length=60)),
                ('service', models.CharField(blank=True, help_text="Apprise's word for it, or a host.", max_length=255)),
                ('hint', models.CharField(blank=True, help_text='Last four characters of the address.', max_length=4)),
                ('address', models.BinaryField(default=bytes, help_text="Sealed. Empty for mail: the person's own is used.")),
                ('secret', models.BinaryField(default=bytes, help_text='Sealed: what a webhook is signed with.')),
                ('enabled', models.BooleanField(default=True)),
                ('at_once', models.BooleanField(default=True, help_text='Alerts one by one; otherwise the digest alone.')),
                ('since', models.DateTimeField(default=django.utils.timezone.now, help_text='Only what became loud later is told.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('verified_at', models.DateTimeField(blank=True, help_text='When a test first arrived.', null=True)),
                ('last_ok_at', models.DateTimeField(blank=True, null=True)),
                ('last_error', models.CharField(blank=True, max_length=300)),
                ('last_error_at', models.DateTimeField(blank=True, null=True)),
                ('failures', models.PositiveIntegerField(default=0, help_text='Failed attempts in a row.')),
                ('off_reason', models.CharField(blank=True, help_text='Why the desk switched it off.', max_length=300)),
                ('lease_token', models.UUIDField(blank=True, null=True)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='channels', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['created_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Digest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rhythm', models.CharField(choices=[('off', 'never'), ('daily', 'every day'), ('weekly', 'once a week')], max_length=8)),
                ('first_day', models.DateField()),
                ('last_day', models.DateField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='digests', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('what', models.CharField(choices=[('alert', 'alert'), ('digest', 'digest'), ('test', 'test')], default='alert', max_length=8)),
                ('words', models.CharField(blank=True, help_text='What it tells, for the log.', max_length=500)),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('sending', 'being sent'), ('delivered', 'delivered'), ('failed', 'failed, tried again'), ('given_up', 'given up'), ('dropped', 'not needed any more')], default='waiting', max_length=12)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('said_at', models.DateTimeField(help_text='Its place in the order: when it was to be told.')),
                ('due_at', models.DateTimeField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('tried_at', models.DateTimeField(blank=True, null=True)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('alert', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='copytrade.alert')),
                ('channel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='copytrade.channel')),
                ('digest', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='copytrade.digest')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='DigestPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rhythm', models.CharField(choices=[('off', 'never'), ('daily', 'every day'), ('weekly', 'once a week')], default='off', max_length=8)),
                ('hour', models.PositiveSmallIntegerField(default=8, validators=[django.core.validators.MaxValueValidator(23)])),
                ('weekday', models.PositiveSmallIntegerField(default=0, help_text='Monday is 0.', validators=[django.core.validators.MaxValueValidator(6)])),
                ('since', models.DateTimeField(default=django.utils.timezone.now, help_text='Hours that struck before it are not told.')),
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='digest_plan', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddConstraint(
            model_name='channel',
            constraint=models.UniqueConstraint(fields=('owner', 'label'), name='one_channel_per_label'),
        ),
        migrations.AddConstraint(
            model_name='channel',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'mail')), fields=('owner',), name='one_mail_channel_each'),
        ),
        migrations.AddConstraint(
            model_name='digest',
            constraint=models.UniqueConstraint(fields=('owner', 'rhythm', 'last_day'), name='one_digest_per_rhythm_and_day'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'sending', 'failed'])), fields=['channel', 'said_at', 'id'], name='deliveries_to_make'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('channel', 'alert'), name='each_alert_once_per_channel'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('channel', 'digest'), name='each_digest_once_per_channel'),
        ),
        migrations.RunSQL("DELETE FROM copytrade_chore WHERE name = 'mail'", migrations.RunSQL.noop),
    ]
