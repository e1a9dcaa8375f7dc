"""The views of the task list as the design has them, and what a request for one task looks like. Pure."""

from __future__ import annotations

import re
from typing import Any

from services.domain.task.search.query import Counts
from services.domain.task.status import IN_FLIGHT, WAITING
from services.i18n import N_
from views.kit.saved_views import View

BUILT_IN: tuple[View, ...] = (
    View(key="all", title=N_("All")),
    View(key="flight", title=N_("In flight"), filter="status:flight", newest=False),
    View(key="waiting", title=N_("Waiting"), filter="status:waiting", newest=False),
    View(key="running", title=N_("Running"), filter="status:running", newest=False),
    View(key="retrying", title=N_("Retrying"), filter="status:retrying", newest=False),
    View(key="held", title=N_("To confirm"), filter="status:held", newest=False),
    View(key="dead", title=N_("Dead"), filter="status:dead triage:open"),
)


#: before the id of a task that a link shows on the whole page
IN_FULL = "#"
#: a filter that a verb asks for to show one task: its id alone
_ONE_TASK = re.compile(r'id:"?([^\s",*]+)"?')


def one_task(expression: str) -> str | None:
    """The id of the task that a filter asks for by its id alone."""
    found = _ONE_TASK.fullmatch(expression.strip())
    return found[1] if found else None


def task_in_full(request: str) -> str | None:
    """The id of the task that a request wants to see on the whole page."""
    task_id = request.removeprefix(IN_FULL)
    return task_id if task_id and task_id != request and not re.search(r"\s", task_id) else None


def numbers(counts: Counts) -> dict[str, int]:
    """How many tasks each view of the design has, from the counters of one moment."""

    def of(statuses: frozenset[Any]) -> int:
        return sum(counts.status.get(status, 0) for status in statuses)

    return {
        "all": counts.total,
        "flight": of(IN_FLIGHT),
        "waiting": of(WAITING),
        "running": counts.status.get("running", 0),
        "retrying": counts.status.get("retrying", 0),
        "held": counts.status.get("held", 0),
        "dead": counts.triage.get("open", 0),
    }
