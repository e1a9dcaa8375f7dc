"""The pages of the window; each module is loaded when its page is first made, or a little ahead of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path

import views
from console.navigation import PageSpec
from services.cli import window
from views.context import PageContext
from views.page import Page


def page_specs(context: PageContext, made: Mapping[str, Callable[[], Page]]) -> tuple[PageSpec, ...]:
    """All pages of the sitemap; ``made`` has those that need more than the context."""
    return tuple(
        PageSpec(
            id=line.id,
            title=line.title,
            icon=line.icon,
            factory=made.get(line.id) or partial(_make, line.id, context),
            group=int(line.apart),
            letter=line.letter,
            under=line.under,
        )
        for line in window.SITEMAP
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


def _make(name: str, context: PageContext) -> Page:
    """Load the module of a page and make it: ``dead_letters`` is the class ``DeadLettersPage``."""
    module = import_module(f"views.pages.{name}.page")
    kind = "".join(word.capitalize() for word in name.split("_"))
    page: Page = getattr(module, f"{kind}Page")(context)
    return page
