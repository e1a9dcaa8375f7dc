"""Finds widgets as a person does: by what they are and what is written on them."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QLabel, QWidget

from services import i18n
from views.widgets.toast import ToastSpec

W = TypeVar("W", bound=QWidget)


def find(inside: QWidget, kind: type[W], name: str) -> W:
    """The only widget of a kind that has this text or, like an icon, this accessible name."""
    found = [one for one in inside.findChildren(kind) if name in (_text(one), one.accessibleName())]
    assert len(found) == 1, (
        f"{len(found)} × {kind.__name__} {name!r} among {sorted(map(_text, inside.findChildren(kind)))}"
    )
    return found[0]


def words(inside: QWidget) -> str:
    """Everything that its labels say, hidden ones apart."""
    labels = inside.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisibleTo(inside))


def press(toast: ToastSpec, text: str) -> None:
    """Press a verb of a toast."""
    next(one for one in toast.actions if one.text == text).call()


def _text(widget: QWidget) -> str:
    said = getattr(widget, "text", None)
    return said() if callable(said) else ""


def in_chinese(told: ToastSpec) -> ToastSpec:
    """A message as it stands after the language was switched to Chinese."""
    assert told.again is not None, "it would keep the language in which it was made"
    with i18n.speaking("zh_CN"):
        return told.again()
