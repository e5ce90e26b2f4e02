"""What a channel is given to tell: the same facts as a letter, as a short text, or as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC

from django.conf import settings
from django.urls import reverse

from copytrade.alerts import cure
from copytrade.models import Alert, Delivery

AGAIN = "Sent again: it is not known whether the first one arrived."
TEST = "This is a test of your channel. Nothing has happened."


@dataclass(frozen=True)
class Told:
    """One alert in words. `link`: the whole address of the page that cures it, `link_words` what to do there."""

    title: str
    sentence: str
    link: str
    link_words: str


def told(alert: Alert) -> Told:
    path, words = cure(alert)
    return Told(alert.get_kind_display(), alert.sentence, address(path), words)


def address(path: str) -> str:
    return f"{settings.SITE_URL}{path}"


def of(delivery: Delivery) -> Told:
    """What one delivery tells; a test tells that it is one."""
    if delivery.alert is not None:
        return told(delivery.alert)
    return Told("test", TEST, address(reverse("channels")), "See your channels")


def short(delivery: Delivery, *, again: bool = False) -> tuple[str, str]:
    """(title, text) for a messenger."""
    one = of(delivery)
    lines = [one.sentence, f"{one.link_words}: {one.link}", *([AGAIN] if again else [])]
    return f"Copydesk: {one.title}", "\n".join(lines)


def payload(delivery: Delivery) -> bytes:
    """The body of a webhook (docs/webhooks.md). `id` is the same for every repeat; ids of traders are texts."""
    one, alert = of(delivery), delivery.alert
    account = alert.account if alert is not None else None
    trader = alert.trader if alert is not None else None
    at = alert.created_at if alert is not None else delivery.created_at
    body = {
        "id": str(delivery.key),
        "kind": alert.kind if alert is not None else "test",
        "sentence": one.sentence,
        "account": account.label if account is not None else None,
        "trader": str(trader) if trader is not None else None,
        "trader_id": str(trader.trader_id) if trader is not None else None,
        "count": alert.times if alert is not None else 1,
        "at": at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "link": one.link,
    }
    return json.dumps(body, ensure_ascii=False).encode()
