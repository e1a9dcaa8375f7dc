"""Gives many tasks each a priority of its own, as the verbs that move tasks and their Undo do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.commands.outcome import Outcome
from services.commands.tasks import join
from services.domain.task import lane
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


def back(commands: CommandSet, picks: Sequence[Pick], told: str = N_("Taken back.")) -> Reverse:
    """The Undo of a verb that gives ``picks`` other priorities, and with these other lanes; ``told``: source text when
    that is done.
    """
    before = {one.task_id: (one.lane or lane.lane_of(one.priority), one.priority) for one in picks}

    def call(outcome: Outcome) -> Outcome:
        return commands.tasks.place({task_id: before[task_id] for task_id in outcome.done})

    return Reverse(call=call, told=lambda _outcome: _(told))
