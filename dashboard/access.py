"""The only way a view gets a row. A row of somebody else does not exist: 404, never 403."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse

from copytrade.models import (
    Account,
    AffiliateReport,
    Alert,
    AlertRule,
    BadRecord,
    ChangeGroup,
    Channel,
    DataIssue,
    Delivery,
    SettingsChange,
    SettingsTemplate,
    SyncJob,
    SyncRun,
    TrackingOrder,
    Trader,
    User,
)
from copytrade.together import Prepared


def person(request: HttpRequest) -> User:
    """Who is signed in. The sign-in middleware has seen to it that somebody is."""
    if not isinstance(request.user, User):
        raise PermissionDenied("Sign in first.")
    return request.user


def accounts(request: HttpRequest) -> QuerySet[Account]:
    return Account.objects.filter(owner=person(request))


def traders(request: HttpRequest) -> QuerySet[Trader]:
    return Trader.objects.filter(account__owner=person(request)).select_related("account")


def orders(request: HttpRequest) -> QuerySet[TrackingOrder]:
    return TrackingOrder.objects.filter(account__owner=person(request)).select_related("account", "trader")


def runs(request: HttpRequest) -> QuerySet[SyncRun]:
    return SyncRun.objects.filter(account__owner=person(request)).select_related("account")


def bad_records(request: HttpRequest) -> QuerySet[BadRecord]:
    return BadRecord.objects.filter(account__owner=person(request)).select_related("account")


def jobs(request: HttpRequest) -> QuerySet[SyncJob]:
    return SyncJob.objects.filter(account__owner=person(request)).select_related("account")


def to_choose_from(request: HttpRequest) -> tuple[list[Account], list[Trader]]:
    """A person's accounts and traders, those who are copied first: what filters and a comparison offer."""
    accounts, found = _to_choose_from(owner=person(request).pk)
    known = {account.pk: account for account in accounts}
    for trader in found:
        trader.account = known[trader.account_id]
    return accounts, found


@Prepared
def _to_choose_from(owner: Any) -> Sequence[QuerySet[Any]]:
    mine = Trader.objects.filter(account__owner=owner)
    return Account.objects.filter(owner=owner), mine.order_by("-copied", "name", "pk")


def readings(request: HttpRequest) -> list[SyncJob]:
    """All of a person's, with their accounts, by account: of a page that tells how old its data is."""
    mine, found = _readings(owner=person(request).pk)
    known = {account.pk: account for account in mine}
    for job in found:
        job.account = known[job.account_id]
    return found


@Prepared
def _readings(owner: Any) -> Sequence[QuerySet[Any]]:
    jobs = SyncJob.objects.filter(account__owner=owner)
    return Account.objects.filter(owner=owner), jobs.order_by("account_id", "pk")


def issues(request: HttpRequest) -> QuerySet[DataIssue]:
    return DataIssue.objects.filter(account__owner=person(request)).select_related("account")


def templates(request: HttpRequest) -> QuerySet[SettingsTemplate]:
    return SettingsTemplate.objects.filter(owner=person(request)).select_related("owner")


def groups(request: HttpRequest) -> QuerySet[ChangeGroup]:
    return ChangeGroup.objects.filter(owner=person(request)).select_related("owner")


def alerts(request: HttpRequest) -> QuerySet[Alert]:
    return Alert.objects.filter(owner=person(request)).select_related("account", "trader", "folded_into")


def alert_rules(request: HttpRequest) -> QuerySet[AlertRule]:
    """Those of single traders; one that holds for all is not removed but set."""
    mine = AlertRule.objects.filter(owner=person(request), trader__isnull=False)
    return mine.select_related("owner", "trader__account")


def affiliate_reports(request: HttpRequest) -> QuerySet[AffiliateReport]:
    return AffiliateReport.objects.filter(account__owner=person(request))


def affiliate_report_read(request: HttpRequest, account: Account, kind: str, pk: int) -> AffiliateReport:
    return get_object_or_404(affiliate_reports(request), pk=pk, account=account, kind=kind)


