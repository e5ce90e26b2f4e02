"""What a page was made of goes when the page is answered, and does not wait for Python to look for rings."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db.models import Model
from django.http import HttpRequest
from django.template import engines
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils.module_loading import import_string

from copytrade.models import Trader
from dashboard.page_templates import Page
from tests.support.ledger_rows import trader_of

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


@pytest.mark.parametrize("query", ["", "?period=range&from=2026-01-01&to=2026-01-31"])
@pytest.mark.parametrize("after", ["dashboard.access.trader_and_jobs", "dashboard.views.trader._report"])
def test_a_trader_who_is_removed_while_his_page_is_made_is_not_there(
    client: Client, trader: Trader, monkeypatch: pytest.MonkeyPatch, query: str, after: str
) -> None:
    monkeypatch.setattr(after, removing_after(import_string(after)))
    assert client.get(reverse("trader", args=[trader.pk]) + query).status_code == 404


def test_a_trader_who_is_removed_while_he_is_compared_is_not_there(
    client: Client, trader: Trader, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = trader_of(trader.account, 77, "Another")
    compared = "dashboard.views.compare._wrong_number"
    monkeypatch.setattr(compared, removing_after(import_string(compared)))
    pair = f"?trader={trader.pk}&trader={other.pk}"
    assert client.get(reverse("compare") + pair).status_code == 404


def removing_after(step: Callable[..., Any]) -> Callable[..., Any]:
    def called(*arguments: Any, **named: Any) -> Any:
        found = step(*arguments, **named)
        Trader.objects.all().delete()
        return found

    return called
