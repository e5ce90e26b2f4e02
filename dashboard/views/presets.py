"""Templates, and one set of settings for several traders: from a template, a trader, a file, or de-risked."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from copytrade import changes, portable, presets, rules, tasks, versions
from copytrade.models import SettingsTemplate
from dashboard import access, bulk, htmx, stepup
from dashboard.forms.presets import DeriskForm, ImportForm, NameForm, SaveForm, TradersForm

form_view = require_http_methods(["GET", "HEAD", "POST"])
DERISK = "derisk"


@require_GET
def templates(request: HttpRequest) -> HttpResponse:
    """All templates, and every other way to set several traders at once."""
    return _list(request, SaveForm(traders=_readable(request)))


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Keep the settings in force of a trader under a name."""
    form = SaveForm(request.POST, traders=_readable(request))
    if form.is_valid():
        name, trader = form.cleaned_data["name"], form.cleaned_data["trader"]
        try:
            how = f"from {trader}"
            template = presets.save(access.person(request), name, presets.in_force(trader), how=how)
        except presets.PresetRefused as refused:
            form.add_error("name", str(refused))
        else:
            messages.success(request, f"The settings of {trader} are kept as “{template.name}”.")
            return redirect("template", pk=template.pk)
    return _list(request, form, status=422)


def _list(request: HttpRequest, form: SaveForm, status: int = 200) -> HttpResponse:
    rows = [(row, _in_words(row)) for row in access.templates(request)]
    groups = access.groups(request).filter(confirmed_at__isnull=False)[:5]
    context = {"rows": rows, "form": form, "groups": groups, "traders": _readable(request)}
    return render(request, "presets/templates.html", context, status=status)


@require_GET
def template(request: HttpRequest, pk: int) -> HttpResponse:
    found = access.template_write(request, pk)
    return _one(request, found, NameForm({"name": found.name}))


@require_POST
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    found = access.template_write(request, pk)
    form = NameForm(request.POST)
    if form.is_valid():
        try:
            presets.rename(found, form.cleaned_data["name"])
            return redirect("template", pk=pk)
        except presets.PresetRefused as refused:
            form.add_error("name", str(refused))
    return _one(request, found, form, status=422)


def _one(request: HttpRequest, found: SettingsTemplate, form: NameForm, status: int = 200) -> HttpResponse:
    context = {"template": found, "form": form, "in_words": _in_words(found)}
    return render(request, "presets/template.html", context, status=status)


@form_view
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    found = access.template_write(request, pk)
    if request.method == "POST":
        name = found.name
        presets.delete(found)
        messages.success(request, f"The template “{name}” is deleted. No trader's settings changed.")
        return redirect("templates")
    return render(request, "presets/delete.html", {"template": found})


@require_GET
def export(request: HttpRequest, pk: int) -> HttpResponse:
    """A template as a file."""
    found = access.template_write(request, pk)
    settings = portable.settings_in(found.body)
    return _file(presets.exported(access.person(request), settings, found.name), found.name)


@require_GET
def export_trader(request: HttpRequest, pk: int) -> HttpResponse:
    """The settings in force of a trader as a file."""
    trader = access.trader_read(request, pk)
    try:
        settings = presets.in_force(trader)
    except presets.PresetRefused as refused:
        messages.error(request, str(refused))
        return redirect("trader", pk=pk)
    text = presets.exported(access.person(request), settings, str(trader), trader=trader)
    return _file(text, str(trader))


