"""Lets a judgement on a slow machine end in time: what is ``deep`` is left out when the time given to a run is over.

    python -m pytest --within 20

Machines on which a commit is judged differ four times in speed, and a judgement that does not end says nothing. So each
process of a run tries what is not deep first. A deep test that is not begun within so many minutes of the run's
begin is skipped, and the last lines of the run say how many were. Deep is what looks a second time, at more of the
same: random examples and histories, the second pair of drivers behind a window or a command, and what is marked so
because it goes through every page, route or command. On a machine that is fast enough nothing is left out, nor without
the option.
"""

from __future__ import annotations

import os
import time

import pytest

#: seconds since the epoch; handed down to the processes of a run by their environment
UNTIL = "FLEETDECK_TEST_UNTIL"
LEFT_OUT = "the time of this run is over"
#: where the second pair of drivers is a second look: each driver has tests of its own (``tests/contract``)
TWICE = ("tests/gui/", "tests/integration/", "tests/unit/views/", "tests/e2e/test_a_day.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--within", type=float, default=0.0, metavar="MINUTES", help="leave out deep tests not begun by then; 0: none"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Note when the time is over, before the processes of the run are started."""
    minutes = float(config.getoption("--within"))
    if minutes and not hasattr(config, "workerinput"):
        os.environ[UNTIL] = str(time.time() + 60 * minutes)


@pytest.hookimpl(trylast=True)  # after the marks that ``conftest`` gives by folder
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is deep and put it behind the rest, in the part of each process."""
    for item in items:
        if is_deep(item):
            item.add_marker("deep")
    if UNTIL in os.environ:
        parts = int(getattr(config, "workerinput", {}).get("workercount", 1))
        items[:] = deep_last(items, parts)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what is deep when the time is over."""
    if time.time() > float(os.environ.get(UNTIL, "inf")) and item.get_closest_marker("deep"):
        pytest.skip(LEFT_OUT)


def is_deep(item: pytest.Item) -> bool:
    """Whether a test looks a second time, at more of the same."""
    if item.get_closest_marker("race") or getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        return True
    where = getattr(item, "callspec", None)
    return item.nodeid.startswith(TWICE) and where is not None and where.params.get("pair") == "fleet"


def deep_last(items: list[pytest.Item], parts: int) -> list[pytest.Item]:
    """The same tests; each process of a run is given an even part of the list, and each part ends with what is deep."""
    size = -(-len(items) // parts) or 1
    chunks = (items[start : start + size] for start in range(0, len(items), size))
    return [item for chunk in chunks for item in sorted(chunk, key=lambda one: bool(one.get_closest_marker("deep")))]
