"""The desk's Celery application with what a scenario asks for by environment: `celery -A tests.faults.stack_app ...`.

STACK_VISIBILITY  seconds after which an unacknowledged message is given out again (usually 150)
STACK_CLOCK       seconds by which the clock of these processes is wrong
"""

from __future__ import annotations

import os
import time

if shift := float(os.environ.get("STACK_CLOCK", "0")):
    import time_machine

    time_machine.travel(time.time() + shift, tick=True).start()

from dashboard import ticking
from dashboard.celery import app

# Readings come round in a second or so here, so workers and beats tick four times as often as a desk's.
ticking.TICK_EVERY /= 4
app.conf.beat_schedule["tick"]["schedule"] = ticking.TICK_EVERY

if seconds := float(os.environ.get("STACK_VISIBILITY", "0")):
    app.conf.broker_transport_options |= {"visibility_timeout": seconds}

__all__ = ["app"]
