"""The views of the task list: those of the design, and those a person saved. Pure but for the memory."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from services.domain.task.search.query import Counts
from services.domain.task.search.shared_view import SharedView
from services.domain.task.status import IN_FLIGHT, WAITING
from services.i18n import N_, _
from views.support.memory import Memory

MOST_OWN = 30
_VIEWS, _LAYOUTS = "tasks.views", "tasks.layouts"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A filter with a name; `title` is source text, of an own view as typed."""

    key: str
    title: str
    filter: str = ""
    newest: bool = True  #: newest first where no column was clicked
    own: bool = False  #: of this person at this machine
    shared: SharedView | None = None  #: of the whole fleet

    @property
    def shown(self) -> str:
        """The title in the language of the moment."""
        return self.title if self.own or self.shared is not None else _(self.title)


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


def view_of(expression: str) -> str:
    """Key of the view of the design that is this filter, else of the list of everything."""
    return next((view.key for view in BUILT_IN if view.filter == expression), BUILT_IN[0].key)


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


#: before the key of a view of the fleet
_SHARED = "shared-"


class SavedViews:
    """What one user saved: own views, and columns and order of each view."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._shared: tuple[View, ...] = ()

    def all(self) -> tuple[View, ...]:
        """The views of the design, those of the fleet by name, then one's own in the order of saving."""
        return (*BUILT_IN, *self._shared, *self.own())

    def set_shared(self, found: Sequence[SharedView]) -> None:
        """Take what the fleet shares."""
        self._shared = tuple(
            View(key=f"{_SHARED}{one.key}", title=one.title, filter=one.filter, newest=one.newest, shared=one)
            for one in found
        )

    def counted(self) -> tuple[View, ...]:
        """Those whose tasks are counted one by one."""
        return (*self._shared, *self.own())

    def own(self) -> tuple[View, ...]:
        """One's own, as they are remembered: another window may have changed them."""
        entries = _entries(self._memory.get(_VIEWS, []))
        return tuple(view for entry in entries if (view := _read(entry)) is not None)

    def get(self, key: str) -> View:
        """A view; one that is gone is the list of everything."""
        return next((view for view in self.all() if view.key == key), BUILT_IN[0])

    def add(self, title: str, expression: str, *, newest: bool = True) -> View:
        """Save a filter under a name; the same name again replaces it."""
        own = self.own()
        same = next((view for view in own if view.title == title), None)
        used = {view.key for view in own}
        key = same.key if same else next(k for n in itertools.count(1) if (k := f"own-{n}") not in used)
        view = View(key=key, title=title, filter=expression, newest=newest, own=True)
        if same is not None:
            self._keep([view if one is same else one for one in own])
        else:
            self._keep([*own, view][-MOST_OWN:])
        return view

    def rename(self, key: str, title: str) -> None:
        """Give an own view another name."""
        self._keep([replace(view, title=title) if view.key == key else view for view in self.own()])

    def remove(self, key: str) -> None:
        """Forget an own view."""
        layouts = {name: layout for name, layout in self._layouts().items() if name != key}
        self._memory.put(_LAYOUTS, layouts)
        self._keep([view for view in self.own() if view.key != key])

    def layout(self, key: str) -> Mapping[str, Any]:
        """Columns and order of a view as they were left, empty for those of the design."""
        shared = self.get(key).shared
        found = self._layouts().get(key, shared.layout if shared is not None else {})
        return found if isinstance(found, dict) else {}

    def keep_layout(self, key: str, layout: Mapping[str, Any]) -> None:
        """Remember columns and order of a view."""
        layouts = self._layouts()
        if layouts.get(key) != dict(layout):
            self._memory.put(_LAYOUTS, {**layouts, key: dict(layout)})

    def _layouts(self) -> dict[str, Any]:
        found = self._memory.get(_LAYOUTS, {})
        return found if isinstance(found, dict) else {}

    def _keep(self, own: Sequence[View]) -> None:
        entries = [{"key": view.key, "title": view.title, "filter": view.filter, "newest": view.newest} for view in own]
        self._memory.put(_VIEWS, entries)


def _entries(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _read(entry: object) -> View | None:
    """One entry of the memory; what another version or a hand wrote there may be anything."""
    if not isinstance(entry, dict):
        return None
    key, title, text = entry.get("key"), entry.get("title"), entry.get("filter")
    if not (isinstance(key, str) and isinstance(title, str) and isinstance(text, str) and key.startswith("own-")):
        return None
    return View(key=key, title=title, filter=text, newest=bool(entry.get("newest", True)), own=True)