def _file(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response.headers["Content-Disposition"] = (
        f'attachment; filename="{slugify(name)[:60] or "settings"}.json"'
    )
    return response


@form_view
def apply(request: HttpRequest) -> HttpResponse:
    """Choose whom settings go to. `?template=<pk>`, `?trader=<pk>` or `?preset=derisk` says which settings."""
    context = _asked(request)
    offered = access.traders(request)
    if source_trader := context.get("source_trader"):
        offered = offered.exclude(pk=source_trader.pk)
    if request.method == "POST":
        form, lower = TradersForm(request.POST, traders=offered), context.get("derisk")
        if form.is_valid() and (lower is None or lower.is_valid()):
            try:
                return _prepared(request, form, _source(context))
            except presets.PresetRefused as refused:
                form.add_error(None, str(refused))
        context["form"] = form
    context["candidates"] = bulk.candidates(offered, set(request.POST.getlist("traders")))
    return render(request, "presets/apply.html", context, status=422 if request.method == "POST" else 200)


def _asked(request: HttpRequest) -> dict[str, Any]:
    """Which settings are meant, as the address says: the page's context, with one of three sources in it."""
    asked = request.GET
    if asked.get("preset") == DERISK:
        return {"derisk": DeriskForm(request.POST or None)}
    for name, rows in (("template", access.templates(request)), ("trader", access.traders(request))):
        pk = asked.get(name, "")
        if pk.isascii() and pk.isdigit() and len(pk) < 19:
            return _described(name, get_object_or_404(rows, pk=int(pk)))
    raise Http404


def _described(name: str, row: Any) -> dict[str, Any]:
    if name == "template":
        return {"template": row, "in_words": _in_words(row)}
    version = versions.latest(row)
    settings = versions.understood(version.answer) if version else None
    return {
        "source_trader": row,
        "version": version,
        "in_words": rules.described(settings) if settings else [],
    }


def _source(context: dict[str, Any]) -> presets.Source:
    if "derisk" in context:
        return presets.from_derisk(context["derisk"].options())
    if "template" in context:
        return presets.from_template(context["template"])
    return presets.from_trader(context["source_trader"])


def _prepared(request: HttpRequest, form: TradersForm, source: presets.Source) -> HttpResponse:
    group = presets.prepare(access.person(request), form.cleaned_data["traders"], source)
    return redirect("change_group", key=group.key)


@form_view
def import_file(request: HttpRequest) -> HttpResponse:
    """A settings file: kept as a template, or taken straight to a review for the chosen traders."""
    offered = access.traders(request)
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        done = _save_import(request, form) if request.POST.get("then") == "save" else None
        done = done or (_apply_import(request, form, offered) if request.POST.get("then") != "save" else None)
        if done is not None:
            return done
    ticked = set(request.POST.getlist("traders"))
    context = {
        "form": form,
        "candidates": bulk.candidates(offered, ticked),
        "most": portable.MAX_BYTES // 1024,
    }
    return render(request, "presets/import.html", context, status=422 if request.method == "POST" else 200)


def _save_import(request: HttpRequest, form: ImportForm) -> HttpResponse | None:
    assert form.settings is not None
    name = form.cleaned_data["name"] or form.named
    try:
        saved = presets.save(access.person(request), name, form.settings, how="imported")
    except presets.PresetRefused as refused:
        form.add_error("name", str(refused))
        return None
    messages.success(request, f"The file is kept as the template “{saved.name}”.")
    return redirect("template", pk=saved.pk)


def _apply_import(request: HttpRequest, form: ImportForm, offered: Any) -> HttpResponse | None:
    assert form.settings is not None
    chosen = TradersForm(request.POST, traders=offered)
    if chosen.is_valid():
        return _prepared(request, chosen, presets.from_file(form.settings, form.named))
    form.add_error(None, chosen.errors["traders"][0])
    return None


@form_view
def change_group(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """One review of all differences while it is not confirmed; then the result of each trader, live."""
    group = access.group_write(request, key)
    refused = ""
    if request.method == "POST" and group.confirmed_at is None:
        if proof := stepup.required(request):
            return proof
        try:
            for pk in presets.confirm(group, request.POST.get("key", ""), bulk.chosen(request.POST)):
                tasks.hint_change(pk)
        except changes.ChangeRefused as error:
            refused = str(error)
    if request.method == "POST" and not refused:
        return redirect("change_group", key=group.key)
    if group.confirmed_at is None:
        posted = request.POST if request.method == "POST" else stepup.returned(request)
        context = bulk.review(group, posted) | {"refused": refused}
        return render(request, "presets/review.html", context, status=409 if refused else 200)
    return htmx.render(request, "presets/outcome.html", bulk.outcome(group), partial="outcome")


def _readable(request: HttpRequest) -> Any:
    """The person's traders, of whom settings were read."""
    return access.traders(request).filter(versions__isnull=False).distinct()


def _in_words(found: SettingsTemplate) -> list[tuple[str, str]]:
    return rules.described(portable.settings_in(found.body))
