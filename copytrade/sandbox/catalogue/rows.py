"""What a row of the catalogue is, and the parameters that several operations share."""

from __future__ import annotations

from dataclasses import dataclass, field

SPOT_ROOT = "spot"
CONTRACT_ROOT = "contract"

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1


@dataclass(frozen=True)
class Param:
    """One parameter. `kind`: long, int, text, decimal, choice, date, longs, objects or object."""

    name: str
    kind: str
    required: bool = False
    low: int | None = None
    high: int | None = None
    default: int | str | None = None
    choices: tuple[str, ...] = ()
    code: int = -1142  # the answer to a value of the wrong form
    about: str = ""


@dataclass(frozen=True)
class Operation:
    """One operation. `needs` is the permission; `only` the kind of key or account it is kept for."""

    name: str
    method: str
    path: str
    root: str
    label: str  # USER_DATA, TRADE or ""
    needs: str  # Readonly, Spot or Futures
    weight: int
    answer: str  # the schema of a success, in schemas.py
    summary: str
    params: tuple[Param, ...] = ()
    orders: int = 0  # what one call adds to the order counts
    only: str = ""  # "copy-trade" or "affiliate"
    also_slash: bool = False
    tag: str = field(default="")


def page(name: str = "page") -> Param:
    return Param(name, "int", low=1, high=INT_MAX, default=1, about="Page number, from 1.")


def size(name: str = "pageSize", *, high: int | None = None, default: int = 100) -> Param:
    return Param(name, "int", low=1, high=high or INT_MAX, default=default, about="Records on a page.")


def moment(name: str, about: str) -> Param:
    return Param(name, "long", low=0, about=about + " Unix milliseconds, UTC.")
