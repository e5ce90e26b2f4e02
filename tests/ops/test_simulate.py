"""What ./run simulate writes into its page, and when it leaves the page alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ops import simulate
from ops.children import Failure


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    page = folder / "reliability.md"
    page.write_text(f"Before.\n{simulate.BEGIN}\nthe last run\n{simulate.END}\nAfter.\n")
    return page


def figures(seeds: int = simulate.WHOLE, seconds: float = 250.4, **more: Any) -> dict[str, Any]:
    counts = {"hours": 1, "orders": 2, "calls": 3, "commits": 4, "crashes": 5, "changes": 6}
    return {"seeds": seeds, "seconds": seconds, "bugs": {"a bug": 7}} | counts | more


def test_a_run_in_time_is_written_between_the_marks(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate.stored(page, figures(seconds=300.0)) == 0
    text = page.read_text()
    assert text.startswith(f"Before.\n{simulate.BEGIN}\n\n10,000 seeds in 300 s (33 a second): ")
    assert text.endswith(f"| a bug | 7 |\n\n{simulate.END}\nAfter.\n") and "the last run" not in text
    assert capsys.readouterr().out == "All held; the figures stand in docs/reliability.md.\n"


def test_a_run_that_took_too_long_leaves_the_page_as_it_was(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = page.read_text()
    assert simulate.stored(page, figures(seconds=300.1)) == 1
    assert page.read_text() == before
    said = capsys.readouterr().out
    assert "it took 300.1 s, and 300 s is the most; the page was left as it was" in said


def test_fewer_seeds_than_all_are_held_to_no_time(page: Path) -> None:
    assert simulate.stored(page, figures(seeds=simulate.WHOLE - 1, seconds=1000)) == 0
    assert "9,999 seeds in 1000 s" in page.read_text()


def test_a_page_without_its_marks_is_not_written(page: Path) -> None:
    page.write_text("Before.\n")
    with pytest.raises(Failure, match="has lost its marks"):
        simulate.stored(page, figures())
    assert page.read_text() == "Before.\n"
