"""Webhooks on the wire: to real servers on this machine, with a resolver that is handed in."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from copytrade.notices import posting
from copytrade.notices.posting import BadAddress, NotPosted, post, target_of

from .receivers import NAME, PUBLIC, Receiver, certificate_for, receiver, resolver

INSIDE_SENTENCE = "leads into a private network"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate_for(NAME, tmp_path_factory.mktemp("tls"))


@pytest.fixture
def plain() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


def here(kept: Receiver, path: str = "/hook") -> str:
    return f"http://{kept.place}{path}"


# --- what may be typed -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/x", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "example.com/x",
        "https://", "https:///x", "https://user@example.com/", "https://user:secret@example.com/", "https://@example.com/",
        "https://example.com/#x", "https://example.com:99999/", "https://example.com:x/", "https://exa mple.com/",
        "https://example.com\\@evil.test/", "https://exämple.com/", "https://example.com/\r\nX: y", "https://example.com./",
        "https://[::1/", "javascript:alert(1)", "", "https://" + "a" * 1000 + ".com/",
    ],
)  # fmt: skip
def test_what_is_no_plain_https_address_is_refused_with_a_sentence(url: str) -> None:
    with pytest.raises(BadAddress) as refused:
        target_of(url)
    assert str(refused.value).endswith(".")


def test_the_parts_of_an_address() -> None:
    found = target_of("https://Example.com/a/b?c=d")
    assert (found.host, found.port, found.path, found.place) == (
        "example.com",
        443,
        "/a/b?c=d",
        "example.com:443",
    )
    assert target_of("https://example.com").path == "/"


def test_http_is_for_hosts_that_the_operator_named_alone() -> None:
    assert target_of("http://hub.lan:8123/x", {"hub.lan:8123"}).port == 8123
    for other in ("http://hub.lan/x", "http://hub.lan:8124/x", "http://other.lan:8123/x"):
        with pytest.raises(BadAddress):
            target_of(other, {"hub.lan:8123"})


# --- where it may go -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"],
)
def test_a_name_that_leads_inside_is_not_connected_to(address: str) -> None:
    with pytest.raises(NotPosted, match=INSIDE_SENTENCE):
        post("https://innocent.example/x", b"{}", {}, finder=resolver([address]))


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(NotPosted, match=INSIDE_SENTENCE):
        post("https://innocent.example/x", b"{}", {}, finder=resolver([PUBLIC, "192.168.1.1"]))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "2130706433", "0x7f000001", "127.1", "0177.0.0.1", "[::1]", "localhost"]
)
def test_this_machine_is_refused_however_it_is_written(host: str, plain: Receiver) -> None:
    with pytest.raises(NotPosted):
        post(f"https://{host}:{plain.port}/x", b"{}", {})
    assert plain.received == []


def test_a_name_that_answers_differently_the_second_time_gains_nothing(plain: Receiver) -> None:
    """DNS rebinding: first a public address, then this machine. There is no second question."""
    finder = resolver([PUBLIC], ["127.0.0.1"])
    connected: list[str] = []

    class Nowhere(socket.socket):
        def connect(self, address: tuple) -> None:
            connected.append(address[0])
            raise ConnectionRefusedError

    usual, socket.socket = socket.socket, Nowhere  # what is not ours: the way out of this machine
    try:
        with pytest.raises(NotPosted, match="could not be reached"):
            post(f"https://rebound.example:{plain.port}/x", b"{}", {}, finder=finder)
    finally:
        socket.socket = usual  # type: ignore[misc]
    assert (connected, finder.asked) == ([PUBLIC], [("rebound.example", plain.port)])
    assert plain.received == []


def test_a_host_of_the_operators_own_network_may_be_reached_where_it_is_named(plain: Receiver) -> None:
    assert post(here(plain), b"{}", {"X-A": "b"}, inside={plain.place}) == 200
    ((path, headers, body),) = plain.received
    assert (path, body, headers["X-A"], headers["Host"]) == ("/hook", b"{}", "b", plain.place)


def test_no_proxy_of_the_environment_is_asked(plain: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiver() as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{proxy.place}")
        assert post(here(plain), b"{}", {}, inside={plain.place}) == 200
        assert proxy.received == []


# --- TLS -------------------------------------------------------------------------------------------------
def test_the_checked_address_is_connected_to_and_the_name_is_proved(certificate: tuple[Path, Path]) -> None:
    with receiver(certificate[0]) as kept:
        url, place = f"https://{NAME}:{kept.port}/hook", {f"{NAME}:{kept.port}"}
        finder = resolver(["127.0.0.1"])
        assert post(url, b"{}", {}, inside=place, finder=finder, trusted=str(certificate[1])) == 200
        assert kept.received[0][1]["Host"] == f"{NAME}:{kept.port}"


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: tuple[Path, Path]) -> None:
    with receiver(certificate[0]) as kept:
        place = {f"{NAME}:{kept.port}"}
        with pytest.raises(NotPosted, match="could not be verified"):
            post(f"https://{NAME}:{kept.port}/", b"{}", {}, inside=place, finder=resolver(["127.0.0.1"]))
        assert kept.received == []


def test_a_certificate_of_another_name_is_refused(certificate: tuple[Path, Path]) -> None:
    with receiver(certificate[0]) as kept:
        url, place = f"https://other.test:{kept.port}/", {f"other.test:{kept.port}"}
        with pytest.raises(NotPosted, match="could not be verified"):
            post(url, b"{}", {}, inside=place, finder=resolver(["127.0.0.1"]), trusted=str(certificate[1]))
        assert kept.received == []


# --- what is answered ------------------------------------------------------------------------------------
@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_whatever_begins_with_two_means_that_it_arrived(plain: Receiver, status: int) -> None:
    plain.status = status
    assert post(here(plain), b"{}", {}, inside={plain.place}) == status


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_said(plain: Receiver, status: int) -> None:
    with receiver() as other:
        plain.status, plain.headers = status, {"Location": here(other)}
        with pytest.raises(NotPosted, match="redirect, which is not followed"):
            post(here(plain), b"{}", {"X-Copydesk-Signature": "s"}, inside={plain.place, other.place})
        assert other.received == []


@pytest.mark.parametrize(
    ("status", "gone"), [(400, False), (404, False), (410, True), (429, False), (500, False)]
)
def test_everything_else_did_not_arrive(plain: Receiver, status: int, gone: bool) -> None:
    plain.status = status
    with pytest.raises(NotPosted, match=str(status)) as failed:
        post(here(plain), b"{}", {}, inside={plain.place})
    assert failed.value.gone is gone


@pytest.fixture
def scripted() -> Iterator[Callable[[bytes], str]]:
    """scripted(answer) is the place of a server that answers with these bytes and then stays silent."""
    listeners: list[socket.socket] = []
    ended = threading.Event()

    def serve(answer: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def run() -> None:
            try:
                with listener.accept()[0] as connection:
                    connection.recv(65536)
                    connection.sendall(answer)
                    ended.wait(20)
            except OSError:
                return

        threading.Thread(target=run, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield serve
    ended.set()
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5"])
def test_a_receiver_that_falls_silent_holds_nobody(scripted: Callable[[bytes], str], answer: bytes) -> None:
    place = scripted(answer)
    with pytest.raises(NotPosted, match="did not answer within"):
        post(f"http://{place}/", b"{}", {}, inside={place}, seconds=0.3)


def test_an_answer_without_end_is_not_read(scripted: Callable[[bytes], str]) -> None:
    place = scripted(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 10_000)
    assert post(f"http://{place}/", b"{}", {}, inside={place}, seconds=5) == 200


@pytest.mark.parametrize(
    "answer",
    [
        b"HELLO\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 200,
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 90_000,
    ],
)
def test_an_answer_that_is_none_is_a_failure(scripted: Callable[[bytes], str], answer: bytes) -> None:
    place = scripted(answer)
    with pytest.raises(NotPosted):
        post(f"http://{place}/", b"{}", {}, inside={place}, seconds=5)


def test_a_name_that_nobody_knows_and_a_port_where_nobody_is(plain: Receiver) -> None:
    def unknown(host: str, port: int) -> list:
        raise socket.gaierror(-2, "unknown")

    with pytest.raises(NotPosted, match=r"nobody\.example is not known"):
        post("https://nobody.example/secret-path", b"{}", {}, finder=unknown)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        place = f"127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(NotPosted, match="could not be reached") as failed:
        post(f"http://{place}/secret-path", b"{}", {}, inside={place})
    assert "secret-path" not in failed.value.sentence


def test_the_time_for_all_of_it_is_bounded() -> None:
    assert posting.SECONDS <= 10
