"""The tables that ./run faults and ./run bench write into the documents."""

from __future__ import annotations

from typing import Any

import pytest

from ops import bench, faults
from ops.children import Failure

from .conftest import ROOT


def run(scenario: str, seed: int = 1, **more: Any) -> dict[str, Any]:
    facts = {
        "most": 1.0,
        "unknown": 1,
        "ends": ["applied"],
        "false_applied": 0,
        "against_truth": 0,
        "bodies": 1,
    }
    return {"scenario": scenario, "seed": seed} | facts | more


@pytest.mark.parametrize(("words", "seeds"), [([], 5), (["--seeds", "3"], 3), (["--seeds=12"], 12)])
def test_the_number_of_seeds_is_read(words: list[str], seeds: int) -> None:
    assert faults.asked(words) == seeds


@pytest.mark.parametrize(
    "words", [["3"], ["--seeds"], ["--seeds", "0"], ["--seeds", "-1"], ["--seeds=٣٣٣٣٣"], ["--seed", "3"]]
)
def test_nonsense_for_seeds_is_refused_in_a_sentence(words: list[str]) -> None:
    with pytest.raises(Failure):
        faults.asked(words)


def test_the_table_has_a_line_per_scenario_with_the_worst_of_its_runs() -> None:
    lines = faults.table(
        [
            run("two tabs", 2, most=0),
            run("two tabs", ends=["applied", "conflict", "draft"]),
            run("double click"),
        ]
    )
    assert lines[2:] == [
        "| double click | 1 | 1 | 1 | 1 APPLIED | 0 |",
        "| two tabs | 2 | 1 | 2 | 2 APPLIED, 1 CONFLICT | 0 |",
    ]
    assert "at most 1 per confirmed change" in faults.summed([run("a"), run("b")], 1, 2.0)


def reading(scenario: str, seed: int = 1, **more: Any) -> dict[str, Any]:
    facts = {"events": 4, "lost": 0, "doubled": 0, "invented": 0, "differing": 0, "own_429s": 0}
    return {"scenario": scenario, "seed": seed, "caught_up": 1.25, "gaps": []} | facts | more


def test_the_table_of_reading_sums_its_runs_and_holds_the_others_against_an_undisturbed_run() -> None:
    runs = [
        reading("Redis flushed", 2, lost=3, caught_up=9.0),
        reading("Redis flushed", gaps=[2.0, 2.2]),
        reading(faults.QUIET, gaps=[2.0, 2.0]),
    ]
    assert faults.sync_table(runs)[2:] == [
        "| Redis flushed | 2 | 8 | 3 | 0 | 0 | 0 | 0 | 9.0 s | 2.10 s |",
        "| nothing at all | 1 | 4 | 0 | 0 | 0 | 0 | 0 | 1.2 s | 2.00 s |",
    ]
    told = faults.sync_summed(runs, 2)
    assert (faults.older(runs) or 0) > faults.MOST_OLDER and faults.older(runs[1:2]) is None
    assert "12 orders opened or closed" in told and "3 ended other" in told and "+5.2 % older" in told


def test_the_documents_have_the_marks_and_a_table_between_them() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text()
    again = faults.replaced(page, ["| new |"])
    assert "| new |" in again and faults.replaced(again, ["| new |"]) == again
    marks = faults.SYNC_BEGIN, faults.SYNC_END
    again = faults.replaced(page, ["| new |"], *marks)
    assert "| new |" in again and faults.replaced(again, ["| new |"], *marks) == again
    assert again.count("Bodies per change") == 1, "the other table stays"
    page = (ROOT / "docs" / "performance.md").read_text()
    for name in bench.BENCHES:
        again = bench.replaced(page, name, "| new |")
        assert "| new |" in again and bench.replaced(again, name, "| new |") == again
    with pytest.raises(Failure, match="marks"):
        faults.replaced("a page without marks", [])
    with pytest.raises(Failure, match="bench settings"):
        bench.bench(["everything"])
