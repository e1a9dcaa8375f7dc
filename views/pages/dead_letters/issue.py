"""What is decided about a known issue: who is at it, and what is done about it by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from services.commands.causes import CauseChanged
from services.domain.errors import UsageError
from services.domain.insight import known_issue
from services.domain.insight.cause_rule import MAX_LINK, MAX_NAME, CauseRule
from services.domain.task.search import filter_time
from services.domain.text.words import between_commas
from services.i18n import N_, _, ngettext
from views.dialogs.saving import SavingDialog, SharedForm, stands_there
from views.dialogs.typed import KeepsTyped
from views.support import safe, text
from views.support.look import Label
from views.support.throttle import Debounce
from views.widgets.fields import Labelled
from views.widgets.layout import put

WIDTH = 460
#: who is still writing a span is not told that it is none
TELL_MS = 700


class Decided(NamedTuple):
    """As the command takes it."""

    owner: str
    park_s: int
    retry_at: str
    alert_once: bool
    route: tuple[str, ...]
    link: str = ""


class KnownIssue(KeepsTyped, SharedForm):
    """Signals:
    saved: the ``CauseRule`` that stood there, and what is ``Decided``; ``start`` takes what keeps it.
    """

    saved = Signal(object, object)

    def __init__(
        self, title: str, rule: CauseRule, shops: int = 0, parent: QWidget | None = None, *, beyond: str = ""
    ) -> None:
        """``title``: what the cause is called; ``shops``: how many have an open letter of it; ``beyond``: that there
        are more letters than those in sight.
        """
        super().__init__(N_("Known issue"), icon="ph.bookmark-simple", width=WIDTH, parent=parent)
        self.owner, self.park = QLineEdit(rule.owner), QLineEdit(_span(rule.park_s))
        self.retry_at, self.route = QLineEdit(rule.retry_at), QLineEdit(", ".join(rule.route))
        self.alert_once = QCheckBox(_("Tell an alert on it once"))
        self.alert_once.setChecked(rule.alert_once)
        self.link = QLineEdit(rule.link)
        self.owner.setMaxLength(MAX_NAME)
        self.link.setMaxLength(MAX_LINK)
        self.link.setPlaceholderText("https://")
        self.park.setPlaceholderText("2h")
        self.retry_at.setPlaceholderText("06:00")
        self.route.setPlaceholderText("duty")
        self.body.addWidget(Label(title, "strong"))
        if beyond:
            self.body.addWidget(Label(beyond, "label", "text2", wrap=True))
        self.fields = {
            "owner": Labelled(N_("Who is at it"), self.owner),
            "link": Labelled(N_("Where it is followed up (a link)"), self.link),
            "park": Labelled(N_("Pause its shops for so long after each letter"), self.park),
            "retry_at": Labelled(N_("Run its letters again at, each day"), self.retry_at),
            "route": Labelled(N_("Alerts go to (channels or groups)"), self.route),
        }
        self._shops, self._park_s = shops, rule.park_s
        self._rule, self._before = rule, decided_of(rule)
        self._theirs: dict[str, str] = {}  #: field -> what somebody else decided meanwhile
        #: what saving does at once, while there is something to say
        self.at_once = Label("", "label", "warn", wrap=True)
        self._tell = Debounce(self._show_wrong, TELL_MS, self)
        for name, part in self.fields.items():
            self.body.addWidget(part)
            if name == "park":
                self.body.addWidget(self.at_once)
        for field in (self.owner, self.link, self.park, self.retry_at, self.route):
            field.textChanged.connect(self._check)
            field.editingFinished.connect(self._tell.flush)
        self.alert_once.toggled.connect(self._check)
        self.body.addWidget(self.alert_once)
        self.cancel, self.save = self.end_with_save(self._on_save)
        self.offer_to_take_over(tuple(self.fields), self._take_theirs)
        self.owner.setFocus()
        self._check()

    def decided(self) -> Decided:
        """What stands in the fields.

        Raises:
            UsageError: a span, a time of day or a link is none.
        """
        typed = self.park.text().strip()
        span = filter_time.duration_ms(typed) if typed else 0
        if span is None:
            raise UsageError(_("Write a span such as 90m, 2h or 1d"), field="park")
        found = Decided(
            owner=self.owner.text().strip(),
            park_s=span // 1000,
            retry_at=self.retry_at.text().strip().replace("：", ":"),
            alert_once=self.alert_once.isChecked(),
            route=tuple(between_commas(self.route.text())),
            link=self.link.text().strip(),
        )
        try:
            known_issue.check(CauseRule(park_s=found.park_s, retry_at=found.retry_at, link=found.link))
        except UsageError as exc:
            words = {
                "park": _("Shops are paused for a minute to 7 days"),
                "link": _("A link begins with http:// or https://"),
                "retry_at": _("Write a time of day such as 06:00"),
            }
            raise UsageError(words.get(exc.field, str(exc)), field=exc.field) from exc
        return found

    def _wrong(self) -> tuple[str, str]:
        """The field that is wrong and why, "" for none."""
        try:
            self.decided()
        except UsageError as exc:
            return exc.field, str(exc)
        return "", ""

    def _check(self) -> None:
        """The button says at once what is wrong, its field once nothing more is typed; what is right is said now."""
        name, why = self._wrong()
        same = not name and self.decided() == self._before
        self.forbid(why or (_("Nothing is changed") if same else ""))
        over = {} if name else self._over()
        self.show_over(over)
        self._say_at_once(parks=not name and self.decided().park_s not in (0, self._park_s))
        if not name:
            self._tell.cancel()
            self._show_wrong()
        else:
            self._tell()

    def _say_at_once(self, *, parks: bool) -> None:
        number = self._shops
        said = ngettext(
            "Saving pauses {n} shop at once, if its newest letter is younger than that.",
            "Saving pauses up to {n} shops at once: those whose newest letter is younger than that.",
            number,
        )
        self.at_once.setText(said.format(n=text.count(number)))
        self.at_once.setVisible(parks and number > 0)

    def _show_wrong(self) -> None:
        name, why = self._wrong()
        over = {} if name else self._over()
        for key, part in self.fields.items():
            part.set_error(why if key == name else over.get(key, ""))

    def _over(self) -> dict[str, str]:
        """The fields that say otherwise than what somebody else decided meanwhile, and what that is."""
        mine, now = _words(self.decided()), _words(decided_of(self._rule))
        return {name: stands_there(now[name]) for name in self._theirs if mine[name] != now[name]}

    def _on_save(self) -> None:
        self.saved.emit(self._rule, self.decided())

    def refused(self, error: BaseException) -> None:
        """Where somebody else decided the same otherwise, show what stands there now: from there the person goes on."""
        if not isinstance(error, CauseChanged):
            super().refused(error)
            return
        was, mine, now = (_words(one) for one in (self._before, self.decided(), decided_of(error.now)))
        alert_left = self.alert_once.isChecked() == self._before.alert_once
        self._rule, self._before, self._park_s = error.now, decided_of(error.now), error.now.park_s
        self._theirs = {name: now[name] for name in was if mine[name] != was[name] and now[name] != was[name]}
        for name in was:
            if mine[name] == was[name]:
                self._take_theirs(name)
        if alert_left:
            self.alert_once.setChecked(error.now.alert_once)
        self._check()
        over = list(self._over())
        said = _("{who} decided otherwise meanwhile; nothing is saved.")
        self.tell_changed(said.format(who=safe.one_line(error.now.known_by or "-", 60)), over[0] if over else "")

    def _take_theirs(self, name: str) -> None:
        field = self.fields[name].field
        if isinstance(field, QLineEdit):
            field.setText(_words(self._before)[name])


class Other(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that another one can count to."""

    fingerprint: str
    name: str
    headline: str  #: what its newest letter says: many causes are called the same
    count: int


