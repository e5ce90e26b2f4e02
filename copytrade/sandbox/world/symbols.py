"""The contracts that the sandbox trades: level, tick, size step and restlessness of each."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal


@dataclass(frozen=True)
class Contract:
    """One USDT contract. `sigma` is the deviation of the log price over an hour, `rho` its tie to the market."""

    symbol: str
    level: float
    digits: int  # of the price, after the point
    step: Decimal  # smallest size, in base coin
    sigma: float
    rho: float = 0.65

    def price(self, value: float) -> Decimal:
        """`value` rounded to the tick, exactly."""
        return Decimal(round(value * 10**self.digits)).scaleb(-self.digits)

    def size(self, value: Decimal) -> Decimal:
        """`value` cut down to whole steps."""
        return (value / self.step).to_integral_value(ROUND_DOWN) * self.step


_TABLE = (
    Contract("BTCUSDT", 95_000, 1, Decimal("0.0001"), 0.0040, 0.90),
    Contract("ETHUSDT", 3_400, 2, Decimal("0.001"), 0.0056, 0.80),
    Contract("SOLUSDT", 190, 2, Decimal("0.01"), 0.0074, 0.75),
    Contract("XRPUSDT", 2.35, 4, Decimal("1"), 0.0070),
    Contract("BNBUSDT", 880, 2, Decimal("0.001"), 0.0048, 0.75),
    Contract("DOGEUSDT", 0.215, 5, Decimal("1"), 0.0084),
    Contract("ADAUSDT", 0.72, 4, Decimal("1"), 0.0076),
    Contract("LINKUSDT", 17.4, 3, Decimal("0.1"), 0.0076),
    Contract("AVAXUSDT", 23.8, 3, Decimal("0.1"), 0.0080),
    Contract("LTCUSDT", 96, 2, Decimal("0.01"), 0.0060),
    Contract("SUIUSDT", 2.9, 4, Decimal("0.1"), 0.0092),
    Contract("TRXUSDT", 0.312, 5, Decimal("1"), 0.0040, 0.5),
    Contract("BCHUSDT", 540, 2, Decimal("0.001"), 0.0066),
    Contract("DOTUSDT", 4.1, 4, Decimal("0.1"), 0.0076),
)

CONTRACTS: dict[str, Contract] = {contract.symbol: contract for contract in _TABLE}
