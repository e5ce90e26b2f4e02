"""The browser for the tests: found, installed, or a failure that says what to do; never a silent pass."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ops import chromium
from ops.children import Failure


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH, and empty; no browser of Playwright's either."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "playwright"))
    monkeypatch.delenv("CHROMIUM", raising=False)
    return folder


def program(path: Path, text: str = "exit 0") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_browser_on_the_path_is_found(bin_folder: Path) -> None:
    assert chromium.find() is None
    path = program(bin_folder / "chromium-browser")
    assert chromium.find() == path


def test_a_named_browser_comes_first(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bin_folder / "chromium")
    monkeypatch.setenv("CHROMIUM", program(tmp_path / "mine"))
    assert chromium.find() == str(tmp_path / "mine")


def test_a_browser_that_does_not_start_does_not_count(bin_folder: Path, tmp_path: Path) -> None:
    program(bin_folder / "chromium", "echo install the real one; exit 1")
    assert chromium.find() is None
    own = program(tmp_path / "playwright" / "chromium-1234" / "chrome-linux" / "chrome")
    assert chromium.find() == own


def test_root_installs_one_after_an_update_of_the_lists(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    target = bin_folder / "chromium"
    install = f'printf "#!/bin/sh\\nexit 0\\n" > {target}; /bin/chmod 755 {target}'
    program(bin_folder / "apt-get", f'echo "$1" >> {bin_folder}/said; [ "$1" = update ] || {{ {install}; }}')
    assert chromium.find_or_install() == str(target)
    assert (bin_folder / "said").read_text().split() == ["update", "install"]


@pytest.mark.parametrize("user", [0, 1000])
def test_where_all_fails_the_failure_says_what_to_do(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(sys, "executable", program(bin_folder / "python", "exit 1"))
    said = bin_folder / "said"
    program(bin_folder / "apt-get", f'echo "$1" >> {said}; exit 100')
    with pytest.raises(Failure, match=r"need a Chromium.*apt-get install chromium.*CHROMIUM"):
        chromium.find_or_install()
    assert said.exists() is (user == 0)