class MergeInto(KeepsTyped, SavingDialog):
    """Signals:
    saved: fingerprint of the cause that it counts to; ``start`` takes what does it.
    """

    saved = Signal(str)

    def __init__(self, title: str, headline: str, others: Sequence[Other], parent: QWidget | None = None) -> None:
        """``title``: what the cause is called; ``headline``: what its newest letter says."""
        super().__init__(N_("Merge into another cause"), icon="ph.git-merge", width=WIDTH, parent=parent)
        self._others = {one.fingerprint: one for one in others}
        self.others = QComboBox()
        for one in others:
            self.others.addItem(one.name, one.fingerprint)
        words = _("It counts to")
        self.others.setAccessibleName(words)
        self.about = Label("", "label", "text3", wrap=True)
        self.body.addWidget(Label(title, "strong"))
        self.body.addWidget(Label(headline, "label", "text3", wrap=True))
        self.body.addWidget(Label(words, "label", "text2"))
        self.body.addWidget(self.others)
        self.body.addWidget(self.about)
        self.cancel, self.save = self.end_with_save(self._on_save)
        self.others.currentIndexChanged.connect(lambda _at: self._say_other())
        self._say_other()

    def _say_other(self) -> None:
        one = self._others.get(str(self.others.currentData()))
        if one is not None:
            number = ngettext("{n} dead letter", "{n} dead letters", one.count).format(n=text.count(one.count))
            self.about.setText("\n".join(part for part in (number, one.headline) if part))

    def _on_save(self) -> None:
        self.saved.emit(str(self.others.currentData()))


class SplitOff(KeepsTyped, SavingDialog):
    """Signals:
    saved: the place whose letters are a cause of their own: ``shop:pdd:s1``, ``platform:temu``, ``worker:desk-7``;
        ``start`` takes what does it.
    """

    saved = Signal(str)

    def __init__(self, title: str, places: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        """``title``: what the cause is called; ``places``: each with its words."""
        super().__init__(N_("Split a cause"), icon="ph.git-branch", width=WIDTH, parent=parent)
        self.places = QComboBox()
        for where, name in places:
            self.places.addItem(name, where)
        words = _("A cause of their own are the letters of")
        self.places.setAccessibleName(words)
        put(self.body, Label(title, "strong"), Label(words, "label", "text2"), self.places)
        told = _("It gets its own owner, note and rule; what was decided about this cause does not hold for it.")
        self.body.addWidget(Label(told, "label", "text3", wrap=True))
        self.cancel, self.save = self.end_with_save(self._on_save)

    def _on_save(self) -> None:
        self.saved.emit(str(self.places.currentData()))


def decided_of(rule: CauseRule) -> Decided:
    """What is decided about a cause."""
    return Decided(rule.owner, rule.park_s, rule.retry_at, rule.alert_once, rule.route, rule.link)


def _words(decided: Decided) -> dict[str, str]:
    """What the fields say of it."""
    return {
        "owner": decided.owner,
        "link": decided.link,
        "park": _span(decided.park_s),
        "retry_at": decided.retry_at,
        "route": ", ".join(decided.route),
    }


def _span(seconds: int) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s" if seconds else ""
