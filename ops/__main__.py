"""python -m ops up | test | faults | simulate | bench | manage | check: what ./run hands over to."""

from __future__ import annotations

import sys
from collections.abc import Callable

from .children import Failure
from .console import complain


def main(arguments: list[str]) -> int:
    from . import bench, check, desk, faults, manage, simulate, testing

    commands: dict[str, Callable[[list[str]], int]] = {
        "up": lambda _: desk.up(),
        "test": testing.test,
        "faults": faults.faults,
        "simulate": simulate.simulate,
        "bench": bench.bench,
        "manage": manage.manage,
        "check": lambda _: check.check(),
    }
    try:
        return commands[arguments[0]](arguments[1:])
    except Failure as failure:
        complain(str(failure))
    except OSError as error:
        complain(f"The system refused something that Copydesk needs: {error}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
