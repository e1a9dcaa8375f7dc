"""Words about the window: its pages, the options that name one or want a picture, and where they make no sense."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from services.cli import spoken
from services.cli.context import EXIT_OK, ConsoleRequest, Context
from services.domain.errors import UsageError
from services.domain.text import view_link
from services.domain.text.said import said
from services.i18n import N_


class PageLine(NamedTuple):
    """A page of the window: a folder of this name in ``views/pages``, whose ``page.py`` has a ``NamePage``."""

    id: str
    title: str  #: source text
    icon: str  #: a ``ph`` name that also exists with ``-fill``
    letter: str = ""  #: after ``G`` it opens the page
    apart: bool = False  #: below the line of the rail
    under: str = ""  #: page of the rail that is lit while this one is seen, which has no line of its own there


#: the sitemap, in the order of the rail; rail, palette, keys, their help and ``--page`` are made of it
SITEMAP = (
    PageLine("overview", N_("Overview"), "ph.gauge", "O"),
    PageLine("queues", N_("Queues"), "ph.stack", "Q"),
    PageLine("tasks", N_("Tasks"), "ph.list-bullets", "T"),
    PageLine("shops", N_("Shops"), "ph.storefront", "S"),
    PageLine("dead_letters", N_("Dead letters"), "ph.file-x", "D"),
    PageLine("workers", N_("Workers"), "ph.robot", "W"),
    PageLine("promises", N_("Promises"), "ph.handshake", "P", apart=True),
    PageLine("schedules", N_("Schedules"), "ph.calendar-check", apart=True),
    PageLine("types", N_("Task types"), "ph.puzzle-piece", "Y", apart=True),
    PageLine("alerts", N_("Alerts"), "ph.bell", "L", apart=True),
    PageLine("audit", N_("Audit"), "ph.clipboard-text", "U", apart=True),
    PageLine("logs", N_("Logs"), "ph.terminal-window", "J", apart=True),
    PageLine("doctor", N_("Doctor"), "ph.first-aid-kit", "H", apart=True),
    PageLine("past", N_("Look back"), "ph.clock-counter-clockwise", under="overview"),
    PageLine("batches", N_("Batches"), "ph.tree-structure", "B", under="tasks"),
    PageLine("settings", N_("Settings"), "ph.gear-six", apart=True),
)
#: what only a window has
_OPTIONS = ("screenshot", "page", "open", "size")
PICTURES = (".png", ".jpg", ".jpeg")


def pages() -> tuple[str, ...]:
    """The names of all pages."""
    return tuple(line.id for line in SITEMAP)


def options() -> argparse.ArgumentParser:
    """What may stand before a command and after it: no defaults, so a later parser does not undo an earlier one."""
    parent = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = parent.add_argument_group("the window")
    text = "save a picture of the window (.png or .jpg) and leave"
    group.add_argument("--screenshot", metavar="FILE", type=_picture, help=text)
    group.add_argument(
        "--open", metavar="LINK", type=_link, help="open what a link shows (fleetdeck://…, Ctrl+Shift+L)"
    )
    group.add_argument("--page", choices=pages(), metavar="PAGE", help=f"page to open: {', '.join(pages())}")
    return parent


def refuse_without_window(args: argparse.Namespace, why: str) -> None:
    """Refuse what would be ignored because no window opens; ``why`` ends the sentence.

    Raises:
        UsageError: a page, a size or a picture was asked for.
    """
    named = next((name for name in _OPTIONS if getattr(args, name, "")), "")
    if named:
        raise UsageError(
            spoken.phrase("--{named} is for the window, and {why}", named=named, why=why), field=f"--{named}"
        )


def console(context: Context) -> int:
    """Open the window; with ``--json`` tell at its end whether all went well."""
    picture, page = getattr(context.args, "screenshot", ""), getattr(context.args, "page", "")
    link, clicked = getattr(context.args, "open", None), getattr(context.args, "clicked", "")
    if link is not None and link.profile and not getattr(context.args, "profile", ""):
        context.args.profile = link.profile
    try:
        settings = context.settings()
    except UsageError:
        if not clicked or link is None:
            raise
        context.args.profile, link = "", None  # it is for a connection that is not known here: the usual one says so
        settings = context.settings()
    request = ConsoleRequest(
        settings=settings,
        screenshot=picture,
        first_run=True,
        page=link.page if link is not None else page,
        show=link.show if link is not None else "",
        at=link.at if link is not None else 0,
        now=link.now if link is not None else None,
        link=clicked if link is None else "",
        read_only=getattr(context.args, "read_only", False),
        named=context.named,
        led=context.led,
    )
    code = context.open_console(request)
    if context.json:
        context.show({"ok": code == EXIT_OK, "screenshot": picture if code == EXIT_OK else ""}, [])
    return code


def leads(text: str) -> bool:
    """Whether a link leads to a page of this version."""
    try:
        return view_link.read(text).page in pages()
    except UsageError:
        return False


def _link(text: str) -> view_link.ViewLink:
    try:
        found = view_link.read(text)
    except UsageError as exc:
        raise argparse.ArgumentTypeError(spoken.told(exc)) from exc
    if found.page not in pages():
        raise argparse.ArgumentTypeError(spoken.told(said("link.page", page=found.page)))
    return found


def _picture(text: str) -> str:
    if not text.lower().endswith(PICTURES):
        raise argparse.ArgumentTypeError(
            spoken.phrase("takes a file that ends with .png or .jpg, not {text}", text=f"{text!r:.80}")
        )
    return text
