"""Every address of the desk, read from the resolver: its parameters, and the methods that its view answers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse

PARAMETER = re.compile(r"<(?:(?P<kind>\w+):)?(?P<name>\w+)>")
NAMED_GROUP = re.compile(r"\(\?P<(\w+)>(?:[^()\[\]]|\[[^\]]*\])*\)")


@dataclass(frozen=True)
class Address:
    """A named address. `methods`: what the view's guard lets in, None when it has no guard of its own."""

    name: str
    route: str
    view: Callable[..., Any]
    methods: frozenset[str] | None

    @property
    def ours(self) -> bool:
        return self.view.__module__.startswith("dashboard.")

    @property
    def parameters(self) -> dict[str, str]:
        """{name: what stands before it in the route}, with earlier parameters as `*`: "traders/*/notes/"."""
        found, before, at = {}, "", 0
        for match in PARAMETER.finditer(self.route):
            before += self.route[at : match.start()]
            found[match["name"]] = before
            before, at = before + "*", match.end()
        return found

    def at(self, values: Mapping[str, object]) -> str:
        return reverse(self.name, kwargs=dict(values))

    def answers(self, method: str) -> bool:
        return self.methods is None or method in self.methods


def addresses() -> list[Address]:
    """All of them, ours and the sign-in package's."""
    return list(_walk(get_resolver(), ""))


def _walk(resolver: URLResolver, before: str) -> Iterator[Address]:
    for pattern in resolver.url_patterns:
        route = before + NAMED_GROUP.sub(r"<\1>", str(pattern.pattern)).strip("^$")
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern, route)
        elif isinstance(pattern, URLPattern):
            view = pattern.callback
            yield Address(str(pattern.name or route), route, view, _guard(view))


def _guard(view: Any) -> frozenset[str] | None:
    """The methods of require_http_methods, wherever it stands among the view's decorators."""
    while view is not None:
        kept = inspect.getclosurevars(view).nonlocals if inspect.isfunction(view) else {}
        if "request_method_list" in kept:
            return frozenset(kept["request_method_list"])
        view = getattr(view, "__wrapped__", None)
    return None
