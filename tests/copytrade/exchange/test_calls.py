"""One call from arguments to data: repeats, the clock, and what is certain about a write."""

import time
from decimal import Decimal

import pytest

from copytrade.exchange import (
    OPERATIONS,
    Credentials,
    ExchangeClient,
    LocalRefusal,
    Malformed,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    Roots,
    Unauthorized,
    Unreachable,
)
from copytrade.exchange.limits import LocalLimiter

from .samples import LEAST, sample
from .scripted import (
    HUNG,
    KEY,
    PASSPHRASE,
    SECRET,
    ScriptedServer,
    answer,
    client_of,
    cut,
    drip,
    refusal,
    reset,
    silence,
)

READS = [name for name, row in OPERATIONS.items() if row.retry_safe]
WRITES = [name for name, row in OPERATIONS.items() if not row.retry_safe]
EXPIRED = refusal(-1046)


def call(client, name):
    return getattr(client, name)(**LEAST[name])


def test_the_writes_are_the_three_trade_operations():
    assert WRITES == ["place_order", "place_orders", "update_follower_settings"]
    assert [row.name for row in OPERATIONS.values() if row.label == "TRADE"] == WRITES


TRANSIENT = {
    "-1000": refusal(-1000, 500), "-1054": refusal(-1054, 500), "a gateway's 502": answer("<html>", 502),
    "empty 503": answer("", 503), "a reset": reset, "a cut answer": cut(answer({"list": []})),
}  # fmt: skip


@pytest.mark.parametrize("trouble", TRANSIENT.values(), ids=TRANSIENT)
def test_a_read_is_repeated_after_passing_trouble(trouble):
    with ScriptedServer(trouble, answer(sample("my_traders"))) as server:
        assert call(server.client(), "my_traders").records
        assert len(server.received) == 2


@pytest.mark.parametrize("trouble", TRANSIENT.values(), ids=TRANSIENT)
@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_never_repeated(name, trouble):
    with ScriptedServer(trouble) as server:
        with pytest.raises(OutcomeUnknown) as error:
            call(server.client(), name)
        time.sleep(0.05)
        assert len(server.received) == 1
    assert "look at what the exchange holds" in error.value.sentence
    assert not error.value.retry


@pytest.mark.parametrize("name", WRITES)
def test_a_write_without_an_answer_in_time_is_unknown(name):
    with ScriptedServer(silence) as server, pytest.raises(OutcomeUnknown):
        call(server.client(deadline=0.3), name)


def test_trouble_that_stays_ends_in_its_own_error():
    with ScriptedServer(refusal(-1000, 500)) as server:
        with pytest.raises(Unreachable) as error:
            call(server.client(), "my_traders")
        assert len(server.received) == 4
    assert error.value.code == -1000


def test_running_out_of_time_in_a_repeat_does_not_hide_what_the_exchange_said():
    with ScriptedServer(refusal(-1000, 500), silence) as server, pytest.raises(Unreachable) as error:
        server.client(deadline=0.5).my_traders()
    assert (error.value.code, error.value.http_status) == (-1000, 500)


@pytest.mark.parametrize(
    "reply", [refusal(-1142), answer("<html>", 200), answer("", 404), refusal(-1047, 401)]
)
def test_what_repeating_cannot_mend_is_asked_once(reply):
    with ScriptedServer(reply) as server:
        with pytest.raises((Rejected, Malformed, Unauthorized)):
            call(server.client(), "my_traders")
        assert len(server.received) == 1


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_refused_connection_means_that_nothing_was_sent(name):
    with ScriptedServer(answer({})) as server:
        url = server.url
    with pytest.raises(Unreachable, match="connection was refused") as error:
        call(client_of(url, deadline=0.3), name)
    assert error.value.fault == "network"
    assert "Nothing was changed" in error.value.sentence


def test_a_name_that_does_not_resolve_is_said():
    client = ExchangeClient(
        Roots("https://no-such-host.invalid", "https://no-such-host.invalid"),
        Credentials(KEY, SECRET, PASSPHRASE),
        deadline=1.0,
    )
    with pytest.raises(Unreachable):
        client.my_traders()


# --- the clock ----------------------------------------------------------------------------------------------


