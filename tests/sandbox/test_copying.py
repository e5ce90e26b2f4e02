"""Copy trading over HTTP: settings written and read back, open copies, history by cursor, traders."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.paths import HISTORY, LEAD_HISTORY, OPEN, SETTINGS, STRANGER, TRADER, TRADERS, UNIFIED
from tests.sandbox.signer import Caller, answer, refusal
from tests.support.sandbox_process import Sandbox


def read(caller: Caller, trader: int = TRADER) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(caller.get(SETTINGS, f"traderId={trader}"))
    return found


def unified(**config: Any) -> dict[str, Any]:
    """UNIFIED with changes in its config; None takes a field away."""
    body = copy.deepcopy(UNIFIED)
    body["unifiedTraceConfig"] |= config
    body["unifiedTraceConfig"] = {k: v for k, v in body["unifiedTraceConfig"].items() if v is not None}
    return body


def per_symbol(symbols: list[str], /, **config: Any) -> dict[str, Any]:
    item = {
        "traceType": "amount", "traceValue": "50", "maxHoldQty": "1000", "stopProfitRatio": "0.5",
        "stopLossRatio": "0.2", "slippageRatio": "0.005",
    }  # fmt: skip
    configs = [item | {"symbol": symbol} | config for symbol in symbols]
    return {"traderId": TRADER, "settingType": "per_symbol", "symbolTraceConfigs": configs}


@pytest.fixture
def symbols(follower: Caller) -> list[str]:
    """All copy-trading symbols, as a unified write without `symbols` shows them."""
    answer(follower.post(SETTINGS, unified(symbols=None)))
    return list(read(follower)[0]["symbols"])


class TestWriting:
    def test_the_answer_is_the_standard_success(self, follower: Caller) -> None:
        found = answer(follower.post(SETTINGS, UNIFIED))
        assert (found["code"], found["msg"]) == ("200", "success")
        assert isinstance(found["requestTime"], int)

    def test_what_was_left_out_reads_back_as_decided(self, follower: Caller) -> None:
        answer(follower.post(SETTINGS, UNIFIED))
        (item,) = read(follower)
        assert item["copyEnable"] is True
        assert (item["settingMode"], item["symbol"], item["symbols"]) == (
            "unified",
            None,
            ["BTCUSDT", "ETHUSDT"],
        )
        assert (item["traceType"], item["traceValue"]) == ("percent", "0.5")
        assert (item["marginType"], item["leverageType"]) == ("trader", "trader")
        for name in ("maxHoldSize", "takeProfitRatio", "stopLossRatio", "slippageRatio"):
            assert item[name] is None
        assert (item["productType"], item["marginCoin"]) == ("USDT-FUTURES", "USDT")

    def test_every_field_reads_back_under_its_other_name(self, follower: Caller) -> None:
        answer(follower.post(SETTINGS, unified(
            maxHoldQty="2500", stopProfitRatio="4", stopLossRatio="0", slippageRatio="0.001", marginType="cross",
            leverageType="fixed", fixedLongLeverage=7, fixedShortLeverage=3,
        )))  # fmt: skip
        (item,) = read(follower)
        found = {name: item[name] for name in (
            "maxHoldSize", "takeProfitRatio", "stopLossRatio", "slippageRatio", "marginType", "leverageType",
            "longLeverage", "shortLeverage",
        )}  # fmt: skip
        assert found == {
            "maxHoldSize": "2500", "takeProfitRatio": "4", "stopLossRatio": "0", "slippageRatio": "0.001",
            "marginType": "cross", "leverageType": "fixed", "longLeverage": 7, "shortLeverage": 3,
        }  # fmt: skip

    def test_omitted_leverages_become_ten(self, follower: Caller) -> None:
        answer(follower.post(SETTINGS, unified(leverageType="fixed", fixedLongLeverage=5)))
        (item,) = read(follower)
        assert (item["longLeverage"], item["shortLeverage"]) == (5, 10)
        custom = [{"symbol": "BTCUSDT", "longLeverage": 20}, {"symbol": "ETHUSDT"}]
        answer(follower.post(SETTINGS, unified(leverageType="specify", customLeverages=custom)))
        (item,) = read(follower)
        assert item["customLeverages"] == [
            {"symbol": "BTCUSDT", "longLeverage": 20, "shortLeverage": 10},
            {"symbol": "ETHUSDT", "longLeverage": 10, "shortLeverage": 10},
        ]

    def test_what_the_mode_does_not_use_is_ignored(self, follower: Caller) -> None:
        custom = [{"symbol": "BTCUSDT", "longLeverage": 3}]
        answer(follower.post(SETTINGS, unified(customLeverages=custom) | {"symbolTraceConfigs": [{"x": 1}]}))
        (item,) = read(follower)
        assert (item["leverageType"], item["customLeverages"] or None) == ("trader", None)

    def test_no_symbols_means_all(self, symbols: list[str]) -> None:
        assert len(symbols) >= 12

    def test_per_symbol_settings_read_back_one_by_one(self, follower: Caller, symbols: list[str]) -> None:
        answer(follower.post(SETTINGS, per_symbol(symbols)))
        items = read(follower)
        assert [item["symbol"] for item in items] == symbols
        assert {item["settingMode"] for item in items} == {"per_symbol"}
        assert {item["maxHoldSize"] for item in items} == {"1000"}

    def test_a_trader_id_may_be_a_string_of_digits(self, follower: Caller) -> None:
        answer(follower.post(SETTINGS, unified(traceValue="0.7") | {"traderId": str(TRADER)}))
        assert read(follower)[0]["traceValue"] == "0.7"


REFUSED: list[tuple[dict[str, Any], int]] = [
    (unified() | {"traderId": STRANGER}, -1142),
    (unified() | {"traderId": 1.5}, -1142),
    (unified() | {"traderId": None}, -1128),
    (unified() | {"settingType": "both"}, -1142),
    (unified() | {"settingType": None}, -1128),
    (unified() | {"unifiedTraceConfig": None}, -1128),
    (unified() | {"unifiedTraceConfig": []}, -1142),
    (unified() | {"settingType": "per_symbol"}, -1128),
    (unified(symbols=[]), -1142),
    (unified(symbols=["BTCUSDT", "BTCUSDT"]), -1142),
    (unified(symbols=["NOPEUSDT"]), -1121),
    (unified(symbol="BTCUSDT"), -1142),
    (unified(traceType=None), -1128),
    (unified(traceType="copy"), -1142),
    (unified(traceValue=None), -1128),
    (unified(traceValue="0"), -1140),
    (unified(traceValue=1), -1142),
    (unified(maxHoldQty="9.99"), -1140),
    (unified(maxHoldQty="100000.01"), -1140),
    (unified(stopProfitRatio="4.01"), -1140),
    (unified(stopLossRatio="-0.1"), -1140),
    (unified(slippageRatio="0.0009"), -1140),
    (unified(slippageRatio="0.0101"), -1140),
    (unified(slippageRatio=0.005), -1142),
    (unified(marginType="both"), -1142),
    (unified(leverageType="mine"), -1142),
    (unified(leverageType="fixed", fixedLongLeverage=0), -1140),
    (unified(leverageType="fixed", fixedLongLeverage="5"), -1142),
    (unified(leverageType="fixed", fixedLongLeverage=126, fixedShortLeverage=5), -3313),
    (unified(leverageType="specify"), -1128),
    (unified(leverageType="specify", customLeverages=[{"symbol": "BTCUSDT"}]), -1142),
]


class TestRefused:
    @pytest.mark.parametrize(("body", "code"), REFUSED)
    def test_a_refused_write_has_a_code_and_changes_nothing(
        self, exchange: Sandbox, follower: Caller, body: dict[str, Any], code: int
    ) -> None:
        before = exchange.truth()["settings"]
        assert refusal(follower.post(SETTINGS, body)) == (400, code)
        assert exchange.truth()["settings"] == before

    def test_the_edges_are_allowed(self, follower: Caller) -> None:
        for name, values in {
            "maxHoldQty": ("10", "100000"), "stopProfitRatio": ("0", "4"), "stopLossRatio": ("0", "4"),
            "slippageRatio": ("0", "0.001", "0.01"),
        }.items():  # fmt: skip
            for value in values:
                answer(follower.post(SETTINGS, unified(**{name: value})))
        answer(
            follower.post(
                SETTINGS, unified(leverageType="fixed", fixedLongLeverage=1, fixedShortLeverage=125)
            )
        )

    def test_per_symbol_has_its_own_rules(self, follower: Caller, symbols: list[str]) -> None:
        for change, code in [
            ({"marginType": "cross"}, -1142), ({"leverageType": "specify"}, -1142), ({"slippageRatio": None}, -1128),
            ({"leverageType": "fixed"}, -1128), ({"symbols": ["BTCUSDT"]}, -1142),
        ]:  # fmt: skip
            assert refusal(follower.post(SETTINGS, per_symbol(symbols, **change))) == (400, code), change
        for wrong in (symbols[1:], [*symbols, symbols[0]], [*symbols, "NOPEUSDT"], []):
            status, code = refusal(follower.post(SETTINGS, per_symbol(wrong)))
            assert (status, code) in {(400, -1142), (400, -1121), (400, -1128)}

    def test_null_is_left_out(self, follower: Caller) -> None:
        body = unified()
        body["unifiedTraceConfig"] |= {"maxHoldQty": None, "marginType": None}
        answer(follower.post(SETTINGS, body | {"symbolTraceConfigs": None}))
        assert (read(follower)[0]["maxHoldSize"], read(follower)[0]["marginType"]) == (None, "trader")

    def test_an_unknown_trader_cannot_be_read(self, follower: Caller) -> None:
        assert refusal(follower.get(SETTINGS, f"traderId={STRANGER}")) == (400, -1142)


class TestOpen:
    def test_pages_make_the_whole_newest_first(self, exchange: Sandbox, follower: Caller) -> None:
        rows = answer(follower.get(OPEN))
        assert rows
        assert [row["openTime"] for row in rows] == sorted((row["openTime"] for row in rows), reverse=True)
        paged = []
        for page in range(1, len(rows) + 2):
            paged += answer(follower.get(OPEN, f"limit=1&page={page}"))
        assert paged == rows == exchange.truth()["open"]
        assert {row["status"] for row in rows} == {"HAVE_OPEN"}
        assert {row["closeTime"] for row in rows} == {""}

    def test_filters_by_symbol_and_trader(self, follower: Caller) -> None:
        rows = answer(follower.get(OPEN))
        for name, query in (("symbol", "symbol"), ("traderID", "traderId")):
            wanted = rows[0][name]
            found = answer(follower.get(OPEN, f"{query}={wanted}"))
            assert found == [row for row in rows if row[name] == wanted]
        assert answer(follower.get(OPEN, "symbol=NOPEUSDT")) == []
        assert answer(follower.get(OPEN, f"traderId={STRANGER}")) == []


@pytest.mark.parametrize(
    ("key", "path", "account"), [("follower-key", HISTORY, "follower"), ("lead-key", LEAD_HISTORY, "lead")]
)
class TestHistory:
    def test_the_cursor_walks_every_row_once(
        self, exchange: Sandbox, caller_of: Callable[[str], Caller], key: str, path: str, account: str
    ) -> None:
        rows, query = [], ""
        while True:
            page = answer(caller_of(key).get(path, "limit=37" + query))
            rows += page["list"]
            if not page["nextFlag"]:
                assert page["nextKey"] is None
                break
            assert len(page["list"]) == 37
            query = "&nextKeyId={nextKeyId}&nextKeyTime={nextKeyTime}".format(**page["nextKey"])
        assert len(rows) > 50
        assert rows == answer_all(caller_of(key), path)
        assert len({row["trackingNo"] for row in rows}) == len(rows)
        keys = [(int(row.get("closeTime") or row["updateTime"]), row["trackingNo"]) for row in rows]
        assert keys == sorted(keys, reverse=True)

    def test_by_symbol(
        self, exchange: Sandbox, caller_of: Callable[[str], Caller], key: str, path: str, account: str
    ) -> None:
        found = answer(caller_of(key).get(path, "symbol=BTCUSDT"))["list"]
        assert found
        assert {row["symbol"] for row in found} == {"BTCUSDT"}

    def test_by_the_time_of_opening_when_started_so(
        self, exchange: Sandbox, caller_of: Callable[[str], Caller], key: str, path: str, account: str
    ) -> None:
        exchange.reset(history_by="open")
        rows = answer(caller_of(key).get(path))["list"]
        times = [row["openTime"] for row in rows]
        assert times == sorted(times, reverse=True)
        middle = times[len(times) // 2]
        found = answer(caller_of(key).get(path, f"startTime={middle}&endTime={times[0]}"))["list"]
        assert found
        assert all(middle <= row["openTime"] <= times[0] for row in found)


def answer_all(caller: Caller, path: str) -> list[dict[str, Any]]:
    """The same history in steps of 100."""
    rows, query = [], ""
    while True:
        page = answer(caller.get(path, "limit=100" + query))
        rows += page["list"]
        if not page["nextFlag"]:
            return rows
        query = "&nextKeyId={nextKeyId}&nextKeyTime={nextKeyTime}".format(**page["nextKey"])


def test_my_traders_in_pages(follower: Caller) -> None:
    everything = answer(follower.get(TRADERS))
    assert (everything["nextFlag"], everything["total"]) == (False, len(everything["list"]))
    assert everything["total"] >= 4
    first = answer(follower.get(TRADERS, "pageSize=3"))
    second = answer(follower.get(TRADERS, "pageSize=3&pageNo=2"))
    assert (first["nextFlag"], second["nextFlag"]) == (True, False)
    assert first["list"] + second["list"] == everything["list"]


def test_history_has_what_newcomers_and_tests_count_on(exchange: Sandbox) -> None:
    """open-points.md: an open copy; over 50 closed in the last 89 days, some of them 40 to 60 days old."""
    truth = exchange.truth()
    ages = [(truth["now"] - int(row["closeTime"])) / 86_400_000 for row in truth["closed"]]
    assert truth["open"]
    assert sum(age < 89 for age in ages) > 50
    assert any(40 <= age <= 60 for age in ages)


def test_settings_changed_elsewhere_are_read_here(exchange: Sandbox, follower: Caller) -> None:
    exchange.control("POST", "settings", {"account": "follower", "settings": unified(traceValue="0.9")})
    assert read(follower)[0]["traceValue"] == "0.9"
    assert "settings" not in {call["operation"] for call in exchange.calls()["calls"]}


def test_a_change_acts_on_what_is_copied_next(exchange: Sandbox, follower: Caller) -> None:
    """The same future twice: with the leverage left alone, and with it changed."""
    exchange.reset(speed=1)
    start = exchange.clock()["serverTime"]
    answer(
        follower.post(
            SETTINGS, unified(symbols=None, leverageType="fixed", fixedLongLeverage=17, fixedShortLeverage=17)
        )
    )
    exchange.advance(seconds=3 * 86_400)
    truth = exchange.truth()
    fresh = [
        row for row in truth["open"] + truth["closed"]
        if row["traderID"] == TRADER and row["openTime"] > start + 5_000
    ]  # fmt: skip
    assert fresh
    assert {row["openLeverage"] for row in fresh} == {17}
    old = [row for row in truth["closed"] if row["traderID"] == TRADER and row["openTime"] < start]
    assert 17 not in {row["openLeverage"] for row in old}
