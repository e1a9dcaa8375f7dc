"""What a person is asked about a pause: why it stands, and, before one ends that is somebody else's or has a note,
whether they have read it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QWidget

from services import messages
from services.domain.fleet.shop import Pause
from services.i18n import N_, _
from views.dialogs.confirm import Finding, Question, ask_for_note, confirm
from views.support import safe, shown
from views.support.operation import Start

NOTE_SHOWN = 400


def needs_asking(pause: Pause | None, me: str) -> bool:
    """Whether a pause is not for ``me`` (``user@host``) to end without a look."""
    return pause is not None and bool(pause.reason or (pause.by and pause.by != me))


def ask_to_resume(
    pause: Pause | None, what: Callable[[], str], asking: tuple[str, int], owner: QWidget, go: Callable[[], object]
) -> None:
    """Call ``go`` at once, or after a person has read whose pause it is and said yes.

    ``what`` names what is paused; ``asking`` is who asks and when (UTC ms).
    """
    me, now_ms = asking
    if pause is None or not needs_asking(pause, me):
        go()
        return
    confirm(partial(_read_it, pause, what, now_ms), owner, go)


def _read_it(pause: Pause, what: Callable[[], str], now_ms: int) -> Question:
    note = safe.visible(safe.cut(messages.noted(pause.reason.strip()), NOTE_SHOWN), keep_newlines=True)
    who = safe.one_line(messages.noted(pause.by), 80) or _("unknown")
    rows = [(_("paused"), what()), (_("by"), who)]
    if pause.at:
        rows.append((_("since"), shown.clock(pause.at, now_ms)))
    said = _("{who} has written").format(who=who)
    return Question(
        title=N_("End this pause"),
        rows=tuple(rows),
        findings=(Finding("warning", said, _("“{note}”").format(note=note)),) if note else (),
        text=_("Its tasks start at once. Ask who paused it if you are not sure."),
        verb=_("Resume all the same"),
        leave=N_("Leave it paused"),
    )


def ask_why_paused(
    rows: Callable[[], tuple[tuple[str, str], ...]],
    owner: QWidget,
    go: Callable[[str, Start], None],
    unasked: Callable[[], None],
) -> None:
    """Ask why these are paused, which they are already, and ``go`` with the answer and what runs it; ``unasked``: the
    person gave none. ``rows``: name and value of each.
    """

    def question() -> Question:
        return Question(
            title=N_("Why it is paused"),
            rows=rows(),
            text=_("Whoever ends the pause reads it first."),
            verb=_("Write it down"),
            note=_("Why"),
            note_needed=_("Say why first"),
        )

    ask_for_note(question, owner, go, unasked)
