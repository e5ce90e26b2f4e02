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
    """The named partial of `template` when htmx asks, the whole page otherwise. One URL, one view, one template."""
    name = f"{template}#{partial}" if wants_part(request) else template
    response = render_page(request, name, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def part(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """A template that the page includes, alone: what was folded away until somebody opened it."""
    response = render_page(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


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
