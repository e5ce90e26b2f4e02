"""The six affiliate pages. They read reports; asking is a form of its own, and a worker answers it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from copytrade import affiliate as jobs
from copytrade import tasks
from copytrade.affiliate import KINDS, Kind, totals
from copytrade.models import Account, AffiliateReport
from dashboard import access, affiliate_charts, affiliate_files, htmx
from dashboard.exports import FORMATS, of_query
from dashboard.filters import whole
from dashboard.forms.affiliate import AskForm

PAGE = 25


@require_safe
def affiliate(request: HttpRequest) -> HttpResponse:
    """The way in: the commissions of the account that may, or of the first one, whose page says why not."""
    accounts = list(access.accounts(request).select_related("affiliate_standing"))
    if not accounts:
        messages.info(
            request, "The affiliate pages need a connection with an affiliate's key. Add one first."
        )
        return redirect("connection_add")
    first = next((one for one in accounts if _may(one)), accounts[0])
    return redirect("affiliate_reports", pk=first.pk, kind="commissions")


def _may(account: Account) -> bool:
    standing = getattr(account, "affiliate_standing", None)
    return standing is not None and standing.may and standing.key_set_at == account.key_set_at


@require_safe
def reports(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """One kind of report: the form, and the report that the address names, or the latest."""
    account, chosen = _found(request, pk, kind)
    return _page(request, account, chosen, _report(request, account, chosen))


@require_POST
def ask(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Have a question answered by a worker. The same one within minutes shows the answer that is there."""
    account, chosen = _found(request, pk, kind)
    form = AskForm(chosen, request.POST, now=timezone.now())
    if form.is_valid():
        try:
            report = jobs.ask(account, chosen, form.cleaned_data, again=request.POST.get("again") == "1")
        except jobs.AskRefused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            if report.state == AffiliateReport.State.WAITING:
                tasks.hint_report(report.pk)
            return redirect(_address(account, chosen, report))
    return _page(request, account, chosen, jobs.latest(account, chosen), form, status=400)


@require_POST
def standing(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the exchange whether the key is an affiliate's, because a person pressed for it."""
    account = access.account_write(request, pk)
    known, wrong = jobs.ask_standing(account)
    if wrong:
        messages.error(request, f"{account.label}: {wrong}")
    elif known.may:
        messages.success(request, f"{account.label}: the key is an affiliate's.")
    else:
        messages.info(request, f"{account.label}: the key is no affiliate's.")
    return redirect("affiliate_reports", pk=pk, kind="commissions")


@require_safe
def export(request: HttpRequest, pk: int, kind: str, form: str) -> FileResponse:
    """The rows that the page shows, in its order: all pages of them in one file."""
    account, chosen = _found(request, pk, kind)
    report = _report(request, account, chosen)
    if form not in FORMATS or report is None or report.state != AffiliateReport.State.DONE:
        raise Http404("There is no complete report to save.")
    rows = totals.rows_of(report, chosen, request.GET.get("sort", ""))
    name = f"{chosen.title} of {account.label}"
    return of_query(request, form, name, *affiliate_files.columns_and_rows(chosen, rows))


def _found(request: HttpRequest, pk: int, kind: str) -> tuple[Account, Kind]:
    account = access.account_read(request, pk)
    if kind not in KINDS:
        raise Http404("There is no such report.")
    return account, KINDS[kind]


def _report(request: HttpRequest, account: Account, kind: Kind) -> AffiliateReport | None:
    number = whole(request.GET.get("report"))
    if number is None:
        return jobs.latest(account, kind)
    return access.affiliate_report_read(request, account, kind.slug, number)


def _address(account: Account, kind: Kind, report: AffiliateReport) -> str:
    return reverse("affiliate_reports", args=[account.pk, kind.slug]) + "?" + urlencode({"report": report.pk})


def _page(
    request: HttpRequest,
    account: Account,
    kind: Kind,
    report: AffiliateReport | None,
    form: AskForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {"account": account, "kind": kind, "report": report}
    if report is not None and report.state == AffiliateReport.State.DONE:
        context |= _answer(request, kind, report)
    if not htmx.wants_part(request):
        context |= {
            "kinds": KINDS.values(),
            "accounts": list(access.accounts(request)),
            "standing": jobs.standing_of(account),
            "recent": jobs.recent(account, kind),
            "form": form or AskForm(kind, now=timezone.now(), asked=report.asked if report else None),
        }
    return htmx.render(request, "affiliate/affiliate.html", context, partial="answer", status=status)


def _answer(request: HttpRequest, kind: Kind, report: AffiliateReport) -> dict[str, Any]:
    """What a complete report shows: its totals, pictures, and one page of rows."""
    sort = totals.sorted_by(kind, request.GET.get("sort", ""))
    rows = totals.rows_of(report, kind, sort)
    return {
        "page": Paginator(rows, PAGE).get_page(request.GET.get("page")),
        "sort": sort,
        "totals": totals.totals(report, kind) if kind.summed else [],
        "users": totals.users_told(report) if kind.slug == "users" else None,
        "charts": affiliate_charts.charts(report) if kind.slug == "commissions" else [],
    }
