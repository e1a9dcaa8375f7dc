"""A view of the list of tasks that everybody of a fleet sees: a filter under a name, with its columns and order."""

from __future__ import annotations

from typing import Any

import msgspec

from services.domain.errors import UsageError
from services.domain.task.search import filter as filters
from services.domain.text.said import said
from services.domain.upkeep.stored import Document, Instant

#: kind of the documents, named by the key; what they were, as ``KEY@VERSION``
KIND, VERSIONS = "view", "view_version"
MOST, MAX_TITLE, MAX_LAYOUT = 50, 60, 8_000


class SharedView(msgspec.Struct, frozen=True, kw_only=True):
    """One view; ``layout`` is what a window keeps of columns and order, known to windows alone."""

    key: str
    title: str
    filter: str = ""
    newest: bool = True  #: newest first where no column was clicked
    layout: dict[str, Any] = {}
    version: int = 0  #: rises with every change; 0 for one that is not kept yet
    by: str = ""  #: who changed it last
    at: Instant = 0


DOCUMENT = Document(SharedView)


def check(view: SharedView, now_ms: int) -> None:
    """Refuse what no window could show.

    Raises:
        UsageError: ``field`` names what to change.
    """
    title = view.title
    if not title.strip() or not title.isprintable() or len(title) > MAX_TITLE:
        raise UsageError(said("view.title", most=MAX_TITLE, title=f"{title!r:.80}"), field="title")
    filters.parse(view.filter, now_ms=now_ms)
    if len(msgspec.json.encode(view.layout)) > MAX_LAYOUT:
        raise UsageError(said("view.columns"), field="layout")
