"""A supervisor with dummy children, for tests: python -m tests.ops.dummy_desk FOLDER name=script ...

Each script is Python source in FOLDER/<script>.py. Prints "ready" when all have started.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ops.children import Spec
from ops.console import say
from ops.supervisor import Supervisor


def main(folder: Path, children: list[str]) -> None:
    supervisor = Supervisor(folder)
    for item in children:
        name, _, script = item.partition("=")
        supervisor.start(Spec(name, [sys.executable, "-I", "-S", str(folder / f"{script}.py")], grace=1))
    say("ready")
    supervisor.watch()
    supervisor.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
