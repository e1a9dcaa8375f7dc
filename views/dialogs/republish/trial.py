"""Try a few first: what all of them have in common, a verb, and what came of those that were tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.commands.bulk import Ended
from services.commands.bulk_options import Probe
from services.domain.shop import Shop
from services.i18n import _, ngettext
from views.dialogs.notice import Notice
from views.dialogs.republish.sorting import CLOSED, Sorted
from views.support import kinds, shown, text
from views.widgets.buttons import LinkLabel

PROBES = 3


class TrialNote(Notice):
    """Signals:
    try_wanted: send a few from different shops.
    """

    try_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("warning", parent)
        self.link = LinkLabel()
        self.link.activated.connect(self.try_wanted)
        self.add_links(self.link)

    def show_sorted(self, found: Sorted, *, busy: bool) -> None:
        """Say what they have in common and offer to try a few."""
        number = min(PROBES, len(found.going))
        self.set_status("warning")
        self.show_words(_common(found), _shops(found))
        self.link.set_count_text(ngettext("Try {n} first", "Try {n} first", number).format(n=number))
        self.link.setVisible(number > 0 and not busy and len(found.going) > 1)

    def show_probes(self, probes: Sequence[Probe], ended: Ended | None, shops: Mapping[str, Shop]) -> None:
        """Say how those that were tried stand; ``ended`` once that is settled."""
        passed = sum(1 for probe in probes if probe.passed)
        failed = sum(1 for probe in probes if probe.passed is False)
        count = ngettext("{n} tried", "{n} tried", len(probes)).format(n=len(probes))
        words = _("{tried}: {passed} succeeded, {failed} failed")
        over = ended is not None
        self.set_status("dead" if failed else "healthy" if over and passed else "warning" if over else "running")
        lines = [_probe_line(probe, shops) for probe in probes]
        if ended is not None and ended.why is not None and (failed or not probes):
            lines.append(shown.say(ended.why))
        self.show_words(words.format(tried=count, passed=passed, failed=failed), "\n".join(lines))
        self.link.setVisible(False)


def _probe_line(probe: Probe, shops: Mapping[str, Shop]) -> str:
    shop = shops.get(probe.shop)
    name = shop.name if shop is not None and shop.name else probe.shop
    state = shown.status_word(probe.status).lower() if probe.status else _("lost")
    if probe.passed is False and probe.kind:
        state = _("{name}: {value}").format(name=state, value=kinds.title(probe.kind) or probe.kind)
    return f"{name}  {state}"


def _common(found: Sorted) -> str:
    prints = {item.fingerprint for item in found.plan.items if item.fingerprint}
    if len(prints) == 1:
        words = ngettext("{n} failed for the same reason.", "{n} failed for the same reason.", found.total)
        return words.format(n=text.count(found.total))
    words = ngettext("They failed for {n} reason.", "They failed for {n} reasons.", len(prints))
    return words.format(n=text.count(len(prints)))


def _shops(found: Sorted) -> str:
    closed = len({item.shop for item in found.reasons.get(CLOSED, ())})
    if not closed:
        return _("Whether it is put right shows best in a few.")
    rest = len({item.shop for item in found.plan.items if item.shop}) - closed
    shut = ngettext("{n} shop is still logged out", "{n} shops are still logged out", closed)
    back = ngettext("the other {n} is back or not known", "the other {n} are back or not known", rest)
    return _("{closed}; {rest}.").format(closed=shut.format(n=text.count(closed)), rest=back.format(n=text.count(rest)))
