"""Letters: one for all of a person's new alerts, and the digest. HTML beside the text, nothing from outside in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from copytrade.models import Delivery, User
from copytrade.rollups import zone_of

from . import digests, words

_EXACT = Context(prec=400, rounding=ROUND_HALF_UP)


def letter(owner: User, rows: Sequence[Delivery], *, again: bool = False) -> EmailMultiAlternatives:
    """What these rows tell: a digest alone, otherwise alerts together."""
    digest = rows[0].digest
    if digest is not None:
        subject, name, context = _digest(rows[0])
    else:
        subject, name, context = _alerts(rows)
    zone = zone_of(owner)
    context |= {
        "again": words.AGAIN if again else "",
        "inbox": words.address(reverse("alerts")),
        "channels": words.address(reverse("channels")),
        "zone": owner.zone.replace("_", " "),
    }
    with timezone.override(zone):
        text = render_to_string(f"notices/{name}.txt", context)
        html = render_to_string(f"notices/{name}.html", context | {"title": subject})
    made = EmailMultiAlternatives(f"Copydesk: {subject}", text, to=[owner.email], headers=_headers(rows))
    made.attach_alternative(html, "text/html")
    return made


def _headers(rows: Sequence[Delivery]) -> dict[str, str]:
    """The same letter has the same Message-ID: a mailbox may know a repeat by it."""
    same = hashlib.sha256(" ".join(str(row.key) for row in rows).encode()).hexdigest()[:32]
    host = urlsplit(settings.SITE_URL).hostname or "copydesk.invalid"
    return {"Message-ID": f"<{same}@{host}>", "Auto-Submitted": "auto-generated"}


def _alerts(rows: Sequence[Delivery]) -> tuple[str, str, dict[str, Any]]:
    told = [(words.of(row), row.alert.created_at if row.alert else row.created_at) for row in rows]
    subject = told[0][0].title if len(told) == 1 else f"{len(told)} things to look at"
    return subject, "alerts", {"alerts": told}


def _digest(row: Delivery) -> tuple[str, str, dict[str, Any]]:
    digest = row.digest
    assert digest is not None
    found = digests.content(digest)
    context = {
        "days": digests.days_in_words(digest),
        "day": digest.first_day == digest.last_day,
        "now": found.now,
        "total": _line(found.total),
        "parts": [(_line(part.account), [_line(line) for line in part.traders]) for part in found.parts],
        "open": found.open,
        "margin": money(found.open.margin),
        "alerts": _listed(found.alerts),
        "more_alerts": found.n_alerts - len(found.alerts),
        "changes": _listed(found.changes),
        "more_changes": found.n_changes - len(found.changes),
        "overview": words.address(reverse("overview")),
    }
    return f"{context['total']['net']} on {context['days']}", "digest", context


def _line(line: digests.Line) -> dict[str, Any]:
    return {"name": line.name, "n": line.n, "net": money(line.net, signed=True), "lost": line.net < 0}


def _listed(rows: Sequence[tuple[datetime, str]]) -> list[dict[str, Any]]:
    return [{"at": at, "words": sentence} for at, sentence in rows]


def money(amount: Decimal, *, signed: bool = False) -> str:
    """`+1 234.56 USDT`, rounded as the pages round it, so that a letter and Overview show the same digits."""
    rounded = _EXACT.quantize(amount, Decimal("0.01"))
    if not rounded and amount:
        rounded = _EXACT.quantize(amount, Decimal(1).scaleb(-min(8, max(2, 2 - amount.adjusted()))))
    text = f"{abs(rounded):,f}".replace(",", "\u202f")
    sign = "" if not rounded else "\u2212" if rounded < 0 else "+" if signed else ""
    return f"{sign}{text} USDT"
