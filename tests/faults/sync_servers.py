"""The scenarios of reading while Redis or PostgreSQL fail: killed, paused, emptied, cut off, full, locked up."""

from __future__ import annotations

import signal
import time
from contextlib import suppress

import psycopg
from django.db import connection

from copytrade import ledger

from .sync_battery import JOB, OPEN, Scene, scenario

# --- Redis


@scenario("Redis flushed", others=False)
def redis_flushed(scene: Scene) -> None:
    for _ in range(2):
        scene.stack.redis_client().flushall()
        scene.pass_time()


@scenario("Redis killed and started again empty", others=False)
def redis_restarted(scene: Scene) -> None:
    scene.stack.redis.kill()
    scene.pass_time()
    scene.stack.start_redis()


@scenario("Redis paused for seconds", others=False)
def redis_paused(scene: Scene) -> None:
    scene.stack.redis.signal(signal.SIGSTOP)
    scene.pass_time(2, 4)
    scene.stack.redis.signal(signal.SIGCONT)


@scenario("100 quick reconnects to Redis", others=False)
def redis_reconnects(scene: Scene) -> None:
    client = scene.stack.redis_client()
    for _ in range(100):
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        time.sleep(0.02)


@scenario("Redis out of memory", others=False)
def redis_full(scene: Scene) -> None:
    client = scene.stack.redis_client()
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", 1)
    scene.pass_time(2, 4)


# --- PostgreSQL


@scenario("PostgreSQL restarted in the middle", others=False)
def postgres_restarted(scene: Scene) -> None:
    held = scene.fault(OPEN, "slow_drip", seconds=1)
    scene.until(lambda: scene.used(held), "a reading is under way")
    connection.close()
    scene.stack.postgres.end()
    scene.pass_time()
    scene.stack.start_postgres()


@scenario("PostgreSQL paused for seconds", others=False)
def postgres_paused(scene: Scene) -> None:
    scene.stack.postgres.signal(signal.SIGSTOP)
    scene.pass_time(3, 5)
    scene.stack.postgres.signal(signal.SIGCONT)


@scenario("connections to PostgreSQL cut, again and again", others=False)
def postgres_cut(scene: Scene) -> None:
    with psycopg.connect(scene.stack.server.url, autocommit=True, application_name="cutter") as cutter:
        for _ in range(8):
            cutter.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'worker%'"
            )
            scene.pass_time(0.1, 0.5)


@scenario("a deadlock in PostgreSQL")
def deadlock(scene: Scene) -> None:
    """A worker holds a row of the victim's jobs and waits for the ledger's lock; we hold that, and wait for the row."""
    with psycopg.connect(scene.stack.server.url, application_name="rival") as rival:
        # The worker looks after one second, and is broken off; did it look too early, then we are.
        rival.execute("SET deadlock_timeout = '5s'")
        rival.execute("SELECT pg_advisory_xact_lock(%s, %s)", [ledger.LEDGER_LOCK, scene.victim.pk])
        scene.walk_again()
        scene.until(_waits_for_ledger, "a worker waits for the ledger")
        with suppress(psycopg.errors.DeadlockDetected):
            rival.execute(f"SELECT 1 FROM {JOB} WHERE account_id = %s FOR UPDATE", [scene.victim.pk])
        rival.rollback()
        rival.autocommit = True  # within a transaction the count would stand still
        broken = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        scene.until(lambda: rival.execute(broken).fetchone()[0], "PostgreSQL breaks the deadlock")
    scene.others_go_on()


def _waits_for_ledger() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND NOT granted",
            [ledger.LEDGER_LOCK],
        )
        return cursor.fetchone() is not None
