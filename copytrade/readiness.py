"""Would the next copy of a trader come about, and whole? Verdicts from facts that are known here. Standard library
and rules only.

What really happens is the exchange's matter. What is documented are the settings (interface.md, "Trace config
object"); that a copy needs the balance put to the trader, that "most held" caps its margin, that one smaller than a
fifth of what was wanted is not opened and a larger part is, is inferred, and how the sandbox exchange does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Context, Decimal
from statistics import median

from .rules import PER_SYMBOL, CopySettings, TraceConfig
from .rules.numbers import plain

OK, UNKNOWN, WARN, BLOCKS = "ok", "unknown", "warn", "blocks"
STATES = (OK, UNKNOWN, WARN, BLOCKS)  # from good to bad

# Of a copy, the part that is opened at least: with room for less it is not opened at all.
LEAST_PART = 5
TIGHT = Decimal("0.002")  # the interface allows 0.1 % to 1 %
QUIET = timedelta(days=14)
OLD = timedelta(hours=1)
ENOUGH = 3  # copies from which a size is estimated
_EXACT = Context(prec=60)
_ZERO = Decimal(0)


@dataclass(frozen=True)
class Facts:
    """What is known of a trader as one account follows him. Money in USDT, times aware; None is "not told".

    `held`: margin of open copies by symbol. `traded`: symbol -> when he last opened a copy of ours there, of the last
    90 days. `sizes`: margins of copies opened under the settings in force. `refused`: why the key is, "" if it is not.
    """

    now: datetime
    copied: bool
    copy_enable: bool | None
    settings: CopySettings | None
    available: Decimal | None
    read_at: datetime | None
    held: Mapping[str, Decimal] = field(default_factory=dict)
    traded: Mapping[str, datetime] = field(default_factory=dict)
    sizes: Sequence[Decimal] = ()
    refused: str = ""


@dataclass(frozen=True)
class Check:
    """One verdict. `step` says what to do; `place` where: "settings", "connection" or "activity", and which `field`
    of the settings. `inferred`: it rests on what the exchange does not document."""

    key: str
    label: str
    state: str
    sentence: str
    step: str = ""
    place: str = ""
    field: str = ""
    inferred: bool = False


@dataclass(frozen=True)
class Readiness:
    """All checks of a trader, and the worst of them."""

    checks: tuple[Check, ...]

    @property
    def state(self) -> str:
        return max((check.state for check in self.checks), key=STATES.index)

    @property
    def wrong(self) -> int:
        """How many would block or shrink the next copy."""
        return sum(check.state in (WARN, BLOCKS) for check in self.checks)


def judge(facts: Facts) -> Readiness:
    """Every check, in the order in which a person goes through them."""
    if not facts.copied or facts.copy_enable is False:
        return Readiness((_copying(facts),))  # whatever else holds: there is no next copy
    found = [_copying(facts), _data(facts)]
    if facts.settings is None:
        words = "The copy settings have not been read, or cannot be understood."
        found.append(Check("settings", "Settings", UNKNOWN, words, "Look at them", "settings"))
        return Readiness((*found, _quiet(facts)))
    found += [_balance(facts), _most_held(facts), _symbols(facts), _slippage(facts), _quiet(facts)]
    return Readiness(tuple(found))


def _copying(facts: Facts) -> Check:
    if not facts.copied:
        words = (
            "You do not copy this trader now, so there is no next copy. Copying is started at the exchange."
        )
        return Check("copying", "Copying", BLOCKS, words)
    if facts.copy_enable is False:
        words = "The exchange says that copying is off for this trader. It is switched on there, not here."
        return Check("copying", "Copying", BLOCKS, words)
    if facts.copy_enable is None:
        words = "The trader is in your list; whether copying is on is not told."
        return Check("copying", "Copying", UNKNOWN, words)
    return Check("copying", "Copying", OK, "The trader is in your list, and copying is on.")


def _data(facts: Facts) -> Check:
    if facts.refused:
        words = "The exchange refuses the key here, so all of this may be old. The exchange goes on copying without it."
        return Check("data", "Data", WARN, words, "See the connection", "connection")
    if facts.read_at is None:
        return Check(
            "data", "Data", UNKNOWN, "The balances have not been read yet.", "See the readings", "activity"
        )
    if facts.now - facts.read_at > OLD:
        words = "The balances were last read more than an hour ago, so the checks below may be out of date."
        return Check("data", "Data", WARN, words, "See the readings", "activity")
    return Check("data", "Data", OK, "Read within the last hour.")


# --- size against balance and maximum ----------------------------------------------------------------------
def _balance(facts: Facts) -> Check:
    """The free balance with this trader against the largest copy that the settings ask for."""
    label, available = "Balance", facts.available
    if available is None:
        words = "The exchange does not tell the balance that is free with this trader."
        return Check("balance", label, UNKNOWN, words)
    asked = [need for _, need in _needs(facts) if need is not None]
    if not asked:
        if available <= 0:
            words = "No balance is free with this trader, so nothing can be opened."
            return _short("balance", label, BLOCKS, words, "trace_value")
        return Check("balance", label, UNKNOWN, f"{_usdt(available)} free; {_NO_SIZE}", inferred=True)
    need, estimated = max(asked), _estimated(facts)
    about = f"a copy takes about {_usdt(need)}, estimated from the last {len(facts.sizes)}" if estimated else (
        f"a copy takes {_usdt(need)} of margin"
    )  # fmt: skip
    state = room_for(need, available)
    if state == OK:
        return Check("balance", label, OK, f"{_usdt(available)} free, and {about}.", inferred=True)
    # One that is larger is opened, perhaps: an estimate alone blocks nothing while something is free.
    state = WARN if estimated and available > 0 else state
    part = "would not be opened" if state == BLOCKS else "would be smaller, or not opened"
    words = f"{_usdt(available)} free, but {about}: the next one {part}."
    return _short("balance", label, state, words, "trace_value")


def _most_held(facts: Facts) -> Check:
    """Margin in use against "most held", of the trader or of each symbol, as the mode has it."""
    label, worst = "Most held", None
    for config, need in _needs(facts):
        if config.max_hold is None:
            continue
        held = _held(facts, config)
        room = _EXACT.subtract(config.max_hold, held)
        asked = need if need is not None else min(config.max_hold, Decimal(LEAST_PART))
        state = room_for(asked, room)
        state = WARN if state == BLOCKS and room > 0 and (need is None or _estimated(facts)) else state
        if worst is None or STATES.index(state) > STATES.index(worst[0]):
            worst = state, config, held
    if worst is None:
        return Check("most_held", label, OK, "No maximum is set.")
    state, config, held = worst
    of = f" of {config.symbol}" if config.symbol else ""
    words = f"{_usdt(held)}{of} in use, at most {_usdt(config.max_hold or _ZERO)} may be"
    if state == OK:
        return Check("most_held", label, OK, f"{words}.", inferred=True)
    part = "is not opened" if state == BLOCKS else "is smaller, or not opened"
    return _short(
        "most_held", label, state, f"{words}: the next copy{of} {part} while these are open.", "max_hold"
    )


def room_for(need: Decimal, room: Decimal) -> str:
    """OK when all of it fits, WARN when a part does, BLOCKS when that part is below a fifth."""
    if room >= need and room > 0:
        return OK
    return WARN if room > 0 and room * LEAST_PART >= need else BLOCKS


def _needs(facts: Facts) -> list[tuple[TraceConfig, Decimal | None]]:
    """(config, USDT of margin that a copy by it takes, None where that cannot be told) of what is traded lately."""
    configs = facts.settings.configs if facts.settings else ()
    lately = [config for config in configs if config.symbol in facts.traded]
    estimate = median(facts.sizes) if len(facts.sizes) >= ENOUGH else None
    return [
        (config, config.trace_value if config.trace_type == "amount" else estimate)
        for config in (lately or configs)
    ]


def _estimated(facts: Facts) -> bool:
    return any(config.trace_type != "amount" for config, _ in _needs(facts))


def _held(facts: Facts, config: TraceConfig) -> Decimal:
    rows = facts.held.values() if config.symbol is None else [facts.held.get(config.symbol, _ZERO)]
    held = _ZERO
    for margin in rows:
        held = _EXACT.add(held, margin)
    return held


# --- symbols, slippage, quiet ------------------------------------------------------------------------------
def listed(settings: CopySettings, symbol: str) -> bool:
    """Whether copies of a symbol are made under these settings. A unified list that is left out means all."""
    if settings.mode == PER_SYMBOL:
        return any(config.symbol == symbol for config in settings.configs)
    return any(config.symbols is None or symbol in config.symbols for config in settings.configs)


def _symbols(facts: Facts) -> Check:
    label, settings = "Symbols", facts.settings
    assert settings is not None
    if not facts.traded:
        words = "No copy in 90 days, so what the trader trades now is not known here."
        return Check("symbols", label, UNKNOWN, words)
    missing = sorted(symbol for symbol in facts.traded if not listed(settings, symbol))
    if not missing:
        words = "All that you copied in 90 days is listed. What you never copied cannot be seen from here."
        return Check("symbols", label, OK, words)
    state = BLOCKS if len(missing) == len(facts.traded) else WARN
    words = (
        f"Copied in the last 90 days, and not listed now: {_names(missing)}. These are not copied any more."
    )
    return Check("symbols", label, state, words, "Change the symbols", "settings", "symbols")


def _slippage(facts: Facts) -> Check:
    label, settings = "Slippage", facts.settings
    assert settings is not None
    tight = [config for config in settings.configs if config.slippage and config.slippage <= TIGHT]
    if not tight:
        return Check("slippage", label, OK, "Not limited, or with room.", inferred=True)
    least = min(config.slippage for config in tight if config.slippage)
    of = f" for {_names(sorted(config.symbol or '' for config in tight))}" if tight[0].symbol else ""
    words = f"Limited to {plain(least * 100)} %{of}: a copy whose price slips by more is skipped."
    return Check("slippage", label, WARN, words, "Change the slippage", "settings", "slippage", inferred=True)


def _quiet(facts: Facts) -> Check:
    label = "Trader"
    if not facts.traded:
        words = "No copy in 90 days. The trader may be quiet, or trade what is not copied."
        return Check("quiet", label, UNKNOWN, words)
    days = (facts.now - max(facts.traded.values())).days
    if timedelta(days=days) >= QUIET:
        words = (
            f"The last copy was opened {days} days ago. The trader may be quiet, or trade what is not copied."
        )
        return Check("quiet", label, WARN, words)
    ago = "today" if days <= 0 else f"{days} day{'' if days == 1 else 's'} ago"
    return Check("quiet", label, OK, f"The last copy was opened {ago}.")


_NO_SIZE = "a copy is a multiple of the trader's own size, which is not told before."


def _short(key: str, label: str, state: str, words: str, name: str) -> Check:
    step = "Change the maximum" if name == "max_hold" else "Change the size"
    return Check(key, label, state, words, step, "settings", name, inferred=True)


def _names(symbols: Iterable[str]) -> str:
    found = list(symbols)
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")


def _usdt(value: Decimal) -> str:
    return f"{value:,.2f}".replace(",", "\u202f") + " USDT"
