"""What a page was made of goes when the page is answered, and does not wait for Python to look for rings."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db.models import Model
from django.http import HttpRequest
from django.template import engines
from django.test import Client, RequestFactory
from django.urls import reverse

from copytrade.models import Trader
from dashboard.page_templates import Page

pytestmark = pytest.mark.django_db


@contextmanager
def rings() -> Iterator[Counter[str]]:
    """What only the collector would take away of all that was made inside, by type."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        found.update(kind.__name__ for kind in map(type, gc.garbage) if _of_a_page(kind))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _of_a_page(kind: type) -> bool:
    """By its type alone: a lazy value that is asked what it is wakes up."""
    return issubclass(kind, Model) or kind.__module__.startswith(("dashboard.charts", "copytrade.statistics"))


@pytest.mark.parametrize("name", ["trader", "overview", "traders"])
def test_no_row_and_no_figure_of_a_page_is_left_behind(name: str, client: Client, trader: Trader) -> None:
    address = reverse(name, args=[trader.pk] if name == "trader" else [])
    client.get(address)  # what is made once stays
    with rings() as left:
        # Not client.get: it keeps a copy of all contexts for the test.
        answer = client.handler(client._base_environ(PATH_INFO=address, REQUEST_METHOD="GET"))
        assert answer.status_code == 200 and trader.name in answer.content.decode()
        del answer
    assert set(left) <= {"User", "TraderNote"}, "the request and a form are rings: a person, an empty note"


def test_a_page_is_made_as_often_as_asked(rf: RequestFactory) -> None:
    page = engines["django"].from_string("{% for one in many %}{{ one }}{% endfor %}")
    assert isinstance(page, Page)
    request: HttpRequest = rf.get("/")
    assert [page.render({"many": "ab"}, request), page.render({"many": "cd"})] == ["ab", "cd"]