class Skewed:
    """A clock that is wrong by so many seconds."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self):
        return time.time() + self.seconds


@pytest.mark.parametrize("name", ["my_traders", "update_follower_settings", "place_order", "account"])
@pytest.mark.parametrize("code", [-1046, -1043])
def test_a_refused_clock_is_learned_and_the_call_repeated_once(name, code):
    def now(connection):
        connection.sendall(answer({"serverTime": int(time.time() * 1000)}))

    with ScriptedServer(refusal(code), now, answer(sample(name))) as server:
        client = server.client(clock=Skewed(-3600))
        call(client, name)
        first, asked, second = server.received
    assert client.clock_offset_ms == pytest.approx(3_600_000, abs=500)
    assert asked.target == {"spot": "/api/v3/time", "contract": "/capi/v3/market/time"}[OPERATIONS[name].root]
    assert not [header for header in asked.headers if header.startswith("access-")]
    assert int(second.headers["access-timestamp"]) - int(first.headers["access-timestamp"]) == pytest.approx(
        3_600_000, abs=500
    )


def test_a_learned_offset_is_used_from_the_start():
    with ScriptedServer(answer(sample("my_traders"))) as server:
        server.client(clock=lambda: 1_700_000_000.0, clock_offset_ms=-250).my_traders()
        assert server.received[0].headers["access-timestamp"] == "1699999999750"


def test_a_clock_that_stays_refused_is_surfaced_after_one_repeat():
    with ScriptedServer(EXPIRED, answer({"serverTime": "1700000000000"}), EXPIRED) as server:
        with pytest.raises(Rejected) as error:
            server.client().update_follower_settings(**LEAST["update_follower_settings"])
        assert len(server.received) == 3
    assert (error.value.code, error.value.fault) == (-1046, "clock")


@pytest.mark.parametrize(
    "data", [{}, [], {"serverTime": None}, {"serverTime": True}, {"serverTime": "soon"}, {"serverTime": -1}]
)
def test_a_server_time_that_makes_no_sense_is_malformed(data):
    with ScriptedServer(answer(data)) as server, pytest.raises(Malformed):
        server.client().server_time()


def test_server_time_is_an_aware_time_of_either_root():
    with ScriptedServer(answer({"serverTime": 1763000000123})) as server:
        client = server.client()
        assert client.server_time().isoformat() == "2025-11-13T02:13:20.123000+00:00"
        client.server_time(root="spot")
        assert [request.target for request in server.received] == ["/capi/v3/market/time", "/api/v3/time"]


# --- the deadline -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [silence, drip(answer(sample("my_traders")), 0.05), drip(answer("", 200, X="y" * 100), 0.05)],
    ids=["silence", "a dripping body", "dripping headers"],
)
def test_the_whole_call_ends_by_its_deadline(reply):
    with ScriptedServer(reply) as server:
        began = time.monotonic()
        with pytest.raises(Unreachable, match="no answer in time"):
            server.client(deadline=0.6).my_traders()
        assert time.monotonic() - began < HUNG


def test_a_slow_answer_within_the_deadline_is_read():
    with ScriptedServer(drip(answer(sample("my_traders")), 0.0005)) as server:
        assert server.client(deadline=5.0).my_traders().records


def test_a_call_without_time_left_is_not_sent():
    with ScriptedServer(answer({})) as server, pytest.raises(Unreachable, match="no time left"):
        server.client(deadline=0.0).place_order(**LEAST["place_order"])
    assert server.received == []


# --- limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["my_traders", "update_follower_settings"])
def test_a_429_is_not_repeated_and_pauses_the_address(name):
    with ScriptedServer(answer("", 429, Retry_After="30")) as server:
        client = server.client()
        with pytest.raises(RateLimited) as first:
            call(client, name)
        with pytest.raises(RateLimited) as second:
            call(client, name)
        assert len(server.received) == 1
    assert (first.value.retry_after, first.value.local) == (30, False)
    assert 28 < second.value.retry_after <= 30
    assert second.value.local


def test_a_429_for_orders_does_not_stop_reading_while_weight_is_left():
    over = answer("", 429, X_REMAINING_WEIGHT_10S="480", X_USED_WEIGHT_10S="20")
    with ScriptedServer(over, answer(sample("account"))) as server:
        client = server.client()
        for sent in (False, True):
            with pytest.raises(RateLimited) as error:
                client.place_order(**LEAST["place_order"])
            assert error.value.local is sent
        client.account()
        assert len(server.received) == 2


def test_weights_and_orders_are_taken_from_the_table():
    class Recorder(LocalLimiter):
        taken = []

        def acquire(self, root, weight, interactive, timeout=20.0):
            self.taken.append(("weight", root.partition("@")[0], weight, interactive))
            return super().acquire(root, weight, interactive, timeout)

        def acquire_orders(self, account, count, timeout=20.0):
            assert KEY not in account
            self.taken.append(("orders", "", count, None))
            return super().acquire_orders(account, count, timeout)

    for name, row in OPERATIONS.items():
        Recorder.taken = []
        with ScriptedServer(answer(sample(name))) as server:
            call(server.client(limiter=Recorder(), interactive=True), name)
        orders = [("orders", "", row.orders_10s, None)] if row.orders_10s else []
        assert Recorder.taken == [*orders, ("weight", row.root, row.weight, True)]


# --- addresses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    ["https://api.exchange.test", "http://127.0.0.1:9100", "http://[::1]:9", "http://localhost:9100/"],
)
def test_an_address_is_https_or_this_machine(address):
    assert Roots(address, address).origin("spot") == address.rstrip("/")


@pytest.mark.parametrize(
    "address",
    [
        "http://api.exchange.test", "http://127.0.0.1.evil.test", "http://10.0.0.1", "ftp://127.0.0.1",
        "api.exchange.test",
        "https://api.exchange.test/path", "https://user:pass@api.exchange.test", "https://api.exchange.test?x=1", "",
        "http://localhost.evil.test",
    ],
)  # fmt: skip
def test_any_other_address_is_refused(address):
    with pytest.raises(LocalRefusal):
        Roots("https://api.exchange.test", address)


def test_order_amounts_that_python_would_write_in_another_way():
    with ScriptedServer(answer(sample("place_order"))) as server:
        server.client().place_order(symbol="BTCUSDT", side="BUY", type="MARKET", quantity=Decimal("1E-8"))
        assert b'"quantity":"0.00000001"' in server.received[0].body
