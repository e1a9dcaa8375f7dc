"""The repair as a dialog: what would be mended, then what was, and what is left for a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from services.domain.upkeep import repair
from services.domain.upkeep.repair import Mend
from services.i18n import N_, _, ngettext
from services.messages import told
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.pages.doctor import words
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.key_values import KeyValues
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec

SIZE, LEAST = (680, 460), (520, 320)


class RepairDialog(DialogFrame):
    """Looks first; nothing is changed until a person has seen what, and wants it.

    Signals:
        repaired: it has mended what could be mended.
        planned: what it would do is shown.
    """

    repaired = Signal()
    planned = Signal()

    def __init__(self, context: PageContext, barred: Callable[[], str], parent: QWidget | None = None) -> None:
        """``barred`` says why nothing may be mended, "" where it may."""
        super().__init__(N_("Repair"), icon="ph.wrench", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._barred = context, barred
        self._found: Sequence[Mend] | None = None
        self._over = False
        # the window may be left meanwhile; what was begun goes on, and the page tells how it ended
        self._mending = Operation(parent or self, lasting=True)
        self._looking = Operation(self, latest=True, lasting=True)
        self.resize(*SIZE)
        self.setMinimumSize(*LEAST)
        self.headline = Label("", "strong", wrap=True)
        self._about = Label("", "label", "text2", wrap=True)
        self.from_stream = QCheckBox()
        self.from_stream.setVisible(context.dead_log)
        self.list = KeyValues()
        pane = ScrollPane()
        pane.body.setContentsMargins(0, 0, 12, 0)
        pane.body.addWidget(self.list)
        pane.body.addStretch(1)
        self.error = ErrorStrip()
        for part in (self.headline, self._about, self.error):
            self.body.addWidget(part)
        self.body.addWidget(pane, 1)
        self.body.addWidget(self.from_stream)
        self.cancel_button = Button(N_("Cancel"), hint="Esc")
        self.verb_button = Button(kind="primary")
        self.foot.addStretch(1)
        self.foot.addWidget(self.cancel_button)
        self.foot.addWidget(self.verb_button)
        self.cancel_button.clicked.connect(self.reject)
        self.verb_button.clicked.connect(self.mend)
        self.error.retry.connect(self.look)
        self.from_stream.toggled.connect(lambda _on: self.look())
        on_language_changed(self._say)
        self.cancel_button.setFocus()
        self.look()

    @property
    def found(self) -> Sequence[Mend] | None:
        """What it would do, or did; None while that is not known."""
        return self._found

    def look(self) -> None:
        """Ask what would be mended."""
        self._found = None
        self.error.clear()
        self._looking.start(
            partial(self._context.doctor.plan, from_stream=self.from_stream.isChecked()), self._show, self._fail
        )
        self._say()

    def mend(self) -> None:
        """Mend it."""
        if self._barred() or self._mending.busy:
            return
        self._mending.start(
            partial(self._context.doctor.repair, from_stream=self.from_stream.isChecked()), self._done, self._fail
        )
        self._say()

    def _show(self, found: Sequence[Mend]) -> None:
        self._found = found
        self._say()
        self.planned.emit()

    def _done(self, found: Sequence[Mend]) -> None:
        self._found, self._over = found, True
        self._context.toast(ToastSpec(text=_("Repaired: {what}").format(what=words.done(found)), status="succeeded"))
        self._say()
        self.repaired.emit()

    def _fail(self, error: BaseException) -> None:
        self.error.show_error(told(error))
        self._say()

    def _say(self) -> None:
        found, busy = self._found, self._mending.busy
        self.from_stream.setText(_("Also bring back dead letters that the store has lost, from their second copy"))
        self.from_stream.setEnabled(not busy and not self._over)
        self._about.setText(
            _("It is safe beside working workers and deletes nothing; what was done stands in the audit.")
        )
        if self._over and found is not None:
            self.headline.setText(words.done(found))
        elif busy:
            self.headline.setText(_("It is being mended …"))
        elif found is not None:
            self.headline.setText(words.planned(found))
        else:
            self.headline.setText("" if self.error.isVisibleTo(self) else _("Looking what can be mended …"))
        self.list.set_rows(words.mends(found or ()))
        todo = words.number(found or (), repair.PLANNED)
        verb = ngettext("Mend {n} thing", "Mend {n} things", todo).format(n=text.count(todo)) if todo else _("Mend")
        self.verb_button.set_count_text(verb)
        self.verb_button.setVisible(not self._over)
        self.verb_button.disable(self._reason(todo, busy))
        self.cancel_button.set_source(
            N_("Close") if self._over or busy or (found is not None and not todo) else N_("Cancel")
        )

    def _reason(self, todo: int, busy: bool) -> str:
        if busy:
            return _("It is being mended …")
        if self._found is None:
            return _("Looking what can be mended …")
        return self._barred() or ("" if todo else _("Nothing has to be mended."))
