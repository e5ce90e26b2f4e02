"""The desk's addresses, and a bare page: signed in, framed, with nothing in it."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from dashboard.urls import handler400, handler403, handler404, handler500
from dashboard.urls import urlpatterns as of_the_desk


@login_required
def bare(request: HttpRequest) -> HttpResponse:
    return render(request, "base.html")


urlpatterns = [*of_the_desk, path("bare/", bare, name="bare")]
__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]
