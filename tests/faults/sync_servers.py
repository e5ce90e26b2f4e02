"""The scenarios of reading while Redis or PostgreSQL fail: killed, paused, emptied, cut off, full, locked up."""

from __future__ import annotations

import signal
import time
from contextlib import suppress

import psycopg
from django.db import connection

from copytrade.locks import LEDGER_LOCK

from .sync_battery import JOB, OPEN, TIGHT, Scene, scenario

# --- Redis


@scenario("Redis flushed", others=False, limit=TIGHT)
def redis_flushed(scene: Scene) -> None:
    for _ in range(2):
        scene.stack.redis_client().flushall()
        scene.pass_time()


@scenario("Redis killed and started again empty", others=False, limit=TIGHT)
def redis_restarted(scene: Scene) -> None:
    scene.stack.redis.kill()
    scene.pass_time()
    scene.stack.start_redis()


@scenario("Redis paused for seconds", others=False, limit=TIGHT)
def redis_paused(scene: Scene) -> None:
    scene.stack.redis.signal(signal.SIGSTOP)
    scene.pass_time(2, 4)
    scene.stack.redis.signal(signal.SIGCONT)


@scenario("100 quick reconnects to Redis", limit=TIGHT, others=False)
def redis_reconnects(scene: Scene) -> None:
    client = scene.stack.redis_client()
    for _ in range(100):
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        time.sleep(0.02)


@scenario("Redis out of memory", others=False, limit=TIGHT)
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
    """A worker holds a row of the victim's jobs and waits for the ledger's lock; we hold that, and wait for the row.

    Not everybody who waits for the ledger holds such a row (who remakes the daily sums does not): then nobody is
    broken off, and we try again."""
    before = _deadlocks()
    with psycopg.connect(scene.stack.server.url, application_name="rival") as rival:
        # The worker looks after one second, and is broken off; did it look too early, then we are.
        rival.execute("SET deadlock_timeout = '5s'")
        rival.commit()
        scene.until(lambda: _crossed(scene, rival) and _deadlocks() > before, "PostgreSQL breaks a deadlock")
    scene.others_go_on()


def _crossed(scene: Scene, rival: psycopg.Connection) -> bool:
    """Come at a worker from the other side, over the victim's ledger. PostgreSQL counts what it breaks with delay."""
    rival.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LEDGER_LOCK, scene.victim.pk])
    scene.walk_again()
    scene.until(lambda: _waits_for_ledger_of(scene.victim.pk), "a worker waits for the victim's ledger")
    with suppress(psycopg.errors.DeadlockDetected):
        rival.execute(f"SELECT 1 FROM {JOB} WHERE account_id = %s FOR UPDATE", [scene.victim.pk])
    rival.rollback()
    scene.pass_time(2, 3)
    return True


def _deadlocks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return cursor.fetchone()[0]


def _waits_for_ledger_of(account_pk: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND NOT granted",
            [LEDGER_LOCK, account_pk],
        )
        return cursor.fetchone() is not None
