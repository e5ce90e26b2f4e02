"""What the documents point to is there: files, headings, pictures, commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "static" / "vendor").glob("*.md")]
)
FOLDERS = "bench|copytrade|dashboard|docs|ops|requirements|static|templates|tests"
every = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


def anchors(document: Path) -> set[str]:
    """The headings of a document as a link names them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_the_documents_that_everybody_looks_for_are_there() -> None:
    names = {path.name for path in DOCUMENTS}
    assert names >= {
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "decisions.md",
        "sandbox.md",
        "client.md",
    }


@every
def test_links_lead_somewhere(document: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


@every
def test_files_that_are_named_exist(document: Path) -> None:
    """Words in code style that begin with one of our folders. CHANGELOG tells of what was, too."""
    if document.name == "CHANGELOG.md":
        return
    for name in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", document.read_text("utf-8")):
        assert (ROOT / name).exists(), name


@every
def test_commands_that_are_named_exist(document: Path) -> None:
    known = set(get_commands())
    assert known >= {"sync", "rewrap_keys", "setup_token", "copy_symbols", "send_changes"}
    code = re.findall(
        r"```.*?```|`[^`\n]+`|^ {4}[^\n]*$", document.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    for name in re.findall(r"(?:run manage|manage\.py) ([a-z_]+)", "\n".join(code)):
        assert name in known, name
