"""Forms for connections. Secrets are never sent back to the browser: after a mistake they are typed again."""

from __future__ import annotations

from typing import Any

from django import forms

from copytrade.connections import BadConnection, venues_for
from copytrade.models import User


class KeyForm(forms.Form):
    """The three parts of an API key."""

    key = forms.CharField(
        label="API key",
        max_length=512,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
        ),
    )
    secret = forms.CharField(
        label="Secret",
        max_length=512,
        help_text="Shown by the exchange once, when the key is made.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    passphrase = forms.CharField(
        label="Passphrase",
        max_length=512,
        help_text="The one you chose when you made the key.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    def refuse(self, error: BadConnection) -> None:
        """Show the domain's refusal beside its field."""
        self.add_error(error.field if error.field in self.fields else None, error.sentence)


class ConnectionForm(KeyForm):
    """A new connection: a name, an exchange of the list, and a key."""

    label = forms.CharField(
        label="Name", max_length=60, help_text="How you want to see it here, as in Main account."
    )
    venue = forms.ChoiceField(label="Exchange")

    field_order = ["label", "venue", "key", "secret", "passphrase"]

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["venue"]
        assert isinstance(field, forms.ChoiceField)
        # The real exchange first where there is one: the sandbox is for trying out.
        field.choices = sorted(venues_for(owner), key=lambda venue: venue[0] == "sandbox")
