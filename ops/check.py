"""./run check: what can be known without running the tests. All checks run, each says what it found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from .console import say
from .folders import ROOT
from .keys import secret_key, vault_keys

# Package registries, which no committed file may name: spelt so that this file does not either.
HOSTS = re.compile(
    r"py[p]i\.org|python[h]osted\.org|npm[j]s\.(?:org|com)|yarn[p]kg\.com|crates[.]io|ruby[g]ems\.org|maven[.]org"
)
ADDRESS = re.compile(r"https?://|git\+|^\s*--(?:index|extra-index|find-links)", re.MULTILINE)
NOT_OURS = {".venv", "var", "staticfiles", "node_modules", "__pycache__"}
TEXT_LIMIT = 5_000_000  # bytes; what is larger is no text of ours
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==")


def python(*words: str) -> list[str]:
    return [sys.executable, *words]


def committed(root: Path = ROOT) -> Iterator[Path]:
    """The files that git knows or would add; without git, all that lie outside of hidden and made folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
        yield from (root / name for name in names if (root / name).is_file())
        return
    for folder, folders, files in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if name not in {".venv", "var", "staticfiles", "node_modules", "__pycache__"}
        ]
        yield from (Path(folder) / name for name in files)


def registry_hosts(root: Path = ROOT) -> list[str]:
    """Files that name a package registry's host."""
    found = []
    for path in committed(root):
        if path.stat().st_size > TEXT_LIMIT:
            continue
        for number, line in enumerate(path.read_bytes().decode(errors="replace").splitlines(), 1):
            if HOSTS.search(line):
                found.append(f"{path.relative_to(root)}:{number} names a package registry's host")
    return found


def locks(root: Path = ROOT) -> list[str]:
    """What is wrong with requirements/*.txt: addresses, lines without a hash, packages declared but not locked."""
    found, names = [], {}
    for path in sorted((root / "requirements").glob("*.txt")):
        text = path.read_text()
        if ADDRESS.search(text):
            found.append(f"{path.name} carries an address")
        entries = [entry for entry in re.split(r"\n(?=\S)", text) if PINNED.match(entry)]
        found += [
            f"{path.name}: {entry.split()[0]} has no hash"
            for entry in entries
            if "--hash=sha256:" not in entry
        ]
        names[path.stem] = {_plain(entry) for entry in entries}
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    declared = {
        "production": project["dependencies"],
        "desk": project["dependencies"] + extras["embedded"],
        "dev": project["dependencies"] + extras["embedded"] + extras["dev"],
    }
    for name, wanted in declared.items():
        missing = {_plain(item) for item in wanted} - names.get(name, set())
        found += [f"{name}.txt lacks {item}, which pyproject.toml declares" for item in sorted(missing)]
    return found


def _plain(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", name[0]).lower() if name else requirement


def production() -> dict[str, str]:
    """Settings as in production, with secrets of the moment and servers that are not asked."""
    return {
        "COPYDESK_ENV": "production",
        "COPYDESK_DEBUG": "0",
        "COPYDESK_DEMO": "0",
        "SECRET_KEY": secret_key(),
        "VAULT_KEYS": vault_keys(),
        "ALLOWED_HOSTS": "desk.example.com",
        "DATABASE_URL": "postgresql://copydesk:unused@127.0.0.1:1/copydesk",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }


def command(*words: str, env: dict[str, str] | None = None) -> Callable[[], list[str]]:
    """A check that is a program: nothing when it succeeds, else its output."""

    def run() -> list[str]:
        done = subprocess.run(
            python(*words),
            cwd=ROOT,
            env=os.environ | (env or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        return [] if done.returncode == 0 else [(done.stdout + done.stderr).strip()]

    return run


def checks() -> dict[str, Callable[[], list[str]]]:
    manage = ("-W", "ignore::RuntimeWarning", "manage.py")
    return {
        "lint": command("-m", "ruff", "check", "--quiet", "--output-format", "concise", "."),
        "format": command("-m", "ruff", "format", "--quiet", "--check", "--output-format", "concise", "."),
        "types": command("-m", "mypy"),
        "import contracts": command(
            "-c", "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())"
        ),
        "missing migrations": command(*manage, "makemigrations", "--check", "--dry-run", env=production()),
        "deployment settings": command(
            *manage, "check", "--deploy", "--fail-level", "WARNING", env=production()
        ),
        "compose file": command(
            "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml"
        ),
        "registry hosts": registry_hosts,
        "locked requirements": locks,
    }


def check() -> int:
    failed = []
    for name, run in checks().items():
        start = time.monotonic()
        problems = run()
        say(f"{'FAILED' if problems else 'ok':6}  {name} ({time.monotonic() - start:.1f} s)")
        for problem in problems:
            say(problem)
        if problems:
            failed.append(name)
    say(f"\nNot in order: {', '.join(failed)}." if failed else "\nAll in order.")
    return 1 if failed else 0
