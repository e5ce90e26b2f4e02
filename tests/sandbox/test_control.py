"""Control, the home page, and the manners of the server itself."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import requests

from copytrade.sandbox import control
from copytrade.sandbox.wire import Request
from tests.sandbox.paths import ACCOUNT, BILLS, LIMIT_ORDER, ORDER, SETTINGS, STRANGER, TRADERS, UNIFIED
from tests.sandbox.signer import Caller, answer
from tests.support.sandbox_process import ROOT, Sandbox


class TestControl:
    def test_advance_moves_the_clock_and_nothing_moves_it_back(self, exchange: Sandbox) -> None:
        before = exchange.clock()
        assert (
            exchange.control("POST", "advance", {"ms": 1500, "seconds": 2})["offset"]
            == before["offset"] + 3500
        )
        told = requests.get(exchange.url + "/capi/v3/market/time", timeout=5).json()["serverTime"]
        assert told - int(time.time() * 1000) == pytest.approx(before["offset"] + 3500, abs=1000)
        bodies: list[dict[str, Any]] = [
            {"seconds": -1},
            {},
            {"ms": "5"},
            {"seconds": True},
            {"seconds": 10**12},
        ]
        for body in bodies:
            response = requests.post(exchange.url + "/sandbox/advance", json=body, timeout=5)
            assert response.status_code == 400
            assert "error" in response.json()

    def test_reset_takes_everything_back(self, exchange: Sandbox, follower: Caller) -> None:
        before = exchange.truth()
        answer(follower.post(SETTINGS, UNIFIED))
        answer(follower.post(ORDER, LIMIT_ORDER))
        exchange.fault("*", "code", code=-1000, times=0)
        exchange.advance(seconds=86_400)
        exchange.reset()
        after = exchange.truth()
        assert {**after, "now": 0} == {**before, "now": 0}
        assert exchange.control("GET", "faults") == {"faults": []}
        assert exchange.calls() == {"calls": []}
        assert answer(follower.get(TRADERS))

    def test_another_seed_is_another_world_and_only_until_the_next_reset(self, exchange: Sandbox) -> None:
        first = exchange.truth()["closed"]
        exchange.reset(seed=42)
        assert exchange.truth()["closed"] != first
        exchange.reset()
        assert exchange.truth()["closed"] == first

    @pytest.mark.parametrize(
        "body",
        [{"seed": "x"}, {"speed": -1}, {"limit": 1.5}, {"accounts": 2001}, {"history_by": "size"}, {"port": 1},
         {"limit": True}],
    )  # fmt: skip
    def test_reset_explains_what_it_does_not_take(self, exchange: Sandbox, body: dict[str, Any]) -> None:
        response = requests.post(exchange.url + "/sandbox/reset", json=body, timeout=5)
        assert response.status_code == 400
        assert response.json()["error"]

    def test_calls_are_logged_in_order(self, exchange: Sandbox, follower: Caller) -> None:
        answer(follower.get(TRADERS, "pageNo=1"))
        answer(follower.post(BILLS, {"limit": 3}))
        follower.get("/api/v3/order")
        first, second, third = exchange.calls()["calls"]
        assert (first["operation"], first["query"], first["status"]) == ("my_traders", "pageNo=1", 200)
        assert (second["operation"], second["body"], second["key"]) == (
            "bills",
            '{"limit": 3}',
            "follower-key",
        )
        assert (third["operation"], third["status"]) == ("order", 400)
        only = exchange.control("GET", "calls", operation="bills")["calls"]
        assert only == [second]
        assert exchange.control("GET", "calls", after=second["n"])["calls"] == [third]
        exchange.control("DELETE", "calls")
        assert exchange.calls() == {"calls": []}

    def test_the_truth_of_each_account(self, exchange: Sandbox) -> None:
        exchange.reset(accounts=1)
        for account in ("follower", "lead", "affiliate", "load-000001"):
            assert exchange.truth(account)["account"] == account
        response = requests.get(exchange.url + "/sandbox/truth?account=nobody", timeout=5)
        assert response.status_code == 400

    def test_settings_from_outside_are_checked_like_any(self, exchange: Sandbox) -> None:
        bodies: list[dict[str, Any]] = [
            {"settings": UNIFIED | {"traderId": STRANGER}}, {"settings": {}}, {}, {"account": "nobody"},
        ]  # fmt: skip
        for body in bodies:
            response = requests.post(exchange.url + "/sandbox/settings", json=body, timeout=5)
            assert response.status_code == 400
            assert response.json()["error"]

    @pytest.mark.parametrize("path", ["nothing", "reset/", "advance"])
    def test_an_unknown_control_lists_the_known(self, exchange: Sandbox, path: str) -> None:
        response = requests.get(f"{exchange.url}/sandbox/{path}", timeout=5)
        assert response.status_code == 404
        assert "POST /sandbox/reset" in response.json()["error"]

    @pytest.mark.parametrize(
        ("peer", "headers", "near"),
        [
            ("127.0.0.1", {}, True), ("127.8.8.8", {}, True), ("::1", {}, True), ("::ffff:127.0.0.1", {}, True),
            ("192.168.1.5", {}, False), ("8.8.8.8", {}, False), ("::ffff:10.0.0.1", {}, False),
            ("fe80::1%eth0", {}, False), ("127.0.0.1", {"origin": "http://elsewhere.example"}, False),
        ],
    )  # fmt: skip
    def test_control_is_for_this_machine_only(self, peer: str, headers: dict[str, str], near: bool) -> None:
        request = Request("GET", "/sandbox/nothing", headers, b"", peer)
        found = control.handle(None, request, "/sandbox/nothing")  # type: ignore[arg-type]
        assert ("There is" in found.body.decode()) == near
        assert found.status == 404

    def test_a_web_page_elsewhere_cannot_reset(self, exchange: Sandbox) -> None:
        headers = {"Origin": "http://elsewhere.example"}
        response = requests.post(exchange.url + "/sandbox/reset", headers=headers, timeout=5)
        assert response.status_code == 404
        assert "/sandbox/clock" not in response.text


class TestPages:
    def test_home_says_what_this_is(self, exchange: Sandbox) -> None:
        page = requests.get(exchange.url + "/", timeout=5)
        assert page.headers["Content-Type"].startswith("text/html")
        for word in ("exchange in a box", "follower-key", "follower-secret", "openapi.json", ACCOUNT):
            assert word in page.text
        exchange.reset(accounts=12)
        assert "load-000012" in requests.get(exchange.url + "/", timeout=5).text

    def test_openapi_is_served(self, exchange: Sandbox) -> None:
        assert requests.get(exchange.url + "/openapi.json", timeout=5).json()["openapi"] == "3.1.0"

    @pytest.mark.parametrize(
        "path", ["/nope", "/api/v3/orders", "/api/v3/order/", "//api/v3/order", "/capi", "/%00"]
    )
    def test_an_unknown_path_is_404_without_a_code(self, exchange: Sandbox, path: str) -> None:
        with socket.create_connection(("127.0.0.1", exchange.port), 5) as raw:
            raw.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            text = raw.makefile("rb").read().decode()
        if path == "//api/v3/order":  # the server mends doubled slashes at the front
            assert text.startswith("HTTP/1.1 400")
            return
        assert text.startswith("HTTP/1.1 404")
        assert "code" not in json.loads(text.split("\r\n\r\n")[1])


class TestWire:
    def test_connections_are_kept(self, exchange: Sandbox) -> None:
        caller = Caller(exchange.url)
        ports = set()
        for call in (
            lambda: caller.get(ACCOUNT),
            lambda: caller.post(BILLS, {}),
            lambda: caller.get("/nope"),
        ):
            response = call()
            assert response.headers["Connection"] == "keep-alive"
            pool = caller.session.get_adapter(exchange.url).poolmanager  # type: ignore[attr-defined]
            (connections,) = [pool.pools[key] for key in pool.pools.keys()]  # noqa: SIM118
            ports.add(connections.num_connections)
        assert ports == {1}

    @pytest.mark.parametrize(
        ("head", "status"),
        [
            ("POST /api/v3/order HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
            ("POST /api/v3/order HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n", 413),
            ("POST /api/v3/order HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
            ("GET /api/v3/time and more HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("HEAD /api/v3/time HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405),
            ("GET http://x/api/v3/time HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200),
        ],
    )
    def test_odd_requests(self, exchange: Sandbox, head: str, status: int) -> None:
        with socket.create_connection(("127.0.0.1", exchange.port), 5) as raw:
            raw.sendall(head.encode())
            line = raw.makefile("rb").readline().decode()
        assert line.split()[1] == str(status)

    def test_answers_come_without_delay(self, exchange: Sandbox, follower: Caller) -> None:
        answer(follower.get(ACCOUNT))
        took = []
        for _ in range(200):
            started = time.perf_counter()
            follower.get(ACCOUNT)
            took.append(time.perf_counter() - started)
        assert min(took) < 0.03, "each answer that waits for the other side's acknowledgement takes 40 ms"


class TestProcess:
    def test_it_stops_at_once_when_told_even_with_calls_held(self, tmp_path: Path) -> None:
        exchange = Sandbox(tmp_path / "log", "--speed", "0", "--seed", "1")
        exchange.fault("*", "timeout_before", seconds=60)
        with socket.create_connection(("127.0.0.1", exchange.port), 5) as raw:
            raw.sendall(b"GET /api/v3/time HTTP/1.1\r\nHost: x\r\n\r\n")
            time.sleep(0.1)
            exchange.process.send_signal(signal.SIGTERM)
            assert exchange.process.wait(20) == 0

    def test_a_port_in_use_is_explained(self, exchange: Sandbox) -> None:
        command = [sys.executable, "-m", "copytrade.sandbox", "--port", str(exchange.port), "--speed", "0"]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
        assert found.returncode == 1
        assert f"cannot listen on 127.0.0.1:{exchange.port}" in found.stderr
        assert "--port" in found.stderr

    def test_it_imports_neither_django_nor_anything_of_ours_but_rules(self) -> None:
        code = "import sys, copytrade.sandbox.__main__; print(*sys.modules)"
        found = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        names = found.stdout.split()
        assert not [name for name in names if name.split(".")[0] in ("django", "celery", "requests", "flask")]
        ours = {name for name in names if name.startswith("copytrade")}
        assert all(
            name.startswith(("copytrade.sandbox", "copytrade.rules")) or name == "copytrade" for name in ours
        )
