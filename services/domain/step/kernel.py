"""The operations of ``services.domain.change``, each with what decides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from services.domain import change
from services.domain.change import Answer, Op
from services.domain.errors import TaskError
from services.domain.step import attempt, create, dependants, operator, upkeep
from services.domain.step.claim import claim
from services.domain.step.view import View
from services.domain.task.record import Task


def _of_task(decide: Callable[[View, Any, Task], Answer]) -> Callable[[View, Any], Answer]:
    """What is asked of a task that has to be there."""

    def run(view: View, op: Any) -> Answer:
        task = view.get(op.task_id)
        return Answer("missing") if task is None else decide(view, op, task)

    return run


_DECIDE: dict[type[Op], Callable[[View, Any], Answer]] = {
    change.Create: create.create,
    change.Republish: create.republish,
    change.Published: attempt.published,
    change.Claim: claim,
    change.Finish: _of_task(attempt.finish),
    change.Renew: attempt.renew,
    change.Progress: attempt.progress,
    change.Cancel: _of_task(operator.cancel),
    change.Move: _of_task(operator.move),
    change.Route: _of_task(operator.route),
    change.Rehome: _of_task(operator.rehome),
    change.Try: _of_task(operator.try_anyway),
    change.TakeBackTry: _of_task(operator.take_back_try),
    change.SetTriage: _of_task(operator.set_triage),
    change.Annotate: _of_task(operator.annotate),
    change.Resolve: _of_task(operator.resolve),
    change.CloseBreaker: operator.close_breaker,
    change.CloseSession: operator.close_session,
    change.OpenSession: operator.open_session,
    change.Nudge: upkeep.nudge,
    change.GiveUp: upkeep.give_up,
    change.Postpone: upkeep.postpone,
    change.OpenShop: upkeep.open_shop,
    change.OpenLimit: upkeep.open_limit,
    change.Forget: _of_task(upkeep.forget),
    change.TellDependants: dependants.tell_again,
    change.Relink: _of_task(dependants.relink),
}


def check(ops: Sequence[Op]) -> None:
    """Refuse a batch with something in it that is no operation, before anything is changed.

    Raises:
        TaskError: the text names the type.
    """
    for op in ops:
        if type(op) not in _DECIDE:
            raise TaskError(f"{type(op).__name__} is not an operation of the store")


def apply(view: View, ops: Sequence[Op]) -> list[Answer]:
    """Decide one after the other; answers at the operations' places."""
    return [_step(view, op) for op in ops]


def _step(view: View, op: Op) -> Answer:
    answer = _DECIDE[type(op)](view, op)
    if view.works.won and (closed := upkeep.close_overtaken(view)):
        answer = replace(answer, released=(*answer.released, *closed))
    if view.dropped:
        answer = replace(answer, ended=tuple(view.dropped))
        view.dropped = []
    return answer
