"""The desk's settings for the workers of the reading battery: everything comes round in seconds instead of minutes.

Every process names itself to PostgreSQL, so that a test can kill exactly the one that stands at a certain step.
"""

from __future__ import annotations

import os

from dashboard.settings import *  # noqa: F403
from dashboard.settings import VENUES

from .stack_pace import SECONDS

VENUES["sandbox"]["intervals"] = SECONDS


def name_the_process() -> None:
    """libpq takes the name of its sessions from here."""
    os.environ["PGAPPNAME"] = f"worker {os.getppid()} {os.getpid()}"


name_the_process()
os.register_at_fork(after_in_child=name_the_process)
