"""Who changed what about a schedule: each change from the audit, before and after, and the way back to before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.domain.audit import AuditEntry
from services.domain.errors import NotFound
from services.domain.plans.schedule import Planned, Schedule
from services.domain.text import mask
from services.domain.text.said import said
from services.i18n import N_, _
from services.messages import told
from services.monitor.schedules import ScheduleRow
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.pages.schedules import words
from views.support import safe, text
from views.support.look import Label
from views.support.operation import Operation
from views.support.words import type_names
from views.tables.column import Column, dated
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.layout import STRETCH, put

SIZE, LEAST, MOST = (780, 520), (640, 400), 60
#: what tells nothing about a change: who signed it and when
_SIGNED = frozenset({"uid", "created_by", "created_at", "updated_by", "updated_at", "first_at"})
#: fields of a schedule as its dialog calls them
_FIELDS = {
    "name": N_("Name"),
    "task_type": N_("Task type"),
    "payload": N_("Payload"),
    "priority": N_("Priority"),
    "cron": N_("Cron"),
    "every_s": N_("Interval"),
    "zone": N_("Time zone"),
    "shops": N_("Shops"),
    "platforms": N_("Platforms"),
    "groups": N_("Groups"),
    "all_shops": N_("All shops"),
    "spread_s": N_("Spread"),
    "missed": N_("When nobody could start it in time"),
    "overlap": N_("When the run before is not through"),
    "enabled": N_("Enabled"),
    "note": N_("Note"),
}
_SPANS = frozenset({"every_s", "spread_s"})
_ACTS = {
    "schedule.add": N_("made"),
    "schedule.change": N_("changed"),
    "schedule.enable": N_("enabled"),
    "schedule.disable": N_("disabled"),
    "schedule.skip": N_("next run left out"),
    "schedule.run": N_("run by hand"),
    "schedule.backfill": N_("made up for"),
    "schedule.remove": N_("removed"),
}


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One act on a schedule; ``before`` and ``after`` are as the audit tells them, secrets as dots."""

    key: str
    at: int
    who: str
    act: str
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None

    def changes(self) -> list[str]:
        """Field by field what became of what."""
        if self.before is None or self.after is None:
            return []
        names = [name for name in self.after if name not in _SIGNED and self.before.get(name) != self.after[name]]
        return [
            _("{name}: {before} → {after}").format(
                name=_(_FIELDS.get(name, name)),
                before=_value(name, self.before.get(name)),
                after=_value(name, self.after[name]),
            )
            for name in names
        ]


def read(entry: AuditEntry) -> Version:
    """An entry of the audit as a version."""
    try:
        detail = json.loads(entry.detail or "{}")
    except ValueError:
        detail = {}
    found = detail if isinstance(detail, dict) else {}
    before, after = found.get("before"), found.get("schedule")
    return Version(
        key=entry.entry_id,
        at=entry.at,
        who=entry.who,
        act=entry.action,
        before=before if isinstance(before, dict) else None,
        after=after if isinstance(after, dict) else None,
    )


def restored(before: Mapping[str, Any], now: Schedule) -> Schedule:
    """The schedule as it was; dots stand for the secrets that it has now.

    Raises:
        NotFound: it cannot be read, or a secret of then is not known any more.
    """
    payload = mask.put_back(before.get("payload", {}), now.payload)
    if mask.still_masked(payload, None):
        raise NotFound(said("schedule.secret", name=now.name), field="payload")
    try:
        found = msgspec.convert({**before, "payload": payload}, Schedule)
    except msgspec.ValidationError as exc:
        raise NotFound(said("schedule.unreadable", error=str(exc)), field="name") from exc
    return msgspec.structs.replace(found, name=now.name, enabled=now.enabled)


COLUMNS: tuple[Column[Version], ...] = (
    dated("at", N_("Time"), lambda one: one.at, width=120),
    Column(key="who", title=N_("Who"), value=lambda one: safe.one_line(one.who, 60), strong=True, width=150),
    Column(key="act", title=N_("Act"), value=lambda one: _(_ACTS.get(one.act, one.act)), width=130),
    Column(
        key="changes",
        title=N_("What changed"),
        value=lambda one: safe.one_line("; ".join(one.changes()), 300),
        tooltip=lambda one: "\n".join(one.changes()),
        width=200,
        stretch=True,
    ),
)


