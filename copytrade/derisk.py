"""The de-risk preset: smaller, less levered, with a stop. It changes settings, and settings act on new copies.

Pure. It neither closes nor stops anything: no call of the interface does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Context, Decimal

from .rules import FIXED, SPECIFY, TRADER, CopySettings, CustomLeverage, TraceConfig, plain

EXACT = Context(prec=80)
HUNDRED = Decimal(100)


@dataclass(frozen=True)
class Options:
    """What to lower; None leaves it as it is. `size`: fraction of the present size, above 0 and at most 1.
    `leverage`: the cap, 1 or more. `stop_loss`: a ratio of the margin, above 0."""

    size: Decimal | None = Decimal("0.5")
    leverage: int | None = 5
    stop_loss: Decimal | None = Decimal("0.2")

    @property
    def empty(self) -> bool:
        return self.size is None and self.leverage is None and self.stop_loss is None

    def words(self) -> str:
        """In one line: "size to 50 %, leverage at most 5x, stop loss at most 20 %"."""
        parts = []
        if self.size is not None:
            parts.append(f"size to {plain(self.size * HUNDRED)} %")
        if self.leverage is not None:
            parts.append(f"leverage at most {self.leverage}x")
        if self.stop_loss is not None:
            parts.append(f"stop loss at most {plain(self.stop_loss * HUNDRED)} %")
        return ", ".join(parts)


def lowered(settings: CopySettings, options: Options, usual_leverage: int | None = None) -> CopySettings:
    """The same settings with less at risk; never more of anything than before.

    Where the leverage follows the trader a cap can only be a fixed leverage: the lower of the cap and
    `usual_leverage`, what the trader's copies lately had. A tighter stop loss stays.
    """
    return replace(
        settings, configs=tuple(_lowered(config, options, usual_leverage) for config in settings.configs)
    )


def _lowered(config: TraceConfig, options: Options, usual: int | None) -> TraceConfig:
    if options.size is not None and config.trace_value is not None:
        config = replace(config, trace_value=EXACT.multiply(config.trace_value, options.size))
    if options.leverage is not None:
        config = _capped(config, options.leverage, usual)
    if options.stop_loss is not None and (not config.stop_loss or config.stop_loss > options.stop_loss):
        config = replace(config, stop_loss=options.stop_loss)
    return config


def _capped(config: TraceConfig, cap: int, usual: int | None) -> TraceConfig:
    if config.leverage_type in (None, "", TRADER):
        fixed = max(1, min(cap, usual)) if usual else cap
        return replace(config, leverage_type=FIXED, long_leverage=fixed, short_leverage=fixed)
    if config.leverage_type == SPECIFY:
        customs = tuple(
            CustomLeverage(item.symbol, _least(item.long_leverage, cap), _least(item.short_leverage, cap))
            for item in config.custom_leverages
        )
        return replace(config, custom_leverages=customs)
    if config.leverage_type == FIXED:
        return replace(
            config,
            long_leverage=_least(config.long_leverage, cap),
            short_leverage=_least(config.short_leverage, cap),
        )
    return config


def _least(leverage: int | None, cap: int) -> int:
    """A leverage that is not set would become 10 on the exchange: the cap then."""
    return cap if leverage is None else min(leverage, cap)
