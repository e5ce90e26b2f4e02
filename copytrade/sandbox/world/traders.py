"""Who can be copied: four lead traders of different character, and two that the follower left."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trader:
    """A lead trader: identity, what and how large he trades, and how often right."""

    number: int  # small, part of every order id
    trader_id: int
    name: str
    style: str  # a name in styles.STYLES
    symbols: tuple[str, ...]
    leverages: tuple[int, ...]
    notional: int  # USDT of a usual order
    slots: int  # positions he may hold at a time
    right: float  # how often he sees the next move
    followers: int  # at the beginning
    active: tuple[float, float | None] = (-236.0, None)  # days from the origin, see prices.py
    core: bool = False  # keeps one long position beside the others
    live_gap_s: float = 0.0  # between live orders at speed 1; 0 = none
    live_notional: int = 0
    # What a live order brings after costs, in parts of its size: mean, deviation, how often a blow instead.
    live_result: tuple[float, float, float] = (0.0, 0.0, 0.0)


NORTHWIND = Trader(
    0, 702345678901234567, "Northwind Steady", "swing",
    ("BTCUSDT", "ETHUSDT", "SOLUSDT", "BNBUSDT", "LINKUSDT", "LTCUSDT"),
    (5, 6, 8), 18_000, 2, 0.71, 312, core=True, live_gap_s=26,
    live_notional=3_600, live_result=(0.0005, 0.0019, 0),
)  # fmt: skip
DOUBLE = Trader(
    1, 703118842905517391, "Double or Nothing", "martingale",
    ("BTCUSDT", "ETHUSDT", "SOLUSDT", "DOGEUSDT", "XRPUSDT", "AVAXUSDT"),
    (15, 20, 25), 24_000, 3, 0.93, 1_840, live_gap_s=30,
    live_notional=5_000, live_result=(0.0009, 0.0006, 0.13),
)  # fmt: skip
GAMMA = Trader(
    2, 704560917733280453, "Gamma Scalps", "scalp",
    ("BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "DOGEUSDT", "ADAUSDT", "AVAXUSDT", "SUIUSDT"),
    (10, 12, 15, 20), 12_000, 1, 0.72, 655, active=(-118.0, None), live_gap_s=24,
    live_notional=4_000, live_result=(0.0002, 0.0017, 0),
)  # fmt: skip
QUIET = Trader(
    3, 705902214468071629, "Quiet Harbor", "harbor",
    ("BTCUSDT", "ETHUSDT", "BNBUSDT", "LTCUSDT", "TRXUSDT"),
    (2, 3), 10_000, 1, 0.64, 208, active=(-236.0, -33.0),
)  # fmt: skip
EMBER = Trader(
    4, 706077345120998743, "Ember Fund", "swing",
    ("ETHUSDT", "SOLUSDT", "ADAUSDT", "SUIUSDT", "DOTUSDT"),
    (10, 12, 15), 15_000, 1, 0.50, 94, active=(-236.0, -100.0),
)  # fmt: skip
LANTERN = Trader(
    5, 707441906358127865, "Lantern Fade", "swing",
    ("BTCUSDT", "XRPUSDT", "BCHUSDT", "DOGEUSDT"),
    (5, 8, 10), 14_000, 1, 0.54, 131, active=(-200.0, -55.0),
)  # fmt: skip

TRADERS: tuple[Trader, ...] = (NORTHWIND, DOUBLE, GAMMA, QUIET, EMBER, LANTERN)
BY_ID: dict[int, Trader] = {trader.trader_id: trader for trader in TRADERS}
