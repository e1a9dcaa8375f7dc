"""One act after the other on many rows: what was done is told with Undo, what was not with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.domain.errors import OperatorError
from services.i18n import _
from services.messages import told
from views.context import PageContext
from views.support import text
from views.support.operation import Operation
from views.widgets.toast import ToastAction, ToastSpec, failure, undo_action

NAMED, UNDO_S = 6, 10
R = TypeVar("R")


class _Done(msgspec.Struct, Generic[R], frozen=True):
    done: tuple[R, ...]
    failed: tuple[tuple[R, str], ...]


class Each(QObject, Generic[R]):
    """Signals:
    changed: something was done.
    """

    changed = Signal()

    def __init__(self, context: PageContext, name: Callable[[R], str], owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._name = context, name
        self._operation = Operation(self, lasting=True)

    def run(
        self,
        rows: Sequence[R],
        act: Callable[[R], object],
        back: Callable[[R], object] | None,
        done: str,
        more: tuple[ToastAction, ...] = (),
    ) -> None:
        """Do it to all of them, off the GUI thread. ``back`` takes it back from one, None where nothing does; ``done``
        says it of ``{n}`` of them, translated; ``more``: what can be done then, beside to take it back.
        """
        told = partial(self._tell, back, done, more)
        self._operation.start(partial(_each, rows, act), told, lambda exc: self._context.toast(failure(exc)))

    def _tell(
        self, back: Callable[[R], object] | None, done: str, more: tuple[ToastAction, ...], found: _Done[R]
    ) -> None:
        said = done.format(n=text.count(len(found.done)))
        undo = (
            (undo_action(partial(self.run, found.done, back, None, _("Taken back."))), *more)
            if back is not None and found.done
            else ()
        )
        if found.failed:
            refused = [f"{self._name(row)}: {why}" for row, why in found.failed[:NAMED]]
            said = _("{done} {n} could not: {names}").format(
                done=said if found.done else "", n=text.count(len(found.failed)), names=text.listed(refused)
            )
        status = "warning" if found.failed else "healthy"
        self._context.toast(ToastSpec(text=said.strip(), status=status, actions=undo, seconds=UNDO_S))
        self.changed.emit()


def _each(rows: Sequence[R], act: Callable[[R], object]) -> _Done[R]:
    done, failed = [], []
    for row in rows:
        try:
            act(row)
            done.append(row)
        except OperatorError as exc:
            failed.append((row, told(exc)))
    return _Done(tuple(done), tuple(failed))
