"""The dialogs of the Alerts page: until when an incident is muted, where a channel leads."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import timedelta
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from services.commands.alerts import REASON_MOST, AnswerChanged
from services.domain.alerts import channel as channels
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import UNTIL_CHANGED
from services.i18n import N_, _, is_chinese
from services.monitor.alerts.queries import IncidentNow
from views.dialogs.saving import SavingDialog
from views.dialogs.typed import KeepsTyped
from views.pages.alerts import words
from views.support import instant, safe, shown
from views.support.look import Label
from views.widgets.buttons import Button
from views.widgets.fields import ChoiceField, Labelled, NumberField
from views.widgets.layout import in_row
from views.widgets.strip import Strip

WIDTH = 560
HOUR_S = 3_600
#: hour of the day at which a night's mute ends, and in place of seconds those that end at an hour
MORNING, BY_MORNING, BY_MIDNIGHT = 8, 0, -1
ON_CHANGE = -2  #: in place of seconds, too
MUTES: tuple[tuple[int, str], ...] = (
    (HOUR_S // 2, N_("30 minutes")),
    (HOUR_S, N_("1 hour")),
    (4 * HOUR_S, N_("4 hours")),
    (BY_MIDNIGHT, N_("The rest of the day")),
    (BY_MORNING, N_("Until 08:00")),
    (24 * HOUR_S, N_("24 hours")),
    (7 * 24 * HOUR_S, N_("7 days")),
    (ON_CHANGE, N_("Until it changes")),
)


class MuteDialog(KeepsTyped, SavingDialog):
    """Signals:
    chosen: until when (UTC ms), why, the answer of people that stood there; ``start`` takes what does it.
    """

    chosen = Signal(object, str, object)

    def __init__(self, one: IncidentNow, parent: QWidget | None = None) -> None:
        super().__init__(N_("Mute an incident"), icon="ph.bell-slash", width=WIDTH, parent=parent)
        self._seen = one.incident.answer
        self.changed = Strip("warning", stacked=True)
        self.changed.hide()
        self.leave_theirs = Button(N_("Take it over"), small=True)
        self.leave_theirs.clicked.connect(partial(self.done, QDialog.DialogCode.Rejected))
        self.changed.add_action(self.leave_theirs)
        self.body.addWidget(self.changed)
        self.body.addWidget(Label(words.title(one), "strong", wrap=True))
        said = _("Nobody is told of it until then, and it does not escalate. It goes on being watched.")
        self.body.addWidget(Label(said, "body", "text2", wrap=True))
        self.span, self.reason = ChoiceField(), QLineEdit()
        for number, word in MUTES:
            self.span.addItem(_(word), number)
        self.span.setCurrentIndex(1)
        self.reason.setMaxLength(REASON_MOST)
        self._until = Labelled(N_("Until"), self.span)
        self.body.addWidget(self._until)
        self.body.addWidget(Labelled(N_("Why"), self.reason, hint=N_("who is on duty reads it")))
        self.ends = Label("", "label", "text3")
        self.body.addWidget(self.ends)
        self.end_with_save(self._on_save)
        self.save_button.set_source(N_("Mute"))
        self.reason.textChanged.connect(self._check)
        self.reason.returnPressed.connect(self._on_save)
        self.span.currentIndexChanged.connect(self._check)
        self._check()
        self.reason.setFocus()

    def until(self) -> int:
        """The instant chosen, UTC ms; ``UNTIL_CHANGED`` for none."""
        now = instant.now_ms()
        chosen = int(self.span.currentData())
        if chosen == ON_CHANGE:
            return UNTIL_CHANGED
        if chosen > 0:
            return now + chosen * 1000
        local = shown.moment(now).astimezone(shown.zone())
        end = local.replace(hour=MORNING if chosen == BY_MORNING else 0, minute=0, second=0, microsecond=0)
        if end <= local:
            end += timedelta(days=1)
        return round(end.timestamp() * 1000)

    def _check(self) -> None:
        until = self.until()
        self.ends.setText(
            _("It is told again from {time} on.").format(time=words.clock(until))
            if until != UNTIL_CHANGED
            else _("It is told again when half as many more have it, when it becomes worse, and when it is over.")
        )
        self.forbid("" if self.reason.text().strip() else _("Say why first"))

    def _on_save(self) -> None:
        if self.save_button.isEnabled():
            self.chosen.emit(self.until(), self.reason.text().strip(), self._seen)

    def refused(self, error: BaseException) -> None:
        """Where somebody else muted it meanwhile, show until when and why: that stays, or is written over."""
        if not isinstance(error, AnswerChanged):
            super().refused(error)
            return
        self._seen = now = error.now
        why = safe.one_line(now.reason, 200)
        said = (
            _("Now there: until it changes, {why}").format(why=why)
            if now.changes_from
            else _("Now there: until {time}, {why}").format(time=words.clock(now.muted_until), why=why)
        )
        lead = _("{who} muted it meanwhile; nothing is saved.").format(who=safe.one_line(now.muted_by, 60))
        self.changed.show_text(said, lead)
        self.save_button.set_source(N_("Overwrite"))


class ChannelDialog(KeepsTyped, SavingDialog):
    """Signals:
    saved: the ``Channel``, and what it was (None for a new one).
    """

    saved = Signal(object, object)

    def __init__(
        self,
        channel: Channel | None,
        save: Callable[[Channel], Channel | None],
        receivers: Collection[str] = (),
        parent: QWidget | None = None,
    ) -> None:
        """``receivers``: names of channels and of their groups."""
        title = N_("Change a channel") if channel is not None else N_("New channel")
        super().__init__(title, icon="ph.paper-plane-tilt", width=WIDTH, parent=parent)
        self._channel, self._save = channel or _new_channel(), save
        now, self._called = self._channel, words.Called(receivers)
        self.name = QLineEdit(now.name if channel is not None else "")
        self.name.setEnabled(channel is None)
        self.kind, self.language = ChoiceField(), ChoiceField()
        for name, word in words.KINDS.items():
            self.kind.addItem(_(word), name)
        for name, word in words.LANGUAGES.items():
            self.language.addItem(word, name)
        self.kind.setCurrentIndex(list(words.KINDS).index(now.kind))
        self.language.setCurrentIndex(list(words.LANGUAGES).index(now.language))
        self.group, self.secret, self.to = (
            QLineEdit(self._called.said([now.group])),
            QLineEdit(now.secret),
            QLineEdit(now.options.get("to", "")),
        )
        self.rate = NumberField(now.rate, 1, channels.MOST_RATE)
        self.fields = {
            "name": Labelled(N_("Name"), self.name),
            "kind": Labelled(N_("Kind"), self.kind),
            "language": Labelled(N_("Language"), self.language),
            "group": Labelled(
                N_("Group"),
                self.group,
                hint=N_("On duty (duty) is told first, Escalation (lead) when nobody answers"),
            ),
            "rate": Labelled(N_("A minute at most"), self.rate, hint=N_("messages")),
            "secret": Labelled(N_("Name of its address"), self.secret, hint=N_("empty: as the channel")),
            "options": Labelled(N_("To"), self.to, hint=N_("mail addresses")),
        }
        for names in (("name", "kind"), ("group",), ("language", "rate"), ("secret", "options")):
            row = in_row(spacing=12)
            for name in names:
                row.addWidget(self.fields[name], 1, Qt.AlignmentFlag.AlignTop)  # an error below one moves no other
            self.body.addLayout(row)
        self.hint = Label("", "label", "text3", wrap=True)
        self.body.addWidget(self.hint)
        self.end_with_save(self._on_save)
        for field in (self.name, self.secret):
            field.textChanged.connect(self._check)
        self.kind.currentIndexChanged.connect(self._check)
        self._check()

    def made(self) -> Channel:
        """What the fields say."""
        to = self.to.text().strip()
        return replace(
            self._channel,
            name=self.name.text().strip(),
            kind=self.kind.currentData(),
            language=self.language.currentData(),
            group=self._called.one(self.group.text()),
            secret=self.secret.text().strip(),
            rate=self.rate.value(),
            options={"to": to} if to and self.kind.currentData() == channels.MAIL else {},
        )

    def _check(self) -> None:
        made = self.made()
        self.fields["options"].setEnabled(made.kind == channels.MAIL)
        said = _("Its address is never kept here, but on the machines that lead: in their environment or keyring.")
        if made.name:
            named = _(
                "Its address is never kept here: set {variable} on the machines that lead, or keep it in their keyring."
            )
            said = named.format(variable=made.variable)
        self.hint.setText(said)
        self.forbid("" if made.name else _("Type a name first"))

    def _on_save(self) -> None:
        made = self.made()
        self.start(partial(self._save, made), partial(self._done, made))

    def _done(self, made: Channel, before: object) -> None:
        self.saved.emit(made, before)


def _new_channel() -> Channel:
    """What a new one begins with: who makes it reads the language of the window."""
    return Channel(name="duty", kind=channels.WECOM, language=channels.ZH if is_chinese() else channels.EN)
