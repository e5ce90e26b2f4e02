"""The audit log counts and folds; a person's "delete everything" has a row."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copytrade', '0011_alert_rules'),
    ]

    operations = [
        migrations.AddField(
            model_name='auditentry',
            name='fold',
            field=models.CharField(blank=True, help_text='What is counted here: kind, of what, day.', max_length=200, null=True, unique=True),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='last_at',
            field=models.DateTimeField(blank=True, help_text='Of a fold: when it last happened.', null=True),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='times',
            field=models.PositiveIntegerField(default=1),
        ),
        migrations.AddField(
            model_name='syncjob',
            name='key_uses',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text='Readings with the key that the audit log has not counted yet.'),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('send', 'settings sent'), ('restore', 'restore prepared'), ('template_used', 'template used'), ('template_saved', 'template saved'), ('template_deleted', 'template deleted'), ('imported', 'settings imported'), ('exported', 'settings exported'), ('policy', "operator's policy changed"), ('signed_in', 'signed in'), ('sign_in_failed', 'sign-in failed'), ('signed_out', 'signed out'), ('password', 'password changed'), ('email', 'e-mail changed'), ('second_factor', 'second factor changed'), ('recovery_codes', 'recovery codes'), ('key_stored', 'key stored or removed'), ('key_used', 'key used'), ('key_read', 'key used for readings'), ('writes', 'changes allowed or not'), ('invitation', 'invitation'), ('desk', 'desk'), ('alert_rules', 'alert rules changed')], max_length=32),
        ),
        migrations.CreateModel(
            name='Erasure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(default=uuid.uuid4, help_text='The address of its progress.', unique=True)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('orders', models.PositiveBigIntegerField(blank=True, help_text='Orders there were at its start.', null=True)),
                ('removed', models.PositiveBigIntegerField(default=0, help_text='Rows removed so far, of all tables.')),
                ('removed_orders', models.PositiveBigIntegerField(default=0)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='erasure', to=settings.AUTH_USER_MODEL)),
            ],
        ),
    ]
