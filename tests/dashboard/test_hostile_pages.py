"""500 hostile texts in every text of the exchange, stored by the real readings, on every page and in every file.

alice's exchange tells them; bob's tells harmless ones, else the same. Her pages may hold no kind of element or
attribute that his do not: nothing in a text became an element, an attribute, a handler or an address. Pages come from
the resolver, their rows from tests/support/whole_world.py: a new page joins by itself.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import product

import pytest
import redis
from django.conf import settings
from django.db import transaction
from django.test import Client, override_settings

from copytrade.models import Account, SyncRun, TrackingOrder, Trader, User
from copytrade.sync import run
from tests.support import hostile_texts, telling
from tests.support.addresses import Address, addresses
from tests.support.hostile_texts import MARK
from tests.support.hostile_world import READINGS, read_all
from tests.support.signed_in import signed_in
from tests.support.skeleton import skeleton
from tests.support.telling import Telling
from tests.support.whole_world import NAMED_BY, OWNED, names_of, words_of

pytestmark = pytest.mark.django_db

GETTABLE = [address for address in addresses() if address.ours and address.answers("GET")]
PAGES = [page for page in GETTABLE if "form" not in page.parameters]
FILES = [page for page in GETTABLE if "form" in page.parameters]
FEW = 6  # the connections, of which each has other readings
SAMPLED = 3  # of the rows of a kind, spread over all of them
# No pages: for machines, at the door, or files of another kind.
NOT_PAGES = {"healthz", "metrics", "join", "setup", "settings_export", "template_export"}
ACTIVE = re.compile(r"[<>\"'&]")
NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")
# What a spreadsheet takes for the beginning of a formula, also after blanks that it drops and in full width.
FORMULA = re.compile(r"[\s\u200b-\u200f\u2060\ufeff\x00-\x20]*[=+\-@|%\uff1d\uff0b\uff0d\uff20]")


class Two:
    """alice with her hostile exchange, bob with his harmless one, and a browser of each."""

    def __init__(self, exchange: Telling) -> None:
        self.exchange = exchange
        make = User.objects.create_user
        self.alice = make("hostile-alice", "ha@example.com", "alice-password-of-20")
        self.bob = make("harmless-bob", "hb@example.com", "bobs-password-of-20")
        done = {label: dict.fromkeys(kinds, "") for label, kinds in READINGS.items()}
        assert read_all(self.alice, exchange, hostile_texts.texts()) == done
        assert read_all(self.bob, exchange, hostile_texts.twins()) == done


@pytest.fixture(scope="module")
def two(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[Two]:
    """Read once for all tests of this module, and taken back after them."""
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    with telling.telling() as exchange, django_db_blocker.unblock():  # type: ignore[attr-defined]
        venue = settings.VENUES["sandbox"] | {"spot": exchange.root, "contract": exchange.root}
        whole = transaction.atomic()
        whole._from_testcase = True  # type: ignore[attr-defined]
        with override_settings(VENUES=settings.VENUES | {"sandbox": venue}), whole:
            yield Two(exchange)
            transaction.set_rollback(True)


def spread(names: list[object]) -> list[object]:
    """Some of many, from the first to the last; a few are all looked at."""
    return names if len(names) <= FEW else names[:: max(1, len(names) // SAMPLED)][: SAMPLED + 1]


def places(user: User, kinds_of_page: list[Address]) -> Iterator[tuple[str, str]]:
    """(name, address) of every page, with some rows of every kind that this person has."""
    for page in kinds_of_page:
        kinds = {name: NAMED_BY[before] for name, before in page.parameters.items() if before in NAMED_BY}
        if page.name in NOT_PAGES or not kinds.items() <= {(n, k) for n, k in kinds.items() if k in OWNED}:
            continue
        words = [[(n, word) for word in words_of(page, n)] for n in page.parameters if n not in kinds]
        rows = [[(n, row) for row in spread(names_of(user, kind))] for n, kind in kinds.items()]
        yield from ((page.name, page.at(dict(chosen))) for chosen in product(*words, *rows))


def pages(user: User, client: Client) -> Iterator[tuple[str, str, str]]:
    """(name, address, HTML) of every page of a person."""
    for name, address in places(user, PAGES):
        answer = client.get(address)
        assert answer.status_code < 500, address
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            yield name, address, answer.content.decode()


def cannot_stand_as_it_came(text: str) -> bool:
    """Texts that a page can only hold escaped. One with &quot; may come of another's quotation mark."""
    return bool(ACTIVE.search(text)) and len(MARK) + 5 < len(text) < 500 and "&quot;" not in text


