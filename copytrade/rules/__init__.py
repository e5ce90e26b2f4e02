"""The rules of copy settings: what they are, when they hold, and how they are named.

Pure: the standard library only. One set of checks with three callers: the settings form (a message
beside the field), the exchange client (refused before any network) and the sandbox (an error answer).

Source: interface.md, "GET/POST /capi/v3/copy/follower/settings", and open-points.md, "Settings body".
"""

from .checks import check_body
from .compare import apply_defaults, canonical, fingerprint, same
from .differences import Difference, described, differences
from .merge import Row, Unchosen, merged, three_way
from .numbers import number, plain
from .types import (
    DEFAULT_LEVERAGE,
    FIXED,
    LEVERAGE_TYPES,
    LIMITS,
    MARGIN_TYPES,
    MODES,
    PER_SYMBOL,
    SPECIFY,
    TRACE_TYPES,
    TRADER,
    UNIFIED,
    CopySettings,
    CustomLeverage,
    TraceConfig,
    Violation,
)
from .wire import NOT_WRITTEN, READ_TO_WRITE, from_answer, from_body, to_answer, to_body

__all__ = [
    "DEFAULT_LEVERAGE",
    "FIXED",
    "LEVERAGE_TYPES",
    "LIMITS",
    "MARGIN_TYPES",
    "MODES",
    "NOT_WRITTEN",
    "PER_SYMBOL",
    "READ_TO_WRITE",
    "SPECIFY",
    "TRACE_TYPES",
    "TRADER",
    "UNIFIED",
    "CopySettings",
    "CustomLeverage",
    "Difference",
    "Row",
    "TraceConfig",
    "Unchosen",
    "Violation",
    "apply_defaults",
    "canonical",
    "check_body",
    "described",
    "differences",
    "fingerprint",
    "from_answer",
    "from_body",
    "merged",
    "number",
    "plain",
    "same",
    "three_way",
    "to_answer",
    "to_body",
]
