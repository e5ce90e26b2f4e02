"""Forms for channels. A messenger's address is a key: after a mistake it is typed again, never sent back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from copytrade.models import Channel, DigestPlan, User
from copytrade.notices import digests
from copytrade.notices.channels import BadChannel

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PLAIN = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}


class ChannelForm(forms.Form):
    """What both kinds need: a name and an address."""

    label = forms.CharField(
        label="Name", max_length=60, help_text="How you want to see it here, as in My phone."
    )

    def refuse(self, error: BadChannel) -> None:
        """Show the domain's refusal beside its field."""
        self.add_error(error.field if error.field in self.fields else None, error.sentence)


class MessengerForm(ChannelForm):
    address = forms.CharField(
        label="Apprise address",
        max_length=500,
        help_text="As in tgram://123456789:bot_token/chat_id. The list below says what each looks like.",
        widget=forms.PasswordInput(attrs=PLAIN),
    )


class WebhookForm(ChannelForm):
    address = forms.CharField(
        label="Address",
        max_length=1000,
        help_text="As in https://example.com/hooks/copydesk. What stands behind the host may be secret.",
        widget=forms.TextInput(attrs={**PLAIN, "inputmode": "url"}),
    )


class DigestForm(forms.Form):
    """When the digest comes, by the person's own clock, and whether alerts come one by one beside it."""

    at_once = forms.BooleanField(label="Mail each alert at once", required=False)
    rhythm = forms.ChoiceField(label="Digest", choices=DigestPlan.Rhythm.choices)
    hour = forms.TypedChoiceField(
        label="At", coerce=int, choices=[(hour, f"{hour:02}:00") for hour in range(24)]
    )
    weekday = forms.TypedChoiceField(
        label="On, if once a week", coerce=int, choices=list(enumerate(WEEKDAYS))
    )

    def __init__(self, person: User, found: Sequence[Channel], *args: Any) -> None:
        plan = digests.plan_of(person)
        mail = next((one for one in found if one.kind == Channel.Kind.MAIL), None)
        initial = {
            "at_once": mail is None or mail.at_once,
            "rhythm": plan.rhythm,
            "hour": plan.hour,
            "weekday": plan.weekday,
        }
        super().__init__(*args, initial=initial)
