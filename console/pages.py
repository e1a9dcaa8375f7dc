"""The pages beside the Overview; each module is loaded when its page is first made, or a little ahead of that."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import views
from console.navigation import PageSpec
from services.i18n import N_
from views.context import PageContext
from views.page import Page

#: below the line of the rail
APART = ("audit",)


def page_specs(context: PageContext) -> tuple[PageSpec, ...]:
    """The pages that need nothing but the context."""
    made: tuple[tuple[str, str, str, Callable[[PageContext], Page]], ...] = (
        ("tasks", N_("Tasks"), "ph.list-bullets", _tasks),
        ("shops", N_("Shops"), "ph.storefront", _shops),
        ("dead_letters", N_("Dead letters"), "ph.file-x", _dead_letters),
        ("workers", N_("Workers"), "ph.robot", _workers),
        ("schedules", N_("Schedules"), "ph.calendar-check", _schedules),
        ("audit", N_("Audit"), "ph.clipboard-text", _audit),
    )
    return tuple(
        PageSpec(id=name, title=title, icon=icon, factory=partial(make, context), group=int(name in APART))
        for name, title, icon, make in made
    )


def modules() -> list[str]:
    """The modules of all pages and what they lean on, the plain ones first; looks at a folder and loads nothing.

    They must be loaded in the GUI thread, one by one. On Python before 3.12 PySide keeps what it knows of each type in
    one table, and Qt looks into it without the lock of the interpreter: a class that another thread makes meanwhile
    (each class of a widget, each name of Qt at its first use) may move the table under it, and the program ends.
    """
    root = Path(views.__path__[0])
    found = [".".join(("views", *path.relative_to(root).with_suffix("").parts)) for path in root.rglob("*.py")]
    order = {room: place for place, room in enumerate(("theme", "support", "widgets", "charts", "tables", "dialogs"))}
    named = [name for name in found if not name.endswith(".__init__")]
    return sorted(named, key=lambda name: (order.get(name.split(".")[1], len(order)), name))


def _tasks(context: PageContext) -> Page:
    from views.pages.tasks.page import TasksPage

    return TasksPage(context)


def _shops(context: PageContext) -> Page:
    from views.pages.shops.page import ShopsPage

    return ShopsPage(context)


def _dead_letters(context: PageContext) -> Page:
    from views.pages.dead_letters.page import DeadLettersPage

    return DeadLettersPage(context)


def _workers(context: PageContext) -> Page:
    from views.pages.workers.page import WorkersPage

    return WorkersPage(context)


def _schedules(context: PageContext) -> Page:
    from views.pages.schedules.page import SchedulesPage

    return SchedulesPage(context)


def _audit(context: PageContext) -> Page:
    from views.pages.audit.page import AuditPage

    return AuditPage(context)
