"""One act after the other on many rows: what was done is told with Undo, what was not with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.domain.errors import ConsoleError, OperatorError
from services.i18n import _
from services.messages import told
from views.context import PageContext
from views.support import text
from views.support.acting import UNDO_S, tell_done
from views.support.operation import Operation, Start
from views.widgets.toast import ToastAction, ToastSpec, failure

NAMED = 6
#: what an act answers that left its row as it was
KEPT = object()
R = TypeVar("R")
#: a sentence about ``{n}`` rows in the right number, translated
Said = Callable[[int], str]
Again = Callable[[], None]


class _Done(msgspec.Struct, Generic[R], frozen=True):
    done: tuple[R, ...]
    kept: int
    failed: tuple[tuple[R, ConsoleError], ...]


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
        done: Said,
        *,
        kept: Said = lambda _number: "",
        more: Callable[[Again], ToastAction] | None = None,
        start: Start | None = None,
    ) -> None:
        """Do it to all of them, off the GUI thread. ``back`` takes it back from one, None where nothing does; ``kept``
        is said of those whose ``act`` answers ``KEPT``; ``more`` makes of what tells it again what else can be done.
        ``start``: of the form that asks for it and shows why nothing of it could be done.
        """
        said = done, kept
        told = partial(self._tell, back, said, more)

        def call() -> _Done[R]:
            found = _each(rows, act)
            if start is not None and found.failed and not found.done and not found.kept:
                raise OperatorError(_said(said, found, self._name))
            return found

        (start or self._operation.start)(call, told, lambda exc: self._context.toast(failure(exc)))

    def _tell(
        self,
        back: Callable[[R], object] | None,
        said: tuple[Said, Said],
        more: Callable[[Again], ToastAction] | None,
        found: _Done[R],
    ) -> None:
        def say() -> ToastSpec:
            words, status = _said(said, found, self._name), "warning" if found.failed else "healthy"
            return ToastSpec(text=words, status=status, seconds=UNDO_S)

        undo = None
        if back is not None and found.done:
            undo = partial(self.run, found.done, back, None, lambda _number: _("Taken back."))
        tell_done(self._context.toast, say, undo, more=more if found.done else None)
        self.changed.emit()


def _said(said: tuple[Said, Said], found: _Done[R], name: Callable[[R], str]) -> str:
    numbers = zip(said, (len(found.done), found.kept), strict=True)
    words = text.sentences([of(number).format(n=text.count(number)) for of, number in numbers if number])
    if not found.failed:
        return words
    refused = [f"{name(row)}: {told(why)}" for row, why in found.failed[:NAMED]]
    number = text.count(len(found.failed))
    return _("{done} {n} could not: {names}").format(done=words, n=number, names=text.listed(refused)).strip()


def _each(rows: Sequence[R], act: Callable[[R], object]) -> _Done[R]:
    done, kept, failed = list[R](), 0, list[tuple[R, ConsoleError]]()
    for place, row in enumerate(rows):
        try:
            if act(row) is KEPT:
                kept += 1
            else:
                done.append(row)
        except OperatorError as exc:
            failed.append((row, exc))
        except ConsoleError as exc:  # the store is gone, for all that are left; what was done can be taken back later
            if not done:
                raise
            failed += [(left, exc) for left in rows[place:]]
            break
    return _Done(tuple(done), kept, tuple(failed))
