"""The New task dialog: what, for which shops, with which parameters, how urgent; the result always in sight."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from services.commands.tasks import Submitted, TaskSpec
from services.domain import filter
from services.domain.query import equals
from services.i18n import N_, _
from views.context import PageContext
from views.dialogs.created import Created
from views.dialogs.creator import Creator
from views.dialogs.delivery import Delivery
from views.dialogs.draft import ALL, Draft, from_prefill, missing
from views.dialogs.forecast import Forecast
from views.dialogs.frame import DialogFrame
from views.dialogs.json_text import pretty
from views.dialogs.lookup import Known, Lookup
from views.dialogs.new_task_foot import NewTaskFoot
from views.dialogs.parameters import Parameters
from views.dialogs.shops_part import ShopsPart
from views.dialogs.twins import Twins
from views.dialogs.what_part import WhatPart
from views.support.language import on_language_changed
from views.support.throttle import Debounce
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import ErrorStrip

SIZE, LEAST = (1098, 850), (900, 560)
CHECK_MS = 350
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
        self._queue = False
        self._twins = Twins()
        self._lookup = Lookup(context, self)
        self._creator = Creator(context, self)
        self._check_soon = Debounce(self._check_twins, CHECK_MS, self)
        self.set_note(" · ".join(part for part in (context.profile, context.environment) if part))
        self._build()
        self._connect()
        on_language_changed(self._say)
        self._lookup.ask()
        self._say()

    # the draft

    def draft(self) -> Draft:
        """Everything as it stands now."""
        return Draft(
            platform=self.what.platform(),
            task_type=self.what.type_name(),
            shops=self.shops.picker.chosen(),
            payload=self.parameters.document(),
            priority=self.delivery.priority.value(),
            delay_min=self.delivery.delay_min(),
            attempts=self.delivery.chosen_attempts(),
            if_duplicate="queue" if self._queue else "reject",
        )

    def resume(self, prefill: Mapping[str, object] | None = None) -> None:
        """Go on with the draft, or with what another page filled in."""
        if prefill:
            self._prefill = from_prefill(prefill)
        self._lookup.ask()

    def start_over(self) -> None:
        """Throw the draft away."""
        self._queue, self._twins = False, Twins()
        self.shops.picker.model.untick_all()
        self.shops.picker.paste.field.clear()
        self.parameters.show_kind(self.what.kind(), {})
        self.delivery.set_priority(6)
        self._pages.setCurrentWidget(self._form)
        self._say()

    def _build(self) -> None:
        self.what, self.shops = WhatPart(1), ShopsPart(2)
        self.parameters, self.delivery = Parameters(3), Delivery(4)
        self.forecast, self.outcome, self.error = Forecast(), Created(), ErrorStrip()
        self._form = ScrollPane()
        for part in (self.what, self.shops, self.parameters, self.delivery):
            self._form.body.addWidget(part)
        self._form.body.addStretch(1)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._form)
        self._pages.addWidget(self.outcome)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._pages, 1)
        row.addWidget(self.forecast)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(0)
        self.body.addWidget(self.error)
        self.body.addLayout(row, 1)
        self.verbs = NewTaskFoot(self.foot)
        self.setMinimumSize(*LEAST)
        self.resize(*SIZE)

    def _connect(self) -> None:
        # the form
        self.what.platform_chosen.connect(self.shops.picker.set_platform)
        self.what.type_chosen.connect(self._on_type)
        self.shops.picker.changed.connect(self._on_changed)
        self.shops.picker.mixed.connect(self._on_mixed)
        self.parameters.changed.connect(self._on_changed)
        self.delivery.changed.connect(self._on_changed)
        self.forecast.queue_chosen.connect(self._on_queue)
        self.forecast.show_twins.connect(self._on_show_twins)
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
        QShortcut(QKeySequence("F8"), self, self.parameters.go_to_problem)

    def showEvent(self, event: QShowEvent) -> None:
        """Fit into the window behind."""
        owner: QWidget | None = self.parentWidget()
        if owner is not None:
            room = owner.window().size()
            self.resize(min(SIZE[0], room.width() - 60), min(SIZE[1], room.height() - 60))
        super().showEvent(event)
        self.what.types.setFocus()

    # what there is

    def _take(self, known: Known) -> None:
        self.error.clear()
        self._known = known
        wish, self._prefill = self._prefill, None
        self.what.show_choices(known.shops, known.types)
        self.shops.picker.set_shops(known.shops)
        if wish is not None:
            self._fill(wish)
        self._on_type()

    def _fill(self, wish: Draft) -> None:
        self.what.choose(wish.platform, wish.task_type)
        self.shops.picker.set_platform(self.what.platform())
        self.shops.picker.tick(tuple(shop for shop in wish.shops if shop in self._known.shops))
        self.parameters.show_kind(self.what.kind(), wish.payload)
        self.delivery.set_priority(wish.priority)

    def _on_unknown(self, error: BaseException) -> None:
        self.error.show_error(str(error), lead=_("Shops and task types could not be read."))

    # slots of the form

    def _on_mixed(self) -> None:
        self.what.choose(ALL, "")
        self.shops.picker.set_platform(self.what.platform())

    def _on_type(self) -> None:
        kind = self.what.kind()
        self.parameters.show_kind(kind)
        if kind is not None:
            self.delivery.set_defaults(kind.max_retries + 1)
        self._on_changed()

    def _on_changed(self) -> None:
        self._check_soon()
        self._say()

    def _on_queue(self, queue: bool) -> None:
        self._queue = queue
        self._say()

    def _on_show_twins(self) -> None:
        self._watch(*[task.task_id for task in self._twins.by_shop.values()][:SHOWN])

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
        self._twins = twins
        self.shops.picker.set_active(frozenset(twins.by_shop))
        self._say()

    # creating

    def _problem(self) -> str:
        """What is missing before tasks can be created, "" for nothing."""
        return missing(self.draft(), self.parameters.problems(), self.delivery.problem())

    def _count(self) -> int:
        draft = self.draft()
        return len(draft.shops) - (0 if self._queue else len(self._twins.among(draft.shops).by_shop))

    def _on_create(self) -> None:
        if not self._problem() and self._pages.currentWidget() is self._form:
            self._creator.create(self.draft(), self._count(), self)
            self._say()

    def _done(self, result: Submitted) -> None:
        self.created.emit(result)
        if (
            result.errors
            and not result.created
            and not result.duplicates
            and self.parameters.tell_refusals(result.errors)
        ):
            self._say()
        elif result.errors or result.duplicates:
            self.outcome.show_result(result)
            self._pages.setCurrentWidget(self.outcome)
            self._say()
        else:
            self.start_over()
            self.accept()

    def _failed(self, error: BaseException) -> None:
        self.error.show_error(str(error), lead=_("Nothing was created."))
        self._say()

    def _watch(self, *task_ids: str) -> None:
        self.tasks_wanted.emit(filter.format_terms((equals("id", *task_ids),)))
        self.hide()

    def _queue_one(self, spec: TaskSpec) -> None:
        self._creator.create_one(self.draft(), spec, if_duplicate="queue")

    def _force_one(self, spec: TaskSpec, reason: str) -> None:
        self._creator.create_one(self.draft(), spec, if_duplicate="force", reason=reason)

    def _say(self) -> None:
        if not hasattr(self, "outcome"):
            return
        on_form = self._pages.currentWidget() is self._form
        problem = self._problem()
        number = self._count()
        self.shops.say(len(self._known.shops))
        errors = problem if self.parameters.problems() or self.delivery.problem() else ""
        draft = self.draft()
        self.forecast.show_draft(
            draft, self.what.kind(), self._twins.among(draft.shops), checking=self._lookup.checking, errors=errors
        )
        self.forecast.setVisible(on_form)
        self.verbs.show_state(
            on_form=on_form, number=number, problem=problem, wrong=bool(errors), busy=self._creator.busy
        )
