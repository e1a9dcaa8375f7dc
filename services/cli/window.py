"""Words about the window: its pages, the options that name one or want a picture, and where they make no sense."""

from __future__ import annotations

import argparse

from services.domain.errors import UsageError

#: the sitemap: every page of the window in the order of its rail; the window is put together from this list
PAGES = ("overview", "tasks", "shops", "dead_letters", "workers", "schedules", "audit", "settings")
#: what only a window has
_OPTIONS = ("screenshot", "page", "size")
PICTURES = (".png", ".jpg", ".jpeg")


def options() -> argparse.ArgumentParser:
    """What may stand before a command and after it: no defaults, so a later parser does not undo an earlier one."""
    parent = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = parent.add_argument_group("the window")
    text = "save a picture of the window (.png or .jpg) and leave"
    group.add_argument("--screenshot", metavar="FILE", type=_picture, help=text)
    group.add_argument("--page", choices=PAGES, metavar="PAGE", help=f"page to open: {', '.join(PAGES)}")
    return parent


def refuse_without_window(args: argparse.Namespace, why: str) -> None:
    """Refuse what would be ignored because no window opens; ``why`` ends the sentence.

    Raises:
        UsageError: a page, a size or a picture was asked for.
    """
    named = next((name for name in _OPTIONS if getattr(args, name, "")), "")
    if named:
        raise UsageError(f"--{named} is for the window, and {why}", field=f"--{named}")


def _picture(text: str) -> str:
    if not text.lower().endswith(PICTURES):
        raise argparse.ArgumentTypeError(f"takes a file that ends with .png or .jpg, not {text!r:.80}")
    return text
