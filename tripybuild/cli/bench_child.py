"""The process of one contestant of `tripybuild bench`, run by its name.

What is measured has the process to itself, and answers on what was stdout; what a user's file
prints goes to stderr.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tripybuild.cli.sources import open_executable, open_peer
from tripybuild.weights.array_files import read
from tripybuild.workbench.comparison import InputChoice
from tripybuild.workbench.latency.callers import OwnProcess, serve
from tripybuild.workbench.programs import Program


def main() -> None:
    """Open what the order names, and call it when told to."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    order: dict[str, Any] = json.loads(sys.argv[1])
    serve(partial(caller, order), order["name"], sys.stdin, answers)


def caller(order: dict[str, Any]) -> OwnProcess:
    """The program of an order, in this process."""
    given = {name: read(Path(path), name) for name, path in order["given"]}
    choice = InputChoice([order["sizes"]], seeds=[order["seed"]], below=order["below"], given=given)
    shared = None if order["shared"] is None else Path(order["shared"])
    return OwnProcess(partial(_open, order), choice, shared)


def _open(order: dict[str, Any]) -> Program:
    if order["source"] is None:
        return open_peer(order["name"], order["threads"], "--compare")
    registries = [Path(each) for each in order["registry"]]
    opened = open_executable(Path(order["source"]), order["entry"], registries)
    opened.name = order["name"]
    return opened


if __name__ == "__main__":
    main()
