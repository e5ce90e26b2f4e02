"""Egress addresses: who is pinned to which, how they are written in the environment, and what is told of them."""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from copytrade import egress
from copytrade.exchange.connections import Way
from dashboard import environment as env

NAMES = st.lists(
    st.text("abcdefghij0123456789-", min_size=1, max_size=12), min_size=1, max_size=9, unique=True
)
ACCOUNTS = range(1, 3_001)
PROXY = "http://desk:open%20sesame@proxy.internal:3128"


def pinned(names: list[str]) -> dict[int, str]:
    return {account: egress.pick(account, names) for account in ACCOUNTS}


# --- pinning ---


@given(NAMES, st.text("klmnop", min_size=1, max_size=12))
def test_a_new_address_takes_its_share_of_accounts_and_moves_no_other(names: list[str], new: str) -> None:
    before, after = pinned(names), pinned([*names, new])
    moved = [account for account in ACCOUNTS if before[account] != after[account]]
    assert all(after[account] == new for account in moved)
    fair = len(ACCOUNTS) / (len(names) + 1)
    assert 0.7 * fair < len(moved) < 1.3 * fair


@given(NAMES.filter(lambda names: len(names) > 1))
def test_a_removed_address_moves_only_its_own_accounts(names: list[str]) -> None:
    before, after = pinned(names), pinned(names[1:])
    assert all(after[account] == before[account] for account in ACCOUNTS if before[account] != names[0])
    assert names[0] not in after.values()


@given(NAMES.flatmap(lambda names: st.tuples(st.just(names), st.permutations(names))))
def test_the_order_in_which_addresses_are_written_does_not_matter(
    orders: tuple[list[str], list[str]],
) -> None:
    assert pinned(orders[0]) == pinned(orders[1])


def test_accounts_spread_evenly_and_every_process_agrees() -> None:
    names = [f"address-{n}" for n in range(8)]
    shares = Counter(egress.pick(account, names) for account in range(1, 20_001))
    assert set(shares) == set(names)
    assert all(2_250 < share < 2_750 for share in shares.values())
    # Written down: were the hash to change, every account's allow-list would be wrong at once.
    assert [egress.pick(account, ["a", "b", "c"]) for account in range(1, 13)] == PINNED_ABC


PINNED_ABC = ["c", "c", "b", "c", "a", "b", "b", "a", "c", "c", "c", "c"]


def test_without_configuration_all_accounts_share_the_default(settings: object) -> None:
    assert egress.names() == ["default"]
    assert {egress.of(account) for account in range(50)} == {"default"}
    assert egress.way("default") == Way("default")


# --- as it is written ---


def read(monkeypatch: pytest.MonkeyPatch, value: str | None) -> dict[str, dict[str, str]]:
    if value is None:
        monkeypatch.delenv("SOME_EGRESS", raising=False)
    else:
        monkeypatch.setenv("SOME_EGRESS", value)
    return env.egress("SOME_EGRESS")


@pytest.mark.parametrize("value", [None, "", " , "])
def test_unset_means_one_called_default(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    assert read(monkeypatch, value) == {"default": {}}


def test_sources_and_proxies_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    value = f"a=source:127.0.0.2, b=source:2001:db8::1 ,c=proxy:{PROXY}/,main=direct"
    assert read(monkeypatch, value) == {
        "a": {"source": "127.0.0.2"},
        "b": {"source": "2001:db8::1"},
        "c": {"proxy": PROXY},
        "main": {},
    }


@pytest.mark.parametrize(
    "value",
    [
        "a", "a=", "=direct", "A=direct", "a b=direct", "-a=direct", "a=direct:x", f"{'a' * 65}=direct",
        "a=direct,a=source:127.0.0.2", "a=source:", "a=source:host", "a=source:127.0.0.1.2", "a=source:0.0.0.0",
        "a=source:224.0.0.1", "a=source:127.0.0.2/24", "a=proxy:", "a=proxy:proxy:3128", "a=proxy:http://proxy",
        "a=proxy:https://proxy:3128", "a=proxy:socks5://proxy:1080", "a=proxy:http://proxy:0",
        "a=proxy:http://proxy:99999", "a=proxy:http://proxy:3128/path", "a=proxy:http://proxy:3128?x=1",
        "a=proxy:http://:hidden-word@proxy:3128", "a=proxy:http://us er:hidden-word@proxy:3128", "a=elsewhere:1",
        "a=proxy:ftp://user:hidden-word@proxy:3128",
        "a=source:127.0.0.2,b=source:127.0.0.2", "a=direct,b=direct", f"a=proxy:{PROXY},b=proxy:{PROXY}/",
    ],
)  # fmt: skip
def test_what_is_not_an_address_stops_the_start_without_repeating_a_password(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match="SOME_EGRESS") as error:
        read(monkeypatch, value)
    assert "hidden-word" not in str(error.value) and "sesame" not in str(error.value)


def test_a_proxys_password_is_in_no_repr_and_on_no_page(
    monkeypatch: pytest.MonkeyPatch, settings: object
) -> None:
    settings.EGRESS = read(monkeypatch, f"c=proxy:{PROXY}")  # type: ignore[attr-defined]
    way = egress.way("c")
    assert way.proxy == PROXY
    for shown in (settings.EGRESS, way, egress.shown("c")):  # type: ignore[attr-defined]
        assert "sesame" not in repr(shown)
    assert egress.shown("c") == egress.Shown("c", proxy="proxy.internal")


def test_an_address_that_is_not_configured_any_more_is_told_by_its_name(settings: object) -> None:
    assert egress.shown("gone") == egress.Shown("gone")