class VersionsDialog(DialogFrame):
    """Signals:
    reverted: name of the schedule that is as it was.
    """

    reverted = Signal(str)

    def __init__(
        self, context: PageContext, row: ScheduleRow, forbidden: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(N_("Who changed what"), icon="ph.clock-counter-clockwise", parent=parent)
        self._context, self._row, self._forbidden = context, row, forbidden
        self._versions: list[Version] = []
        self._asking, self._acting = Operation(self), Operation(self)
        self.set_note(row.schedule.name)
        self.model: RecordModel[Version] = RecordModel(COLUMNS, key=lambda one: one.key, hold_new=False)
        self.table = TableView(self.model, name=N_("Changes"), ground="input")
        self.words = Label(_("Reading the audit"), "label", "text2", wrap=True)
        self.words.setMinimumHeight(72)
        self.fill(self.words, self.table, size=SIZE, least=LEAST)
        self.body.removeWidget(self.words)
        self.body.addWidget(self.words)
        self.body.setContentsMargins(20, 14, 20, 14)
        self.body.setSpacing(10)
        self.revert = Button(N_("Put back as it was before"), icon="ph.arrow-counter-clockwise")
        self.close_button = Button(N_("Close"), hint="Esc")
        put(self.foot, STRETCH, self.revert, self.close_button)
        self.close_button.clicked.connect(self.reject)
        self.revert.clicked.connect(self._on_revert)
        self.table.current_changed.connect(self._follow)
        call = partial(context.audit.entries, f'target:"{row.schedule.name}" action:schedule.*', limit=MOST)
        self._asking.start(call, lambda trail: self._show([read(entry) for entry in trail.entries]), self._fail)
        self._follow(None)

    def _show(self, versions: list[Version]) -> None:
        self._versions = versions
        self.model.apply(versions, settle=True)
        if versions:
            self.table.set_current_key(versions[0].key)
        self._follow(self.table.current_key())

    def _chosen(self) -> Version | None:
        return next((one for one in self._versions if one.key == self.table.current_key()), None)

    def _follow(self, _key: object) -> None:
        one = self._chosen()
        changes = one.changes() if one is not None else []
        self.words.set_tone("text2")
        if one is not None:
            self.words.setText("\n".join(changes[:5]) or _("Nothing of the schedule itself was changed."))
        elif self._versions or not self._asking.busy:
            self.words.setText(_("The audit knows of no change."))
        reason = "" if one is not None and one.before is not None and changes else _("Choose a change first")
        self.revert.disable(self._forbidden or reason)

    def _on_revert(self) -> None:
        one = self._chosen()
        if one is not None and one.before is not None:
            self._acting.start(partial(self._put_back, one.before), self._on_reverted, self._fail)

    def _put_back(self, before: Mapping[str, Any]) -> Planned:
        name = self._row.schedule.name
        row = self._context.schedules.row(name, 1)
        if row is None:
            raise NotFound(said("schedule.unknown", name=f"{name!r:.80}"), field="name")
        return self._context.commands.schedules.add(restored(before, row.schedule), replace=True)

    def _on_reverted(self, planned: Planned) -> None:
        self.accept()
        self.reverted.emit(planned.schedule.name)

    def _fail(self, error: BaseException) -> None:
        self.words.setText(told(error))
        self.words.set_tone("dead")


def _value(name: str, value: object) -> str:
    """What stood in a field, as its dialog shows it."""
    if value in ("", None, 0, [], {}) and not isinstance(value, bool):
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if name in _SPANS and isinstance(value, int):
        return text.exact(timedelta(seconds=value))
    if name == "task_type":
        return type_names.name(str(value))
    if name in words.CHOICES:
        return _(words.CHOICES[name].get(str(value), str(value)))
    if isinstance(value, list):
        value = text.listed(map(str, value))
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    return safe.one_line(str(value), 120)
