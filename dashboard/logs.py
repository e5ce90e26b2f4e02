"""Logging by structlog: lines for people or JSON for machines, and no secret in either."""

from __future__ import annotations

import logging.config
import re
from collections.abc import MutableMapping
from typing import Any

import structlog

HIDDEN = "[hidden]"
SECRET_NAMES = re.compile(
    r"secret|passphrase|password|authorization|cookie|token|^key$|api_?key|access.?(key|sign)", re.I
)
# "secret=abc", "ACCESS-KEY: abc", "'passphrase': 'abc'", and user:password@ in an address.
SECRET_TEXT = re.compile(
    r"(?i)((?:access-(?:key|sign|passphrase)|secret|passphrase|password|authorization)[\"']?\s*[=:]\s*[\"']?)[^\s,\"'&}]+"
)
ADDRESS_TEXT = re.compile(r"(?<=://)[^/\s@]+@")
# What moves a terminal's cursor, turns the direction of writing or begins a line: texts of strangers are in logs too.
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
TRACES = ("exception", "stack")  # their own lines and tabs stay

Event = MutableMapping[str, Any]


def redact(_logger: Any, _method: str, event: Event) -> Event:
    """Hide values of secret-looking names, and secret-looking parts of texts. Drops the request object."""
    event.pop("request", None)
    if str(event.get("logger", "")).startswith("celery"):
        event.pop("data", None)  # the traceback a second time, in one line
    for name, value in list(event.items()):
        if SECRET_NAMES.search(name):
            event[name] = HIDDEN
        elif isinstance(value, str):
            event[name] = ADDRESS_TEXT.sub(f"{HIDDEN}@", SECRET_TEXT.sub(rf"\g<1>{HIDDEN}", value))
        elif isinstance(value, dict):
            event[name] = {k: HIDDEN if SECRET_NAMES.search(str(k)) else v for k, v in value.items()}
    return event


def one_line(_logger: Any, _method: str, event: Event) -> Event:
    """Control characters spelled out, so that nobody's text can forge a line or write elsewhere on the screen."""
    for name, value in list(event.items()):
        if isinstance(value, str):
            event[name] = CONTROLS.sub(lambda found, trace=name in TRACES: _spelled(found[0], trace), value)
    return event


def _spelled(character: str, in_trace: bool) -> str:
    kept = in_trace and character in "\n\t"
    return character if kept else character.encode("unicode_escape").decode()


SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
    redact,
    one_line,
]


def logging_config(*, json_lines: bool, level: str) -> dict[str, Any]:
    """The LOGGING dict: everything to standard error, through `redact`."""
    if json_lines:
        renderer: Any = structlog.processors.JSONRenderer(default=str)
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=False)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "desk": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
                "foreign_pre_chain": SHARED,
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "desk"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django's own handlers would write a second time, and mail request bodies to admins.
            "django": {"handlers": [], "propagate": True, "level": "INFO"},
            "django.server": {"handlers": [], "propagate": True},
            "urllib3": {"level": "WARNING"},
        },
    }


def configure(config: dict[str, Any]) -> None:
    """settings.LOGGING_CONFIG: standard logging and structlog end in the same handler."""
    logging.config.dictConfig(config)
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
