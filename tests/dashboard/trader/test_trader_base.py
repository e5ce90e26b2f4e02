"""One's own base: what ROI is measured on, entered on a trader's page by its owner alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from copytrade.models import Trader, User
from tests.support.trader_page import page_of, without_definitions

pytestmark = pytest.mark.django_db


# --- one's own base ---


def test_an_own_base_is_what_roi_is_measured_on_and_its_label_says_so(client: Client, trader: Trader) -> None:
    address = reverse("trader_capital", args=[trader.pk])
    assert client.post(address, {"capital": "400"}).status_code == 302
    page = without_definitions(page_of(client, trader, "?period=all"))
    assert "ROI on your capital +4.5 % of 400.00" in page
    assert Trader.objects.get(pk=trader.pk).summaries_stale_since is None, "no figure waits for its base"
    client.post(address, {"capital": ""})
    assert Trader.objects.get(pk=trader.pk).capital_base is None
    assert "ROI on invested +1.8 % of 1 000.00" in without_definitions(page_of(client, trader, "?period=all"))


@pytest.mark.parametrize("typed", ["0", "-5", "1,5", "lots", "NaN", "1e99", "Infinity", "1_000"])
def test_a_base_that_is_no_amount_is_refused_with_what_was_typed(
    client: Client, trader: Trader, typed: str
) -> None:
    response = client.post(reverse("trader_capital", args=[trader.pk]), {"capital": typed})
    assert response.status_code == 422 and f'value="{typed}"' in response.content.decode()
    assert Trader.objects.get(pk=trader.pk).capital_base is None


def test_nobody_else_sets_the_base(
    client: Client, trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    address = reverse("trader_capital", args=[trader.pk])
    assert client_of(charlie).post(address, {"capital": "1"}).status_code == 404
    assert Client().post(address, {"capital": "1"}).status_code == 302
    assert client.get(address).status_code == 405
    assert Trader.objects.get(pk=trader.pk).capital_base is None
