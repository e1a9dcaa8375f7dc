"""What a preview counts: nothing of a selection is lost between what goes and what is left alone."""

from __future__ import annotations

from services.domain.task.status import Status, Triage
from services.monitor.tasks import Pick
from views.kit.task_verb import question
from views.pages.tasks.verbs import CANCEL, DECISIONS, RETRY, VERBS


def picks(status: str, triage: str, number: int) -> list[Pick]:
    return [Pick(f"{status}{triage}{n}", status, triage, 5) for n in range(number)]


def test_what_is_left_alone_is_one_sum_however_it_was_dealt_with() -> None:
    chosen = [
        *picks(Status.QUEUED, "", 4),
        *picks(Status.DEAD, Triage.OPEN, 2),
        *picks(Status.DEAD, Triage.ARCHIVED, 3),
        *picks(Status.SUCCEEDED, "", 6),
    ]
    asked = question(CANCEL, chosen, "staging")
    assert asked.number == "4 tasks"
    assert asked.rows == (
        ("Waiting", "4 tasks"), ("Left alone: Succeeded", "6 tasks"), ("Left alone: Dead", "5 tasks"),
    )  # fmt: skip


def test_the_way_out_of_cancelling_is_not_called_cancel() -> None:
    chosen = picks(Status.QUEUED, "", 4)
    for verb in (one for one in VERBS if one not in DECISIONS):
        asked = question(verb, chosen, "staging")
        assert asked.leave == ("Do not cancel" if verb is CANCEL else "Cancel")
        assert asked.danger == (verb is CANCEL)


def test_a_status_may_stand_on_both_sides() -> None:
    """A dead letter that became another task already is not retried beside those that were not."""
    chosen = [
        *picks(Status.DEAD, Triage.OPEN, 2),
        *picks(Status.DEAD, Triage.ARCHIVED, 1),
        *picks(Status.DEAD, Triage.REPUBLISHED, 7),
    ]
    asked = question(RETRY, chosen, "staging")
    assert asked.number == "3 tasks"
    assert [value for _name, value in asked.rows] == ["2 tasks", "1 task", "7 tasks"]
    assert asked.rows[-1][0] == "Left alone: Dead"
