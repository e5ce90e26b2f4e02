"""The spot pages in tests: their addresses and words, and an order filled in, reviewed and sent as by a person."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.test import Client
from django.urls import reverse

from copytrade.models import Account, SpotTicket
from copytrade.spot import sending, tickets

GOOD = {
    "symbol": "BTCUSDT", "o1-side": "BUY", "o1-type": "LIMIT", "o1-quantity": "0.001", "o1-price": "1000",
    "o1-time_in_force": "GTC",
}  # fmt: skip


def url(account: Account, name: str = "spot_account", ticket: SpotTicket | None = None) -> str:
    return reverse(name, args=[account.pk, *([ticket.key] if ticket else [])])


def page(answer: Any) -> str:
    return unescape(answer.content.decode()).replace("\u202f", " ")


def field(html: str, name: str) -> str:
    """What stands around the input of this name."""
    found = re.search(
        rf'<div class="field[^"]*" id="field-{name}">.*?</div>\s*</div>|id="field-{name}">.*?</div>',
        html,
        re.S,
    )
    assert found, name
    return found[0]


def review(client: Client, account: Account, name: str = "spot_account", **typed: str) -> Any:
    return client.post(
        url(account, name), GOOD | {key.replace("__", "-"): value for key, value in typed.items()}
    )


def press(client: Client, ticket: SpotTicket, **more: str) -> Any:
    """Send the reviewed ticket as a browser would."""
    fields = {"key": str(ticket.key), "seen": tickets.mark(ticket)} | more
    return client.post(url(ticket.account, "spot_ticket", ticket), fields, follow=True)


def send(client: Client, ticket: SpotTicket) -> Any:
    """Press, let the worker do its part, and look again."""
    assert press(client, ticket).status_code == 200
    sending.proceed(ticket.pk)
    return client.get(url(ticket.account, "spot_ticket", ticket))
