"""The New task dialog: what, for which shops, with which parameters, how urgent; the result always in sight."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from services.commands.tasks import Submitted, TaskSpec
from services.domain import environment, filter
from services.domain.query import equals
from services.i18n import N_, _
from services.messages import told
from views.context import PageContext
from views.dialogs.created import Created
from views.dialogs.creator import Creator
from views.dialogs.draft import FORCE, QUEUE, Draft, from_prefill
from views.dialogs.forecast import Forecast
from views.dialogs.frame import DialogFrame
from views.dialogs.json_text import pretty
from views.dialogs.lookup import Known, Lookup
from views.dialogs.new_task_foot import NewTaskFoot
from views.dialogs.new_task_form import NewTaskForm
from views.dialogs.twins import Twins
from views.support.language import on_language_changed
from views.support.throttle import Debounce, Throttle
from views.widgets.strip import ErrorStrip

SIZE, LEAST = (1098, 850), (900, 560)
CHECK_MS, LOOK_MS = 350, 1000
SHOWN = 100  #: as many tasks as a filter may name at once


class NewTaskDialog(DialogFrame):
    """Open it with ``open()``; closed, it keeps its draft until ``start_over`` or until the tasks are created.

    Signals:
        created: the ``Submitted`` of a creation.
        tasks_wanted: a filter that the Tasks page shall show.
    """

    created = Signal(object)
    tasks_wanted = Signal(str)

    def __init__(
        self, context: PageContext, prefill: Mapping[str, object] | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(N_("New task"), icon="ph.plus-circle", parent=parent)
        self._context = context
        self._known = Known(shops={}, types={})
        self._prefill: Draft | None = from_prefill(prefill or {})
        self._lookup = Lookup(context, self)
        self._creator = Creator(context, self)
        self._check_soon = Debounce(self._check_twins, CHECK_MS, self)
        self._look = Throttle(self._show_outlook, LOOK_MS, self)
        self.set_note(" · ".join(part for part in (context.profile, environment.tag(context.environment)) if part))
        self._build()
        self._connect()
        on_language_changed(self._say)
        self._lookup.ask()
        self._say()

    # the draft

    def draft(self) -> Draft:
        """Everything as it stands now."""
        return self._form.draft()

    def resume(self, prefill: Mapping[str, object] | None = None) -> None:
        """Go on with the draft, or with what another page filled in."""
        if prefill:
            self._prefill = from_prefill(prefill)
        self._lookup.ask()

    def start_over(self) -> None:
        """Throw the draft away."""
        self._form.start_over()
        self.forecast.twins.reason.clear()
        self._pages.setCurrentWidget(self._form)
        self._say()

    def _build(self) -> None:
        self._form = NewTaskForm()
        self.what, self.shops = self._form.what, self._form.shops
        self.parameters, self.delivery = self._form.parameters, self._form.delivery
        self.forecast, self.outcome, self.error = Forecast(), Created(), ErrorStrip()
        self._pages = QStackedWidget()
        self._pages.addWidget(self._form)
        self._pages.addWidget(self.outcome)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._pages, 1)
        row.addWidget(self.forecast)
        self.fill(self.error, row, size=SIZE, least=LEAST)
        self.verbs = NewTaskFoot(self.foot)

    def _connect(self) -> None:
        # the form
        self._form.changed.connect(self._on_changed)
        self.forecast.fate_chosen.connect(self._on_fate)
        self.forecast.reason_changed.connect(self._on_reason)
        self.forecast.show_twins.connect(self._on_show_twins)
        self._context.feed.looked.connect(self._on_looked)
        # the foot
        self.verbs.discard.clicked.connect(self._on_discard)
        self.verbs.copy.clicked.connect(self._on_copy)
        self.verbs.cancel.clicked.connect(self.reject)
        self.verbs.back.clicked.connect(self._on_back)
        self.verbs.create.clicked.connect(self._on_create)
        # the result
        self.outcome.watch_wanted.connect(self._watch)
        self.outcome.queue_wanted.connect(self._queue_one)
        self.outcome.force_wanted.connect(self._force_one)
        # asking and creating
        self._lookup.known.connect(self._take)
        self._lookup.unknown.connect(self._on_unknown)
        self._lookup.checked.connect(self._take_twins)
        self._creator.done.connect(self._done)
        self._creator.settled.connect(self.outcome.settle)
        self._creator.failed.connect(self._failed)
        self._creator.tasks_wanted.connect(self.tasks_wanted)
        self.error.retry.connect(self.resume)
        QShortcut(QKeySequence("F8"), self, self._form.next_problem)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin with the type."""
        super().showEvent(event)
        self.what.types.setFocus()

    # what there is

    def _take(self, known: Known) -> None:
        self.error.clear()
        self._known = known
        wish, self._prefill = self._prefill, None
        self._form.show_choices(known.shops, known.types)
        if wish is not None:
            self._form.fill(wish, known.shops)
        self._form.on_type()

    def _on_unknown(self, error: BaseException) -> None:
        self.error.show_error(told(error), lead=_("Shops and task types could not be read."))

    def _on_looked(self) -> None:
        if self.isVisible():
            self._look()

    # slots of the form

    def _on_changed(self) -> None:
        self._check_soon()
        self._say()

    def _on_fate(self, fate: str) -> None:
        self._form.fate = fate
        self._say()
        if fate == FORCE:
            self.forecast.twins.reason.setFocus()

    def _on_reason(self, reason: str) -> None:
        self._form.reason = reason
        self._say()

    def _on_show_twins(self) -> None:
        self._watch(*[task.task_id for task in self._form.twins.by_shop.values()][:SHOWN])

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(pretty(self.draft().message()))

    def _on_discard(self) -> None:
        self.start_over()
        self.reject()

    def _on_back(self) -> None:
        self._pages.setCurrentWidget(self._form)
        self._check_twins()
        self._say()

    # duplicates

    def _check_twins(self) -> None:
        self._check_soon.cancel()
        draft, kind = self.draft(), self.what.kind()
        if kind is None or not draft.shops or self.parameters.problems():
            self._take_twins(Twins())
            return
        self._lookup.check(kind, draft)
        self._say()

    def _take_twins(self, twins: Twins) -> None:
        self._form.show_twins(twins)
        self._say()

    # creating

    def _on_create(self) -> None:
        if self._pages.currentWidget() is not self._form or self._form.blocked():
            return
        if self._form.unfilled():
            self._form.insist()
            return
        draft = self.draft()
        self._creator.create(draft, draft.number, self)
        self._say()

    def _done(self, result: Submitted) -> None:
        self.created.emit(result)
        if result.errors and not result.created and not result.duplicates and self._form.tell_refusals(result.errors):
            self._say()
        elif result.errors or result.duplicates:
            self.outcome.show_result(result)
            self._pages.setCurrentWidget(self.outcome)
            self._say()
        else:
            self.start_over()
            self.accept()

    def _failed(self, error: BaseException) -> None:
        self.error.show_error(told(error), lead=_("Nothing was created."))
        self._say()

    def _watch(self, *task_ids: str) -> None:
        self.tasks_wanted.emit(filter.format_terms((equals("id", *task_ids),)))
        self.hide()

    def _queue_one(self, spec: TaskSpec) -> None:
        self._creator.create_one(self.draft(), spec, if_duplicate=QUEUE)

    def _force_one(self, spec: TaskSpec, reason: str) -> None:
        self._creator.create_one(self.draft(), spec, if_duplicate=FORCE, reason=reason)

    # words

    def _say(self) -> None:
        if not hasattr(self, "verbs"):
            return
        on_form = self._pages.currentWidget() is self._form
        draft, blocked = self.draft(), self._form.blocked()
        self.shops.say(len(self._known.shops))
        self.forecast.show_draft(
            draft,
            self._form.twins.among(draft.shops),
            checking=self._lookup.checking,
            errors=blocked if self._form.wrong else "",
            hint=self._form.hint(),
        )
        self._show_outlook()
        self.forecast.setVisible(on_form)
        self.verbs.show_state(
            on_form=on_form,
            number=draft.number,
            blocked=blocked,
            unfilled=self._form.unfilled(),
            wrong=self._form.wrong,
            busy=self._creator.busy,
        )

    def _show_outlook(self) -> None:
        self.forecast.show_outlook(self.draft(), self.what.kind(), self._known.shops, self._context.feed.latest)
