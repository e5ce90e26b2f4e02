"""The kinds of alerts: what each means, what is done about it unless a person says otherwise, and in what unit its
limit is. PURE data: no database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from copytrade.models import Alert, AlertRule

Kind, Mode = Alert.Kind, AlertRule.Mode
ON, SILENT, OFF = Mode.ON, Mode.SILENT, Mode.OFF
USDT, PERCENT, DAYS = "USDT", "%", "days"
COPIES, TRADERS, DESK = "Copies", "Traders", "Connections and the desk"
LOUDNESS: Mapping[str, int] = MappingProxyType({OFF: 0, SILENT: 1, ON: 2})


@dataclass(frozen=True)
class About:
    """A kind in words. `means`: when it is raised, and when it is over. `mode`, `limit`: the default.
    `units`: those that a limit may be in, the first is the default; () where there is none. `most`: the largest limit
    by unit. `of_traders`: may be set for one trader. `many`: what a folded one says of n. `state`: it lasts, and is
    over by itself; otherwise it is something that has happened. `group`: the heading it stands under."""

    group: str
    kind: str
    means: str
    mode: str
    many: str
    units: tuple[str, ...] = ()
    limit: Decimal | None = None
    of_traders: bool = True
    state: bool = False

    @property
    def label(self) -> str:
        return Kind(self.kind).label


_LIST = (
    About(COPIES, Kind.OPENED, "A trader opened a copy for you.", OFF, "{n} copies opened"),
    About(
        COPIES,
        Kind.CLOSED,
        "A copy was closed, with its net result. A loss that is told as a loss is not told here again.",
        OFF,
        "{n} copies closed",
    ),
    About(
        COPIES,
        Kind.LOSS,
        "A copy was closed with this net loss or more.",
        ON,
        "{n} copies closed with a loss beyond your limit",
        (USDT,),
        Decimal(50),
    ),
    About(
        COPIES,
        Kind.PARTIAL,
        "A copy was filled to a part of its size for five minutes or more, or the list of open orders could not be "
        "read whole. Over when it is filled, closed or read.",
        SILENT,
        "{n} partial copies",
        state=True,
    ),
    About(
        TRADERS,
        Kind.DRAWDOWN,
        "The closed copies of a trader you copy have together fallen this far, or further, below their high point: in "
        "percent of your capital with the trader and the result by then. Over when the fall is smaller again.",
        ON,
        "{n} traders beyond your limit of drawdown",
        (PERCENT,),
        Decimal(20),
        state=True,
    ),
    About(
        TRADERS,
        Kind.MARGIN,
        "The open copies of a trader use this much margin or more: in percent of the copy balance there, or in "
        "USDT. Told once a day at most; over when it is less.",
        ON,
        "{n} traders beyond your limit of margin in use",
        (PERCENT, USDT),
        Decimal(80),
        state=True,
    ),
    About(
        TRADERS,
        Kind.SETTINGS_OUTSIDE,
        "The exchange holds copy settings that were not sent from here. Over when settings are sent from here again.",
        ON,
        "{n} settings changed outside the desk",
    ),
    About(
        TRADERS,
        Kind.QUIET,
        "A trader you copy has neither opened nor closed a copy for this long.",
        SILENT,
        "{n} traders are quiet",
        (DAYS,),
        Decimal(7),
        state=True,
    ),
    About(
        TRADERS,
        Kind.GONE,
        "A trader you copied is not among your traders any more. Over when the trader is again.",
        ON,
        "{n} traders are gone",
        state=True,
    ),
    About(
        TRADERS,
        Kind.RECONCILIATION,
        "The exchange's total for a trader does not equal the sum of your closed copies, and nothing that the desk "
        "knows explains it. Told once a day at most.",
        ON,
        "{n} totals that do not agree",
        state=True,
    ),
    About(
        DESK,
        Kind.KEY_REFUSED,
        "A key was refused so often that reading stopped. Over when reading goes on.",
        ON,
        "{n} keys refused",
        of_traders=False,
        state=True,
    ),
    About(
        DESK,
        Kind.DATA_STALE,
        "Something was not read for a quarter of an hour, or for four of its intervals if that is longer. One alert "
        "for an account, whatever is missing.",
        ON,
        "{n} accounts with stale data",
        of_traders=False,
        state=True,
    ),
    About(
        DESK,
        Kind.QUOTA,
        "So many accounts share the exchange's request limit that yours is read less often than the desk means to. "
        "Told once a day at most.",
        SILENT,
        "{n} accounts read less often than meant",
        of_traders=False,
        state=True,
    ),
    About(
        DESK,
        Kind.CHANNEL_OFF,
        "A channel for alerts failed so often that it was switched off.",
        ON,
        "{n} channels switched off",
        of_traders=False,
    ),
)
KINDS: Mapping[str, About] = MappingProxyType({about.kind: about for about in _LIST})
STATES = frozenset(about.kind for about in _LIST if about.state)
# The most that a limit may be: more than all of it, or longer than the ledger remembers, is a slip of the finger.
MOST: Mapping[str, Decimal] = MappingProxyType(
    {PERCENT: Decimal(1000), DAYS: Decimal(365), USDT: Decimal(10) ** 12}
)
