"""The wire: kept connections, no redirects, no environment, bounded answers."""

import socket
import time

import pytest

from copytrade.exchange import Malformed, OutcomeUnknown, Unreachable
from copytrade.exchange.connections import Way
from copytrade.exchange.transport import Transport, TransportFailure, shared

from .samples import LEAST, sample
from .scripted import ScriptedServer, answer

TRADERS = answer(sample("my_traders"))


def get(server, transport=None, **options):
    return (transport or Transport(**options)).send("GET", server.url, "/x", {}, b"", seconds=2)


def test_one_connection_serves_many_calls_of_many_clients():
    with ScriptedServer(TRADERS) as server:
        for _ in range(3):
            client = server.client()
            client.my_traders()
            client.my_traders()
        assert server.connections == 1
        assert len(server.received) == 6


def test_a_connection_that_the_exchange_closed_is_replaced_unseen():
    with ScriptedServer(TRADERS) as server:
        client = server.client()
        client.my_traders()
        server.hang_up()
        time.sleep(0.05)
        client.my_traders()
        assert server.connections == 2


def test_a_write_does_not_leave_on_a_connection_that_was_idle_for_long():
    with ScriptedServer(answer({})) as server:
        transport = Transport(idle_before_write=0.1)
        for method, pause in (("GET", 0.15), ("GET", 0.15), ("POST", 0.0), ("POST", 0.0)):
            transport.send(method, server.url, "/x", {}, b"", seconds=2)
            time.sleep(pause)
        assert [request.connection for request in server.received] == [1, 1, 2, 2]


def test_closing_opens_anew():
    with ScriptedServer(TRADERS) as server:
        client = server.client()
        client.my_traders()
        client.close()
        client.my_traders()
        assert server.connections == 2


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    with ScriptedServer(TRADERS) as other:
        away = answer("", status, Location=other.url + "/capi/v3/copy/follower/myTraders")
        with ScriptedServer(away) as server:
            with pytest.raises(Malformed):
                server.client().my_traders()
            with pytest.raises(OutcomeUnknown):
                server.client().place_order(**LEAST["place_order"])
        assert other.received == []


def test_the_environment_is_not_heard(monkeypatch, tmp_path):
    with ScriptedServer(TRADERS) as proxy, ScriptedServer(TRADERS) as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        netrc = tmp_path / "netrc"
        netrc.write_text("machine 127.0.0.1 login someone password something")
        monkeypatch.setenv("NETRC", str(netrc))
        get(server)
        assert proxy.connections == 0
        assert "authorization" not in server.received[0].headers


def test_cookies_are_not_kept():
    with ScriptedServer(answer({}, Set_Cookie="track=1; Path=/")) as server:
        transport = Transport()
        get(server, transport)
        get(server, transport)
        assert "cookie" not in server.received[1].headers


def test_an_answer_without_end_is_cut_off():
    with ScriptedServer(answer(b"x" * 300_000)) as server:
        with pytest.raises(TransportFailure, match="too large") as failure:
            get(server, largest_answer=100_000)
        assert failure.value.sent


def test_more_than_32_mib_is_never_an_answer():
    with (
        ScriptedServer(answer(b" " * (33 * 1024 * 1024))) as server,
        pytest.raises(Malformed, match="larger than any"),
    ):
        server.client(deadline=5.0).my_traders()


def test_a_small_packet_that_unpacks_to_much_is_cut_off():
    import gzip

    packed = gzip.compress(b"0" * 5_000_000)
    with (
        ScriptedServer(answer(packed, Content_Encoding="gzip")) as server,
        pytest.raises(TransportFailure, match="too large"),
    ):
        get(server, largest_answer=100_000)


def test_packed_answers_are_read():
    import gzip
    import json

    packed = gzip.compress(json.dumps(sample("my_traders")).encode())
    with ScriptedServer(answer(packed, Content_Encoding="gzip")) as server:
        assert server.client().my_traders().records


def test_chunked_answers_are_read():
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n"
    with ScriptedServer(chunked) as server:
        assert get(server).body == b"[]"


@pytest.mark.parametrize("junk", [b"nonsense\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\x00\x01\x02\r\n\r\n"])
def test_what_is_not_http_is_a_broken_connection(junk):
    def babble(connection):
        connection.sendall(junk)
        connection.shutdown(socket.SHUT_RDWR)

    with ScriptedServer(babble) as server:
        with pytest.raises(TransportFailure, match="connection broke") as failure:
            get(server)
        assert failure.value.sent


def test_calls_leave_from_the_egress_address():
    with ScriptedServer(TRADERS) as server:
        peers = []
        server.replies = [
            lambda connection: (peers.append(connection.getpeername()[0]), connection.sendall(TRADERS))
        ]
        server.client(way=Way("a", source="127.0.0.7")).my_traders()
        server.client().my_traders()
    assert peers == ["127.0.0.7", "127.0.0.1"]


def test_an_egress_address_that_this_machine_lacks_is_said_before_sending():
    with ScriptedServer(TRADERS) as server:
        with pytest.raises(Unreachable, match=r"192\.0\.2\.1 of the egress 'far'"):
            server.client(way=Way("far", source="192.0.2.1"), deadline=0.5).my_traders()
        assert server.connections == 0


def test_processes_do_not_share_connections():
    assert shared(Way()) is shared(Way())
    assert shared(Way()) is not shared(Way("a", source="127.0.0.7"))


def test_threads_share_one_client():
    from concurrent.futures import ThreadPoolExecutor

    with ScriptedServer(TRADERS) as server:
        client = server.client()
        with ThreadPoolExecutor(4) as pool:
            pages = list(pool.map(lambda _: client.my_traders(), range(20)))
    assert len(pages) == 20
    assert server.connections <= 8
