"""Every worker's parent process ticks: a message every two seconds, so that no beat is needed and none is alone.

It needs no database and shares nothing with the worker's own connections: a thread with one of its own. What goes
wrong with the broker is left to the next tick, on a new connection.
"""

from __future__ import annotations

import threading

import structlog
from celery import Celery, bootsteps
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

TICK_EVERY = 2.0
# A process that is free again has to look once, not once for each tick that nobody was free for.
TICK_LIVES = 3
# While the broker is away: longer pauses, so that a hundred workers do not storm it when it is back.
LONGEST_PAUSE = 10.0
# Seconds after which a broker that says nothing is given up for this tick.
PATIENCE = 5.0

log = structlog.get_logger(__name__)


class Ticker(bootsteps.StartStopStep):
    """Publishes `copytrade.tasks.tick` for as long as its worker runs."""

    requires = {"celery.worker.components:Pool"}

    def __init__(self, parent: object, **options: object) -> None:
        super().__init__(parent, **options)
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, parent) -> None:
        self._thread = threading.Thread(target=self._run, args=(parent.app,), name="ticker", daemon=True)
        self._thread.start()

    def stop(self, parent) -> None:
        self._end.set()

    terminate = stop

    def _run(self, app: Celery) -> None:
        pause = TICK_EVERY
        while not self._end.wait(pause):
            try:
                self._tick_on_one_connection(app)
            except (KombuError, RedisError, OSError) as error:
                pause = min(pause * 2, LONGEST_PAUSE)
                log.warning("no tick", error=type(error).__name__, again_in=pause)
            except Exception:
                # Whatever it is, it must not be the end of all ticks.
                pause = LONGEST_PAUSE
                log.exception("no tick")

    def _tick_on_one_connection(self, app: Celery) -> None:
        """Ticks until it is told to end, or until the broker fails."""
        quick = app.conf.broker_transport_options | {
            "socket_timeout": PATIENCE,
            "socket_connect_timeout": PATIENCE,
        }
        with app.connection_for_write(transport_options=quick) as connection:
            publish(app, connection)
            while not self._end.wait(TICK_EVERY):
                publish(app, connection)


def publish(app: Celery, connection) -> None:
    """One tick. It knows nothing of what is due: any worker looks."""
    producer = app.amqp.Producer(connection, auto_declare=False)
    app.send_task("copytrade.tasks.tick", queue="desk", expires=TICK_LIVES, retry=False, producer=producer)
