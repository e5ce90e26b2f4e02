"""What /metrics tells: one registry per request, filled from the database and the call counters.

No name, number or label of a person, an account or a key is ever among the labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from copytrade import budget, meters
from copytrade.reports.activity import spending, staleness
from copytrade.reports.desk import DeskNumbers, desk_numbers
from copytrade.reports.more import one_more

Samples = Iterable[tuple[tuple[str, ...], float]]


def registry() -> CollectorRegistry:
    """A registry of its own for each request: nothing is left over from the one before, in whatever process."""
    made = CollectorRegistry(auto_describe=False)
    made.register(DeskCollector())
    return made


class DeskCollector(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from _of_the_database(desk_numbers())
        yield from _of_age()
        yield from _of_quota()
        yield from _of_calls(meters.totals())


def _gauge(name: str, words: str, labels: Iterable[str], samples: Samples) -> Metric:
    family = GaugeMetricFamily(f"copydesk_{name}", words, labels=list(labels))
    for values, number in samples:
        family.add_metric(list(values), number)
    return family


def _of_the_database(numbers: DeskNumbers) -> Iterator[Metric]:
    jobs = numbers.jobs.items()
    yield _gauge(
        "accounts", "Connected accounts.", ("venue", "state"), ((k, n) for k, n in numbers.accounts.items())
    )
    for name, words, attribute in (
        ("jobs_due", "Readings that are due and wait for a worker.", "due"),
        ("jobs_waiting_seconds", "How long the first of them has been due.", "waiting"),
        ("jobs_at_work", "Readings under way.", "at_work"),
        ("partial_lists", "Lists of several pages whose passes have not agreed.", "partial"),
        ("backfills", "First walks through the past that are under way.", "backfilling"),
    ):
        yield _gauge(name, words, ("kind",), (((kind,), getattr(one, attribute)) for kind, one in jobs))
    for name, words, label, counts in (
        ("settings_changes", "Settings changes by how they stand.", "state", numbers.changes),
        ("data_issues_open", "Data issues that are open.", "kind", numbers.issues),
        ("alerts_open", "Alerts neither read nor healed.", "kind", numbers.alerts),
    ):
        yield _gauge(name, words, (label,), (((key,), n) for key, n in counts.items()))
    yield _gauge(
        "orders_not_closed", "Copies that have no result yet, by where they stand.", ("state",),
        ((("open",), numbers.open_orders), (("missing",), numbers.missing_orders), (("lost",), numbers.lost_orders)),
    )  # fmt: skip
    yield _gauge("coverage_gaps", "Stretches of the past that could not be read.", (), [((), numbers.gaps)])
    chores = numbers.chores.items()
    yield _gauge(
        "chore_age_seconds", "Since the desk's own work last succeeded.", ("chore",),
        (((name,), age) for name, (age, _) in chores if age is not None),
    )  # fmt: skip
    yield _gauge(
        "chore_failures", "Failures of it in a row.", ("chore",), (((name,), n) for name, (_, n) in chores)
    )


def _of_age() -> Iterator[Metric]:
    rows = staleness(None)
    for name, words, attribute in (
        ("readings", "Readings that are to be made again and again.", "jobs"),
        ("readings_never", "Those of them that have not succeeded once.", "never"),
        ("readings_late", "Those older than their plan and its grace.", "late"),
        ("readings_failing", "Those whose last try failed.", "failing"),
    ):
        yield _gauge(name, words, ("kind",), (((row.kind,), getattr(row, attribute)) for row in rows))
    yield _gauge(
        "staleness_seconds", "Age of the data: half, 95 % and all of the accounts are within.",
        ("kind", "quantile"), _quantiles(rows, (("0.5", "p50"), ("0.95", "p95"), ("1", "worst"))),
    )  # fmt: skip
    yield _gauge(
        "planned_interval_seconds", "How often it is planned to be read, in the middle and at most.",
        ("kind", "quantile"), _quantiles(rows, (("0.5", "promise"), ("1", "longest"))),
    )  # fmt: skip


def _quantiles(rows: list[Any], which: tuple[tuple[str, str], ...]) -> Samples:
    for row in rows:
        for quantile, attribute in which:
            if (value := getattr(row, attribute)) is not None:
                yield (row.kind, quantile), value


def _of_quota() -> Iterator[Metric]:
    shares = budget.shares(settings.VENUES)
    labels = ("venue", "egress")
    yield _gauge(
        "quota_used", "Request weight in the fullest window.", labels,
        (((one.venue, one.egress), one.used) for one in shares),
    )  # fmt: skip
    yield _gauge(
        "quota_limit", "What that window allows.", labels,
        (((one.venue, one.egress), one.limit) for one in shares),
    )  # fmt: skip
    spent = spending()
    yield _gauge(
        "weight_last_hour", "Request weight of the last hour.", labels,
        (((row.venue, row.egress), row.weight) for row in spent),
    )  # fmt: skip
    yield _gauge(
        "weight_floor_last_hour", "What the answered calls of the last hour weigh at least.", labels,
        (((row.venue, row.egress), row.floor) for row in spent),
    )  # fmt: skip
    answers = one_more(settings.VENUES)
    yield _gauge(
        "open_list_interval_seconds", "Planned for the open list in the middle: now, and with one more address.",
        ("venue", "addresses"),
        (
            sample
            for one in answers
            for sample in (
                ((one.venue, str(one.addresses)), one.now),
                ((one.venue, str(one.addresses + 1)), one.then),
            )
        ),
    )  # fmt: skip


def _of_calls(totals: list[meters.Total]) -> Iterator[Metric]:
    """The counters of calls. Redis may lose them: Prometheus takes that for a restart."""
    labels = ["venue", "egress", "operation", "result"]
    calls = CounterMetricFamily("copydesk_calls", "Calls to an exchange.", labels=labels)
    weight = CounterMetricFamily("copydesk_weight", "Request weight of these calls.", labels=labels)
    took = HistogramMetricFamily("copydesk_call_seconds", "How long these calls took.", labels=labels)
    for one in totals:
        values = [one.venue, one.egress, one.operation, one.result]
        calls.add_metric(values, one.calls)
        weight.add_metric(values, one.weight)
        took.add_metric(values, _buckets(one), one.seconds)
    yield from (calls, weight, took)


def _buckets(total: meters.Total) -> list[tuple[str, float]]:
    """Prometheus counts what is within a bound, the smaller bounds included."""
    within, found = 0, []
    for bound in meters.BUCKETS:
        within += total.buckets.get(bound, 0)
        found.append((str(bound), float(within)))
    return [*found, ("+Inf", float(within + total.buckets.get(float("inf"), 0)))]
