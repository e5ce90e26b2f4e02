"""Texts of strangers in the log: one event stays one line, and no terminal obeys it."""

from __future__ import annotations

import json
import logging
import re

import pytest

from dashboard.logs import logging_config
from tests.support.hostile_texts import texts

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def formatter(*, json_lines: bool) -> logging.Formatter:
    made = logging_config(json_lines=json_lines, level="INFO")["formatters"]["desk"]
    return made["()"](processors=made["processors"], foreign_pre_chain=made["foreign_pre_chain"])


def record(text: str) -> logging.LogRecord:
    made = logging.LogRecord(
        "copydesk", logging.WARNING, __file__, 1, "Settings of %s: refused", (text,), None
    )
    made.trader = text
    return made


@pytest.mark.parametrize("json_lines", [False, True])
def test_whatever_a_text_holds_an_event_is_one_line_without_controls(json_lines: bool) -> None:
    lines = formatter(json_lines=json_lines)
    for text in texts():
        if len(text) < 10_000:
            line = lines.format(record(text))
            assert not CONTROL.search(line), ascii(text)
            assert not json_lines or json.loads(line)["event"].startswith("Settings of ")


def test_a_trace_keeps_its_lines() -> None:
    made = record("x")
    try:
        raise ValueError("a\x1b[2Jb")
    except ValueError as error:
        made.exc_info = (ValueError, error, error.__traceback__)
    text = formatter(json_lines=False).format(made)
    assert "\n" in text and "\x1b" not in text and "a\\x1b[2Jb" in text
