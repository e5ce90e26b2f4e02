"""Messages to the workers. Each is only a hint: due times are rows, and a lost message costs a few seconds."""

from __future__ import annotations

import structlog
from kombu.exceptions import OperationalError

from copytrade import tasks
from copytrade.models import Account

log = structlog.get_logger(__name__)


def read_soon(account: Account) -> None:
    """Ask a worker to read the account now instead of at the next tick."""
    try:
        tasks.sync_account.apply_async((account.pk,), retry=False)
    except (OperationalError, OSError):
        log.warning("hint_lost", account=account.pk)
