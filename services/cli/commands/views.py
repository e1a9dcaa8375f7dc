"""``view``: lists of tasks under a name that everybody of the fleet sees."""

from __future__ import annotations

from typing import Any

import msgspec

from services import assembly
from services.cli import shapes, spoken, tables
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, examples, table
from services.domain.errors import NotFound
from services.domain.task.search.shared_view import SharedView
from services.i18n import N_

EXAMPLES = (
    "view list",
    "view share 'Refunds of today' --filter 'type:refund created:today'",
    "view show 'Refunds of today'",
    "view rename 'Refunds of today' Refunds",
    "view remove Refunds",
)
_NAME = "its title, or its key as `view list --json` shows it"


def add(nouns: Any) -> None:
    noun = nouns.add_parser(
        "view",
        help="views of tasks that everybody of the fleet sees",
        description="A view is a filter under a name, with columns and order. It stands as a tab above the tasks in"
        " every window; columns are chosen there.",
        **examples(EXAMPLES),
    )
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("list", handler=list_all, help="all of them")
    showing = verbs.add_parser("show", handler=show, help="one of them, and how many tasks it has now")
    showing.add_argument("view", help=_NAME)
    sharing = verbs.add_parser("share", handler=share, help="share a filter, in the place of what has this title")
    sharing.add_argument("title", help="1-60 characters")
    sharing.add_argument("--filter", default="", metavar="EXPR", help="as in task list; nothing: every task")
    sharing.add_argument("--oldest-first", action="store_true", help="where no column was clicked")
    renaming = verbs.add_parser("rename", handler=rename, help="give it another title; its tabs stay")
    renaming.add_argument("view", help=_NAME)
    renaming.add_argument("title")
    removing = verbs.add_parser("remove", handler=remove, help="let nobody see it any more; Undo is in the window")
    removing.add_argument("view", help=_NAME)
    removing.add_argument("--yes", action="store_true", help="do not ask")


def list_all(context: Context) -> int:
    """Print all."""
    with context.engine() as engine:
        rows, zone = [_row(one) for one in assembly.commands(engine).views.known()], shapes.zone(engine)
    fields = ("title", "filter", "order", "version", "by", "at")
    told = (
        table(
            fields, [[str(row[field]) for field in fields] for row in (shapes.local(one, zone, "at") for one in rows)]
        )
        if rows
        else [spoken.phrase("no view is shared")]
    )
    context.show({"views": rows}, told)
    return EXIT_OK


def show(context: Context) -> int:
    """Print one."""
    with context.engine() as engine:
        found = _row(_one(assembly.commands(engine).views.known(), context.args.view))
        page = assembly.queries(engine).tasks.page(found["filter"], limit=1)
        row = found | {"tasks": page.total if page.total is not None else page.at_least}
        here = shapes.local(row, shapes.zone(engine), "at")
    context.show(row, [tables.fact(name, value) for name, value in here.items()])
    return EXIT_OK


def share(context: Context) -> int:
    """Share a filter; what has this title keeps its columns."""
    args = context.args
    with context.engine() as engine:
        commands = assembly.commands(engine).views
        before = next((one for one in commands.known() if one.title == args.title), None)
        view = before or SharedView(key="", title=args.title)
        made = commands.share(msgspec.structs.replace(view, filter=args.filter, newest=not args.oldest_first))
    told = N_("the view {title} is shared with all of the fleet")
    told = N_("the view {title} is changed for all of the fleet") if before is not None else told
    context.show({"view": _row(made), "replaced": before is not None}, [spoken.phrase(told, title=made.title)])
    return EXIT_OK


def rename(context: Context) -> int:
    """Give one another title."""
    with context.engine() as engine:
        commands = assembly.commands(engine).views
        before = _one(commands.known(), context.args.view)
        made = commands.share(msgspec.structs.replace(before, title=context.args.title))
    context.show(
        {"view": _row(made), "before": before.title},
        [spoken.phrase("the view {title} is called {now} now", title=before.title, now=made.title)],
    )
    return EXIT_OK


def remove(context: Context) -> int:
    """Take one away."""
    with context.engine() as engine:
        commands = assembly.commands(engine).views
        found = _one(commands.known(), context.args.view)
        if not context.confirm(spoken.phrase("let nobody see the view {title} any more", title=found.title)):
            return EXIT_FAILED
        was = commands.remove(found.key)
    text = (
        spoken.phrase("the view {title} is removed", title=found.title)
        if was is not None
        else spoken.phrase("somebody removed the view {title} before", title=found.title)
    )
    context.show({"removed": found.title, "was_shared": was is not None}, [text])
    return EXIT_OK


def _one(found: list[SharedView], name: str) -> SharedView:
    known = next((one for one in found if one.title == name), None) or next(
        (one for one in found if one.key == name), None
    )
    if known is None:
        titles = ", ".join(one.title for one in found) or spoken.phrase("none")
        raise NotFound(
            spoken.phrase("there is no view {name}; there are {titles}", name=f"{name!r:.80}", titles=titles),
            field="view",
        )
    return known


def _row(one: SharedView) -> dict[str, Any]:
    return {
        "title": one.title,
        "key": one.key,
        "filter": one.filter,
        "order": spoken.phrase("newest first") if one.newest else spoken.phrase("oldest first"),
        "version": one.version,
        "by": one.by,
        "at": shapes.iso(one.at) if one.at else None,
    }
