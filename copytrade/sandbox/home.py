"""What is not the API: one page that says what this is, the OpenAPI file, and everything else's 404."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from .catalogue import OPERATIONS
from .keys import FIXED, LOAD_SECRET, PASSPHRASE
from .twists import encode
from .wire import Answer, Request

if TYPE_CHECKING:
    from .exchange import Exchange

OPENAPI = Path(__file__).with_name("openapi.json")


def handle(exchange: Exchange, request: Request, path: str) -> Answer:
    """The page at /, the file at /openapi.json; 404 without `code` for the rest."""
    if request.method in ("GET", "HEAD"):
        if path == "/":
            return Answer(200, _page(exchange).encode(), "text/html; charset=utf-8")
        if path == "/openapi.json":
            return Answer(200, OPENAPI.read_bytes())
    return not_found(path)


def not_found(path: str) -> Answer:
    return Answer(404, encode({"error": "Not Found", "path": path}))


def _page(exchange: Exchange) -> str:
    keys = "".join(
        f"<tr><td><code>{escape(key.id)}</code><td><code>{escape(key.secret)}</code><td>{escape(key.about)}"
        for key in FIXED
    )
    operations = "".join(
        f"<tr><td>{escape(row.tag)}<td><code>{row.method} {escape(row.path)}</code><td>{escape(row.summary)}"
        f"<td>{escape(row.label)}<td>{row.weight}"
        for row in OPERATIONS
    )
    options = exchange.venue.options
    load = ""
    if options.accounts:
        last = f"load-{options.accounts:06d}"
        load = f"<p>Also <code>load-000001</code> to <code>{last}</code>, secret <code>{LOAD_SECRET}</code>."
    return PAGE.format(keys=keys, operations=operations, passphrase=PASSPHRASE, load=load, seed=options.seed)


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>The sandbox exchange</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem;
  color-scheme: light dark; }}
.wide {{ overflow-x: auto }} code {{ white-space: nowrap }} table {{ border-collapse: collapse }}
td, th {{ text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0 }}
</style>
<h1>The sandbox exchange</h1>
<p>This is an exchange in a box: an invented world with invented money. It answers the 18 operations of
the copy-trading interface, on one address for both roots, with the checks, limits and errors of the real one.
The world grows from the seed {seed}: the same seed tells the same story.
<h2>Keys</h2>
<p>The passphrase of every key is <code>{passphrase}</code>.
<div class="wide"><table><tr><th>Key<th>Secret<th>What it is{keys}</table></div>{load}
<h2>Operations</h2>
<p>Machine-readable: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). Server time without a key:
<a href="/api/v3/time">/api/v3/time</a>, <a href="/capi/v3/market/time">/capi/v3/market/time</a>.
<div class="wide"><table><tr><th>Part<th>Operation<th>What it does<th>Label<th>Weight{operations}</table></div>
<h2>Control</h2>
<p>From this machine only: <a href="/sandbox/clock">clock</a>, <a href="/sandbox/routes">routes</a>,
<a href="/sandbox/faults">faults</a>, <a href="/sandbox/calls">calls</a>, <a href="/sandbox/truth">truth</a>.
How to break an answer on purpose, and everything else: <code>docs/sandbox.md</code>.
"""
