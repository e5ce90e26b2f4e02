"""The judge of the reading battery: the ledger against the exchange's own truth, order by order, field by field.

The world goes on while it judges. So it holds the ledger against two truths: what there was when the fault was over
must be in the ledger; and nothing may be in the ledger that the exchange, asked afterwards, does not know.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from django.db.models import Count

from copytrade.models import Account, OrderRevision, TrackingOrder
from tests.copytrade.ledger_truth import expected, held, moment

Truth = dict[str, Any]
# What never changes in the life of an order, whatever else is not yet read.
FIXED = ("trader", "symbol", "position_side", "open_time", "open_order_id", "open_leverage", "open_price_avg")


@dataclass
class Facts:
    """What is wrong with a ledger; each a list of sentences or tracking numbers, all empty when it is right."""

    lost: list[int] = field(default_factory=list)  # at the exchange, not in the ledger
    unclosed: list[int] = field(default_factory=list)  # closed there, open here
    doubled: list[int] = field(default_factory=list)  # two rows, or the same revision twice
    invented: list[int] = field(default_factory=list)  # here, not there
    invented_closes: list[int] = field(default_factory=list)  # closed here, open there
    differing: list[str] = field(default_factory=list)  # a field is not what the exchange says
    given_up: list[int] = field(default_factory=list)  # called lost for good, and the exchange has it

    def wrong(self) -> dict[str, list]:
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: values[:5] for name, values in found.items() if values}

    def add(self, other: Facts) -> None:
        for each in fields(self):
            getattr(self, each.name).extend(getattr(other, each.name))


def rows_of(account: Account) -> list[TrackingOrder]:
    return list(TrackingOrder.objects.filter(account=account).select_related("trader"))


def behind(rows: list[TrackingOrder], truth: Truth) -> Facts:
    """What of `truth`, asked before `rows` were read, the ledger does not have yet."""
    found, stored = Facts(), {row.tracking_no: row for row in rows}
    for wire in [*truth["open"], *truth["closed"]]:
        number = wire["trackingNo"]
        row = stored.get(number)
        if row is None:
            found.lost.append(number)
        elif wire["status"] == "CLOSED" and not row.closed:
            found.unclosed.append(number)
        elif row.update_time is None or row.update_time < moment(wire["updateTime"]):
            found.differing.append(f"{number}: an older state than the exchange's")
    return found


def beyond(rows: list[TrackingOrder], truth: Truth) -> Facts:
    """What the ledger has that `truth`, asked after `rows` were read, does not bear out."""
    found = Facts()
    wires = {wire["trackingNo"]: wire for wire in [*truth["open"], *truth["closed"]]}
    found.doubled = [number for number, n in Counter(row.tracking_no for row in rows).items() if n > 1]
    for row in rows:
        wire = wires.get(row.tracking_no)
        if wire is None:
            found.invented.append(row.tracking_no)
            continue
        if row.closed and wire["status"] != "CLOSED":
            found.invented_closes.append(row.tracking_no)
        if row.lost_since is not None:
            found.given_up.append(row.tracking_no)
        found.differing += _differences(row, wire)
    return found


def _differences(row: TrackingOrder, wire: dict[str, Any]) -> list[str]:
    """All fields of the same state of an order; of a state that the exchange has left since, the fixed ones."""
    wanted, stored = expected(wire), held(row)
    same_state = stored["update_time"] == wanted["update_time"] and row.closed == wanted["closed"]
    names = wanted if same_state or row.closed else FIXED
    wrong = [name for name in names if stored[name] != wanted[name]]
    return [f"{row.tracking_no}: {name} is {stored[name]}, not {wanted[name]}" for name in wrong]


def repeated_revisions(account: Account) -> list[int]:
    """Orders with the same change noted twice."""
    rows = OrderRevision.objects.filter(order__account=account).values("order__tracking_no", "changed")
    return list(
        rows.annotate(n=Count("id")).filter(n__gt=1).values_list("order__tracking_no", flat=True).order_by()
    )


def judged(account: Account, before: Truth, after: Truth, rows: list[TrackingOrder]) -> Facts:
    """Everything about one account: `before` asked before `rows` were read, `after` afterwards."""
    found = behind(rows, before)
    found.add(beyond(rows, after))
    found.doubled += repeated_revisions(account)
    return found
