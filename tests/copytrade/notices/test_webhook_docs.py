"""docs/webhooks.md: its program believes what the desk sends and nothing else, and its tables say what is so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from copytrade.notices import sending, services, signing

TEXT = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text()
NOW = 1_795_000_000
BODY = json.dumps({"id": "one", "sentence": "Größer als 1 234"}, ensure_ascii=False).encode()


@pytest.fixture
def verified() -> Callable[..., Any]:
    """The function of the document, as somebody would paste it."""
    (program,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    names: dict[str, Any] = {}
    exec(program, names)
    return names["verified"]


def test_it_believes_the_desk_once(verified: Callable[..., Any]) -> None:
    secret, seen = signing.new_secret(), set()
    headers = signing.headers(secret, NOW, BODY, "one")
    assert verified(secret, headers, BODY, seen, now=NOW + 5) == json.loads(BODY)
    assert verified(secret, headers, BODY, seen, now=NOW + 6) is None, "a repeat"


@pytest.mark.parametrize(
    "case", ["another secret", "another body", "another time", "cut", "old", "from the future"]
)
def test_it_believes_nothing_else(verified: Callable[..., Any], case: str) -> None:
    secret = signing.new_secret()
    headers, body, now = signing.headers(secret, NOW, BODY, "one"), BODY, NOW
    if case == "another secret":
        secret = signing.new_secret()
    elif case == "another body":
        body = BODY.replace(b"one", b"two")
    elif case == "another time":
        headers[signing.TIMESTAMP] = str(NOW + 1)
    elif case == "cut":
        headers[signing.SIGNATURE] = headers[signing.SIGNATURE][:-1]
    else:
        now = NOW + 301 if case == "old" else NOW - 301
    with pytest.raises(ValueError):
        verified(secret, headers, body, set(), now=now)


def test_secrets_are_long_and_never_the_same() -> None:
    made = {signing.new_secret() for _ in range(50)}
    assert len(made) == 50 and all(re.fullmatch(r"cdwh_[\w-]{43}", one) for one in made)


def test_the_table_of_services_is_the_list() -> None:
    rows = re.findall(r"^\| ([^|]+?) \| `(\w+)://` \| (.+?) \|$", TEXT, re.M)
    told = {schema: set(re.findall(r"`([^`]+)`", hosts)) for _, schema, hosts in rows}
    assert told == {schema: set(service.hosts) for schema, service in services.SERVICES.items()}


def test_the_pauses_are_those_that_are_told() -> None:
    assert "after 1, 5, 15 and 60 minutes and 3, 6 and 12 hours" in TEXT
    assert sending.PAUSES == (1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60)
    assert "after the eighth failure" in TEXT and len(sending.PAUSES) == 7
    assert "after twelve failures" in TEXT and sending.OFF_AFTER == 12
    assert f"after {sending.LEASE.seconds} seconds" in TEXT
