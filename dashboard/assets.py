"""Style sheets, scripts and pictures: read, joined, named by their content and compressed once, at the start.

They are small (about 300 kB with those of others), so each process keeps them in memory: no folder to collect them
into, no build, and the demo serves the same bytes as production. A name that carries its content's hash may be kept by
a browser for ever; `{% static "css/joined/desk.css" %}` writes such a name.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseNotModified

# What is asked for together is one file to the browser, and stays small files in the tree. The order is the cascade's.
JOINED = {
    "css/joined/desk.css": (
        "css/tokens.css", "css/base.css", "css/frame.css", "css/parts.css", "css/what.css", "css/forms.css",
        "vendor/uplot/uPlot.min.css", "css/pages.css", "css/trader.css", "css/summaries.css", "css/activity.css",
        "css/alerts.css", "css/channels.css", "css/desk-around.css", "css/affiliate.css", "css/own.css",
    ),
    "css/joined/settings.css": (
        "css/settings.css", "css/settings-rows.css", "css/changes.css", "css/presets.css", "css/spot.css",
    ),
    "js/joined/desk.js": ("django_htmx/htmx-2.min.js", "js/desk.js", "js/keys.js"),
    "js/joined/settings.js": ("js/settings.js", "js/settings-rows.js"),
}  # fmt: skip
HASHED = re.compile(r"^(?P<stem>.+)\.[0-9a-f]{12}(?P<suffix>\.[^./]+)$")
WORTH = 200  # bytes; below, gzip's frame costs more than it saves
YEAR = 31_536_000
Answer = Callable[[HttpRequest], HttpResponse]


@dataclass(frozen=True)
class Asset:
    """A file as it is sent. `name` carries the hash of `body`; `packed` is its gzip, None where that is no shorter."""

    name: str
    tag: str  # the ETag: weak, for it is the same for both ways of sending
    body: bytes
    packed: bytes | None
    kind: str


def assets() -> dict[str, Asset]:
    """All files by their plain name. With DEBUG they are read again when one of them has changed."""
    return _assets(_latest() if settings.DEBUG else 0)


@lru_cache(maxsize=1)
def _assets(_: int) -> dict[str, Asset]:
    files = {name: path.read_bytes() for name, path in _paths()}
    for name, parts in JOINED.items():
        files[name] = (b"\n" if name.endswith(".css") else b";\n").join(files[part] for part in parts)
    return {name: _asset(name, body) for name, body in files.items()}


def _paths() -> Iterable[tuple[str, Path]]:
    """Every file that the desk and its packages bring; the first of a name counts, as with Django's own server."""
    seen = set()
    for finder in finders.get_finders():
        for name, storage in finder.list([]):
            name = name.replace("\\", "/")
            if name not in seen:
                seen.add(name)
                yield name, Path(storage.path(name))


def _latest() -> int:
    return max(path.stat().st_mtime_ns for _, path in _paths())


def _asset(name: str, body: bytes) -> Asset:
    stem, dot, suffix = name.rpartition(".")
    digest = hashlib.sha256(body).hexdigest()[:12]
    packed = gzip.compress(body, 9, mtime=0) if len(body) > WORTH else body
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    text = kind.startswith("text/") or kind.endswith(("javascript", "json", "xml"))
    return Asset(
        f"{stem}.{digest}{dot}{suffix}",
        f'W/"{digest}"',
        body,
        packed if len(packed) < len(body) else None,
        f"{kind}; charset=utf-8" if text else kind,
    )


class AssetStorage(StaticFilesStorage):
    """Gives `{% static %}` the name with the hash. A file that is not there stops the page: a test finds it."""

    def url(self, name: str | None) -> str:
        return super().url(assets()[name or ""].name)


class AssetMiddleware:
    """Answers below STATIC_URL from memory."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response
        assets()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(settings.STATIC_URL):
            return self.get_response(request)
        return answer(request, request.path_info.removeprefix(settings.STATIC_URL))


def answer(request: HttpRequest, name: str) -> HttpResponse:
    """A file by its name, with or without a hash. Only the hash of what is sent now makes it last."""
    found = assets().get(name) or assets().get(HASHED.sub(r"\g<stem>\g<suffix>", name))
    if found is None:
        return HttpResponse(status=404, headers={"Cache-Control": "no-store"})
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    packed = found.packed if _takes_gzip(request) else None
    current = name == found.name
    headers = {
        "Cache-Control": f"public, max-age={YEAR}, immutable" if current else "no-cache",
        "ETag": found.tag,
    }
    if found.packed:
        headers["Vary"] = "Accept-Encoding"
    if request.headers.get("If-None-Match") == found.tag:
        return HttpResponseNotModified(headers=headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
    return HttpResponse(packed or found.body, content_type=found.kind, headers=headers)


def _takes_gzip(request: HttpRequest) -> bool:
    return bool(
        re.search(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", request.headers.get("Accept-Encoding", ""))
    )
