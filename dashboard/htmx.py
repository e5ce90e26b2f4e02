"""Partial answers: the only place that knows how htmx asks and what it is given."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render as render_page
from django.utils.cache import patch_vary_headers


def wants_part(request: HttpRequest) -> bool:
    """True for an htmx request that swaps a part; false for the browser's own and for history restores."""
    details = getattr(request, "htmx", None)
    return bool(details) and not details.boosted and not details.history_restore_request


def render(
    request: HttpRequest,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    partial: str,
    status: int = 200,
) -> HttpResponse:
    """The whole page, or when htmx asks, its `partial`: the part of `template` of that name, or a template that is
    included there. One URL, one view."""
    name = template
    if wants_part(request):
        name = partial if partial.endswith(".jinja") else f"{template}#{partial}"
    response = _made(request, name, context, status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def part(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """A template that the page includes, alone: what was folded away until somebody opened it."""
    response = _made(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _made(request: HttpRequest, name: str, context: dict[str, Any] | None, status: int = 200) -> HttpResponse:
    """By the engine that has it: the other would look through its folders first, and what it throws when it finds
    nothing keeps hold of all that the page is made of."""
    return render_page(
        request, name, context, status=status, using="jinja2" if name.endswith(".jinja") else "django"
    )


def data(found: dict[str, Any]) -> JsonResponse:
    """What a script of the page asked for at the page's own address."""
    response = JsonResponse(found)
    patch_vary_headers(response, ["HX-Request"])
    return response


def redirect(request: HttpRequest, url: str) -> HttpResponse:
    """Send the browser to `url`: a plain redirect, or HX-Redirect when htmx asked."""
    if wants_part(request):
        return HttpResponse(headers={"HX-Redirect": url})
    return HttpResponseRedirect(url)


def toast(response: HttpResponse, sentence: str) -> HttpResponse:
    """Have the page show one short sentence after the swap (static/js/desk.js listens for it)."""
    response.headers["HX-Trigger"] = json.dumps({"desk:toast": {"text": sentence}})
    return response
