"""The commands of docker-compose.yml, run by hand with its environment: no Docker engine is needed to see them work."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import redis
from django.conf import settings
from django.db import connection
from ruamel.yaml import YAML

from ops.children import leashed
from ops.keys import secret_key, vault_keys

from .conftest import ROOT, wait_until
from .test_desk import free_port

HOST = "desk.example.com"
GIVEN = {"ALLOWED_HOSTS": HOST}


@pytest.fixture(scope="module")
def compose() -> Any:
    return YAML(typ="safe").load((ROOT / "docker-compose.yml").read_text())


def interpolated(text: str) -> str:
    """${NAME:-default} and ${NAME:?message}, as compose does."""
    return re.sub(
        r"\$\{([A-Z_]+)(?::[-?]([^}]*))?\}", lambda found: GIVEN.get(found[1], found[2] or ""), text
    )


class Production:
    def __init__(self, compose: Any, folder: Path) -> None:
        self.compose, self.folder, self.running = compose, folder, []  # type: ignore[var-annotated]
        database = connection.settings_dict
        address = f"postgresql://{database['USER']}@/{database['NAME']}?host={quote(database['HOST'])}"
        for name, text in (
            ("database_url", address),
            ("secret_key", secret_key()),
            ("vault_keys", vault_keys()),
        ):
            (folder / name).write_text(text + "\n")
        declared = compose["services"]["web"]["environment"]
        self.env = {
            name: interpolated(value).replace("/run/secrets", str(folder)) for name, value in declared.items()
        }
        self.env |= {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        # A container has a /tmp of its own.
        self.env |= {"TMPDIR": str(folder), "REDIS_URL": settings.REDIS_URL}

    def command(self, service: str, port: int = 0) -> list[str]:
        words = [interpolated(word) for word in self.compose["services"][service]["command"]]
        assert words[0] == "python"
        return [sys.executable, *(word.replace("--port=8000", f"--port={port}") for word in words[1:])]

    def start(self, service: str, port: int = 0) -> Path:
        """Start a service; answers its log."""
        log = self.folder / f"{service}.log"
        with log.open("wb") as file:
            command = leashed(self.command(service, port))
            self.running.append(subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=file, stderr=file))
        return log

    def manage(self, *words: str) -> None:
        done = subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=self.env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    def stop(self) -> None:
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            process.wait(30)


@pytest.fixture
def production(
    compose: Any, tmp_path: Path, transactional_db: None, redis_client: object
) -> Iterator[Production]:
    started = Production(compose, tmp_path)
    yield started
    started.stop()


@pytest.mark.slow
def test_the_commands_of_the_compose_file_serve_and_work(
    production: Production, redis_client: redis.Redis
) -> None:
    production.manage("migrate", "--check")
    port = free_port()
    web, tick = production.start("web", port), production.start("tick")

    def healthy() -> bool:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/healthz", headers={"Host": HOST})
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return int(answer.status) == 200
        except OSError:
            return False

    def waiting() -> int:
        return int(redis_client.llen("celery:desk"))

    wait_until(healthy, 60, "the web process")
    wait_until(lambda: waiting() > 0, 60, "the ticker's first hint")
    worker = production.start("worker")
    wait_until(lambda: waiting() == 0, 60, "the worker to take the hints")
    assert "Traceback" not in web.read_text() + worker.read_text() + tick.read_text()


def test_the_check_of_the_web_service_asks_with_a_name_that_is_allowed(compose: Any) -> None:
    words = compose["services"]["web"]["healthcheck"]["test"]
    assert words[:3] == ["CMD", "python", "-c"]
    compile(words[3], "healthcheck", "exec")
    assert "ALLOWED_HOSTS" in words[3]


@pytest.mark.parametrize("service", ["migrate", "web", "worker", "tick"])
def test_every_service_of_ours_runs_without_rights_and_with_secrets_as_files(
    compose: Any, service: str
) -> None:
    ours = compose["services"][service]
    assert ours["read_only"] is True
    assert ours["cap_drop"] == ["ALL"]
    assert set(ours["secrets"]) == {"database_url", "secret_key", "vault_keys"}
    assert not {"DATABASE_URL", "SECRET_KEY", "VAULT_KEYS"} & set(ours["environment"])


def test_database_and_broker_are_reachable_from_inside_only(compose: Any) -> None:
    for name in ("postgres", "redis"):
        assert compose["services"][name]["networks"] == ["inside"]
        assert "ports" not in compose["services"][name]
    assert compose["networks"]["inside"] == {"internal": True}
