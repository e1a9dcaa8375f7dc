"""Starts this program's Python again as a child that takes orders on its standard input and answers on a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services.executors import tree_guard
from services.executors.process_tree import ProcessTree


def start(module: str, environment: Mapping[str, str], cwd: str | None = None) -> tuple[ProcessTree, Any]:
    """Run ``main(number)`` of a module, with the number of the descriptor (handle on Windows) to answer on.

    Returns the child, and the unbuffered binary reader of its answers, which the caller closes. A guard ends the child
    with all that it starts once this process is gone.

    Raises:
        OSError: it cannot be started.
    """
    package, _, name = module.rpartition(".")
    boot = (
        "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
        f"from {package} import {name}; {name}.main(int(sys.argv[2]))"
    )
    reading, writing = os.pipe()
    number = writing
    if sys.platform == "win32":
        import msvcrt

        number = msvcrt.get_osfhandle(writing)
    path = [entry or str(Path.cwd()) for entry in sys.path]
    argv = [sys.executable, "-X", "utf8", "-u", "-c", boot, json.dumps(path), str(number)]
    try:
        tree = tree_guard.begin(argv, environment=environment, cwd=cwd, stdin=subprocess.PIPE, pass_fd=number)
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return tree, open(reading, "rb", buffering=0)  # noqa: PTH123 - the reader of the pipe closes it
