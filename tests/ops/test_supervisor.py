"""The supervisor's promise: what it starts goes on, and when it ends nothing of it is left."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from ops.children import LOG_LIMIT, Log
from ops.leash import strays

from .conftest import DummyDesk, running, wait_until

Start = Callable[..., DummyDesk]
FAMILY = 5  # processes of the script "family"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_whatever_ends_the_supervisor_leaves_no_process(dummy_desk: Start, number: int) -> None:
    desk = dummy_desk("web=family", "worker=sleeper")
    desk.wait_for_lines("pids", FAMILY + 1)
    everyone = desk.everyone()
    assert len(everyone) == 1 + 2 + FAMILY + 1  # itself, two leashes, both scripts

    os.kill(desk.process.pid, number)

    desk.process.wait(15)
    wait_until(lambda: not running(everyone), 10, "all processes to end")


def test_a_killed_leash_takes_its_family_along_before_it_is_replaced(dummy_desk: Start) -> None:
    desk = dummy_desk("web=family")
    family = [int(pid) for pid in desk.wait_for_lines("pids", FAMILY)]
    (leash,) = (pid for pid in desk.everyone()[1:] if pid not in family)

    os.kill(leash, signal.SIGKILL)

    desk.wait_for_lines("pids", FAMILY + 1)
    assert running(family) == []


def test_every_child_leads_its_own_process_group(dummy_desk: Start) -> None:
    desk = dummy_desk("one=sleeper", "two=sleeper")
    pids = [int(pid) for pid in desk.wait_for_lines("pids", 2)]
    assert [os.getpgid(pid) for pid in pids] == pids
    assert len({os.getsid(pid) for pid in pids} | {os.getsid(desk.process.pid)}) == 3


def test_a_crashed_child_starts_again_later_and_later(dummy_desk: Start) -> None:
    desk = dummy_desk("web=crasher")
    starts = [float(text) for text in desk.wait_for_lines("starts", 4, 20)]
    first, second, third = (later - earlier for earlier, later in itertools.pairwise(starts[:4]))
    assert 0.5 <= first < second < third


def test_orphans_of_a_crashed_child_are_gone_before_it_starts_again(dummy_desk: Start) -> None:
    desk = dummy_desk("web=leaver")
    beside = desk.wait_for_lines("beside", 3, 20)
    assert set(beside) == {"0"}
    assert len(desk.lines("orphans")) >= 2


def test_a_crash_of_one_leaves_the_others_alone(dummy_desk: Start) -> None:
    desk = dummy_desk("steady=sleeper", "web=crasher")
    desk.wait_for_lines("starts", 3)
    assert len(desk.lines("pids")) == 3 + 1


def test_output_goes_to_the_log_and_what_matters_to_the_console(dummy_desk: Start) -> None:
    desk = dummy_desk("web=talker")
    log = desk.folder / "web.log"
    wait_until(lambda: log.exists() and b"enter abc" in log.read_bytes(), 10, "the log")
    desk.process.send_signal(signal.SIGTERM)
    assert desk.process.stdout
    console = desk.process.stdout.read()
    assert b"plain line" in log.read_bytes()
    assert "plain line" not in console
    assert "web: No account yet: open /setup/ and enter abc\n" in console
    assert "web: 2026 [error    ] it broke" in console


def test_a_log_is_turned_over_and_private(tmp_path: Path) -> None:
    log = Log(tmp_path / "web.log")
    log.write(b"x" * LOG_LIMIT + b"\n")
    log.write(b"y\n")
    log.write(b"half a ")
    assert log.write(b"line, CRITICAL\n") == [b"half a line, CRITICAL"]
    assert log.write(b"half a line, CRITICAL\nother, CRITICAL\n") == [b"other, CRITICAL"]  # no news twice
    log.close()
    assert (tmp_path / "web.log").stat().st_size < 100
    assert (tmp_path / "web.old.log").stat().st_size > LOG_LIMIT
    assert (tmp_path / "web.log").stat().st_mode & 0o777 == 0o600


def test_only_processes_that_lost_their_leash_are_strays() -> None:
    """A backend that PostgreSQL has just started is not one, however new it is."""
    supervisor, web_leash, database_leash, postgres, new_backend, orphan, its_child = (
        1,
        10,
        20,
        21,
        22,
        30,
        31,
    )
    children = {
        supervisor: [web_leash, database_leash, orphan],
        database_leash: [postgres],
        postgres: [new_backend],
        orphan: [its_child],
    }
    assert strays(supervisor, {web_leash, database_leash}, children) == [orphan, its_child]
    assert strays(supervisor, {web_leash, database_leash, orphan}, children) == []
