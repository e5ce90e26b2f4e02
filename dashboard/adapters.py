"""Where allauth asks the desk: who may sign up, and how second-factor secrets are kept."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from copytrade import keys
from copytrade.models import User

from . import admission, stepup


class AccountAdapter(DefaultAccountAdapter):
    """Sign-up by set-up token or invitation only; no mail is attempted without a mail server."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return admission.admitted(request)

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """The new user and what let him in are stored together, or neither is."""
        super().save_user(request, user, form, commit=False)
        try:
            admission.settle(request.session.get(admission.SESSION_KEY), user)
        except admission.NotAdmitted:
            request.session.pop(admission.SESSION_KEY, None)
            raise ImmediateHttpResponse(HttpResponseRedirect(reverse("account_signup"))) from None
        request.session.pop(admission.SESSION_KEY, None)
        return user

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """On the way to sending under the operator's switch a password proves nothing, so it is not offered."""
        methods = super().get_reauthentication_methods(user)
        if not stepup.second_factor_demanded(self.request):
            return methods
        return [method for method in methods if method["id"] != "reauthenticate"] or methods

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        if settings.EMAIL_HOST or not settings.PRODUCTION:
            super().send_mail(template_prefix, email, context)


class MFAAdapter(DefaultMFAAdapter):
    """Authenticator secrets and recovery-code seeds lie in the database sealed by our vault."""

    def encrypt(self, text: str) -> str:
        return keys.desk_encrypt(text, "mfa")

    def decrypt(self, encrypted_text: str) -> str:
        return keys.desk_decrypt(encrypted_text, "mfa")

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:  # noqa: A002 (its name there)
        """A first name for a passkey, which the person may change."""
        number = Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1
        return "Passkey" if number == 1 else f"Passkey {number}"
