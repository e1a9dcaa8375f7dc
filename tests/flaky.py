"""Runs the tests, and once more alone what failed: what passes then is FLAKY, is named, and may not be many.

    python -m tests.flaky [--allow 2] [--ledger FILE] -- WORDS FOR PYTEST

Real servers and processes on a crowded machine can miss a bound, so one failure is looked at twice; one of a test that
kills, freezes or cuts (mark ``fault``) six times, for it waits for more of them. Never repeated are tests of random
histories and of races (mark ``race``), where the one failure in many runs is the finding, and what has ended its
process; what hung and was ended (``tests.stuck``) is. ``--ledger`` counts over several runs.
The seed of everything random is drawn and printed first; ``FLEETDECK_TEST_SEED=N`` draws the same again.

The exit code is pytest's; 1 as well when more than ``--allow`` were flaky.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

#: mark of tests whose one failure is believed
ONCE = "race"
#: how often a test must pass alone before its failure counts as flaky: by its mark, else once
REPEATS = {"fault": 5}
SEED = "FLEETDECK_TEST_SEED"


@dataclass
class Failures:
    """A plugin that remembers what failed; with several test processes it listens in the one that gathers."""

    #: for each how often it is to be repeated; 0: never
    names: dict[str, int] = field(default_factory=dict)
    #: something failed that is no test: a module that cannot be read, a process that died
    broken: bool = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the name of a failed test, and how often it may be repeated."""
        if report.failed:
            from tests.stuck import HUNG  # pytest wants to be the first who imports a plugin

            ended = "crashed while running" in str(report.longrepr) and report.nodeid not in HUNG
            never = ONCE in report.keywords or ended
            often = max((times for mark, times in REPEATS.items() if mark in report.keywords), default=1)
            self.names[report.nodeid] = 0 if never else often

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that cannot be collected is not repeated."""
        self.broken |= report.failed


def judged(failures: Failures, flaky: Sequence[str], before: int, allow: int) -> tuple[int, list[str]]:
    """Return the exit code, and the lines that say why.

    ``flaky`` are those failures that passed alone, ``before`` how many there were in earlier runs of one ledger.
    """
    lines = [f"FLAKY {name}" for name in flaky]
    failed = [name for name in failures.names if name not in flaky]
    lines += [f"FAILED {name}" + ("" if failures.names[name] else " (never repeated)") for name in failed]
    if failures.broken or failed:
        return 1, lines
    if before + len(flaky) > allow:
        return 1, [*lines, f"{before + len(flaky)} flaky tests are more than {allow}: mend them"]
    return 0, [*lines, f"flaky: {before + len(flaky)} of {allow} allowed"]


def where_hung() -> list[str]:
    """Where the processes of what hung were, told again at the end: in the middle of a long run it is missed."""
    from tests.stuck import HUNG

    return [f"HUNG {name}, it was here:\n{stacks}" for name, stacks in HUNG.items()]


def alone(name: str, words: Sequence[str]) -> bool:
    """Run one test in a process of its own; True if it passes."""
    from tests.within import UNTIL  # a plugin, which pytest must load first

    # Whatever marks the first run chose by, this one is wanted.
    command = [sys.executable, "-m", "pytest", "-n", "0", "-v", "-m", "", "-p", "no:cacheprovider", *words, name]
    # Nor does the end of its time hold: what is left out then did not pass.
    surroundings = {key: value for key, value in os.environ.items() if key != UNTIL}
    return subprocess.run(command, check=False, env=surroundings).returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.flaky", description=__doc__.splitlines()[0])
    parser.add_argument("--allow", type=int, default=2)
    parser.add_argument("--ledger", type=Path)
    parser.add_argument("words", nargs="*")
    chosen = parser.parse_args(arguments)
    os.environ.setdefault(SEED, str(random.SystemRandom().randrange(1, 1_000_000)))
    seed = f"--hypothesis-seed={os.environ[SEED]}"
    sys.stdout.write(f"seed: {SEED}={os.environ[SEED]}\n")
    sys.stdout.flush()
    failures = Failures()
    code = int(pytest.main([seed, *chosen.words], plugins=[failures]))
    if code != pytest.ExitCode.TESTS_FAILED:
        return code
    known = chosen.ledger.read_text(encoding="utf-8").splitlines() if chosen.ledger and chosen.ledger.exists() else []
    flaky: list[str] = []
    for name, times in failures.names.items():
        # One that cannot be mended by a second look, or one too many, settles it: no more time is spent.
        if failures.broken or not all(failures.names.values()) or len(known) + len(failures.names) > chosen.allow:
            break
        if times and all(alone(name, [seed]) for _ in range(times)):
            flaky.append(name)
    if chosen.ledger and flaky:
        chosen.ledger.write_text("".join(f"{name}\n" for name in [*known, *flaky]), encoding="utf-8")
    code, lines = judged(failures, flaky, len(known), chosen.allow)
    lines = [*where_hung(), *lines]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