def channels(request: HttpRequest) -> QuerySet[Channel]:
    return Channel.objects.filter(owner=person(request)).select_related("owner")


def deliveries(request: HttpRequest) -> QuerySet[Delivery]:
    return Delivery.objects.filter(channel__owner=person(request))


def channel_read(request: HttpRequest, pk: int) -> Channel:
    return get_object_or_404(channels(request), pk=pk)


def channel_write(request: HttpRequest, pk: int) -> Channel:
    return channel_read(request, pk)


def account_read(request: HttpRequest, pk: int) -> Account:
    return get_object_or_404(accounts(request).select_related("owner"), pk=pk)


def account_write(request: HttpRequest, pk: int) -> Account:
    """The same rows as for reading, today: an account has one owner and no guests."""
    return account_read(request, pk)


def trader_read(request: HttpRequest, pk: int) -> Trader:
    return get_object_or_404(traders(request), pk=pk)


def trader_write(request: HttpRequest, pk: int) -> Trader:
    return trader_read(request, pk)


def trader_and_jobs(request: HttpRequest, pk: int) -> tuple[Trader, list[SyncJob], int]:
    """A trader with the readings of their account and the number of its gaps: one query for a page that tells all."""
    if pk >= 2**63:
        raise Http404("No trader of yours has this number.")
    found, account, readings = _trader_and_jobs(pk=pk, owner=person(request).pk)
    if not found:
        raise Http404("No trader of yours has this number.")
    for row in [*found, *readings]:
        row.account = account[0]
    return found[0], readings, account[0].n_gaps


@contextmanager
def still_there() -> Iterator[None]:
    """A page asks more than once, and what is removed in between is told as what was never there."""
    try:
        yield
    except Trader.DoesNotExist as gone:
        raise Http404("The trader was removed a moment ago.") from gone


@Prepared
def _trader_and_jobs(pk: Any, owner: Any) -> Sequence[QuerySet[Any]]:
    mine = Account.objects.filter(traders=pk, owner=owner)
    return (
        Trader.objects.filter(pk=pk, account__owner=owner),
        mine.annotate(n_gaps=Count("gaps")),
        SyncJob.objects.filter(account__in=mine).order_by("pk"),
    )


def order_read(request: HttpRequest, pk: int) -> TrackingOrder:
    return get_object_or_404(orders(request), pk=pk)


def change_read(request: HttpRequest, pk: int) -> SettingsChange:
    mine = SettingsChange.objects.filter(trader__account__owner=person(request))
    return get_object_or_404(mine.select_related("trader", "trader__account", "author", "base"), pk=pk)


def job_write(request: HttpRequest, pk: int) -> SyncJob:
    return get_object_or_404(jobs(request), pk=pk)


def issue_write(request: HttpRequest, pk: int) -> DataIssue:
    return get_object_or_404(issues(request), pk=pk)


def alert_read(request: HttpRequest, pk: int) -> Alert:
    return get_object_or_404(alerts(request), pk=pk)


def alert_rule_write(request: HttpRequest, pk: int) -> AlertRule:
    return get_object_or_404(alert_rules(request), pk=pk)


def template_write(request: HttpRequest, pk: int) -> SettingsTemplate:
    return get_object_or_404(templates(request), pk=pk)


def group_write(request: HttpRequest, key: uuid.UUID) -> ChangeGroup:
    return get_object_or_404(groups(request), key=key)


def operator(request: HttpRequest) -> User:
    """Pages that only the operator has: for anybody else they do not exist."""
    return get_object_or_404(User, pk=person(request).pk, is_operator=True)


def asked_again(request: HttpRequest) -> HttpResponseRedirect | None:
    """For what money hangs on: the way to the password (or second factor), or None when that was given just now.

    Not the sign-in package's own decorator: it keeps a form that was sent in the session, and ours hold keys.
    """
    user = person(request)
    if not get_adapter(request).get_reauthentication_methods(user):
        return None  # the demo's user has neither
    records = get_authentication_records(request, user)
    if records and time.time() - records[-1]["at"] < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT:
        return None
    return redirect_to_login(request.path, reverse("account_reauthenticate"))
