"""What can be done with the tasks that are chosen: said by the action bar, done by button and key."""

from __future__ import annotations

from collections.abc import Sequence

from views.kit.task_verb import Chosen, TaskVerb, many, standing_of
from views.kit.verb import Place, Verbs
from views.page import PageCommand
from views.pages.tasks.action_bar import ActionBar
from views.pages.tasks.actions import TaskActions
from views.pages.tasks.selection import Selection
from views.pages.tasks.tally import Tally


class Offers:
    """Keeps the bar true to the selection and runs its verbs."""

    def __init__(
        self, verbs: Sequence[TaskVerb], bar: ActionBar, selection: Selection, actions: TaskActions, tally: Tally
    ) -> None:
        self._bar, self._selection, self._tally = bar, selection, tally
        self.verbs: Verbs[TaskVerb, Chosen] = Verbs(
            verbs, run=lambda verb, chosen: actions.run(verb, chosen.picks()), barred=actions.barred
        )

    def show(self, *, newest_first: bool) -> None:
        """Say what is chosen, and of each verb why it cannot be done."""
        chosen = self.chosen()
        self._bar.show_state(self._tally.bar_state(self._selection), self.verbs.offers(Place.BAR, chosen))
        self._bar.set_newest_first(newest_first)
        self._bar.offer_decisions(
            [one for one in self.verbs.offers(Place.MENU, chosen) if one.shown and one.verb.decision]
        )

    def act(self, key: str) -> None:
        """Do it to what is chosen, unless there is a reason not to."""
        self.verbs.act(key, self.chosen())

    def commands(self) -> list[PageCommand]:
        """The verbs with their state, for the palette."""
        chosen = self.chosen()
        number = sum(chosen.standing.values())
        return self.verbs.commands("tasks", chosen, many(number) if number else "")

    def chosen(self) -> Chosen:
        """What the bar and keys are about: the ticked tasks, else the one under the cursor."""
        selection = self._selection
        return Chosen(
            standing=selection.standing(),
            picks=selection.picks,
            refused=lambda: selection.refused(selection.picks()),
            one=selection.one(),
            gate=selection.gate(),
            waits_at=selection.waits_at(selection.picks()) if sum(selection.standing().values()) == 1 else "",
        )

    def chosen_at(self, key: object) -> Chosen:
        """What the menu of a row is about."""
        picks = self._selection.picks_at(key)
        return Chosen(
            standing=standing_of(picks),
            picks=lambda: picks,
            refused=lambda: self._selection.refused(picks),
            waits_at=self._selection.waits_at(picks),
        )
