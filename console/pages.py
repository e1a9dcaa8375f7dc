"""The pages of the window; each module is loaded when its page is first made, or a little ahead of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import views
from console.navigation import PageSpec
from services.cli import window
from views.context import PageContext
from views.page import Page

if TYPE_CHECKING:
    from views.charts.loading import SceneLoader

_PLAIN = re.compile(r"^from (services[\w.]*) import ", re.MULTILINE)


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
    """The modules of all pages and what they lean on, the plain ones first. Loads what they ask of ``services``, which
    knows nothing of Qt, so call it in a thread.

    They themselves must be loaded in the GUI thread, one by one. On Python before 3.12 PySide keeps what it knows of
    each type in one table, and Qt looks into it without the lock of the interpreter: a class that another thread makes
    meanwhile (each class of a widget, each name of Qt at its first use) may move the table under it, and the program
    ends. The library of curves is left to ``charts``, which loads it in parts.
    """
    root = Path(views.__path__[0])
    sources = {path: ".".join(("views", *path.relative_to(root).with_suffix("").parts)) for path in root.rglob("*.py")}
    for name in sorted({name for path in sources for name in _PLAIN.findall(path.read_text("utf-8"))}):
        import_module(name)
    order = {room: place for place, room in enumerate(("theme", "support", "widgets", "charts", "tables", "dialogs"))}
    named = [name for name in sources.values() if not name.endswith(".__init__") and name != "views.charts.curves"]
    return sorted(named, key=lambda name: (order.get(name.split(".")[1], len(order)), name))


def charts() -> SceneLoader:
    """Who loads the library of curves; for the GUI thread."""
    loader: SceneLoader = import_module("views.charts.loading").scene_loader()
    return loader


def _make(name: str, context: PageContext) -> Page:
    """Load the module of a page and make it: ``dead_letters`` is the class ``DeadLettersPage``."""
    module = import_module(f"views.pages.{name}.page")
    kind = "".join(word.capitalize() for word in name.split("_"))
    page: Page = getattr(module, f"{kind}Page")(context)
    return page
