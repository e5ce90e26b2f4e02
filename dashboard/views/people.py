"""The door: the demo, the first account's set-up token, and invitations."""

from __future__ import annotations

from allauth.decorators import rate_limit
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from copytrade import tasks
from dashboard import admission
from dashboard import demo as demo_desk
from dashboard.forms.people import SetupForm

BACKEND = "dashboard.sessions.PersonBackend"


@login_not_required
@require_POST
def demo(request: HttpRequest) -> HttpResponse:
    """Sign in as the demo user, with a sandbox connection whose first reading starts now."""
    if not demo_desk.offered():
        raise Http404
    user = demo_desk.demo_user()
    account, made = demo_desk.ensure_connection(user)
    login(request, user, backend=BACKEND)
    if made:
        tasks.hint_account(account.pk)
        messages.info(
            request, "Welcome to the demo. Its first reading from the sandbox exchange has just started."
        )
    return redirect("overview")


@login_not_required
@never_cache
@sensitive_post_parameters("token")
@require_http_methods(["GET", "HEAD", "POST"])
@rate_limit(action="setup_token")
def setup(request: HttpRequest) -> HttpResponse:
    """The first account: whoever can read the desk's log may make it, and becomes the operator."""
    if not admission.nobody_yet():
        raise Http404
    form = SetupForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        admission.remember(request, admission.SETUP)
        return redirect("account_signup")
    return render(request, "people/setup.html", {"form": form})


@login_not_required
@never_cache
@sensitive_variables("token")
@require_GET
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Follow an invitation. It is used up by signing up, not by looking at it."""
    if request.user.is_authenticated:
        messages.info(request, "You are signed in already. The invitation stays as it is.")
        return redirect("overview")
    hashed = admission.token_hash(token)
    if admission.open_invitation(hashed) is None:
        return render(request, "people/invitation_over.html", status=410)
    admission.remember(request, hashed)
    return HttpResponseRedirect(reverse("account_signup"))
