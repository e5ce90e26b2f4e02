"""The exchange: the only code that opens a socket to it. No Django, no Celery."""

from .calls import Roots
from .checks import OMITTED, NewOrder
from .client import ExchangeClient
from .decoding import BadRecord
from .envelopes import BatchResult, Cursor, DealPage, Page, SettingsAnswer
from .errors import (
    ExchangeError,
    LocalRefusal,
    Malformed,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)
from .operations import OPERATIONS, Operation
from .signing import Credentials

__all__ = [
    "OMITTED",
    "OPERATIONS",
    "BadRecord",
    "BatchResult",
    "Credentials",
    "Cursor",
    "DealPage",
    "ExchangeClient",
    "ExchangeError",
    "LocalRefusal",
    "Malformed",
    "NewOrder",
    "Operation",
    "OutcomeUnknown",
    "Page",
    "RateLimited",
    "Rejected",
    "Roots",
    "SettingsAnswer",
    "Unauthorized",
    "Unreachable",
]
