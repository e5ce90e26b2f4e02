"""Forms at the door: the set-up token, and an invitation."""

from __future__ import annotations

from django import forms

from ..admission import setup_token_fits


class SetupForm(forms.Form):
    token = forms.CharField(
        label="Set-up token",
        max_length=64,
        help_text="Printed in the log of this desk when it started.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autofocus": True}),
    )

    def clean_token(self) -> str:
        typed = self.cleaned_data["token"]
        if not setup_token_fits(typed):
            raise forms.ValidationError("This is not the set-up token. Copy it from the log, from the last start.")
        return typed


class InvitationForm(forms.Form):
    note = forms.CharField(
        label="Who is it for?",
        max_length=80,
        required=False,
        help_text="Only you see this. The link works once, for seven days.",
    )
