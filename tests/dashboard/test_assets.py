"""What a page weighs: compressed answers, and files that a browser keeps for ever under names that change with them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from copytrade.models import User
from dashboard.assets import JOINED, _asset, assets
from dashboard.middleware import CompressionMiddleware

GZIP = {"HTTP_ACCEPT_ENCODING": "gzip, deflate, br, zstd"}
STATIC = Path(settings.BASE_DIR) / "static"


def get(name: str, **headers: str) -> HttpResponse:
    return Client().get(f"/static/{name}", **headers)


def linked(html: str) -> list[str]:
    """The files that a page asks for, as paths."""
    return re.findall(r'(?:href|src|data-library)="(/static/[^"]+)"', html)


def test_a_file_comes_compressed_to_those_who_take_it_and_plain_to_others() -> None:
    name = assets()["css/joined/desk.css"].name
    packed, plain = get(name, **GZIP), get(name)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(packed.content) == plain.content
    assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
    assert packed.headers["Content-Type"] == "text/css; charset=utf-8"
    assert packed.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("refused", ["gzip;q=0", "gzip; q=0.0, br", "identity", "", "agzipb"])
def test_gzip_is_not_sent_to_those_who_refuse_it(refused: str) -> None:
    answer = get(assets()["js/joined/desk.js"].name, HTTP_ACCEPT_ENCODING=refused)
    assert "Content-Encoding" not in answer.headers


def test_a_name_with_the_hash_may_be_kept_for_ever() -> None:
    found = assets()["js/chart.js"]
    assert re.fullmatch(r"js/chart\.[0-9a-f]{12}\.js", found.name)
    assert get(found.name).headers["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("name", ["js/chart.js", "js/chart.0123456789ab.js"])
def test_a_name_without_the_hash_of_today_is_asked_for_again_each_time(name: str) -> None:
    """A page of the version before still finds its files while the desk is being updated."""
    answer = get(name)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-cache")
    again = get(name, HTTP_IF_NONE_MATCH=answer.headers["ETag"])
    assert (again.status_code, again.content) == (304, b"")


def test_another_content_has_another_name() -> None:
    assert _asset("css/a.css", b"a {}").name != _asset("css/a.css", b"b {}").name
    assert _asset("css/a.css", b"a {}").name == _asset("css/a.css", b"a {}").name


@pytest.mark.parametrize("name", ["nothing.css", "../manage.py", "css/", "%2e%2e/manage.py", "css/joined/"])
def test_what_is_no_file_of_ours_is_not_there(name: str) -> None:
    answer = get(name)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store")


def test_files_are_only_read() -> None:
    assert Client().post("/static/js/desk.js").status_code == 405
    head = Client().head(f"/static/{assets()['js/desk.js'].name}")
    assert head.status_code == 200


def test_every_style_sheet_and_script_of_ours_is_sent_by_some_page() -> None:
    """A file that nobody joins or links would be written for nothing."""
    parts = {part for files in JOINED.values() for part in files}
    templates = Path(settings.BASE_DIR) / "templates"
    pages = "".join(path.read_text() for kind in ("*.html", "*.jinja") for path in templates.rglob(kind))
    ours = {str(path.relative_to(STATIC)) for path in STATIC.rglob("*") if path.suffix in {".css", ".js"}}
    assert {name for name in ours if name not in parts and f"'{name}'" not in pages} == set()
    joined = [part for files in JOINED.values() for part in files]
    assert len(joined) == len(parts), "each part once"


def test_joined_files_hold_their_parts_in_order() -> None:
    for name, parts in JOINED.items():
        text, at = assets()[name].body, 0
        for part in parts:
            at = text.index(assets()[part].body, at)


def test_the_largest_first_load_of_files_stays_small() -> None:
    """Everything that any page can ask for beside its own HTML (at most 15 kB): 62 of the 80 kB."""
    heaviest = ["css/joined/desk.css", "css/joined/settings.css", "js/joined/desk.js", "js/chart.js"]
    heaviest += ["vendor/uplot/uPlot.iife.min.js", "img/icon.svg"]
    assert sum(len(assets()[name].packed or assets()[name].body) for name in heaviest) < 62_000


@pytest.mark.django_db
def test_pages_name_files_by_their_hash_and_few_of_them(
    alice: User, client_of: Callable[[User], Client]
) -> None:
    for name in ("overview", "traders", "open_orders", "history", "activity", "security"):
        files = linked(client_of(alice).get(reverse(name)).content.decode())
        assert len(files) <= 5, name
        for file in files:
            assert "immutable" in Client().get(file).headers["Cache-Control"], file


@pytest.mark.django_db
def test_pages_come_compressed_and_may_not_be_kept(alice: User, client_of: Callable[[User], Client]) -> None:
    answer = client_of(alice).get(reverse("overview"), **GZIP)
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer.headers["Vary"]
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert b"<title>" in gzip.decompress(answer.content)
    assert "Content-Encoding" not in client_of(alice).get(reverse("overview")).headers


@pytest.mark.django_db
def test_the_length_of_a_page_does_not_tell_what_is_in_it(
    alice: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(alice)
    lengths = {len(client.get(reverse("security"), **GZIP).content) for _ in range(12)}
    assert len(lengths) > 3, "Django adds bytes at random against BREACH"


@pytest.mark.parametrize("name", ["mfa_activate_totp", "mfa_view_recovery_codes", "invitations"])
def test_pages_with_a_secret_are_not_compressed(name: str) -> None:
    assert "Content-Encoding" not in compressed(HttpResponse("secret " * 500), name).headers


def test_what_streams_or_is_saved_as_a_file_goes_out_as_it_is() -> None:
    rows = StreamingHttpResponse(f"{row}\n" * 100 for row in range(10))
    file = HttpResponse("row\n" * 500, headers={"Content-Disposition": 'attachment; filename="rows.csv"'})
    for answer in (rows, file):
        assert "Content-Encoding" not in compressed(answer).headers
    assert compressed(HttpResponse("row\n" * 500)).headers["Content-Encoding"] == "gzip"


def compressed(answer: HttpResponse, url_name: str = "overview") -> HttpResponse:
    """An answer after the middleware, to a browser that takes gzip."""
    request = RequestFactory().get("/", **GZIP)
    request.resolver_match = SimpleNamespace(url_name=url_name)  # type: ignore[assignment]
    return CompressionMiddleware(lambda _: answer)(request)
