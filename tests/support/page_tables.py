"""A table of a page as its rows of words, to be held against what its picture was drawn from."""

from __future__ import annotations

import re

from .page_text import text


def words(html: str) -> str:
    """What a person reads of a cell."""
    return text(html).strip()


def bodies(html: str) -> list[str]:
    """What the bodies of the tables hold, in their order."""
    return re.findall(r"<tbody>(.*?)</tbody>", html, flags=re.DOTALL)


def lines(body: str) -> list[str]:
    return re.findall(r"<tr.*?</tr>", body, flags=re.DOTALL)


def cells(line: str) -> list[str]:
    """Each as it is written, with its marks."""
    return re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, flags=re.DOTALL)


def read(html: str) -> list[list[str]]:
    """All rows of all bodies, each as the words of its cells."""
    return [[words(cell) for cell in cells(line)] for body in bodies(html) for line in lines(body)]
