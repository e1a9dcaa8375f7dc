"""When the breaker of a shop opens: so many failures of the last so many, and how long it then waits."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from services.domain.gates import breaker
from services.domain.gates.breaker import Rule
from services.i18n import N_, _
from views.dialogs.frame import DialogFrame
from views.support.look import Label
from views.widgets.fields import Labelled, NumberField
from views.widgets.toggle import Toggle

WIDTH = 500


class RuleDialog(DialogFrame):
    """Signals:
    chosen: the ``Rule``.
    """

    chosen = Signal(object)

    def __init__(self, rule: Rule, reason: str = "", parent: QWidget | None = None) -> None:
        """``reason``: why it cannot be changed, "" when it can."""
        super().__init__(N_("When shops that fail are stopped"), icon="ph.hand-palm", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFixedWidth(WIDTH)
        self._rule, self._reason = rule, reason
        self.on = Toggle(N_("Stop shops that fail too often"), on=bool(rule.failures))
        self.failures = NumberField(rule.failures or Rule().failures, 1, breaker.MAX_WINDOW)
        self.of = NumberField(rule.of, 1, breaker.MAX_WINDOW)
        self.cooldown = NumberField(rule.cooldown_s, 1, breaker.MAX_COOLDOWN_S)
        self.most = NumberField(rule.max_cooldown_s, 1, breaker.MAX_COOLDOWN_S)
        self._build()
        for field in (self.failures, self.of, self.cooldown, self.most):
            field.valueChanged.connect(self._check)
        self.on.toggled.connect(self._check)
        self._check()

    def _build(self) -> None:
        words = _(
            "Too many failures of one shop in a row point at the shop: logged out, a captcha, risk control. Its tasks"
            " then wait, and one of them tries now and then until one succeeds."
        )
        self.body.addWidget(Label(words, "body", "text2", wrap=True))
        switch = QHBoxLayout()
        switch.addWidget(Label(_("Let shops that fail wait"), "body"), 1)
        switch.addWidget(self.on)
        self.body.addLayout(switch)
        self._failures = Labelled(N_("Failed attempts"), self.failures)
        self._of = Labelled(N_("Of the last"), self.of)
        self._cooldown = Labelled(N_("First try after"), self.cooldown, hint=N_("seconds, then doubled"))
        self._most = Labelled(N_("At the latest after"), self.most, hint=N_("seconds"))
        for left, right in ((self._failures, self._of), (self._cooldown, self._most)):
            row = QHBoxLayout()
            row.setSpacing(12)
            row.addWidget(left, 1)
            row.addWidget(right, 1)
            self.body.addLayout(row)
        self.cancel_button, self.save_button = self.end_with_save(self._on_save)
        self.cancel_button.setFocus()

    def rule(self) -> Rule:
        """What the fields say."""
        return Rule(
            failures=self.failures.value() if self.on.isChecked() else 0,
            of=self.of.value(),
            cooldown_s=self.cooldown.value(),
            max_cooldown_s=self.most.value(),
        )

    def _check(self) -> None:
        on = self.on.isChecked()
        for field in (self.failures, self.of, self.cooldown, self.most):
            field.setEnabled(on and not self._reason)
        self.on.setEnabled(not self._reason)
        many = on and self.failures.value() > self.of.value()
        short = on and self.most.value() < self.cooldown.value()
        self._failures.set_error(_("At most as many as are looked at") if many else "")
        self._most.set_error(_("Not shorter than the first wait") if short else "")
        same = _("Nothing was changed yet") if self.rule() == self._rule else ""
        wrong = _("Correct the marked fields first") if many or short else ""
        self.save_button.disable(self._reason or wrong or same)

    def _on_save(self) -> None:
        rule = self.rule()
        self.accept()
        self.chosen.emit(rule)
