"""Where a copy differs from the settings in force when it opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest

from copytrade import changes, fills, rules, versions
from copytrade.models import TrackingOrder, Trader
from copytrade.rules import CopySettings, CustomLeverage, TraceConfig
from copytrade.sync import run
from tests.copytrade.test_changes import edited
from tests.support.sandbox_process import Sandbox


@dataclass(frozen=True)
class Order:
    symbol: str = "BTCUSDT"
    position_side: str = "LONG"
    open_leverage: int | None = 5
    open_size: Decimal | None = Decimal("0.5")
    open_fill_size: Decimal | None = Decimal("0.5")
    open_margin_amount: Decimal | None = Decimal("99.3")


CONFIG = TraceConfig(
    symbol=None,
    symbols=("BTCUSDT", "ETHUSDT"),
    trace_type="amount",
    trace_value=Decimal(100),
    max_hold=Decimal(1000),
    leverage_type="fixed",
    long_leverage=5,
    short_leverage=4,
)


def found(settings: dict[str, Any] | None = None, **order: Any) -> list[str]:
    config = replace(CONFIG, **(settings or {}))
    return fills.deviations(Order(**order), CopySettings("unified", (config,)))


def test_a_fill_as_set_says_nothing() -> None:
    assert found() == []
    assert found(position_side="SHORT", open_leverage=4) == []
    assert found({"symbols": None}, symbol="SOLUSDT") == []


def test_a_symbol_that_is_not_set() -> None:
    assert found(symbol="SOLUSDT") == ["SOLUSDT is not among the symbols of these settings."]
    per_symbol = CopySettings("per_symbol", (replace(CONFIG, symbol="ETHUSDT", symbols=None),))
    assert len(fills.deviations(Order(), per_symbol)) == 1
    assert fills.deviations(Order(symbol="ETHUSDT"), per_symbol) == []
    assert len(fills.deviations(Order(), CopySettings("unified", ()))) == 1


def test_another_leverage() -> None:
    assert found(open_leverage=9) == ["It was opened with a leverage of 9x; the settings say 5x."]
    assert found(open_leverage=5, position_side="SHORT")[0].endswith("the settings say 4x.")
    assert found(open_leverage=5, position_side="BOTH") == [], "either side may be meant"
    assert found(open_leverage=9, position_side="BOTH")[0].endswith("the settings say 4x or 5x.")
    customs = (CustomLeverage("BTCUSDT", 7, 8), CustomLeverage("ETHUSDT", 5, 5))
    own = {"leverage_type": "specify", "custom_leverages": customs}
    assert found(own, open_leverage=7) == []
    assert found(own)[0].endswith("the settings say 7x.")


@pytest.mark.parametrize("kind", ["trader", None, "unheard_of"])
def test_a_leverage_that_follows_the_trader_is_not_compared(kind: str | None) -> None:
    assert found({"leverage_type": kind}, open_leverage=77) == []


def test_a_partial_fill_is_named_and_its_size_is_compared_for_the_whole_order() -> None:
    assert found(open_fill_size=Decimal("0.3"), open_margin_amount=Decimal(60)) == [
        "Only 0.3 of 0.5 was filled, 60 % of the order."
    ]
    size, partial = found(open_fill_size=Decimal("0.25"), open_margin_amount=Decimal(60))
    assert size == (
        "It took 60 USDT of margin (120 USDT for the whole order); the settings say 100 USDT for each copy."
    )
    assert partial.startswith("Only 0.25")
    assert found(open_fill_size=Decimal(0), open_margin_amount=Decimal(0)) == [
        "Only 0 of 0.5 was filled, 0 % of the order."
    ]


def test_another_size_than_the_fixed_amount() -> None:
    assert found(open_margin_amount=Decimal(150)) == [
        "It took 150 USDT of margin; the settings say 100 USDT for each copy."
    ]
    assert found(open_margin_amount=Decimal("98.01")) == [], "a size is rounded to the contract's step"
    assert found({"trace_type": "percent"}, open_margin_amount=Decimal(150)) == []


def test_more_than_may_be_held() -> None:
    above = found({"max_hold": Decimal(50)})
    assert len(above) == 1 and "above the 50 USDT" in above[0] and "inferred" in above[0]


def test_what_the_exchange_did_not_tell_is_not_compared() -> None:
    assert found(open_leverage=None, open_size=None, open_fill_size=None, open_margin_amount=None) == []
    assert found({"trace_value": None, "long_leverage": None, "max_hold": None}) == []


def test_copies_that_the_exchange_opened_under_our_settings(trader: Trader, sandbox: Sandbox) -> None:
    """Only thin books and full hands make a fill differ, and each of those is named."""
    wanted = edited(
        trader, trace_type="amount", trace_value=Decimal(200), max_hold=None,
        leverage_type="fixed", long_leverage=6, short_leverage=3,
    )  # fmt: skip
    draft = changes.draft(trader, wanted, None)
    changes.confirm(draft, draft.key)
    assert changes.send(draft.pk) == "applied"
    known = set(TrackingOrder.objects.values_list("tracking_no", flat=True))
    version = versions.latest(trader)
    for _ in range(10):
        sandbox.advance(seconds=6 * 3600)
    run.sync_account(trader.account_id, ["open", "history"])
    copies = [
        order
        for order in TrackingOrder.objects.filter(trader=trader).exclude(tracking_no__in=known)
        if order.open_time and order.open_time > version.first_seen_at
    ]
    assert copies
    for order in copies:
        assert versions.in_force(trader, order.open_time) == version
        partial = order.open_fill_size < order.open_size
        sentences = fills.deviations(order, versions.settings_of(version))
        assert len(sentences) == partial, (sentences, order.__dict__)
        other = replace(wanted, configs=(replace(wanted.configs[0], long_leverage=9, short_leverage=9),))
        assert fills.deviations(order, rules.canonical(other))[0].startswith("It was opened with a leverage")
