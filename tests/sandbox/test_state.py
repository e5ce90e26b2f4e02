"""The state file: what was answered with success is there after kill -9; what cannot be read is set aside."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from copytrade.sandbox import statefile
from copytrade.sandbox.venue import Options, Venue
from tests.sandbox.paths import LIMIT_ORDER, ORDER, SETTINGS, TRADER, UNIFIED
from tests.sandbox.signer import Caller, answer
from tests.support.sandbox_process import Sandbox


def start(folder: Path, *more: str) -> Sandbox:
    return Sandbox(
        folder / "log", "--speed", "0", "--seed", "1", "--state", str(folder / "state.json"), *more
    )


def kill(exchange: Sandbox) -> None:
    exchange.process.send_signal(signal.SIGKILL)
    exchange.process.wait(5)


def seen(exchange: Sandbox) -> dict[str, Any]:
    """The truth, but for the moment at which it was asked for."""
    return {name: value for name, value in exchange.truth().items() if name != "now"}


def test_settings_and_orders_survive_a_kill(tmp_path: Path) -> None:
    first = start(tmp_path)
    caller = Caller(first.url)
    answer(caller.post(SETTINGS, UNIFIED))
    resting = answer(caller.post(ORDER, LIMIT_ORDER | {"newClientOrderId": "resting"}))
    answer(caller.post(ORDER, {"symbol": "BTCUSDT", "side": "BUY", "type": "MARKET", "quantity": "0.01"}))
    first.advance(seconds=100)
    before, offset = seen(first), first.clock()["offset"]
    kill(first)
    with start(tmp_path) as second:
        assert second.clock()["offset"] == offset == 100_000
        assert seen(second) == before
        caller = Caller(second.url)
        again = answer(caller.post(ORDER, LIMIT_ORDER | {"newClientOrderId": "resting"}, shift_ms=offset))
        assert again == resting
        new = answer(caller.post(ORDER, LIMIT_ORDER, shift_ms=offset))
        ids = [order["id"] for order in second.truth()["spot"]["orders"]]
        assert new["orderId"] == ids[-1]
        assert len(set(ids)) == 3


def test_an_untouched_world_is_the_same_after_a_restart(tmp_path: Path) -> None:
    first = start(tmp_path)
    before = first.clock()["start"]
    kill(first)
    with start(tmp_path) as second:
        assert second.clock()["start"] == before


def test_kill_in_the_middle_of_writing_leaves_every_answered_write(tmp_path: Path) -> None:
    first = start(tmp_path)
    caller = Caller(first.url)
    first.fault("update_follower_settings", "reset", applied=True, after=5)
    written = 0
    for n in range(1, 7):
        body = UNIFIED | {"unifiedTraceConfig": UNIFIED["unifiedTraceConfig"] | {"traceValue": str(n)}}
        try:
            answer(caller.post(SETTINGS, body))
            written = n
        except OSError:
            break
    kill(first)
    with start(tmp_path) as second:
        (item,) = answer(Caller(second.url).get(SETTINGS, f"traderId={TRADER}"))
        assert written == 5
        assert item["traceValue"] == "6"  # applied, though its answer was lost


def test_an_unusable_file_is_set_aside_and_the_sandbox_starts(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"version": 1')
    with start(tmp_path) as exchange:
        answer(Caller(exchange.url).post(SETTINGS, UNIFIED))
    (kept,) = tmp_path.glob("state.json.unusable-*")
    assert kept.read_text() == '{"version": 1'
    assert "is not used" in (tmp_path / "log").read_text()
    assert json.loads((tmp_path / "state.json").read_text())["version"] == 1


@pytest.mark.parametrize(
    "content", ["{", "", "[]", "{}", '{"version": 1}', '{"version": 99}', "\x00\x01", "9" * 5000]
)
def test_what_is_no_state_file_is_kept_under_another_name(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "state.json"
    path.write_text(content)
    assert statefile.read(str(path)) is None
    (kept,) = tmp_path.iterdir()
    assert kept.read_text() == content
    assert f"It was kept as {kept}" in capsys.readouterr().err


class TestFlags:
    """The same file under other flags, without a process for each."""

    @pytest.fixture
    def options(self, tmp_path: Path) -> Options:
        return Options(seed=1, speed=0, accounts=1, state=str(tmp_path / "state.json"))

    @staticmethod
    def placed(options: Options, account: str = "load-000001") -> None:
        fields = {"side": "BUY", "type": "LIMIT", "timeInForce": "GTC", "newClientOrderId": None}
        numbers = {"quantity": Decimal("0.001"), "price": Decimal(1000)}
        venue = Venue(options)
        venue.book(account).place("BTCUSDT", fields | numbers, venue.now())
        venue.save()

    def test_the_same_flags_find_the_order(self, options: Options) -> None:
        self.placed(options)
        venue = Venue(options)
        assert len(venue.book("load-000001").orders) == 1
        assert venue.now() - venue.start_ms < 60_000

    def test_another_seed_starts_anew(self, options: Options, capsys: pytest.CaptureFixture[str]) -> None:
        self.placed(options)
        assert Venue(replace(options, seed=2)).book("load-000001").orders == []
        assert "written with --seed 1" in capsys.readouterr().err

    def test_an_account_that_is_gone_starts_anew(
        self, options: Options, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.placed(options)
        assert Venue(replace(options, accounts=0)).book("follower").orders == []
        assert "does not fit these flags" in capsys.readouterr().err

    def test_a_reset_is_kept_too(self, options: Options) -> None:
        self.placed(options, "follower")
        Venue(options).reset({})
        assert Venue(options).book("follower").orders == []


def test_without_a_state_file_nothing_is_written(exchange: Sandbox, follower: Caller) -> None:
    answer(follower.post(SETTINGS, UNIFIED))
    assert {path.name for path in exchange.log.parent.iterdir()} == {"sandbox.log"}
