"""What the Tasks page offers in the command palette."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from services.i18n import _
from views.page import PageCommand
from views.pages.tasks.actions import TaskActions
from views.pages.tasks.selection import Selection
from views.pages.tasks.verbs import MENU_VERBS, RETRY, extra, many

if TYPE_CHECKING:
    from views.pages.tasks.page import TasksPage


def page_commands(page: TasksPage, actions: TaskActions, selection: Selection) -> Sequence[PageCommand]:
    """Verbs on the selection with their state, then what can be done with the list."""
    standing = selection.standing()
    picks = selection.picks()
    verbs = [
        PageCommand(
            key=f"tasks.{verb.key}",
            words=_(verb.text),
            note=many(len(picks)) if picks else "",
            icon=verb.icon,
            keys=verb.shortcut,
            reason=actions.reason(verb, standing) or (selection.refused(picks) if verb is RETRY else ""),
            run=partial(actions.run, verb, picks),
        )
        for verb in (*extra(standing), *MENU_VERBS)
    ]
    return (
        *verbs,
        PageCommand(key="tasks.all", words=_("Select all that match"), icon="ph.checks", run=page.select_all),
        PageCommand(key="tasks.export", words=_("Export"), icon="ph.export", run=page.share),
        PageCommand(
            key="tasks.suppressed",
            words=_("Suppressed duplicates"),
            icon="ph.copy-simple",
            run=page.show_suppressed,
        ),
        PageCommand(key="tasks.save", words=_("Save view"), icon="ph.bookmark-simple", run=page.save_view),
    )
