"""A page without its texts: its elements with the names of their attributes; and where a text got to."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
# Attributes that name a part of the page: what came of a text there is letters, digits and underscores.
NAMES = frozenset(
    ("id", "for", "aria-describedby", "aria-labelledby", "aria-controls", "headers", "form", "list")
)
NAME = re.compile(r"[\w\- .:]*\Z")
# Attributes that say something to a person, and those whose text is an address behind a question mark.
SAID = frozenset(
    (
        "name",
        "data-symbol",
        "title",
        "value",
        "aria-label",
        "alt",
        "placeholder",
        "content",
        "label",
        "datetime",
    )
)
ADDRESSES = frozenset(("href", "action", "hx-get", "hx-post", "src", "formaction", "cite", "poster"))
ESCAPED_QUERY = re.compile(r"[/?][^<>\"'\s{}()]*\Z")


@dataclass
class Skeleton:
    """elements: (parent, tag, attribute names) with how often. attributes: (tag, name, value), all of them."""

    elements: Counter[tuple[str, str, tuple[str, ...]]] = field(default_factory=Counter)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    text: str = ""

    def strange(self, mark: str) -> list[str]:
        """Places in which a text with `mark` could do something, in words."""
        found = [
            f"<{tag} {name}>"
            for tag, name, _ in self.attributes
            if name.startswith(("on", "hx-on", "data-hx"))
        ]
        found += [f"<{tag} style>" for tag, name, _ in self.attributes if name == "style"]
        for tag, name, value in self.attributes:
            scheme = re.match(r"[\x00-\x20]*([A-Za-z][\w+.-]*):", value) if name in ADDRESSES else None
            if scheme and scheme[1].lower() not in {"http", "https", "mailto"}:
                found.append(f"<{tag} {name}={value[:60]!r}>")
            if mark in value and name in ADDRESSES and not ESCAPED_QUERY.match(value):
                found.append(f"<{tag} {name}={value[:60]!r}>")
            elif mark in value and name in NAMES and NAME.match(value):
                continue
            elif mark in value and name not in SAID | ADDRESSES:
                found.append(f"<{tag} {name}={value[:60]!r}>")
        return found + [f"<script>: {text[:60]!r}" for text in self.scripts if mark in text and "<" in text]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Skeleton()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = tuple(sorted(name for name, _ in attrs))
        self.found.elements[self.open[-1] if self.open else "", tag, names] += 1
        self.found.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in {"script", "style"}:
            self.found.scripts.append(data)
        else:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.found.elements["", f"<!-- {data[:40]} -->", ()] += 1

    handle_decl = unknown_decl = handle_pi = lambda self, data: self.handle_comment(data)


def skeleton(html: str) -> Skeleton:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.found.text = "".join(reader.texts)
    return reader.found
