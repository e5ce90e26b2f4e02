"""The derivation of one copy, as a pure function of an order, settings and means."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from copytrade.rules import CopySettings, CustomLeverage, TraceConfig
from copytrade.sandbox.world import TRADERS
from copytrade.sandbox.world.copies import Copy, Means, Skipped, derive_copy
from copytrade.sandbox.world.leads import End, LeadOrder
from copytrade.sandbox.world.life import slippage
from copytrade.sandbox.world.prices import Market
from copytrade.sandbox.world.symbols import CONTRACTS

from .moments import DAY, HOUR, MINUTE, SEED, START

MARKET = Market(SEED, START)
RICH = Means(Decimal(10_000_000))
SYMBOLS = ("BTCUSDT", "ETHUSDT", "SOLUSDT", "DOGEUSDT")


@st.composite
def leads(draw: st.DrawFn) -> LeadOrder:
    symbol = draw(st.sampled_from(SYMBOLS))
    opened = START + draw(st.integers(-200 * DAY, 10 * DAY))
    closed = opened + draw(st.integers(MINUTE, 3 * DAY))
    price = MARKET.price(symbol, opened)
    size = max(
        CONTRACTS[symbol].size(Decimal(draw(st.integers(500, 40_000))) / price), CONTRACTS[symbol].step
    )
    return LeadOrder(
        draw(st.sampled_from(TRADERS)), symbol, draw(st.sampled_from(("LONG", "SHORT"))),
        draw(st.integers(2, 25)), size, price, opened, End(closed, MARKET.price(symbol, closed)),
    )  # fmt: skip


def ratios(top: str = "4") -> st.SearchStrategy[Decimal | None]:
    return st.none() | st.decimals(Decimal(0), Decimal(top), places=3)


@st.composite
def configs(draw: st.DrawFn) -> TraceConfig:
    percent = draw(st.booleans())
    value = draw(st.decimals(Decimal("0.05"), Decimal(3), places=2) if percent else st.integers(10, 2_000))
    kind = draw(st.sampled_from(("trader", "fixed", "specify", None)))
    leverage = st.none() | st.integers(1, 50)
    custom = tuple(CustomLeverage(symbol, draw(leverage), draw(leverage)) for symbol in SYMBOLS)
    return TraceConfig(
        None, SYMBOLS, "percent" if percent else "amount", Decimal(value),
        draw(st.none() | st.integers(10, 20_000).map(Decimal)), draw(ratios()), draw(ratios()),
        draw(st.none() | st.just(Decimal(0)) | st.decimals(Decimal("0.001"), Decimal("0.01"), places=3)),
        draw(st.sampled_from(("cross", "isolated", "trader"))), kind,
        draw(leverage) if kind == "fixed" else None, draw(leverage) if kind == "fixed" else None,
        custom if kind == "specify" else (),
    )  # fmt: skip


def derive(lead: LeadOrder, config: TraceConfig, means: Means = RICH, account: int = 1) -> Copy | Skipped:
    return derive_copy(lead, CopySettings("unified", (config,)), means, market=MARKET, account=account)


def plain(**changes: object) -> TraceConfig:
    """Settings that copy everything one to one."""
    config = TraceConfig(None, SYMBOLS, "percent", Decimal(1), margin_type="cross", leverage_type="trader")
    return replace(config, **changes)


def lead(symbol: str = "BTCUSDT", side: str = "LONG", *, opened: int = START, hours: float = 5) -> LeadOrder:
    price = MARKET.price(symbol, opened)
    closed = opened + int(hours * HOUR)
    return LeadOrder(
        TRADERS[0], symbol, side, 8, CONTRACTS[symbol].size(Decimal(10_000) / price), price,
        opened, End(closed, MARKET.price(symbol, closed)),
    )  # fmt: skip


def copied(config: TraceConfig, count: int = 60, means: Means = RICH, **order: object) -> list[Copy]:
    """Copies of `count` orders in a row."""
    made = [derive(lead(opened=START + step * HOUR, **order), config, means) for step in range(count)]
    return [copy for copy in made if isinstance(copy, Copy)]


@given(leads(), configs())
@settings(max_examples=300, deadline=None)
def test_a_copy_obeys_the_formulas(order, config):
    copy = derive(order, config)
    assume(isinstance(copy, Copy))
    assert isinstance(copy, Copy)
    position, step = copy.position, CONTRACTS[order.symbol].step
    cent = Decimal("0.00000001")
    exact = position.price * position.size / position.leverage
    assert copy.margin == exact.quantize(cent, ROUND_HALF_UP)
    assert copy.open_fee == (position.price * position.size * Decimal("0.0006")).quantize(cent, ROUND_HALF_UP)
    assert 0 < position.size <= copy.size
    assert position.size % step == 0 and copy.size % step == 0
    if config.max_hold is not None:
        assert copy.margin <= config.max_hold
    assert position.open_ms > order.open_ms
    assert min(copy.tracking_no, copy.open_order_id, copy.close_order_id) > 2**53
    assert copy.end is not None and copy.end.ms >= position.open_ms
    sign = 1 if order.side == "LONG" else -1
    gross = (copy.end.price - position.price) * position.size * sign
    assert copy.end.realized == gross.quantize(cent, ROUND_HALF_UP)
    assert copy.end.share == (max(gross, Decimal(0)) / 10).quantize(cent, ROUND_HALF_UP)


@given(leads(), configs())
@settings(max_examples=200, deadline=None)
def test_triggers_lie_at_their_ratio_of_the_margin_and_close_on_their_side(order, config):
    copy = derive(order, config)
    assume(isinstance(copy, Copy))
    assert isinstance(copy, Copy) and copy.end is not None
    position, first = copy.position, copy.edits[0].triggers
    tick = Decimal(1).scaleb(-CONTRACTS[order.symbol].digits)
    sign = 1 if order.side == "LONG" else -1
    for trigger, ratio, side in (
        (first.take, config.take_profit, sign),
        (first.stop, config.stop_loss, -sign),
    ):
        if not ratio:
            assert trigger is None
        elif trigger is not None:
            assert abs(trigger - position.price * (1 + side * ratio / position.leverage)) <= tick
            assert (trigger - position.price) * side >= 0
    last = copy.edits[-1].triggers
    if copy.end.reason == "take_profit":
        assert copy.end.price == last.take and copy.end.realized >= 0
    if copy.end.reason == "stop_loss":
        assert copy.end.price == last.stop
    if not config.take_profit and not config.stop_loss:
        assert len(copy.edits) == 1 and copy.end.reason in ("trader", "liquidated")


@given(leads(), configs())
@settings(max_examples=80, deadline=None)
def test_the_same_question_has_the_same_answer(order, config):
    assert derive(order, config) == derive(order, config)


@given(leads(), configs())
@settings(max_examples=150, deadline=None)
def test_a_loss_stays_within_what_backs_the_copy(order, config):
    copy = derive(order, replace(config, margin_type="isolated"))
    assume(isinstance(copy, Copy))
    assert isinstance(copy, Copy) and copy.end is not None
    # the market may pass a trigger by what a fill slips and the rounding to a tick
    slack = copy.position.price * copy.position.size * Decimal("0.021")
    assert -copy.end.realized <= copy.margin + slack


def test_percent_is_a_multiple_of_the_traders_size():
    for value in ("1", "0.5", "0.25", "2"):
        order = lead()
        copy = derive(order, plain(trace_value=Decimal(value)))
        assert isinstance(copy, Copy)
        assert copy.size == CONTRACTS["BTCUSDT"].size(order.size * Decimal(value))


def test_an_amount_is_the_margin_whatever_the_trader_and_the_leverage():
    for leverage in (2, 10, 25):
        config = plain(
            trace_type="amount",
            trace_value=Decimal(200),
            leverage_type="fixed",
            long_leverage=leverage,
            short_leverage=leverage,
        )
        for copy in copied(config, 10):
            wanted = copy.size * copy.position.price / copy.position.leverage
            assert 200 - copy.position.price * Decimal("0.0001") <= wanted <= 200
            assert copy.position.leverage == leverage


def test_each_leverage_kind_sets_the_leverage_of_each_side():
    custom = (CustomLeverage("BTCUSDT", 3, 4), CustomLeverage("ETHUSDT", None, 7))
    fixed = plain(leverage_type="fixed", long_leverage=12, short_leverage=6)
    specify = plain(leverage_type="specify", custom_leverages=custom)

    def leverage(config: TraceConfig, symbol: str, side: str) -> int:
        return copied(config, 3, symbol=symbol, side=side)[0].position.leverage

    assert leverage(plain(), "BTCUSDT", "LONG") == 8
    assert (leverage(fixed, "BTCUSDT", "LONG"), leverage(fixed, "ETHUSDT", "SHORT")) == (12, 6)
    assert (leverage(specify, "BTCUSDT", "LONG"), leverage(specify, "BTCUSDT", "SHORT")) == (3, 4)
    assert (leverage(specify, "ETHUSDT", "LONG"), leverage(specify, "ETHUSDT", "SHORT")) == (10, 7)
    assert leverage(plain(leverage_type="fixed"), "BTCUSDT", "LONG") == 10


def test_a_symbol_that_is_not_listed_is_not_copied_and_no_list_means_all():
    without = derive(lead("DOGEUSDT"), plain(symbols=("BTCUSDT",)))
    assert isinstance(without, Skipped) and without.reason == "symbol"
    assert isinstance(derive(lead("DOGEUSDT"), plain(symbols=None)), Copy)


def test_per_symbol_settings_take_the_config_of_the_symbol():
    each = tuple(
        replace(plain(), symbol=symbol, symbols=None, trace_value=Decimal(value))
        for symbol, value in (("BTCUSDT", "1"), ("ETHUSDT", "0.5"))
    )
    per_symbol = CopySettings("per_symbol", each)

    def made(symbol: str) -> Copy | Skipped:
        return derive_copy(lead(symbol), per_symbol, RICH, market=MARKET, account=1)

    whole, half, none = made("BTCUSDT"), made("ETHUSDT"), made("SOLUSDT")
    assert isinstance(whole, Copy) and whole.size == lead("BTCUSDT").size
    assert isinstance(half, Copy) and half.size == CONTRACTS["ETHUSDT"].size(lead("ETHUSDT").size / 2)
    assert isinstance(none, Skipped) and none.reason == "symbol"


def test_what_is_held_counts_for_the_trader_or_for_the_symbol():
    means = Means(Decimal(100_000), held=Decimal(950), held_symbol=Decimal(100))
    config = plain(max_hold=Decimal(1_000), trace_type="amount", trace_value=Decimal(800))
    unified = derive(lead(), config, means)
    assert isinstance(unified, Skipped) and unified.reason == "max_hold"
    settings_each = CopySettings("per_symbol", (replace(config, symbol="BTCUSDT", symbols=None),))
    alone = derive_copy(lead(), settings_each, means, market=MARKET, account=1)
    assert isinstance(alone, Copy) and alone.margin <= 900


def test_over_the_limit_a_copy_is_filled_in_part():
    means = Means(Decimal(100_000), held=Decimal(500))
    config = plain(max_hold=Decimal(1_000), trace_type="amount", trace_value=Decimal(800))
    copy = derive(lead(), config, means)
    assert isinstance(copy, Copy)
    assert copy.position.size < copy.size
    assert 400 < copy.margin <= 500


def test_without_the_balance_nothing_is_opened():
    poor = derive(lead(), plain(), Means(Decimal(20)))
    assert isinstance(poor, Skipped) and poor.reason == "balance"
    assert isinstance(derive(lead(), plain(), Means(Decimal(-5))), Skipped)


def test_absurd_numbers_of_36_digits_open_nothing_and_break_nothing():
    huge, tiny = Decimal("9" * 36), Decimal("0." + "0" * 34 + "1")
    for kind in ("percent", "amount"):
        for value in (huge, tiny, Decimal("0." + "3" * 35)):
            made = derive(lead(), plain(trace_type=kind, trace_value=value))
            assert isinstance(made, Copy) or made.reason in ("balance", "too_small")
    fine = derive(lead(), plain(take_profit=Decimal("0." + "3" * 35), stop_loss=Decimal("3." + "9" * 35)))
    assert isinstance(fine, Copy)


def test_too_small_an_order_is_not_opened():
    tiny = derive(lead(), plain(trace_value=Decimal("0.0001")))
    assert isinstance(tiny, Skipped) and tiny.reason == "too_small"


def test_a_slippage_limit_refuses_the_worst_fills_and_only_those():
    orders = [lead(opened=START - step * HOUR) for step in range(500)]
    free = [derive(order, plain(slippage=Decimal(0))) for order in orders]
    tight = [derive(order, plain(slippage=Decimal("0.001"))) for order in orders]
    refused = [copy for copy in tight if isinstance(copy, Skipped)]
    assert 0 < len(refused) < 60
    assert all(skipped.reason == "slippage" for skipped in refused)
    assert all(isinstance(copy, Copy) for copy in free)
    for copy, limited in zip(free, tight, strict=True):
        if isinstance(limited, Copy):
            assert limited == copy
            market = MARKET.price("BTCUSDT", limited.position.open_ms)
            assert limited.position.price <= market * Decimal("1.001") + Decimal("0.1")


def test_slippage_is_never_negative_nor_absurd():
    rng = Random(3)
    drawn = [slippage(rng) for _ in range(3_000)]
    assert all(0 <= slip <= Decimal("0.02") for slip in drawn)
    assert sum(slip > Decimal("0.001") for slip in drawn) > 20


def test_some_copies_are_filled_in_part():
    copies = copied(plain(), 300)
    partial = [copy for copy in copies if copy.position.size < copy.size]
    assert 3 < len(partial) < 40


def test_a_tight_take_profit_closes_long_before_the_trader():
    early = [
        c
        for c in copied(plain(take_profit=Decimal("0.02")), hours=24)
        if c.end and c.end.reason == "take_profit"
    ]
    assert len(early) > 20
    for copy in early:
        assert copy.end is not None and copy.lead.end is not None
        assert copy.end.ms < copy.lead.end.ms
        assert copy.end.realized > 0


def test_a_stop_loss_closes_at_a_loss_on_both_sides():
    for side in ("LONG", "SHORT"):
        copies = copied(plain(stop_loss=Decimal("0.05"), margin_type="isolated"), side=side, hours=48)
        stopped = [c for c in copies if c.end and c.end.reason == "stop_loss" and len(c.edits) == 1]
        assert len(stopped) > 5
        for copy in stopped:
            assert copy.end is not None
            assert copy.end.realized < 0
            # as near the ratio as a tick allows
            rate = -copy.end.realized / copy.margin
            assert abs(rate - Decimal("0.05")) < Decimal("0.001")


def test_triggers_are_sometimes_moved_while_open_and_never_set_anew():
    both = copied(plain(take_profit=Decimal("1"), stop_loss=Decimal("0.8")), hours=20)
    moved = [copy for copy in both if len(copy.edits) > 1]
    assert moved
    for copy in moved:
        times = [edit.since_ms for edit in copy.edits]
        assert times == sorted(times) and copy.end is not None and times[-1] <= copy.end.ms
    off = copied(plain(take_profit=Decimal(0), stop_loss=None), hours=20)
    assert all(copy.edits[0].triggers == (None, None) and len(copy.edits) == 1 for copy in off)


def test_isolated_margin_that_is_used_up_ends_the_copy():
    config = plain(leverage_type="fixed", long_leverage=100, short_leverage=100, margin_type="isolated")
    ended = [c.end for c in copied(config, hours=48) if c.end and c.end.reason == "liquidated"]
    assert len(ended) > 10
    assert all(end.realized < 0 for end in ended)


def test_leaving_the_trader_closes_what_is_open():
    order = lead(hours=30)
    left = derive_copy(
        order, CopySettings("unified", (plain(),)), RICH, market=MARKET, account=1, until_ms=START + 2 * HOUR
    )
    assert isinstance(left, Copy) and left.end is not None
    assert (left.end.ms, left.end.reason) == (START + 2 * HOUR, "left")


def test_two_accounts_copy_the_same_order_with_ids_of_their_own():
    one, other = derive(lead(), plain(), account=1), derive(lead(), plain(), account=2)
    assert isinstance(one, Copy) and isinstance(other, Copy)
    ids = [one.tracking_no, one.open_order_id, one.close_order_id]
    ids += [other.tracking_no, other.open_order_id, other.close_order_id]
    assert len(set(ids)) == 6
