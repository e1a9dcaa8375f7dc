"""What is said of others while a part does not answer: what they report, and nothing that nobody knows."""

from __future__ import annotations

import pytest

from services.domain.insight import connection
from services.domain.insight.connection import Reach
from services.messages import english

NOBODY_KNOWS = "If only this computer is cut off, workers go on as usual."


@pytest.mark.parametrize(
    ("reach", "words"),
    [
        (Reach(broker=False, alive=3), NOBODY_KNOWS),
        (Reach(broker=False), NOBODY_KNOWS),
        (Reach(store=False), NOBODY_KNOWS),
        (Reach(store=False, broker=False, alive=3, apart=3), NOBODY_KNOWS),
        (
            Reach(broker=False, alive=3, apart=1),
            "It is not only this computer: 1 worker reports that it cannot reach the broker.",
        ),
        (
            Reach(broker=False, alive=3, apart=3),
            "It is not only this computer: 3 workers report that they cannot reach the broker.",
        ),
        (Reach(broker=False, alive=3, refused=True), ""),
        (
            Reach(broker=False, alive=3, refused=True, apart=3),
            "It is not only this computer: 3 workers report that they cannot reach the broker.",
        ),
        (Reach(broker=False, alive=0), ""),
        (Reach(broker=False, embedded=True), ""),
        (Reach(broker=False, online=False, alive=3, apart=3), ""),
    ],
)
def test_whether_others_are_cut_off_too_is_said_as_they_report_it(reach: Reach, words: str) -> None:
    told = connection.perhaps(reach)
    assert (english(told) if told is not None else "") == words


def test_without_the_broker_nothing_new_starts() -> None:
    told = english(connection.meanwhile(Reach(broker=False)))
    assert told == "Workers finish what they hold and record it; nothing new starts until the broker is back."


def test_a_broker_that_refuses_this_program_alone_holds_up_no_worker() -> None:
    said = Reach(broker=False, refused=True, alive=3)
    assert english(connection.meanwhile(said)) == (
        "Workers go on as usual; what is created here is recorded and sent a little later."
    )
    for others in (Reach(broker=False, refused=True, alive=3, apart=3), Reach(broker=False, refused=True, alive=0)):
        assert "nothing new starts" in english(connection.meanwhile(others))
