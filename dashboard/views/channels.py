"""Channels: how alerts reach a person. List, add, test, pause, sign anew, remove; the log; when the digest comes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from copytrade.models import Channel, Delivery
from copytrade.notices import channels as jobs
from copytrade.notices import digests, send_test, services
from copytrade.notices.trying import TooMany
from dashboard import access
from dashboard.forms.channels import DigestForm, MessengerForm, WebhookForm

PAGE = 30
form_view = require_http_methods(["GET", "HEAD", "POST"])
FORMS = {"messenger": MessengerForm, "webhook": WebhookForm}
RUNGS: dict[str, str] = {
    Delivery.State.DELIVERED: "good", Delivery.State.FAILED: "warn", Delivery.State.GIVEN_UP: "bad",
    Delivery.State.SENDING: "on",
}  # fmt: skip


@require_GET
def channels(request: HttpRequest) -> HttpResponse:
    """All ways to this person, with what became of the last message, and the digest's hour."""
    person = access.person(request)
    found = [] if person.is_demo else jobs.of(person)
    context = {
        "rows": [_row(channel) for channel in found],
        "mail": next((one for one in found if one.kind == Channel.Kind.MAIL), None),
        "digest_form": DigestForm(person, found),
        "waiting": access.deliveries(request).filter(state__in=Delivery.OPEN_STATES).count(),
        "full": len(found) >= jobs.MOST,
    }
    return render(request, "alerts/channels.html", context)


@sensitive_post_parameters("address")
@sensitive_variables("form", "data")
@form_view
def add(request: HttpRequest, kind: str) -> HttpResponse:
    """A messenger or a webhook. The signing secret of a webhook is shown here, once."""
    if kind not in FORMS:
        raise Http404("There is no such kind of channel.")
    if asked := access.asked_again(request):
        return asked
    form = FORMS[kind](request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            if kind == "webhook":
                channel, signing = jobs.add_webhook(access.person(request), **data)
                return _show_secret(request, channel, signing, new=True)
            channel = jobs.add_messenger(access.person(request), **data)
        except jobs.BadChannel as error:
            form.refuse(error)
        else:
            messages.success(request, f"{channel.label} is added. Send a test, to see that it arrives.")
            return redirect("channel", pk=channel.pk)
    context = {"form": form, "kind": kind, "services": services.names(), "inside": settings.WEBHOOK_INSIDE}
    return render(request, "alerts/channel_add.html", context, status=400 if form.errors else 200)


@require_GET
def channel(request: HttpRequest, pk: int) -> HttpResponse:
    """One channel with the log of its deliveries, the newest first."""
    found = access.channel_read(request, pk)
    page = Paginator(access.deliveries(request).filter(channel=found), PAGE).get_page(request.GET.get("page"))
    context = {
        "row": _row(found),
        "channel": found,
        "page": page,
        "deliveries": [(row, RUNGS.get(row.state, "")) for row in page],
    }
    return render(request, "alerts/channel.html", context)


@require_POST
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a message that says it is a test, now, and say what came of it."""
    found = access.channel_write(request, pk)
    try:
        row = send_test(found)
    except TooMany as error:
        messages.error(request, str(error))
    else:
        if row.state == Delivery.State.DELIVERED:
            messages.success(request, f"{found.label}: the test {_arrived(found)}")
        else:
            messages.error(request, f"{found.label}: the test did not arrive. {row.error}")
    return redirect("channel", pk=pk)


@require_POST
def switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause, or resume. Alerts of a pause are not told afterwards."""
    found, enabled = access.channel_write(request, pk), request.POST.get("enabled")
    if enabled not in ("0", "1"):
        messages.error(request, "Nothing was changed. Use one of the buttons.")
    else:
        jobs.set_enabled(found, enabled == "1")
        words = (
            "tells you from now on"
            if enabled == "1"
            else "is paused, and what it had not told yet is dropped"
        )
        messages.success(request, f"{found.label} {words}.")
    return redirect("channel", pk=pk)


@form_view
def secret(request: HttpRequest, pk: int) -> HttpResponse:
    """Another signing secret for a webhook, shown once. The old one ends at once."""
    found = access.channel_write(request, pk)
    if found.kind != Channel.Kind.WEBHOOK:
        raise Http404("This channel is not signed.")
    if asked := access.asked_again(request):
        return asked
    if request.method == "POST":
        return _show_secret(request, found, jobs.rotate_secret(found), new=False)
    return render(request, "alerts/channel_secret.html", {"channel": found, "row": _row(found)})


@form_view
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a channel with its address and its log. Mail can be paused instead."""
    found = access.channel_write(request, pk)
    if found.kind == Channel.Kind.MAIL:
        raise Http404("Mail is paused, not removed.")
    if request.method == "POST":
        jobs.remove(found)
        messages.success(request, f"{found.label} is removed.")
        return redirect("channels")
    context = {"channel": found, "row": _row(found), "n": found.deliveries.count()}
    return render(request, "alerts/channel_remove.html", context)


@require_POST
def digest(request: HttpRequest) -> HttpResponse:
    """When the digest comes, and whether alerts come by mail one by one."""
    person = access.person(request)
    jobs.ensure_mail(timezone.now(), person)
    found = jobs.of(person)
    form = DigestForm(person, found, request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was changed: choose a rhythm, an hour and a day of the lists.")
        return redirect("channels")
    data = form.cleaned_data
    digests.set_plan(person, data["rhythm"], data["hour"], data["weekday"])
    for mail in (one for one in found if one.kind == Channel.Kind.MAIL):
        jobs.set_at_once(mail, data["at_once"])
    messages.success(request, "Saved. " + digests.next_in_words(digests.plan_of(person), timezone.now()))
    return redirect("channels")


def _row(channel: Channel) -> dict[str, Any]:
    return {"channel": channel, "shown": jobs.shown(channel), **_state(channel)}


def _state(channel: Channel) -> dict[str, str]:
    """A word for its state and the pill's colour."""
    if channel.off_reason:
        return {"state": "switched off", "rung": "bad"}
    if not channel.enabled:
        return {"state": "paused", "rung": ""}
    if channel.failures:
        return {"state": "failing", "rung": "warn"}
    if channel.verified_at is None:
        return {"state": "not tested", "rung": ""}
    return {"state": "works", "rung": "good"}


def _arrived(channel: Channel) -> str:
    """What is known of a message that was taken: a mail server's word is not yet a mailbox."""
    if channel.kind == Channel.Kind.WEBHOOK:
        return "arrived: the address answered as it should."
    if channel.kind == Channel.Kind.MAIL:
        return f"was taken by the mail server, for {channel.owner.email}. Look whether it reaches you."
    return "was taken by the service. Look whether it reaches you."


def _show_secret(request: HttpRequest, channel: Channel, secret: str, *, new: bool) -> HttpResponse:
    context = {"channel": channel, "row": _row(channel), "secret": secret, "new": new}
    return render(request, "alerts/channel_signed.html", context)
