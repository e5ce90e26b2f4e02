"""Exchange errors and refusals, as the sentence and the page a person sees."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from copytrade.exchange.errors import ExchangeError, OutcomeUnknown, RateLimited, Rejected, Unreachable


@dataclass(frozen=True)
class Explained:
    """title: what happened, in a few words. sentence: what it means. next_step: what to do, with its link."""

    title: str
    sentence: str
    next_step: str
    link: str = ""
    link_text: str = ""
    status: int = 502


CONNECTION = {
    "key": (
        "The API key is not known",
        "Enter the key again: it may be mistyped, deleted, or still being activated.",
    ),
    "secret": (
        "The secret does not fit the key",
        "Enter the secret again, exactly as the exchange showed it once.",
    ),
    "passphrase": (
        "The passphrase is wrong",
        "Enter the passphrase chosen when the key was made. It cannot be looked up.",
    ),
    "clock": (
        "This server's clock is off",
        "Ask the operator to set the server's clock; the desk corrects small errors.",
    ),
    "address": (
        "This server's address is not allowed",
        "Add the server's address to the key's list at the exchange.",
    ),
    "permission": (
        "The key may not do this",
        "Give the key the permission named above at the exchange, then test it again.",
    ),
    "account": (
        "The exchange has restricted the account",
        "Look at the account at the exchange, then test again.",
    ),
}
OTHER = {
    "limit": ("The exchange asks for a pause", "Wait a moment. Reading goes on by itself."),
    "network": (
        "The exchange cannot be reached",
        "Try again in a minute. What is stored here stays readable.",
    ),
    "answer": ("The exchange's answer cannot be read", "Try again. If it stays so, tell the operator."),
    "ours": ("The desk made a mistake", "Tell the operator; the log has the details."),
}


def explain(error: ExchangeError) -> Explained:
    """The words for an exchange error: which of key, secret, passphrase, clock, address or permission, if known."""
    status = _status(error)
    if isinstance(error, OutcomeUnknown):
        return Explained(
            "The answer was lost",
            error.sentence,
            "The desk reads back what holds now. Nothing is sent twice.",
            status=status,
        )
    if found := CONNECTION.get(error.fault):
        link = reverse("connections")
        return Explained(found[0], error.sentence, found[1], link, "Connections", status)
    default = ("The exchange refused", "Nothing was changed. Correct what it names, and try again.")
    title, step = OTHER.get(error.fault, default)
    return Explained(title, error.sentence, step, status=status)


def _status(error: ExchangeError) -> int:
    if isinstance(error, RateLimited | Unreachable):
        return 503
    if isinstance(error, Rejected):
        return 409
    return 502


def exchange_page(request: HttpRequest, error: ExchangeError) -> HttpResponse:
    """The page of an exchange error that no view had its own words for."""
    explained = explain(error)
    return render(request, "errors/exchange.html", {"explained": explained}, status=explained.status)


def demo_page(request: HttpRequest) -> HttpResponse:
    """What the demo's visitors cannot do, because they share one sign-in."""
    return render(request, "errors/demo.html", status=403)
