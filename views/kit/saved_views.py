"""Filters with a name: those of the design, and those that a person saved. Pure but for the memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from services.domain.task.search.shared_view import SharedView
from services.i18n import LANGUAGES, _, speaking
from views.support.memory import Memory

MOST_OWN = 30


class View(msgspec.Struct, frozen=True, kw_only=True):
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


#: before the key of a view of the fleet
_SHARED = "shared-"


class SavedViews:
    """What one user saved: own views, and columns and order of each view."""

    def __init__(self, memory: Memory, built_in: Sequence[View], name: str) -> None:
        """``built_in``: those of the design, the first of everything; ``name``: of the page, in the memory."""
        self._memory, self._built_in = memory, tuple(built_in)
        self._views, self._kept_layouts = f"{name}.views", f"{name}.layouts"
        self._shared: tuple[View, ...] = ()

    def all(self) -> tuple[View, ...]:
        """The views of the design, those of the fleet by name, then one's own in the order of saving. One's own that is
        shared as it stands is there once: behind the fleet's, until nobody shares that any more.
        """
        shared = {_what(view) for view in self._shared}
        return (*self._built_in, *self._shared, *(view for view in self.own() if _what(view) not in shared))

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
        entries = _entries(self._memory.get(self._views, []))
        return tuple(view for entry in entries if (view := _read(entry)) is not None)

    def get(self, key: str) -> View:
        """A view, also one's own that the fleet's hides; one that is gone is the list of everything."""
        return next((view for view in (*self.all(), *self.own()) if view.key == key), self._built_in[0])

    def again(self, before: View) -> View:
        """The same view as it is now: of its key, else of its name and filter, which somebody shared or shares no more;
        one that is gone is the list of everything.
        """
        known = self.all()
        same = [view for view in known if view.key == before.key]
        return next(iter(same or [view for view in known if _what(view) == _what(before)]), self._built_in[0])

    def add(self, title: str, expression: str, *, newest: bool = True) -> View:
        """Save a filter under a name; the same name again replaces it."""
        own = self.own()
        same = next((view for view in own if view.title == title), None)
        # a key is never given twice: an Undo may still be about the view that had it
        key = same.key if same else f"own-{uuid4().hex}"
        view = View(key=key, title=title, filter=expression, newest=newest, own=True)
        if same is not None:
            self._keep([view if one is same else one for one in own])
        else:
            self._keep([*own, view])
        return view

    def why_not(self, title: str) -> str:
        """Why nothing more can be saved under a name, translated, "" where it can."""
        own = self.own()
        if title in self._designed():
            return _("Another view is called so already")
        if len(own) < MOST_OWN or any(view.title == title for view in own):
            return ""
        return _("{n} views are saved already; remove one first").format(n=len(own))

    def taken(self, key: str, title: str) -> str:
        """Why a view of the fleet, or of one's own, cannot be called so, translated, "" where it can."""
        shared = self.get(key).shared is not None
        others = [view.title for view in (self._shared if shared else self.own()) if view.key != key]
        return _("Another view is called so already") if title in (*others, *self._designed()) else ""

    def _designed(self) -> set[str]:
        """What the views of the design are called, in every language: a name outlasts the language it was given in."""
        names = {view.title for view in self._built_in}
        for code in LANGUAGES:
            with speaking(code):
                names |= {view.shown for view in self._built_in}
        return names

    def rename(self, key: str, title: str) -> None:
        """Give an own view another name."""
        self.change(replace(self.get(key), title=title))

    def change(self, changed: View) -> None:
        """Put this in the place of the own view with its key."""
        self._keep([changed if view.key == changed.key else view for view in self.own()])

    def put_back(self, view: View, place: int, layout: Mapping[str, Any]) -> None:
        """Have an own view again that was removed; ``place``: where it stood among them. Where another is called so by
        now, it gets a number.
        """
        own = [one for one in self.own() if one.key != view.key]
        titles = {one.title for one in own} | self._designed()
        names = (view.title, *(f"{view.title} {n}" for n in range(2, len(titles) + 3)))
        self._keep([*own[:place], replace(view, title=next(n for n in names if n not in titles)), *own[place:]])
        self.keep_layout(view.key, layout)

    def remove(self, key: str) -> Callable[[], None] | None:
        """Forget an own view; how to have it again, None where another window forgot it before."""
        own = self.own()
        place = next((n for n, view in enumerate(own) if view.key == key), -1)
        if place < 0:
            return None
        back = partial(self.put_back, own[place], place, self.layout(key))
        layouts = {name: layout for name, layout in self._layouts().items() if name != key}
        self._memory.put(self._kept_layouts, layouts)
        self._keep([view for view in own if view.key != key])
        return back

    def layout(self, key: str) -> Mapping[str, Any]:
        """Columns and order of a view as they were left, empty for those of the design."""
        shared = self.get(key).shared
        found = self._layouts().get(key, shared.layout if shared is not None else {})
        return found if isinstance(found, dict) else {}

    def keep_layout(self, key: str, layout: Mapping[str, Any]) -> None:
        """Remember columns and order of a view."""
        layouts = self._layouts()
        if layouts.get(key) != dict(layout):
            self._memory.put(self._kept_layouts, {**layouts, key: dict(layout)})

    def _layouts(self) -> dict[str, Any]:
        found = self._memory.get(self._kept_layouts, {})
        return found if isinstance(found, dict) else {}

    def _keep(self, own: Sequence[View]) -> None:
        entries = [{"key": view.key, "title": view.title, "filter": view.filter, "newest": view.newest} for view in own]
        self._memory.put(self._views, entries)


def _what(view: View) -> tuple[str, str, bool]:
    """What a person sees of it."""
    return view.title, view.filter, view.newest


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
