"""Calls through a proxy: the same deadline, trust, kept connections and honesty about what was sent."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from copytrade.exchange import OutcomeUnknown, RateLimited, Unreachable
from copytrade.exchange.connections import Way
from copytrade.exchange.limits import LocalLimiter
from copytrade.exchange.transport import Transport, TransportFailure

from .samples import LEAST, sample
from .scripted import HUNG, ScriptedServer, answer, client_of, reset
from .small_proxy import SmallProxy
from .test_tls import certificate, server  # noqa: F401 (fixtures)

TRADERS = answer(sample("my_traders"))


def through(proxy: SmallProxy, login: str = "") -> Way:
    return Way("far", proxy=f"http://{login}{proxy.at}")


# --- http ---


def test_http_goes_by_its_whole_address_and_connections_are_kept() -> None:
    with ScriptedServer(TRADERS) as exchange, SmallProxy() as proxy:
        client = exchange.client(way=through(proxy))
        assert client.my_traders() == exchange.client().my_traders()
        client.my_traders()
        assert proxy.connections == 1
        assert len(proxy.asked) == 2
        assert proxy.asked[0].startswith(f"GET {exchange.url}/capi/v3/copy/follower/myTraders")
        assert exchange.received[0].target == exchange.received[1].target, "signed and sent alike"


def test_the_exchange_never_sees_the_proxys_password() -> None:
    with ScriptedServer(TRADERS) as exchange, SmallProxy(user="desk", password="open sesame") as proxy:
        exchange.client(way=through(proxy, "desk:open%20sesame@")).my_traders()
        assert "proxy-authorization" not in exchange.received[0].headers


# --- https ---


def test_https_goes_through_a_tunnel_with_its_certificate_checked(
    server: Callable[..., tuple[str, list[bytes]]],  # noqa: F811
    certificate: tuple[Path, Path],  # noqa: F811
) -> None:
    url, received = server(answer({"ok": True}))
    with SmallProxy(user="desk", password="open sesame") as proxy:
        transport = Transport(through(proxy, "desk:open%20sesame@"))
        with pytest.raises(TransportFailure, match="secure connection was refused") as failure:
            transport.send("GET", url, "/x?y=1", {}, b"", seconds=30)
        assert not failure.value.sent
        assert received == []
        transport.session.verify = str(certificate[1])
        assert transport.send("GET", url, "/x?y=1", {}, b"", seconds=30).body == b'{"ok": true}'
        assert received[0].startswith(b"GET /x?y=1 HTTP/1.1\r\n")
        assert b"roxy-" not in received[0]
        assert proxy.asked[-1].startswith(f"CONNECT {url.removeprefix('https://')} HTTP/1.")


def test_the_deadline_holds_through_the_tunnel(
    server: Callable[..., tuple[str, list[bytes]]],  # noqa: F811
    certificate: tuple[Path, Path],  # noqa: F811
) -> None:
    url, _ = server(answer({"ok": True}), pause=0.2)
    with SmallProxy() as proxy:
        transport = Transport(through(proxy))
        transport.session.verify = str(certificate[1])
        began = time.monotonic()
        with pytest.raises(TransportFailure, match="no answer in time") as failure:
            transport.send("GET", url, "/x", {}, b"", seconds=1.0)
        assert failure.value.sent
        assert time.monotonic() - began < HUNG


# --- what may go wrong on the way ---


def test_a_proxy_that_says_nothing_ends_by_the_deadline_and_a_write_was_not_sent() -> None:
    with SmallProxy(silent=True) as proxy, pytest.raises(Unreachable, match="no answer in time"):
        client_of("https://127.0.0.1:9", way=through(proxy), deadline=0.5).place_order(**LEAST["place_order"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"refuses": 403}, "'far' refused the way (HTTP 403)"),
        ({"user": "a"}, "'far' refused its user and password"),
    ],
)
def test_a_proxy_that_refuses_is_told_apart_from_the_exchange(options: dict[str, object], words: str) -> None:
    with SmallProxy(**options) as proxy:  # type: ignore[arg-type]
        client = client_of("https://127.0.0.1:9", way=through(proxy, "desk:open-sesame@"), deadline=2.0)
        for call in (client.my_traders, lambda: client.place_order(**LEAST["place_order"])):
            with pytest.raises(Unreachable) as error:
                call()
            assert words in error.value.sentence
            shown = f"{error.value!r} {error.value} {pickle.dumps(error.value)!r} {client!r} {client._caller.__dict__}"
            assert "sesame" not in shown


def test_a_proxy_that_is_not_there_is_told_by_the_name_of_its_egress() -> None:
    with SmallProxy() as gone:
        pass
    for url in ("https://127.0.0.1:9", "http://127.0.0.1:9"):
        with pytest.raises(Unreachable, match=r"'far' could not be reached|was refused"):
            client_of(url, way=through(gone, "desk:open-sesame@"), deadline=0.5).my_traders()


def test_a_write_that_broke_behind_the_proxy_has_an_unknown_outcome() -> None:
    with ScriptedServer(reset) as exchange, SmallProxy() as proxy:
        client = exchange.client(way=through(proxy), deadline=2.0)
        with pytest.raises(OutcomeUnknown):
            client.place_order(**LEAST["place_order"])
        assert len(exchange.received) == 1


# --- the source address ---


def test_a_missing_source_address_is_told_and_the_write_was_not_sent() -> None:
    with ScriptedServer(TRADERS) as exchange:
        client = exchange.client(way=Way("b", source="192.0.2.1"), deadline=0.5)
        with pytest.raises(Unreachable, match=r"has not got the address 192\.0\.2\.1 of the egress 'b'"):
            client.place_order(**LEAST["place_order"])
        assert exchange.connections == 0


def test_a_source_of_the_other_family_reaches_nothing_and_says_so() -> None:
    with ScriptedServer(TRADERS) as exchange, pytest.raises(Unreachable):
        exchange.client(way=Way("six", source="::1"), deadline=0.5).my_traders()


# --- the sandbox counts by source address ---


@pytest.mark.slow
def test_each_source_address_has_the_whole_limit_to_itself(tmp_path: Path) -> None:
    """Three addresses at a sandbox that allows 100 in 10 s, one limiter each: every one of them gets its 100."""
    from tests.support.sandbox_process import Sandbox

    with Sandbox(tmp_path / "sandbox.log", "--speed", "0", "--seed", "1", "--limit", "100") as sandbox:
        limiters = {f"127.0.0.{n}": LocalLimiter(weights={10_000: 100}) for n in (2, 3, 4)}
        for address, limiter in limiters.items():
            client = client_of(
                sandbox.url, "follower-key", "follower-secret", passphrase="sandbox",
                way=Way(address, source=address), limiter=limiter, interactive=True, deadline=0.9,
            )  # fmt: skip
            for _ in range(10):
                client.my_traders()
            with pytest.raises(RateLimited) as refused:
                client.my_traders()
            assert refused.value.local
        calls = sandbox.calls()["calls"]
        assert {call["status"] for call in calls} == {200}, "no 429 of our making"
        assert {call["from"] for call in calls} == set(limiters)
