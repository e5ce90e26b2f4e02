"""Copy settings as a JSON file: written for people to keep and pass on, read with suspicion. Pure.

    {"format": "copydesk-copy-settings", "version": 1, "name": "...", "mode": "unified", "body": {...}}

`body` is the POST body of the interface without `traderId`: settings are for whomever they are applied to.
"""

from __future__ import annotations

import json
from typing import Any

from .rules import PER_SYMBOL, CopySettings, Violation, check_body, from_body, to_body

FORMAT = "copydesk-copy-settings"
VERSION = 1
MAX_BYTES = 256 * 1024
KNOWN = {"format", "version", "name", "mode", "body"}
ANY_TRADER = 1


class NotImportable(Exception):
    """A text that is no settings file, or whose settings break rules: `problems` are (where, sentence)."""

    def __init__(self, problems: list[tuple[str, str]]):
        super().__init__(problems[0][1])
        self.problems = problems


def body_of(settings: CopySettings) -> dict[str, Any]:
    """The POST body of these settings without the trader."""
    body = to_body(ANY_TRADER, settings)
    del body["traderId"]
    return body


def settings_in(body: dict[str, Any]) -> CopySettings:
    """The settings of a body that `check` found valid."""
    return from_body(body)


def check(body: object) -> list[Violation]:
    """What is wrong with a body wherever it may be applied. Whether its symbols are supported is another
    question, asked for each trader: here a per-symbol body only has to agree with itself."""
    if not isinstance(body, dict):
        return [Violation("", "type", "The settings (body) must be one object.")]
    if "traderId" in body:
        words = "Take traderId out: settings are imported for the traders that you choose."
        return [Violation("traderId", "not_allowed", words)]
    own = _symbols(body) if body.get("settingType") == PER_SYMBOL else None
    return check_body({"traderId": ANY_TRADER, **body}, supported=own, ours=True)


def write(settings: CopySettings, name: str) -> str:
    """The file's text, indented."""
    found = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "mode": settings.mode,
        "body": body_of(settings),
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def read(data: str | bytes) -> tuple[CopySettings, str]:
    """The settings of a file and the name it carries ("" without one). Raises NotImportable, nothing else."""
    found = _parsed(_text(data))
    _check_frame(found)
    if problems := [(violation.field, violation.message) for violation in check(found["body"])]:
        raise NotImportable(problems)
    name = found.get("name")
    return from_body(found["body"]), name.strip() if isinstance(name, str) else ""


def _text(data: str | bytes) -> str:
    size = len(data if isinstance(data, bytes) else data.encode("utf-8", "replace"))
    if size > MAX_BYTES:
        raise NotImportable([("", f"The file is too large: at most {MAX_BYTES // 1024} KB can be imported.")])
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise NotImportable(
                [("", "The file is not text in UTF-8. Export it again and import that.")]
            ) from None
    if not data.strip():
        raise NotImportable([("", "There is nothing to import: choose a file or paste its text.")])
    return data.removeprefix("\ufeff")


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise NotImportable([("", "The file holds characters that are no text.")]) from None
    except json.JSONDecodeError as error:
        words = f"This is not JSON: line {error.lineno}, column {error.colno} cannot be read."
        raise NotImportable([("", words)]) from None
    except ValueError as error:
        raise NotImportable([("", f"This cannot be read: {error}")]) from None
    except RecursionError:
        raise NotImportable([("", "This cannot be read: it is nested too deeply.")]) from None
    if "\\u0000" in text or "\x00" in text:
        raise NotImportable([("", "The file holds characters that are no text.")])
    if not isinstance(found, dict):
        raise NotImportable([("", "This is no settings file: it must be one object.")])
    return found


def _check_frame(found: dict[str, Any]) -> None:
    if found.get("format") != FORMAT:
        words = f"This is no settings file of Copydesk: “format” must be “{FORMAT}”."
        raise NotImportable([("format", words)])
    version = found.get("version")
    if isinstance(version, bool) or version != VERSION:
        words = f"This desk reads version {VERSION} of the format. Export the settings again there."
        raise NotImportable([("version", words)])
    body = found.get("body")
    mode = body.get("settingType") if isinstance(body, dict) else None
    if "mode" in found and isinstance(mode, str) and found["mode"] != mode:
        raise NotImportable([("mode", "“mode” and the body's settingType say different things.")])
    if extra := sorted(set(found) - KNOWN):
        raise NotImportable([("", f"The format has no field named {extra[0][:40]}.")])
    if "body" not in found:
        raise NotImportable([("body", "The settings (body) are missing.")])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field is there twice.")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no number.")


def _symbols(body: dict[str, Any]) -> set[str]:
    items = body.get("symbolTraceConfigs")
    configs = items if isinstance(items, list) else []
    named = (config.get("symbol") for config in configs if isinstance(config, dict))
    return {symbol for symbol in named if isinstance(symbol, str) and symbol.strip()}
