"""The database and the broker of a desk: embedded, unless the environment names servers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from .folders import private_folder
from .postgres import Postgres
from .redis import Redis
from .supervisor import Supervisor

START_SECONDS = 60


class Servers:
    """Starts them in a supervisor; `environment` is how to reach them. `last` names them for Supervisor.stop."""

    def __init__(self, data: Path, *, fleeting: bool = False) -> None:
        given = {} if fleeting else os.environ
        self.environment = {name: given[name] for name in ("DATABASE_URL", "REDIS_URL") if given.get(name)}
        self.postgres: Postgres | None = None
        self.redis: Redis | None = None
        self.sockets = private_folder()
        try:
            self._embed(data, fleeting)
        except BaseException:
            self.discard()
            raise

    def _embed(self, data: Path, fleeting: bool) -> None:
        """Bring what the environment does not name."""
        if "DATABASE_URL" not in self.environment:
            self.postgres = Postgres(data, self.sockets, fleeting=fleeting)
            self.environment["DATABASE_URL"] = self.postgres.url
        if "REDIS_URL" not in self.environment:
            self.redis = Redis(self.sockets)
            self.environment["REDIS_URL"] = self.redis.url

    @property
    def last(self) -> list[str]:
        return [server.name for server in (self.redis, self.postgres) if server]

    def start(self, supervisor: Supervisor) -> None:
        if self.redis:
            supervisor.start(self.redis.spec())
        if self.postgres:
            self.postgres.prepare()
            supervisor.start(self.postgres.spec())

    def discard(self) -> None:
        """Remove the socket folder, and what a fleeting database left elsewhere."""
        shutil.rmtree(self.sockets, ignore_errors=True)
        if self.postgres:
            self.postgres.discard()
