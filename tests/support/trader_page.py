"""A trader's page in tests: its sums as the desk keeps them, the page or a part of it, and what a person reads."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from copytrade import rollups
from copytrade.models import Trader
from tests.support.page_text import text


def summed(trader: Trader) -> Trader:
    """What the desk does within seconds of a reading: the sums and summaries that the page reads."""
    rollups.rebuild(trader.account)
    rollups.summarise(Trader.objects.filter(account=trader.account).values_list("pk", flat=True))
    trader.refresh_from_db()
    return trader


def page_of(client: Client, trader: Trader, query: str = "", **more: Any) -> str:
    response = client.get(reverse("trader", args=[trader.pk]) + query, **more)
    assert response.status_code == 200
    return response.content.decode()


def part_of(client: Client, trader: Trader, query: str = "") -> str:
    return page_of(client, trader, query, headers={"HX-Request": "true", "HX-Target": "figures"})


def section(html: str, identity: str) -> str:
    """What a person reads of one section, by the id of its heading."""
    start = html.index(f'aria-labelledby="{identity}"')
    return text("<" + html[start : html.index("</section>", start)])


def without_definitions(html: str) -> str:
    """The page's text without the sentences that open by a press."""
    html = re.sub(r'<button type="button" class="what".*?</button>', "", html, flags=re.DOTALL)
    html = re.sub(r'<span class="what-says".*?</span>', "", html, flags=re.DOTALL).replace("&nbsp;", "")
    return re.sub(r" ([,;:])", r"\1", text(html))
