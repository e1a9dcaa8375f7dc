"""Gives many tasks each a priority of its own, as the verbs that move tasks and their Undo do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from services.commands.outcome import Outcome
from services.commands.tasks import join
from services.i18n import N_, _
from services.monitor.tasks import Pick
from views.context import CommandSet
from views.support.acting import Reverse


def give(commands: CommandSet, wanted: Mapping[str, int]) -> Outcome:
    """``wanted``: priority (1-10) by task id. Blocking."""
    outcome = Outcome()
    for level in sorted(set(wanted.values())):
        ids = [task_id for task_id, priority in wanted.items() if priority == level]
        outcome = join(outcome, commands.tasks.prioritize(ids, level))
    return outcome


def give_back(commands: CommandSet, before: Mapping[str, int], outcome: Outcome) -> Outcome:
    """Give back the priorities of before to what was moved. Blocking."""
    return give(commands, {task_id: before[task_id] for task_id in outcome.done})


def back(commands: CommandSet, picks: Sequence[Pick], told: str = N_("Taken back.")) -> Reverse:
    """The Undo of a verb that gives ``picks`` other priorities; ``told``: source text when that is done."""
    before = {one.task_id: one.priority for one in picks}
    return Reverse(call=partial(give_back, commands, before), told=lambda _outcome: _(told))
