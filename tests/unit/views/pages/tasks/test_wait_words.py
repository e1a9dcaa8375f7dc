"""What stands in the cell of a task that waits."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.insight import gates
from services.domain.insight.wait import CLOSED, GateView
from services.domain.task.status import Status
from services.monitor.waits.waiting import Wait
from tests.unit.services.domain.builders import NOW, task
from views.pages.tasks import wait_words


@pytest.mark.parametrize(("retries", "words"), [(0, "in 30 s"), (1, "last try in 30 s")])
def test_before_the_last_attempt_that_comes_first(retries: int, words: str) -> None:
    record = task(status=Status.RETRYING, due_at=NOW + 30_000, retries=retries, max_retries=1, attempt=1)
    assert wait_words.cell(record, gates.NOT_DUE, None, NOW).text.replace("\u202f", " ") == words


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        (gates.TWIN, "gate.twin_running_done", "same work runs"),
        (gates.TWIN, "gate.twin_hung", "same work hangs"),
        (gates.SHOP_BUSY, "gate.shop_hung", "shop hangs"),
        (gates.BROKER, "gate.cut_off", "broker lost"),
        (gates.BROKER, "gate.cut_off_for", "broker lost"),
        (gates.BROKER, "gate.workers_cut_off", "workers miss the broker"),
        (gates.MESSAGE, "gate.unsent_disk", "not sent: broker out of disk"),
    ],
)
def test_the_decisive_words(name: str, code: str, words: str) -> None:
    params: dict[str, Any] = {"ahead": 0}
    view = GateView(name=name, state=CLOSED, code=code, params=params)
    assert wait_words.cell(task(status=Status.QUEUED), name, Wait(gate=view), NOW).text == words


def test_where_the_broker_takes_nothing_run_now_says_that_it_cannot_help() -> None:
    view = GateView(name=gates.MESSAGE, state=CLOSED, code="gate.unsent_memory")
    assert wait_words.no_help(view) == "The broker takes no new messages"
    assert wait_words.no_help(GateView(name=gates.MESSAGE, state=CLOSED, code="gate.unconfirmed")) == ""


@pytest.mark.parametrize(
    ("gate", "code", "needs"),
    [
        (gates.PAUSED, "gate.paused", True),
        (gates.SESSION, "gate.session_login", True),
        (gates.BROKER, "gate.workers_cut_off", True),
        (gates.SHOP_BUSY, "gate.shop_hung", True),
        (gates.TWIN, "gate.twin_held", True),
        (gates.DEPENDENCY, "gate.dependency_dead", True),
        (gates.SHOP_BUSY, "gate.shop_held", False),
        (gates.TWIN, "gate.twin_running", False),
        (gates.DEPENDENCY, "gate.dependency", False),
        (gates.NOT_DUE, "gate.scheduled", False),
    ],
)
def test_what_goes_on_only_after_a_person_has_acted(gate: str, code: str, needs: bool) -> None:
    assert wait_words.needs_person(GateView(name=gate, state=CLOSED, code=code)) is needs
