"""What can be done with the tasks that are chosen: said by the action bar, done by button and key."""

from __future__ import annotations

from services.domain.task.status import Status
from views.pages.tasks.action_bar import ActionBar
from views.pages.tasks.actions import TaskActions
from views.pages.tasks.selection import Selection
from views.pages.tasks.tally import Tally
from views.pages.tasks.verbs import (
    CREATE_AGAIN,
    DECISIONS,
    MENU_VERBS,
    RETRY,
    RUN_NOW,
    VERBS,
    Verb,
    cancelled,
    retrying,
    run_now,
    undecided,
)
from views.pages.tasks.wait_words import no_help


class Offers:
    """Keeps the bar true to the selection and runs its verbs."""

    def __init__(self, bar: ActionBar, selection: Selection, actions: TaskActions, tally: Tally) -> None:
        self._bar, self._selection, self._actions, self._tally = bar, selection, actions, tally

    def show(self, *, newest_first: bool) -> None:
        """Say what is chosen, and of each verb why it cannot be done."""
        standing = self._selection.standing()
        reasons = {verb.key: self._reason(verb) for verb in VERBS}
        self._bar.show_state(self._tally.bar_state(self._selection), lambda key: reasons[key])
        self._bar.set_newest_first(newest_first)
        verbs = DECISIONS if undecided(standing) else ()
        alone = all(status == Status.HELD for (status, _triage), number in standing.items() if number)
        self._bar.offer_decisions([(verb, self._actions.reason(verb, standing)) for verb in verbs], alone=alone)
        self._bar.offer_tries(again=retrying(standing), name=run_now(self._selection.one()))
        self._bar.offer_again(offered=cancelled(standing), reason=self._actions.reason(CREATE_AGAIN, standing))

    def act(self, key: str) -> None:
        """Do it to what is chosen, unless there is a reason not to."""
        verb = next(one for one in (*MENU_VERBS, *DECISIONS, CREATE_AGAIN) if one.key == key)
        if not self._refusal(verb):
            self._actions.run(verb, self._selection.picks())

    def _refusal(self, verb: Verb) -> str:
        """Why it cannot be done, or would be refused."""
        barred = self._actions.reason(verb, self._selection.standing())
        return barred or (self._selection.refused(self._selection.picks()) if verb is RETRY else "")

    def _reason(self, verb: Verb) -> str:
        """Why it is not offered: also where it would be of no use to the one task under the cursor."""
        return self._refusal(verb) or (no_help(self._selection.gate()) if verb is RUN_NOW else "")
