"""Jobs that start at the same moment, each in a thread with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """What they returned, in the order in which they ended. Raises what the first of them raised."""
    start = threading.Barrier(len(jobs))
    returned: list[Any] = []
    raised: list[BaseException] = []

    def work(job: Callable[[], Any]) -> None:
        start.wait()
        try:
            returned.append(job())
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return returned
