"""What every answer promises: the content policy, no inline code, no third party, cookies, caching."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from copytrade.models import Account, Trader, User

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "img-src": "'self' data:",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
PUBLIC = ["account_login", "account_signup", "setup"]
PAGES = [
    "overview",
    "traders",
    "open_orders",
    "history",
    "connections",
    "connection_add",
    "activity",
    "security",
    "mfa_index",
    "usersessions_list",
    "account_email",
    "account_change_password",
    "account_logout",
]
ACCOUNT_PAGES = ["connection", "connection_rotate", "connection_writes", "connection_remove"]


class Inspector(HTMLParser):
    """Collects what the policy would block, and what a page must have."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.labels: set[str] = set()
        self.fields: list[dict[str, str | None]] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        self.faults += [f"{tag} {name}={value}" for name, value in attrs if self._blocked(name, value or "")]
        if tag == "style" or (
            tag == "script" and "src" not in found and found.get("type") != "application/json"
        ):
            self.faults.append(f"inline {tag}")
        way = {"a": "href", "form": "action"}.get(tag)
        plain = found.get(way) if way else "a part that refreshes itself"
        if (found.get("hx-get") or found.get("hx-post")) and not plain:
            self.faults.append(f"{tag} that needs htmx")
        if "id" in found:
            self.ids.append(str(found["id"]))
        if tag == "label" and found.get("for"):
            self.labels.add(str(found["for"]))
        if tag in {"input", "select", "textarea"} and found.get("type") not in {"hidden", "submit"}:
            self.fields.append(found)

    @staticmethod
    def _blocked(name: str, value: str) -> bool:
        """Inline code, another site, or a trigger filter (which htmx ignores silently with eval switched off)."""
        if name == "style" or name.startswith(("on", "hx-on")) or value.startswith("javascript:"):
            return True
        if name == "hx-trigger":
            return "[" in value
        asks = name in {"src", "href", "action", "hx-get", "hx-post"}
        return asks and bool(re.match(r"(https?:)?//", value))


def inspect(html: str) -> Inspector:
    inspector = Inspector()
    inspector.feed(html)
    return inspector


@pytest.fixture
def account(alice: User) -> Account:
    account = Account.objects.create(owner=alice, label="Main <account>", venue="sandbox", key_hint="-key")
    Trader.objects.create(account=account, trader_id=702345678901234567, name="<b>Northwind</b>")
    return account


def check(answer: object, name: str) -> None:
    assert answer.status_code == 200, name  # type: ignore[attr-defined]
    html = answer.content.decode()  # type: ignore[attr-defined]
    inspector = inspect(html)
    assert inspector.faults == [], name
    assert len(inspector.ids) == len(set(inspector.ids)), f"{name}: an id twice"
    unlabelled = [
        field
        for field in inspector.fields
        if field.get("id") not in inspector.labels
        and not field.get("aria-label")
        and field.get("type") not in {"checkbox", "radio"}
    ]
    assert unlabelled == [], name
    tags = [tag for tag, _ in inspector.tags]
    assert tags.count("h1") == 1, name
    assert 'href="#main"' in html, name
    assert re.search(r"<title>[^<·]*\w[^<·]* · Copydesk</title>", html), name
    assert ("html", {"lang": "en", "data-theme": "system", "data-gain": "green"}) in inspector.tags


@pytest.mark.parametrize("name", PUBLIC)
def test_pages_before_signing_in_keep_the_policy(name: str) -> None:
    check(Client().get(reverse(name)), name)


@pytest.mark.parametrize("name", PAGES)
def test_pages_keep_the_policy(
    name: str, alice: User, account: Account, client_of: Callable[[User], Client]
) -> None:
    check(client_of(alice).get(reverse(name)), name)


@pytest.mark.parametrize("name", ACCOUNT_PAGES)
def test_pages_of_a_connection_keep_the_policy(
    name: str, alice: User, account: Account, client_of: Callable[[User], Client]
) -> None:
    answer = client_of(alice).get(reverse(name, args=[account.pk]))
    check(answer, name)
    assert "Main <account>" not in answer.content.decode()


@pytest.mark.parametrize("name", [*PUBLIC, "overview", "healthz"])
def test_every_answer_carries_the_headers(name: str) -> None:
    headers = Client().get(reverse(name)).headers
    parts = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert parts == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    assert "camera=()" in headers["Permissions-Policy"]
    assert "no-store" in headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/nothing/here/", "/connections/999999/"])
