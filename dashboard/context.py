"""What every page's frame needs: where we are, how it looks, and how old the data is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.urls import get_script_prefix, reverse
from django.utils.functional import SimpleLazyObject

from copytrade.models import User

from . import sessions, shortcuts, stepup
from .admission import nobody_yet

THEMES = ("system", "light", "dark")
KEYS = ("on", "off")
GAINS = ("green", "red", "muted")


@dataclass(frozen=True)
class Place:
    """A page of the side bar. `names`: the url names that count as being there; `thumb`: on the phone's bar too.
    `mark`: it stands there for people alone whose row has this mark."""

    name: str
    label: str
    names: tuple[str, ...] = ()
    thumb: str = ""
    icon: str = ""
    mark: str = ""


NAV: tuple[tuple[str, tuple[Place, ...]], ...] = (
    (
        "Copying",
        (
            Place("overview", "Overview", thumb="Overview", icon="home"),
            Place("traders", "Traders", ("trader", "copy_settings"), thumb="Traders", icon="people"),
            Place("open_orders", "Open orders", ("order",), thumb="Open", icon="list"),
            Place("history", "History", thumb="History", icon="clock"),
            Place("templates", "Templates", ("template", "change_group")),
        ),
    ),
    (
        "Account",
        (
            Place("my_account", "Account", ("exchange_account",)),
            Place("my_bills", "Spot bills", ("bills",)),
            Place("my_funding_bills", "Funding bills"),
            Place("my_lead", "Lead trader", ("lead",)),
            Place("spot", "Spot", ("spot_",)),
            Place("affiliate", "Affiliate", ("affiliate",), mark="affiliate_shown"),
        ),
    ),
    (
        "Desk",
        (
            Place("connections", "Connections", ("connection",)),
            Place("alerts", "Alerts", ("alert", "quiet_hours", "channel")),
            Place("activity", "Activity"),
            Place("issues", "Data issues"),
            Place(
                "security",
                "Security",
                ("mfa_", "usersessions_", "account_", "invitation", "audit", "delete_everything"),
            ),
        ),
    ),
)


class Link(NamedTuple):
    """A place as the page shows it. `here`: we are in it; `exact`: on its own page."""

    name: str
    label: str
    url: str
    thumb: str
    icon: str
    key: str
    here: bool
    exact: bool


class Group(NamedTuple):
    title: str
    places: tuple[Link, ...]


def navigation(url_name: str, place_name: str = "", user: Any = None) -> tuple[Group, ...]:
    """The groups of NAV with addresses; the place that `url_name` belongs to is marked `here`.

    `place_name`: the place where the address alone does not tell, as of an order, which is open or closed.
    """
    marks = frozenset(mark for mark in _MARKS if getattr(user, mark, False))
    return _navigation(url_name, place_name, marks, get_script_prefix())


_MARKS = frozenset(place.mark for _, places in NAV for place in places if place.mark)


@lru_cache(512)
def _navigation(url_name: str, place_name: str, marks: frozenset[str], prefix: str) -> tuple[Group, ...]:
    keys = shortcuts.letters([(place.name, place.label) for _, places in NAV for place in places])
    groups = []
    for title, places in NAV:
        links = [
            Link(
                name=place.name,
                label=place.label,
                url=reverse(place.name),
                thumb=place.thumb,
                icon=place.icon,
                key=keys[place.name],
                here=place.name == place_name
                if place_name
                else url_name == place.name or any(url_name.startswith(n) for n in place.names),
                exact=url_name == place.name,
            )
            for place in places
            if not place.mark or place.mark in marks
        ]
        if links:
            groups.append(Group(title, tuple(links)))
    return tuple(groups)


def looks(request: HttpRequest) -> dict[str, str]:
    """The remembered look: cookies, so that the server renders it and nothing flickers."""
    theme = request.COOKIES.get("theme", "system")
    gain = request.COOKIES.get("gain", "green")
    keys = request.COOKIES.get("keys", "on")
    return {
        "theme": theme if theme in THEMES else "system",
        "gain": gain if gain in GAINS else "green",
        "keys": keys if keys in KEYS else "on",
    }


def _waiting(request: HttpRequest, what: str) -> int:
    """How many alerts or issues wait for the person. It came with the person's row, unless another way brought that."""
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return 0
    if not hasattr(user, what):
        sessions.count_waiting(user)
    return getattr(user, what)


def desk(request: HttpRequest) -> dict[str, Any]:
    match = request.resolver_match
    name = (match.url_name or "") if match else ""
    return {
        # A view that knows better than its address says so on the request.
        "nav": SimpleLazyObject(
            lambda: navigation(name, getattr(request, "place", ""), getattr(request, "user", None))
        ),
        "look": looks(request),
        "single_keys": shortcuts.SINGLE,
        "demo_offered": settings.DEMO and "sandbox" in settings.VENUES,
        "mail_ready": bool(settings.EMAIL_HOST),
        # Objects, and no functions: parts written in Jinja call nothing by themselves.
        "alerts_waiting": SimpleLazyObject(lambda: _waiting(request, "alerts_waiting")),
        "issues_open": SimpleLazyObject(lambda: _waiting(request, "issues_open")),
        # On a page that asks for the proof before sending: the way back, and what it is for.
        "proof_for": cache(lambda: stepup.asking_for(request)),
        "first_account": SimpleLazyObject(nobody_yet),
    }
