"""The environment of templates/jinja2: the pages that are asked for most, and tables, tiles and lists of the others.

Most pages are Django's templates, and their frame is templates/base.html. What is long in them is written in Jinja,
which makes Python of it and takes a fraction of the time; `{% jinja "traders/table.jinja" %}` puts such a part in.
Pages that are Jinja's as a whole stand in frame/page.jinja, which is made of the same parts. Filters are the same
functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, MutableMapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from django.template import defaultfilters, engines
from django.templatetags.static import static
from django.urls import get_script_prefix, reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import template_localtime
from jinja2 import Environment, nodes, pass_context
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context
from markupsafe import Markup, escape

from .context import Group
from .folding import folded
from .templatetags import desk, figures, notices, trader

# Most texts have nothing to escape, and looking takes a third of the time.
_SPECIAL = re.compile("[&<>\"']").search
# Jinja's own of the same name do other things, or there is none.
DJANGO = (
    "capfirst",
    "floatformat",
    "linebreaksbr",
    "pluralize",
    "slugify",
    "stringformat",
    "truncatechars",
    "urlencode",
)


class Writer(CodeGenerator):
    """Jinja's, but what is safe already, and a number, are written as they are: of a part's thousand values most are
    one or the other, and looking for something to escape in them took longer than making them. And a template, or a
    block of one, hands its text over in one piece: each of a page's two thousand went through all templates around it.
    """

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        whole = frame.parent is None and frame.buffer is None
        if whole:
            frame.buffer = self.temporary_identifier()
            self.writeline(f"{frame.buffer} = []")
        super().blockvisit(nodes, frame)
        if whole:
            self.writeline(f"yield concat({frame.buffer})")
            frame.buffer = None

    def _output_child_pre(
        self, node: nodes.Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo
    ) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape or finalize.src is not None:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.written(")


def written(value: Any) -> str:
    """A value as a template writes it: escaped, unless it is safe."""
    kind = type(value)
    if kind is SafeString or kind is Markup:
        return value
    if kind is str:
        return escape(value) if _SPECIAL(value) else value
    if kind is int or kind is float:
        return str(value)
    if isinstance(value, Promise):
        return written(str(value))  # a lazy text is safe where what it comes to is
    return escape(value)


class Desk(Environment):
    """Jinja's, where no template has globals of its own: a part is given them as they are, and not layer by layer."""

    code_generator_class = Writer
    written = staticmethod(written)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return super().make_globals(d) if d else self.globals


def environment(**options: Any) -> Environment:
    """What settings.TEMPLATES names: Jinja with the desk's filters, and the tags that parts need as functions."""
    made = Desk(**options, trim_blocks=True, lstrip_blocks=True)
    for library in (desk, figures, trader):
        made.filters |= library.register.filters
    made.filters |= {name: getattr(defaultfilters, name) for name in DJANGO} | {"date": _date}
    made.globals |= {
        "url": url,
        "static": static,
        "what": _of_the_request(desk.explanation),
        "query": _of_the_request(desk.query_of),
        "csrf": _csrf,
        "field": desk.field,
        "fresh": desk.fresh,
        "fold": _fold,
        "places": places,
        "told_by": _told_by,
    }
    return made


def url(name: str, *arguments: Any) -> str:
    """As Django's tag of that name."""
    return _reversed(get_script_prefix(), name, arguments)


@lru_cache(8192)
def _reversed(prefix: str, name: str, arguments: tuple[Any, ...]) -> str:
    """A list has two links a row, and shows the same rows again and again."""
    return reverse(name, args=arguments)


def places(part: str, nav: Iterable[Group], alerts: int, issues: int) -> Markup:
    """The list of the desk's places, as `part` writes it. It hangs on these values alone, which are the same at most
    views, so it is written once for each."""
    return _places(part, tuple(nav), alerts + 0, issues + 0)  # numbers: a lazy one would keep its request


@lru_cache(512)
def _places(part: str, nav: tuple[Group, ...], alerts: int, issues: int) -> Markup:
    written = engines["jinja2"].env.get_template(part)
    return Markup(written.render(nav=nav, alerts_waiting=alerts, issues_open=issues))  # noqa: S704 (it escapes)


def _date(value: date | datetime | None, form: str) -> str:
    """As Django's filter of that name: a time is told in the person's zone."""
    return defaultfilters.date(template_localtime(value), form)


def _of_the_request(function: Callable[..., str]) -> Callable[..., str]:
    """A function of a request, called without one from a part."""

    @pass_context
    def called(context: Context, *arguments: Any, **named: Any) -> str:
        return function(context["request"], *arguments, **named)

    return called


@pass_context
def _csrf(context: Context) -> SafeString:
    """As Django's tag csrf_token, which gives all forms of a page one token, too."""
    return format_html('<input type="hidden" name="csrfmiddlewaretoken" value="{}">', context["csrf_token"])


@pass_context
def _told_by(context: Context) -> dict[str, Any]:
    return notices.told_by(context)


@pass_context
def _fold(context: Context, name: str, words: str, caller: Callable[[], str]) -> SafeString:
    return folded(context, name, words, caller)
