"""Forms at the door: the set-up token, and an invitation."""

from __future__ import annotations

import zoneinfo
from typing import Any

from allauth.account.forms import LoginForm, ReauthenticateForm, SignupForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms

from dashboard.admission import setup_token_fits


def _labels_only(form: forms.Form) -> None:
    """Labels stand above the fields: a placeholder would say the same twice, and vanish when typing starts."""
    for field in form.fields.values():
        field.widget.attrs.pop("placeholder", None)


class SignInForm(LoginForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _labels_only(self)
        self.fields["login"].label = "User name or e-mail"
        self.fields["password"].help_text = ""


class SignUpForm(SignupForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _labels_only(self)
        self.fields["username"].label = "User name"
        self.fields["email"].label = "E-mail"
        self.fields[
            "email"
        ].help_text = "Only used when you forget your password, and only if this desk can send mail."
        self.fields["password1"].help_text = "At least 12 characters. A few words in a row are good."
        self.fields["password2"].label = "Password, once more"


class AgainForm(ReauthenticateForm):
    """The password once more, before something about the sign-in changes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _labels_only(self)
        self.fields["password"].help_text = ""


class PasskeyForm(AddWebAuthnForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["passwordless"].label = "Sign in with it alone, without the password"
        self.fields[
            "passwordless"
        ].help_text = "It then asks for your fingerprint, face or PIN. Otherwise it comes after the password."
        self.fields["passwordless"].initial = True


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
            raise forms.ValidationError(
                "This is not the set-up token. Copy it from the log, from the last start."
            )
        return typed


class InvitationForm(forms.Form):
    note = forms.CharField(
        label="Who is it for?",
        max_length=80,
        required=False,
        help_text="Only you see this. The link works once, for seven days.",
    )


class ZoneForm(forms.Form):
    """The time zone in which a person sees days and times."""

    zone = forms.ChoiceField(label="Time zone", help_text="Days begin, and times are shown, by this clock.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["zone"]
        assert isinstance(field, forms.ChoiceField)
        known = sorted(
            name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/")
        )
        field.choices = [(name, name.replace("_", " ")) for name in ["UTC", *known]]