def test_no_text_of_the_exchange_becomes_a_part_of_any_page(two: Two) -> None:
    known: set[object] = set()
    for _, _, html in pages(two.bob, signed_in(two.bob)):
        known |= skeleton(html).elements.keys()
    raw = [text for text in hostile_texts.texts() if cannot_stand_as_it_came(text)]
    problems: list[str] = []
    shown: dict[str, int] = {}
    for name, address, html in pages(two.alice, signed_in(two.alice)):
        found = skeleton(html)
        problems += [f"{name} ({address}): {place}" for place in found.strange(MARK)]
        problems += [f"{name} ({address}): a new {new}" for new in found.elements.keys() - known]
        problems += [f"{name} ({address}): as it came: {text[:60]!r}" for text in raw if text in html]
        assert len(html) < 3_000_000, f"{name} ({address}): a text of a megabyte is shortened"
        shown[name] = shown.get(name, 0) + html.count(MARK)
    assert problems == []
    assert sum(shown.values()) > 2000, "the texts are on the pages, or this proves nothing"
    telling_pages = (
        "traders",
        "open_orders",
        "history",
        "order",
        "trader",
        "exchange_account",
        "bills",
        "affiliate_reports",
        "spot_account",
        "spot_ticket",
    )
    assert not [name for name in telling_pages if not shown[name]]


def files(user: User, form: str) -> Iterator[tuple[str, str]]:
    """(address, text) of every file of this form that a person can save."""
    client = signed_in(user)
    for name, address in places(user, FILES):
        if address.endswith(f".{form}"):
            answer = client.get(address)
            assert answer.status_code in {200, 302, 404}, (name, address)
            if answer.status_code == 200:
                yield address, b"".join(answer.streaming_content).decode("utf-8-sig")


def test_no_cell_of_any_file_begins_as_a_formula(two: Two) -> None:
    cells = 0
    csv.field_size_limit(4_000_000)  # one text is a megabyte, and a file leaves nothing out
    for address, text in files(two.alice, "csv"):
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert {len(row) for row in rows} == {len(rows[0])}, f"{address}: a text became cells of its own"
        for cell in (cell for row in rows[1:] for cell in row):
            assert not FORMULA.match(cell) or NUMBER.match(cell), f"{address}: {cell[:80]!r}"
            assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]", cell), address
            cells += MARK in cell
    assert cells > 1000, "the texts are in the files, or this proves nothing"


def test_every_line_of_a_json_file_is_read_back_exactly(two: Two) -> None:
    stored = dict(TrackingOrder.objects.filter(account__owner=two.alice).values_list("tracking_no", "symbol"))
    seen = 0
    for address, text in files(two.alice, "jsonl"):
        assert text.endswith("\n") or not text, address
        for line in text.split("\n")[:-1]:
            row = json.loads(line)
            if address.startswith("/orders/"):
                assert row["symbol"] == stored[int(row["tracking_no"])], address
                seen += 1
    assert seen == len(stored)


def test_no_words_of_a_refusal_become_a_part_of_a_page_or_of_the_log(
    two: Two, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The message of a refused call is the exchange's text, too: kept with the reading, shown, logged."""
    account = Account.objects.filter(owner=two.alice, label="Copies").get()
    client = signed_in(two.alice)
    for text in hostile_texts.texts()[::12]:
        two.exchange.tell.clear()
        two.exchange.tell["my_traders"] = lambda _, text=text: {"code": -1140, "msg": text}
        run.sync_account(account.pk, ["traders"])
        for address in ("/activity/", f"/connections/{account.pk}/"):
            html = client.get(address).content.decode()
            assert not skeleton(html).strange(MARK)
            assert not (cannot_stand_as_it_came(text) and text in html), text
    assert SyncRun.objects.filter(account=account, error_code="-1140").exists()
    written = capfd.readouterr().err + "".join(record.getMessage() for record in caplog.records)
    assert not re.search(
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", written
    )
    assert not re.search(r"^(Set-Cookie|ERROR forged)", written, re.MULTILINE)


def test_a_text_is_kept_as_it_came_as_far_as_it_can_be(two: Two) -> None:
    """Nothing is lost or changed on the way but what cannot be stored: NUL, and half of a surrogate pair."""
    names = set(Trader.objects.filter(account__owner=two.alice).values_list("name", flat=True))
    kept = [t for t in hostile_texts.texts() if len(t) <= 200 and not re.search("[\x00\ud800-\udfff]", t)]
    assert len(kept) > 400
    assert {text for text in kept if text not in names} <= {""}
