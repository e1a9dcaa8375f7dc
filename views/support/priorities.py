"""Gives many tasks each a priority of its own, as bulk verbs and their Undo do."""

from __future__ import annotations

from collections.abc import Mapping

from services.commands.outcome import Outcome
from services.commands.tasks import join
from views.context import CommandSet


def give(commands: CommandSet, wanted: Mapping[str, int]) -> Outcome:
    """``wanted``: priority (1-10) by task id. Blocking."""
    outcome = Outcome()
    for level in sorted(set(wanted.values())):
        ids = [task_id for task_id, priority in wanted.items() if priority == level]
        outcome = join(outcome, commands.tasks.prioritize(ids, level))
    return outcome
