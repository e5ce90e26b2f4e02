"""Django's engine for pages, whose contexts go when the page is made."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.template.backends import django as engine
from django.template.context import make_context
from django.utils.safestring import SafeString


class Pages(engine.DjangoTemplates):
    """What settings.TEMPLATES names."""

    def get_template(self, template_name: str) -> Page:
        return Page(super().get_template(template_name).template, self)

    def from_string(self, template_code: str) -> Page:
        return Page(super().from_string(template_code).template, self)


class Page(engine.Template):
    """Django's context knows its layers, and the layer of a page's values knows its context: a ring, in which all that
    a page was made of stays until Python looks for rings, and that takes longer than to make a small page."""

    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        made = make_context(context, request, autoescape=self.backend.engine.autoescape)
        try:
            return self.template.render(made)
        except engine.TemplateDoesNotExist as error:
            engine.reraise(error, self.backend)
        finally:
            made.dicts = []
