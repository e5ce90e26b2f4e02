"""De-risk: limits lowered for several traders at once, which neither closes nor stops anything."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from copytrade.models import ChangeGroup, Trader
from tests.support.template_pages import text_of

pytestmark = pytest.mark.django_db


# De-risk


def test_derisking_says_that_it_closes_and_stops_nothing(client: Client, traders: list[Trader]) -> None:
    url = f"{reverse('template_apply')}?preset=derisk"
    assert "This neither closes nor stops anything." in text_of(client.get(url))
    answer = client.post(
        url, {"traders": [t.pk for t in traders], "size": "50", "leverage": "5", "stop_loss": "20"}
    )
    review = text_of(client.get(answer.headers["Location"]))
    assert "Size of each copy 100 USDT 50 USDT" in review
    assert "Long leverage 20x 5x" in review and "Short leverage" not in review
    assert "Stop loss 40 % of margin 20 % of margin" in review
    assert "nothing here closes or stops a copy" in review


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("size", "0"), ("size", "101"), ("size", "1,5"), ("size", "NaN"), ("leverage", "0"), ("leverage", "2.5"),
        ("leverage", "9" * 40), ("leverage", "٣"), ("stop_loss", "401"), ("stop_loss", "-1"), ("stop_loss", "1e400"),
    ],
)  # fmt: skip
def test_a_wrong_limit_is_told_beside_its_field_and_kept(
    client: Client, traders: list[Trader], field: str, value: str
) -> None:
    url = f"{reverse('template_apply')}?preset=derisk"
    answer = client.post(url, {"traders": [traders[0].pk], field: value})
    html = answer.content.decode()
    assert answer.status_code == 422 and f'id="id_{field}_error"' in html
    assert f'value="{value}"' in html and f'value="{traders[0].pk}" checked' in html
    assert not ChangeGroup.objects.exists()


def test_nothing_to_lower_is_told(client: Client, traders: list[Trader]) -> None:
    answer = client.post(f"{reverse('template_apply')}?preset=derisk", {"traders": [traders[0].pk]})
    assert answer.status_code == 422 and "Choose at least one thing to lower." in text_of(answer)
