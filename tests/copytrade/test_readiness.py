"""The copy-readiness check: each verdict at its bounds, and against what the sandbox exchange really does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from copytrade.readiness import BLOCKS, OK, UNKNOWN, WARN, Facts, judge, listed, room_for
from copytrade.rules import CopySettings, TraceConfig
from copytrade.sandbox.world.copies import Copy, Means, Skipped, derive_copy
from copytrade.sandbox.world.symbols import CONTRACTS
from tests.sandbox.world.test_copies import HOUR, MARKET, START, lead

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
BTC, ETH = "BTCUSDT", "ETHUSDT"


def amount(value: str = "100", **changes: object) -> CopySettings:
    config = TraceConfig(
        None, (BTC, ETH), "amount", Decimal(value), margin_type="cross", leverage_type="trader"
    )
    return CopySettings("unified", (replace(config, **changes),))


def each(*configs: tuple[str, str, str]) -> CopySettings:
    """Per-symbol settings of (symbol, amount, most held)."""
    return CopySettings(
        "per_symbol",
        tuple(TraceConfig(s, None, "amount", Decimal(value), Decimal(most)) for s, value, most in configs),
    )


def facts(**changes: object) -> Facts:
    known = Facts(
        now=NOW, copied=True, copy_enable=True, settings=amount(), available=Decimal(1000),
        read_at=NOW - timedelta(minutes=5), traded={BTC: NOW - timedelta(days=1)},
    )  # fmt: skip
    return replace(known, **changes)


def state(key: str, **changes: object) -> str:
    return next(check.state for check in judge(facts(**changes)).checks if check.key == key)


def said(key: str, **changes: object) -> str:
    return next(check.sentence for check in judge(facts(**changes)).checks if check.key == key)


def test_a_trader_for_whom_all_is_well_is_ready() -> None:
    found = judge(facts())
    assert (found.state, found.wrong) == (OK, 0)
    assert {check.key for check in found.checks} == {
        "copying", "data", "balance", "most_held", "symbols", "slippage", "quiet",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("copied", "enabled", "expected"),
    [
        (True, True, OK),
        (True, None, UNKNOWN),
        (True, False, BLOCKS),
        (False, True, BLOCKS),
        (False, None, BLOCKS),
    ],
)
def test_copying_that_is_off_blocks_and_untold_is_not_taken_for_off(
    copied: bool, enabled: bool | None, expected: str
) -> None:
    assert state("copying", copied=copied, copy_enable=enabled) == expected


def test_where_copying_is_off_nothing_else_is_said() -> None:
    assert [check.key for check in judge(facts(copied=False, available=Decimal(0))).checks] == ["copying"]


@pytest.mark.parametrize(
    ("room", "expected"),
    [("100", OK), ("99.99", WARN), ("20", WARN), ("19.99", BLOCKS), ("0", BLOCKS), ("-5", BLOCKS)],
)
def test_the_balance_against_a_copy_of_100(room: str, expected: str) -> None:
    assert room_for(Decimal(100), Decimal(room)) == expected
    assert state("balance", available=Decimal(room)) == expected


@pytest.mark.parametrize(
    ("held", "expected"),
    [("0", OK), ("400", OK), ("400.01", WARN), ("480", WARN), ("480.01", BLOCKS), ("501", BLOCKS)],
)
def test_margin_in_use_against_a_maximum_of_500(held: str, expected: str) -> None:
    limited = amount(max_hold=Decimal(500))
    assert state("most_held", settings=limited, held={ETH: Decimal(held)}) == expected


def test_unified_settings_count_all_symbols_together_and_per_symbol_each_alone() -> None:
    held = {BTC: Decimal(300), ETH: Decimal(190)}
    assert state("most_held", settings=amount(max_hold=Decimal(500)), held=held) == BLOCKS
    assert state("most_held", settings=each((BTC, "100", "500"), (ETH, "100", "500")), held=held) == OK


def test_the_symbol_that_is_traded_counts_not_one_that_is_only_listed() -> None:
    settings_ = each((BTC, "100", "500"), (ETH, "5000", "10"))
    assert state("balance", settings=settings_) == OK
    assert state("balance", settings=settings_, traded={ETH: NOW}) == WARN


def test_a_multiple_is_estimated_from_copies_under_these_settings_and_says_so() -> None:
    half = amount("0.5", trace_type="percent")
    sizes = [Decimal(n) for n in (90, 100, 110)]
    assert state("balance", settings=half) == UNKNOWN
    assert state("balance", settings=half, sizes=sizes[:2]) == UNKNOWN
    assert state("balance", settings=half, sizes=sizes) == OK
    assert state("balance", settings=half, sizes=sizes, available=Decimal(99)) == WARN
    assert state("balance", settings=half, sizes=sizes, available=Decimal(1)) == WARN, (
        "an estimate never blocks"
    )
    assert state("balance", settings=half, sizes=sizes, available=Decimal(0)) == BLOCKS
    assert state("balance", settings=half, available=Decimal(0)) == BLOCKS
    assert "estimated from the last 3" in said("balance", settings=half, sizes=sizes)


def test_a_balance_that_is_not_told_is_unknown_not_none() -> None:
    assert state("balance", available=None) == UNKNOWN


@pytest.mark.parametrize(
    ("traded", "expected"),
    [({}, UNKNOWN), ({BTC: NOW}, OK), ({BTC: NOW, "DOGEUSDT": NOW}, WARN), ({"DOGEUSDT": NOW}, BLOCKS)],
)
def test_symbols_traded_lately_against_those_listed(traded: dict, expected: str) -> None:
    assert state("symbols", traded=traded) == expected


def test_a_unified_list_that_is_left_out_means_all_symbols() -> None:
    assert listed(amount(symbols=None), "DOGEUSDT")
    assert not listed(amount(symbols=()), "DOGEUSDT")


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(None, OK), ("0", OK), ("0.001", WARN), ("0.002", WARN), ("0.0021", OK), ("0.01", OK)],
)
def test_slippage(limit: str | None, expected: str) -> None:
    assert state("slippage", settings=amount(slippage=Decimal(limit) if limit else None)) == expected


@pytest.mark.parametrize(("days", "expected"), [(0, OK), (13, OK), (14, WARN), (89, WARN)])
def test_a_trader_who_is_quiet(days: int, expected: str) -> None:
    assert state("quiet", traded={BTC: NOW - timedelta(days=days)}) == expected
    assert state("quiet", traded={}) == UNKNOWN


def test_a_refused_key_and_old_data_warn_but_block_nothing() -> None:
    assert state("data", refused="The exchange refuses the key.") == WARN
    assert state("data", read_at=NOW - timedelta(hours=1)) == OK
    assert state("data", read_at=NOW - timedelta(hours=1, seconds=1)) == WARN
    assert state("data", read_at=None) == UNKNOWN


def test_settings_that_were_not_understood_leave_the_rest_unknown() -> None:
    found = judge(facts(settings=None))
    assert found.state == UNKNOWN
    assert {check.key for check in found.checks} == {"copying", "data", "settings", "quiet"}


# --- against the sandbox -----------------------------------------------------------------------------------
REASONS = {"balance": "balance", "max_hold": "most_held", "symbol": "symbols"}


@given(
    value=st.integers(20, 3000), available=st.integers(0, 4000), most=st.none() | st.integers(10, 5000),
    held=st.integers(0, 5000), symbol=st.sampled_from((BTC, ETH, "SOLUSDT")), step=st.integers(0, 50),
)  # fmt: skip
@settings(max_examples=400, deadline=None)
def test_what_blocks_is_what_the_sandbox_skips_and_what_is_ready_it_copies(
    value: int, available: int, most: int | None, held: int, symbol: str, step: int
) -> None:
    wanted = amount(str(value), max_hold=None if most is None else Decimal(most))
    order = lead(symbol, opened=START + step * HOUR)
    means = Means(Decimal(available), held=Decimal(held))
    outcome = derive_copy(order, wanted, means, market=MARKET, account=1)
    # A contract is bought in steps: within one of them the part that fits may be rounded over the bound.
    lot = CONTRACTS[symbol].step * order.price / order.leverage
    room = min(Decimal(available), Decimal(most - held) if most is not None else Decimal(available))
    assume(abs(room * 5 - value) > 6 * lot and abs(room - value) > lot)
    states = {
        key: state(
            key, settings=wanted, available=means.available, held={symbol: means.held}, traded={symbol: NOW}
        )
        for key in ("balance", "most_held", "symbols")
    }
    if BLOCKS in states.values():
        assert isinstance(outcome, Skipped)
    if set(states.values()) == {OK}:
        assert isinstance(outcome, Copy) or outcome.reason in ("too_small", "slippage")
    if isinstance(outcome, Skipped) and outcome.reason in REASONS:
        assert states[REASONS[outcome.reason]] in (WARN, BLOCKS)
