"""Who follows whom, and how, when the world begins: the follower's six traders, and load accounts."""

from __future__ import annotations

from decimal import Decimal
from random import Random

from copytrade.rules import FIXED, PER_SYMBOL, SPECIFY, UNIFIED, CopySettings, CustomLeverage, TraceConfig
from copytrade.rules import TRADER as AS_TRADER

from .book import Bond
from .prices import DAY, origin_of
from .symbols import CONTRACTS
from .traders import DOUBLE, EMBER, GAMMA, LANTERN, NORTHWIND, QUIET, TRADERS, Trader

FOLLOWER, LEAD, AFFILIATE = "follower", "lead", "affiliate"
_UIDS = {FOLLOWER: 4412067359, LEAD: NORTHWIND.trader_id, AFFILIATE: 4391185042}
_NUMBERS = {FOLLOWER: 1, LEAD: 2, AFFILIATE: 3}
_LOAD_FROM = 10
_LOAD_UID = 5500000000
SYMBOLS = tuple(CONTRACTS)


def load_name(number: int) -> str:
    return f"load-{number:06d}"


def load_number(name: str) -> int | None:
    """The number of a load account, or None for another name."""
    digits = name.removeprefix("load-")
    return (
        int(digits) if digits != name and len(digits) == 6 and digits.isascii() and digits.isdigit() else None
    )


def uid(name: str) -> int:
    number = load_number(name)
    return _UIDS[name] if number is None else _LOAD_UID + number * 7


def small_number(name: str) -> int:
    """The account's part of its order ids (12 bits)."""
    number = load_number(name)
    return _NUMBERS[name] if number is None else _LOAD_FROM + number


def unified(
    symbols: tuple[str, ...],
    trace: str,
    value: str,
    *,
    hold: str | None = None,
    take: str | None = None,
    stop: str | None = None,
    slippage: str | None = None,
    margin: str = AS_TRADER,
    leverages: tuple[int, int] | dict[str, tuple[int, int]] | None = None,
) -> CopySettings:
    """Unified settings in short: `leverages` a pair for fixed, a table for specify, None for the trader's."""

    def exact(written: str | None) -> Decimal | None:
        return None if written is None else Decimal(written)

    kind = AS_TRADER
    pair: tuple[int | None, int | None] = (None, None)
    custom: tuple[CustomLeverage, ...] = ()
    if isinstance(leverages, dict):
        kind = SPECIFY
        custom = tuple(CustomLeverage(symbol, *leverages[symbol]) for symbol in symbols)
    elif leverages is not None:
        kind, pair = FIXED, leverages
    config = TraceConfig(
        None, symbols, trace, Decimal(value), exact(hold), exact(take), exact(stop), exact(slippage),
        margin, kind, pair[0], pair[1], custom,
    )  # fmt: skip
    return CopySettings(UNIFIED, (config,))


def never_copied() -> CopySettings:
    """What the exchange shows for a trader whom the account never copied."""
    return unified(SYMBOLS, "percent", "1")


def _gamma_settings() -> CopySettings:
    """Per symbol, each its own: majors as a part of the trader's size, the rest a fixed margin."""
    configs = []
    for index, symbol in enumerate(SYMBOLS):
        major = symbol in ("BTCUSDT", "ETHUSDT", "SOLUSDT")
        fixed = index % 2 == 1
        configs.append(
            TraceConfig(
                symbol, None, "percent" if major else "amount", Decimal("0.08" if major else "50"),
                Decimal(600 if major else 300), Decimal("0.16" if index % 3 else "0"), Decimal("0.12"),
                Decimal("0.005" if major else "0"), AS_TRADER, FIXED if fixed else AS_TRADER,
                10 if fixed else None, 8 if fixed else None,
            )
        )  # fmt: skip
    return CopySettings(PER_SYMBOL, tuple(configs))


def follower_bonds(origin: int) -> dict[Trader, Bond]:
    """The follower's past and present, days counted from the origin."""

    def bond(
        since: float,
        until: float | None,
        settings: list[tuple[float, CopySettings]],
        money: list[tuple[float, int]],
    ) -> Bond:
        def at(days: float) -> int:
            return origin + int(days * DAY)

        return Bond(
            at(since),
            None if until is None else at(until),
            tuple((at(day) - 1, value) for day, value in settings),
            tuple((at(day), Decimal(amount)) for day, amount in money),
        )

    north = NORTHWIND.symbols
    careful = dict.fromkeys(north, (5, 5)) | {
        "BTCUSDT": (8, 6),
        "SOLUSDT": (4, 3),
        "LINKUSDT": (4, 4),
    }
    return {
        NORTHWIND: bond(-214, None, [
            (-214, unified(north[:4], "percent", "0.1", slippage="0.01", leverages=(5, 5))),
            (-121, unified(north, "percent", "0.14", hold="2500", take="0.22", stop="0.13", slippage="0.005",
                           leverages=careful)),
        ], [(-214, 3_000), (-121, 3_000)]),
        DOUBLE: bond(-176, None, [
            (-176, unified(DOUBLE.symbols, "amount", "150", slippage="0.005", margin="cross", leverages=(5, 5))),
        ], [(-176, 4_000)]),
        GAMMA: bond(-104, None, [(-104, _gamma_settings())], [(-104, 2_500)]),
        QUIET: bond(-206, None, [
            (-206, unified(QUIET.symbols, "percent", "0.15", hold="3000", slippage="0.01")),
        ], [(-206, 2_500)]),
        EMBER: bond(-209, -117, [
            (-209, unified(EMBER.symbols, "percent", "0.1", slippage="0.01", leverages=(10, 10))),
            (-160, unified(EMBER.symbols, "percent", "0.05", stop="0.5", slippage="0.01", leverages=(5, 5))),
        ], [(-209, 2_000)]),
        LANTERN: bond(-183, -71, [
            (-183, unified(LANTERN.symbols, "amount", "150", hold="900", take="1", stop="0.4")),
        ], [(-183, 2_500)]),
    }  # fmt: skip


def load_bonds(name: str, origin: int) -> dict[Trader, Bond]:
    """A load account's: two or three of the active traders, its own settings, a history of some days."""
    rng = Random(f"bonds:{name}")
    bonds = {}
    for trader in rng.sample(TRADERS[:4], rng.choice((2, 3))):
        since = origin - rng.randrange(6, 21) * DAY - rng.randrange(DAY)
        if trader is GAMMA and rng.random() < 0.5:
            settings = _gamma_settings()
        else:
            leverage = rng.randrange(2, 21)
            settings = unified(
                trader.symbols,
                *rng.choice(
                    (("amount", str(rng.randrange(20, 200, 10))), ("percent", f"0.{rng.randrange(1, 6)}"))
                ),
                hold=str(rng.randrange(500, 5_000, 100)),
                stop=rng.choice((None, "0", "0.3", "0.5")),
                slippage=rng.choice(("0", "0.002", "0.01")),
                leverages=rng.choice((None, (leverage, leverage))),
            )
        money = Decimal(rng.randrange(500, 8_000, 100))
        bonds[trader] = Bond(since, None, ((since - 1, settings),), ((since, money),))
    return bonds


def bonds_of(name: str, start_ms: int) -> dict[Trader, Bond]:
    """Whom the account follows at the start. Lead and affiliate accounts follow nobody."""
    if name == FOLLOWER:
        return follower_bonds(origin_of(start_ms))
    return {} if name in _NUMBERS else load_bonds(name, origin_of(start_ms))
