"""The pages beside the Overview; each module is loaded when its page is first made, or ahead in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from console.navigation import PageSpec
from services.i18n import N_
from views.context import PageContext
from views.page import Page


def page_specs(context: PageContext) -> tuple[PageSpec, ...]:
    """The pages that need nothing but the context."""
    made: tuple[tuple[str, str, str, Callable[[PageContext], Page]], ...] = (
        ("tasks", N_("Tasks"), "ph.list-bullets", _tasks),
        ("shops", N_("Shops"), "ph.storefront", _shops),
        ("dead_letters", N_("Dead letters"), "ph.file-x", _dead_letters),
        ("workers", N_("Workers"), "ph.robot", _workers),
        ("schedules", N_("Schedules"), "ph.calendar-check", _schedules),
    )
    return tuple(
        PageSpec(id=name, title=title, icon=icon, factory=partial(make, context)) for name, title, icon, make in made
    )


def load() -> None:
    """Load what the first sight did not need, so that no click waits for it. Takes tenths of a second; blocking."""
    from views.charts import curves  # noqa: F401
    from views.dialogs import new_task  # noqa: F401
    from views.pages.dead_letters import page as dead_letters  # noqa: F401
    from views.pages.schedules import page as schedules  # noqa: F401
    from views.pages.settings import page as settings  # noqa: F401
    from views.pages.shops import page as shops  # noqa: F401
    from views.pages.tasks import page as tasks  # noqa: F401
    from views.pages.workers import page as workers  # noqa: F401


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
