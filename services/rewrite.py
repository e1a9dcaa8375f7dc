"""A document changed over what stands there then: what others write in between is not written over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from services.domain.errors import StoreError
from services.domain.text.said import said
from services.ports import Store

T = TypeVar("T")
TRIES = 8


def rewrite(store: Store, kind: str, name: str, make: Callable[[str | None], T], dump: Callable[[T], str]) -> T:
    """Keep what ``make`` makes of the document as it stands (None: there is none), asked again whenever somebody came
    in between; returns what was kept.

    Raises:
        StoreError: somebody else changes it again and again.
    """
    for _ in range(TRIES):
        body = store.document(kind, name)
        made = make(body)
        kept = dump(made)
        if store.add_document(kind, name, kept) if body is None else store.swap_document(kind, name, body, kept):
            return made
    raise StoreError(said("document.contested", name=name))