def test_error_pages_keep_the_policy_too(path: str, alice: User, client_of: Callable[[User], Client]) -> None:
    answer = client_of(alice).get(path)
    assert answer.status_code == 404
    assert inspect(answer.content.decode()).faults == []
    assert "Content-Security-Policy" in answer.headers


def test_a_form_from_elsewhere_is_refused_with_a_sentence(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice, backend="dashboard.sessions.PersonBackend")
    answer = client.post(reverse("connection_add"), {"label": "x"})
    assert answer.status_code == 403
    assert b"too old" in answer.content


def test_the_page_of_a_broken_page_needs_nothing(alice: User, settings: object) -> None:
    from dashboard.views.failures import broken

    answer = broken(None)  # type: ignore[arg-type]
    assert answer.status_code == 500
    assert inspect(answer.content.decode()).faults == []


def test_the_place_in_the_side_bar_is_marked(
    alice: User, account: Account, client_of: Callable[[User], Client]
) -> None:
    html = client_of(alice).get(reverse("connections")).content.decode()
    assert re.search(r'href="/connections/" aria-current="page"', html)
    below = client_of(alice).get(reverse("connection_add")).content.decode()
    assert re.search(r'href="/connections/" aria-current="true"', below)
    assert not re.search(r'href="/activity/" aria-current', below)


def test_the_look_is_remembered_and_goes_back_to_the_page() -> None:
    client = Client()
    answer = client.post(reverse("look"), {"theme": "dark", "next": "/accounts/login/"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/login/")
    client.post(reverse("look"), {"gain": "red", "next": "/"})
    html = client.get(reverse("account_login")).content.decode()
    assert 'data-theme="dark" data-gain="red"' in html


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_the_look_never_sends_anybody_away(back: str) -> None:
    answer = Client().post(reverse("look"), {"theme": "light", "next": back})
    assert answer.headers["Location"] == "/"


@pytest.mark.parametrize("data", [{}, {"theme": "pink"}, {"gain": '"><script>'}])
def test_a_look_that_is_not_on_offer_is_refused(data: dict[str, str]) -> None:
    assert Client().post(reverse("look"), data).status_code == 400


def test_a_cookie_from_elsewhere_cannot_write_into_the_page() -> None:
    client = Client()
    client.cookies["theme"] = '"><script>alert(1)</script>'
    assert 'data-theme="system"' in client.get(reverse("account_login")).content.decode()


def test_committed_files_of_others_are_unchanged() -> None:
    folder = Path(settings.BASE_DIR) / "static" / "vendor"
    rows = re.findall(r"^\| (\S+/\S+) \|.*\| ([0-9a-f]{64}) \|$", (folder / "VENDOR.md").read_text(), re.M)
    listed = dict(rows)
    assert len(listed) >= 3
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {"VENDOR.md"}
    assert there == set(listed)
    for name, digest in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def test_style_sheets_and_scripts_ask_nobody_else() -> None:
    for path in (Path(settings.BASE_DIR) / "static").rglob("*"):
        if path.suffix in {".css", ".js"} and "vendor" not in path.parts:
            text = path.read_text().replace("http://www.w3.org/2000/svg", "")
            assert not re.search(r"https?://|@import|eval\(|innerHTML", text), path


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground", "least"),
    [
        ("text", "surface", 7),
        ("text", "back", 7),
        ("muted", "surface", 4.5),
        ("muted", "back", 4.5),
        ("muted", "sunken", 4.5),
        ("accent", "surface", 4.5),
        ("accent", "back", 4.5),
        ("accent", "accent-soft", 4.5),
        ("on-accent", "accent", 4.5),
        ("on-accent", "accent-strong", 4.5),
        ("up", "surface", 4.5),
        ("down", "surface", 4.5),
        ("up", "back", 4.5),
        ("down", "back", 4.5),
        ("warn", "warn-soft", 4.5),
        ("bad", "bad-soft", 4.5),
        ("good", "good-soft", 4.5),
        ("line-strong", "surface", 3),
    ],
)
def test_colours_can_be_read(side: int, text: str, ground: str, least: float) -> None:
    css = (Path(settings.BASE_DIR) / "static/css/tokens.css").read_text()
    pairs = {
        name: [c if len(c) == 7 else "#" + "".join(x * 2 for x in c[1:]) for c in colours]
        for name, *colours in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", css)
    }
    assert _contrast(pairs[text][side], pairs[ground][side]) >= least
