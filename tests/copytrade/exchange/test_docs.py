"""docs/client.md is held against the code: its examples run, its tables are complete and true."""

import os
import re
from pathlib import Path

import pytest

from copytrade.exchange import OPERATIONS, ExchangeClient, errors

TEXT = (Path(__file__).parents[3] / "docs" / "client.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_examples_run_one_after_the_other(desk, capsys):
    names = {}
    for block in BLOCKS:
        here = block.replace("http://127.0.0.1:9100", desk.sandbox.url)
        exec(here.replace("redis://127.0.0.1:6379/0", os.environ["REDIS_URL"]), names)
    said = capsys.readouterr().out
    assert "702345678901234567 Northwind Steady" in said
    assert "limit - limit must be at most 100; 500 is too large." in said
    assert "accepted as" in said
    assert re.search(r"^\d{3,} orders in all$", said, re.MULTILINE)
    assert str(desk.settings().configs[0].stop_loss) == "0.25"


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_in_the_table_with_its_path_and_weight(name):
    row = OPERATIONS[name]
    line = re.search(
        rf"^\| `{name}` \| (\w+) (\S+) \| (\d+)(?:, (\d) orders?)? \| `(\w+)", TEXT, re.MULTILINE
    )
    assert line, name
    assert line.groups()[:3] == (row.method, row.path, str(row.weight))
    assert int(line[4] or 0) == row.orders_10s
    answer = getattr(ExchangeClient, name).__annotations__["return"]
    assert f"`{answer}`" in line.string[line.start() : TEXT.index("\n", line.start())]


def test_every_walk_error_and_fault_is_named():
    walks = [name for name in dir(ExchangeClient) if name.startswith("iter_")]
    kinds = [
        name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    assert walks
    assert not [name for name in (*walks, *kinds) if f"`{name}" not in TEXT]
    assert not [fault for fault in errors.FAULTS if fault not in TEXT]


def test_every_file_is_in_the_map():
    folder = Path(errors.__file__).parent
    assert not [path.name for path in folder.glob("[a-z]*.py") if f"`{path.name}`" not in TEXT]
