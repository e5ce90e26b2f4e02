"""docs/sandbox.md tells everything that there is: flags, keys, controls, faults, codes, and its examples work."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from copytrade.sandbox import control, keys
from copytrade.sandbox.__main__ import arguments
from copytrade.sandbox.errors import CATALOGUE
from copytrade.sandbox.faults import FIELDS, KINDS
from tests.support.sandbox_process import ROOT, Sandbox

TEXT = Path(ROOT, "docs", "sandbox.md").read_text("utf-8")
CODES = {int(code) for code in re.findall(r"(?<![\w-])-\d{4}\b", TEXT)}


def test_every_flag_is_documented_with_its_default() -> None:
    for name, value in vars(arguments([])).items():
        flag = "--" + name.replace("_", "-")
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{flag} "))
        assert row.split("|")[2].strip() == (
            "none" if value is None else f"{value:g}" if value == 1 else str(value)
        )


def test_every_key_is_documented() -> None:
    for key in keys.FIXED:
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{key.id}` | `{key.secret}`"))
        assert all(permission in row for permission in key.permissions)


def test_every_control_fault_and_field_is_documented() -> None:
    for method, path in control.ROUTES:
        assert f"`{method} {path}" in TEXT
    for word in {*KINDS, *FIELDS, *control.RESETTABLE}:
        assert f"`{word}`" in TEXT, word


def test_every_code_is_documented_and_no_other() -> None:
    assert set(CATALOGUE) == CODES


CALLS = re.findall(r"^curl (.*)$", TEXT.replace("\\\n", " "), re.MULTILINE)


@pytest.mark.parametrize("line", CALLS)
def test_the_shell_examples_work(exchange: Sandbox, line: str) -> None:
    """What curl would do, without needing curl: -s, -X METHOD, -d BODY, URL."""
    method, body, url = "GET", None, ""
    words = iter(shlex.split(line))
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "-d":
            body = next(words)
        elif word != "-s":
            url = word.replace("http://127.0.0.1:9100", exchange.url)
    response = requests.request(method, url, data=body, timeout=10)
    assert response.status_code == 200, response.text
    assert response.json()


def test_there_are_shell_examples() -> None:
    assert len(CALLS) == 8


def test_the_python_example_works(exchange: Sandbox) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    script = code.replace("http://127.0.0.1:9100", exchange.url)
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=20
    )
    assert len(json.loads(found.stdout)["list"]) == 2
