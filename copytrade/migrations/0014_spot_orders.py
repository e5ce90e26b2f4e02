"""Spot orders sent from here, and the two switches that they stand behind."""

import copytrade.models.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copytrade', '0013_own_data'),
    ]

    operations = [
        migrations.AddField(
            model_name='account',
            name='spot_enabled',
            field=models.BooleanField(default=False, help_text="The owner's switch for spot orders; the operator's is in DeskPolicy."),
        ),
        migrations.AddField(
            model_name='deskpolicy',
            name='spot_trading',
            field=models.BooleanField(default=False, help_text='Whether anybody may place spot orders from this desk.'),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('send', 'settings sent'), ('restore', 'restore prepared'), ('template_used', 'template used'), ('template_saved', 'template saved'), ('template_deleted', 'template deleted'), ('imported', 'settings imported'), ('exported', 'settings exported'), ('policy', "operator's policy changed"), ('spot_sent', 'spot orders sent'), ('spot_switched', 'spot orders switched on or off'), ('signed_in', 'signed in'), ('sign_in_failed', 'sign-in failed'), ('signed_out', 'signed out'), ('password', 'password changed'), ('email', 'e-mail changed'), ('second_factor', 'second factor changed'), ('recovery_codes', 'recovery codes'), ('key_stored', 'key stored or removed'), ('key_used', 'key used'), ('key_read', 'key used for readings'), ('writes', 'changes allowed or not'), ('invitation', 'invitation'), ('desk', 'desk'), ('alert_rules', 'alert rules changed'), ('channel_added', 'channel added'), ('channel_changed', 'channel changed'), ('channel_removed', 'channel removed')], max_length=32),
        ),
        migrations.CreateModel(
            name='SpotTicket',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(default=uuid.uuid4, help_text='Minted when the review is made.', unique=True)),
                ('symbol', models.CharField(max_length=64)),
                ('way', models.CharField(choices=[('single', 'one order'), ('batch', 'a batch'), ('separate', 'several, one after the other')], default='single', max_length=16)),
                ('balances', models.JSONField(default=dict, help_text='{asset: free} of the pair, read for the review.')),
                ('balances_at', models.DateTimeField(blank=True, null=True)),
                ('order_counts', models.JSONField(default=list, help_text='[[window in ms, used, limit], ...] after the last order was sent.')),
                ('counted_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('confirmed_at', models.DateTimeField(blank=True, null=True)),
                ('look_again_at', models.DateTimeField(blank=True, help_text='When the tick takes it up again.', null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='spot_tickets', to='copytrade.account')),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('previous', models.ForeignKey(blank=True, help_text='The ticket that this one repeats, or takes apart.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='following', to='copytrade.spotticket')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='SpotOrder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(default=1, help_text='Its line on the ticket.')),
                ('client_order_id', models.CharField(help_text='Ours, sent as newClientOrderId.', max_length=64)),
                ('attempt', models.PositiveSmallIntegerField(default=1, help_text='2 and more: a person sent it once more under the same id.')),
                ('side', models.CharField(max_length=16)),
                ('type', models.CharField(max_length=16)),
                ('time_in_force', models.CharField(blank=True, help_text='Empty for MARKET.', max_length=16)),
                ('quantity', copytrade.models.fields.NumericField()),
                ('price', copytrade.models.fields.NumericField(blank=True, help_text='None for MARKET.', null=True)),
                ('state', models.CharField(choices=[('draft', 'being reviewed'), ('confirmed', 'confirmed, waiting to be sent'), ('sending', 'being sent'), ('accepted', 'taken by the exchange'), ('rejected', 'refused'), ('unknown', 'outcome unknown, looking it up'), ('not_seen', 'not found at the exchange')], default='draft', max_length=16)),
                ('error_code', models.CharField(blank=True, max_length=64)),
                ('error_field', models.CharField(blank=True, help_text='The parameter it names, if any.', max_length=64)),
                ('error_message', models.TextField(blank=True)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('order_id', models.BigIntegerField(blank=True, null=True)),
                ('transact_time', models.DateTimeField(blank=True, null=True)),
                ('looks', models.PositiveSmallIntegerField(default=0, help_text='Look-ups so far of an unknown outcome.')),
                ('failed_looks', models.PositiveSmallIntegerField(default=0, help_text='In a row, without an answer.')),
                ('look_at', models.DateTimeField(blank=True, help_text='When it is to be looked up.', null=True)),
                ('read_at', models.DateTimeField(blank=True, null=True)),
                ('status', models.CharField(blank=True, help_text='As the exchange writes it.', max_length=64)),
                ('executed', copytrade.models.fields.NumericField(blank=True, null=True)),
                ('executed_value', copytrade.models.fields.NumericField(blank=True, help_text='In the quote asset.', null=True)),
                ('is_working', models.BooleanField(null=True)),
                ('update_time', models.DateTimeField(blank=True, null=True)),
                ('read_back', models.JSONField(default=dict, help_text="What the look-up said of the order's own fields.")),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='spot_orders', to='copytrade.account')),
                ('ticket', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='orders', to='copytrade.spotticket')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.AddIndex(
            model_name='spotticket',
            index=models.Index(condition=models.Q(('look_again_at__isnull', False)), fields=['look_again_at'], name='spot_ticket_due'),
        ),
        migrations.AddIndex(
            model_name='spotorder',
            index=models.Index(fields=['account', '-id'], name='spot_orders_newest'),
        ),
        migrations.AddConstraint(
            model_name='spotorder',
            constraint=models.UniqueConstraint(fields=('client_order_id', 'attempt'), name='one_spot_order_per_attempt'),
        ),
        migrations.AddConstraint(
            model_name='spotorder',
            constraint=models.UniqueConstraint(fields=('ticket', 'number'), name='one_spot_order_per_line'),
        ),
    ]
