"""Security: sign-in, second factor, sessions, the look, and the operator's invitations."""

from __future__ import annotations

from decimal import Decimal

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from copytrade import audit, rollups
from copytrade.models import AuditEntry, Invitation
from dashboard import access, admission, stepup
from dashboard.forms.people import InvitationForm, ZoneForm

Action = AuditEntry.Action


@require_GET
def security(request: HttpRequest) -> HttpResponse:
    person = access.person(request)
    stepup.returned(request)  # back from the proof for the operator's switch
    policy = audit.policy()
    types = list(Authenticator.objects.filter(user=person).values_list("type", flat=True))
    context = {
        "totp": Authenticator.Type.TOTP in types,
        "passkeys": types.count(Authenticator.Type.WEBAUTHN),
        "codes": Authenticator.Type.RECOVERY_CODES in types,
        "sessions": UserSession.objects.filter(user=person).count(),
        "invitations": _invitations(request) if person.is_operator else None,
        "second_factor_for_sending": policy.second_factor_for_sending,
        "spot_trading": policy.spot_trading,
        "proof_minutes": settings.SEND_PROOF_SECONDS // 60,
        "waiting": "" if stepup.waiting(request) == request.get_full_path() else stepup.waiting(request),
        "form": InvitationForm(),
        "zone_form": ZoneForm(initial={"zone": person.zone}),
        "gains": (("green", "Green"), ("red", "Red"), ("muted", "Plain")),
        "example_gain": Decimal("24.18"),
        "example_loss": Decimal("-9.34"),
    }
    return render(request, "security/security.html", context)


@require_POST
def zone(request: HttpRequest) -> HttpResponse:
    """The person's own clock. The demo keeps UTC: its visitors live everywhere."""
    person, form = access.person(request), ZoneForm(request.POST)
    if person.is_demo or not form.is_valid():
        messages.error(request, "The time zone was not changed. Choose one of the list.")
        return redirect("security")
    with transaction.atomic():
        person.zone = form.cleaned_data["zone"]
        person.save(update_fields=["zone"])
        rollups.rebuild_all_of(person)  # the days of their sums are days of this clock
    messages.success(request, f"Days and times are shown by the clock of {person.zone.replace('_', ' ')}.")
    return redirect("security")


@require_POST
def invitations(request: HttpRequest) -> HttpResponse:
    """A new invitation. Its link is shown once, here: only its hash is kept."""
    operator = access.operator(request)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        context = {"invitations": _invitations(request), "form": form}
        return render(request, "security/invited.html", context, status=400)
    note = form.cleaned_data["note"]
    token = admission.invite(operator, note)
    audit.note(operator, Action.INVITATION, subject=f"Invitation made{f' for {note}' if note else ''}")
    link = request.build_absolute_uri(reverse("join", args=[token]))
    return render(request, "security/invited.html", {"link": link, "note": form.cleaned_data["note"]})


@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """An unused invitation stops working at once."""
    operator = access.operator(request)
    mine = Invitation.objects.filter(invited_by=operator, used_at__isnull=True)
    found = get_object_or_404(mine, pk=pk)
    audit.note(
        operator, Action.INVITATION, subject=f"Invitation withdrawn{f': {found.note}' if found.note else ''}"
    )
    found.delete()
    messages.success(request, "The invitation is withdrawn. Its link does not work any more.")
    return redirect("security")


def _invitations(request: HttpRequest) -> list[Invitation]:
    """Those that can still be used, and the last few that were."""
    mine = Invitation.objects.filter(invited_by=access.person(request)).select_related("used_by")
    waiting = list(mine.filter(used_at__isnull=True, expires_at__gt=timezone.now()).order_by("expires_at"))
    return waiting + list(mine.filter(used_at__isnull=False).order_by("-used_at")[:10])
