"""Ends the servers of a test run when the run itself is gone, however it ended.

Started with a directory and a pipe as standard input. The pipe closes when the parent exits, is interrupted or is
killed; then every process group named in ``<directory>/groups`` is killed and the directory is removed. A finaliser
inside the parent could not do this: pytest-timeout, an out-of-memory kill or a second Ctrl-C skip it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from pathlib import Path


def kill_groups(directory: Path) -> None:
    """Kill every process group that was noted in the directory."""
    noted = directory / "groups"
    if not noted.exists():
        return
    for line in noted.read_text(encoding="ascii").split():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(int(line), signal.SIGKILL)


def main() -> None:
    """Wait for the parent's end, then clean up."""
    directory = Path(sys.argv[1])
    sys.stdin.buffer.read()
    kill_groups(directory)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
