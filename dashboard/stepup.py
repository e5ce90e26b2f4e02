"""Before settings are sent: is it still the person who signed in? Asked again when the last proof is old.

A view calls `required` before it confirms anything. The way of asking is allauth's; nothing is sent on the
way back: the review is shown again, with what was ticked on it, and the person presses the button once more.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlencode

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse

from copytrade import audit
from copytrade.models import User

from . import access, htmx

SESSION_KEY = "stepup"
# What proves who sits here. A link from a mail box or another site's word does not.
PROOFS = ("password", "mfa")
NO_SECOND_FACTOR = (
    "Nothing has happened. This desk asks for a second factor before settings are sent, and you have none: "
    "set one up here, then go back to your review."
)
# What was ticked on the review is kept on the way, for so long and so many characters: a session is no store.
KEPT_SECONDS = 3600
MOST_KEPT = 20_000


def required(request: HttpRequest, back: str = "", doing: str = "send copy settings") -> HttpResponse | None:
    """None when sending may go on; otherwise the answer that leads to the proof and then to `back`.

    `back` is the page to come to again by GET, this very address when left out; `doing`
    tells the person what for. Demo visitors are exempt:
    their connections are sandboxes. With the operator's switch on, only a second factor counts.
    """
    person = access.person(request)
    if person.is_demo:
        return None
    strict = audit.policy().second_factor_for_sending
    if _proved(request, ("mfa",) if strict else PROOFS):
        return None
    back = back or request.get_full_path()
    request.session[SESSION_KEY] = {
        "back": back,
        "doing": doing,
        "fields": _fields(request),
        "at": time.time(),
    }
    page = _second_factor_page(person) if strict else "account_reauthenticate"
    if not page:
        messages.error(request, NO_SECOND_FACTOR)
        return htmx.redirect(request, reverse("security"))
    return htmx.redirect(request, f"{reverse(page)}?{urlencode({'next': back})}")


def waiting(request: HttpRequest) -> str:
    """The address of the review that waits for a proof; "" when none does."""
    return _held(request).get("back", "")


def returned(request: HttpRequest) -> QueryDict | None:
    """On the review that a proof was made for: the fields as they were posted, once; None anywhere else.

    The page then says that nothing was sent yet."""
    held = _held(request)
    if request.method != "GET" or held.get("back") != request.get_full_path():
        return None
    strict = audit.policy().second_factor_for_sending
    if not _proved(request, ("mfa",) if strict else PROOFS):
        return None
    del request.session[SESSION_KEY]
    messages.info(
        request, "It is you. Nothing has happened yet: look once more, then press the button again."
    )
    return QueryDict(held.get("fields", ""))


def asking_for(request: HttpRequest) -> dict[str, str] | None:
    """On a page that asks for the proof: {"back", "doing"}. None where the question is about something else."""
    held = _held(request)
    if not held or held["back"] not in (request.GET.get("next"), request.POST.get("next")):
        return None
    return {"back": held["back"], "doing": held["doing"]}


def second_factor_demanded(request: HttpRequest) -> bool:
    """True where the proof for sending is asked for under the operator's switch: a password is no answer then."""
    return bool(asking_for(request)) and audit.policy().second_factor_for_sending


def _second_factor_page(person: User) -> str:
    """The name of the page that asks for this person's second factor; "" when there is none to ask for."""
    types = set(Authenticator.objects.filter(user=person).values_list("type", flat=True))
    if Authenticator.Type.TOTP in types:
        return "mfa_reauthenticate"
    return "mfa_reauthenticate_webauthn" if Authenticator.Type.WEBAUTHN in types else ""


def _proved(request: HttpRequest, methods: tuple[str, ...]) -> bool:
    """Whether one of these ways was used in this session, less than SEND_PROOF_SECONDS ago."""
    now = time.time()
    return any(
        record.get("method") in methods and 0 <= now - record.get("at", 0) < settings.SEND_PROOF_SECONDS
        for record in get_authentication_records(request, access.person(request))
    )


def _held(request: HttpRequest) -> dict[str, Any]:
    session = getattr(request, "session", None)
    held = (session.get(SESSION_KEY) or {}) if session is not None else {}
    return held if time.time() - held.get("at", 0) < KEPT_SECONDS else {}


def _fields(request: HttpRequest) -> str:
    """What was posted, as a query. Too much of it is left behind: the person ticks again, nothing is cut in two."""
    kept = request.POST.copy()
    kept.pop("csrfmiddlewaretoken", None)
    query = kept.urlencode()
    return query if len(query) <= MOST_KEPT else ""
