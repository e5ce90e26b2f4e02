"""Hostile names in what the desk tells outside of itself: letters, webhooks, messengers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from copytrade.models import Account, Alert, Channel, Delivery, Trader
from copytrade.notices import letters, words
from tests.support import hostile_texts
from tests.support.hostile_texts import MARK
from tests.support.skeleton import skeleton

pytestmark = pytest.mark.django_db
SAMPLE = [text for text in hostile_texts.texts() if len(text) <= 2000][::5]


@pytest.fixture
def told(account: Account, hook: Channel, tell_alice: Callable[..., Alert]) -> Callable[[str, int], Delivery]:
    """told("<b>", 1) is the delivery of an alert about a trader of that name."""

    def make(name: str, number: int) -> Delivery:
        trader = Trader.objects.create(account=account, trader_id=number, name="")
        trader.name = name.replace("\x00", "").encode("utf-8", "replace").decode()[:200]
        trader.save()
        alert = tell_alice(number, trader=trader, sentence=f"{trader} closed BTCUSDT.")
        return Delivery.objects.create(
            channel=hook, alert=alert, said_at=alert.created_at, due_at=alert.created_at
        )

    return make


def test_no_name_becomes_a_part_of_a_letter(told: Callable[[str, int], Delivery], account: Account) -> None:
    harmless = letters.letter(account.owner, [told("Northwind", 9_000)])
    known = skeleton(str(harmless.alternatives[0][0])).elements.keys()
    marked = 0
    for number, name in enumerate(SAMPLE):
        letter = letters.letter(account.owner, [told(name, number)])
        html = skeleton(str(letter.alternatives[0][0]))
        assert not html.strange(MARK) and html.elements.keys() <= known, name
        whole = letter.message()
        assert set(whole.keys()) == set(harmless.message().keys()), f"{name!r} became a header"
        assert "\n" not in letter.subject and whole.as_bytes()
        marked += MARK in str(letter.alternatives[0][0])
    assert marked > len(SAMPLE) // 2, "the names are in the letters, or this proves nothing"


def test_a_webhooks_body_is_json_that_says_the_name_exactly(told: Callable[[str, int], Delivery]) -> None:
    for number, name in enumerate(SAMPLE):
        row = told(name, number)
        body = json.loads(words.payload(row))
        assert row.alert is not None
        assert body["sentence"] == row.alert.sentence and body["trader_id"] == str(number)
        assert set(body) == {
            "id", "kind", "sentence", "account", "trader", "trader_id", "count", "at", "link",
        }  # fmt: skip


def test_a_messengers_link_is_the_desks_own(told: Callable[[str, int], Delivery]) -> None:
    for number, name in enumerate(SAMPLE):
        row = told(name, number)
        title, text = words.short(row)
        assert "\n" not in title
        assert text.splitlines()[-1].startswith(f"{words.of(row).link_words}: {words.of(row).link}"), name
