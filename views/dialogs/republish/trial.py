"""Try a few first: what all of them have in common, a verb, and what came of those that were tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QWidget

from services.commands.bulk.options import Probe
from services.commands.bulk.republish import Ended
from services.domain.fleet.shop import Shop
from services.domain.insight.cause import Worth
from services.domain.task.status import Status
from services.i18n import _, ngettext
from views.dialogs.notice import Notice
from views.dialogs.republish.sorting import CLOSED, Sorted
from views.support import shown, text
from views.support.words import kinds, verdicts

PROBES = 3


class TrialNote(Notice):
    """Whether it would help, then how those that were tried stand."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("warning", parent)

    def show_sorted(self, found: Sorted, worth: Worth) -> None:
        """Say whether they would pass now, and what they have in common."""
        self.set_status(verdicts.look(worth).status)
        lines = [verdicts.why(worth), text.run_on((_common(found), _shops(found)))]
        self.show_words(_(verdicts.look(worth).word), "\n".join(line for line in lines if line))

    def show_probes(self, probes: Sequence[Probe], ended: Ended | None, shops: Mapping[str, Shop]) -> None:
        """Say how those that were tried stand; ``ended`` once that is settled."""
        passed = sum(1 for probe in probes if probe.passed)
        failed = sum(1 for probe in probes if probe.passed is False)
        over = ended is not None
        self.set_status("dead" if failed else "healthy" if over and passed else "warning" if over else "running")
        lines = [_probe_line(probe, shops) for probe in probes]
        if ended is not None and ended.why is not None and (failed or not probes):
            lines.append(shown.say(ended.why))
        self.show_words(_lead(probes, passed, failed), "\n".join(lines))


def all_failed(ended: Ended | None) -> bool:
    """Whether everything that was tried has failed."""
    return ended is not None and bool(ended.probes) and all(probe.passed is False for probe in ended.probes)


def _lead(probes: Sequence[Probe], passed: int, failed: int) -> str:
    number = len(probes)
    if number and failed == number and all(probe.same for probe in probes):
        words = ngettext(
            "{n} of {n} failed again with the same error", "{n} of {n} failed again with the same error", number
        )
        return words.format(n=number)
    if number and failed == number:
        return _("{n} of {n} failed again").format(n=number)
    count = ngettext("{n} tried", "{n} tried", number).format(n=number)
    words = _("{tried}: {passed} succeeded, {failed} failed")
    return words.format(tried=count, passed=passed, failed=failed)


def _probe_line(probe: Probe, shops: Mapping[str, Shop]) -> str:
    shop = shops.get(probe.shop)
    name = shop.name if shop is not None and shop.name else probe.shop
    # one that waits for its next attempt after the same failure counts as failed here
    status = Status.DEAD if probe.passed is False and probe.same else probe.status
    state = shown.status_word(status).lower() if status else _("lost")
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
