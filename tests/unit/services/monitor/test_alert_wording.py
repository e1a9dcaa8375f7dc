"""What a message of an incident says: instants of its day without that day, and how far it reached at its worst."""

from __future__ import annotations

import re

from msgspec.structs import replace

from services.domain.alerts.incident import RAISED, RESOLVED, Words
from services.domain.alerts.outbox import Letter
from services.domain.text.message import Message
from services.monitor.alerts import wording

DAY, NOON = 86_400_000, 1_795_694_400_000  #: 2026-11-26 12:00 UTC
SILENT = Message("alert.silent", {"n": 1, "worker": "w2", "machine": "desk"})
LETTER = Letter(
    incident="INC-1",
    step=1,
    what=RAISED,
    channel="ops",
    severity="warning",
    rule="silent_worker",
    words=Words(title=SILENT),
    first_at=NOON,
    at=NOON + 60_000,
)


def body(letter: Letter) -> list[str]:
    return wording.letter_text(letter, "en", "UTC", letter.at).body.splitlines()


def test_a_title_leaves_out_the_day_on_which_it_began() -> None:
    for instant, said in ((NOON, "12:00"), (NOON - DAY, "11-25 12:00"), (NOON + 400 * DAY, "2027-12-31 12:00")):
        words = Words(title=Message("alert.leaderless_now", {"from_at": instant}))
        assert wording.title(words, "UTC", NOON) == f"Nobody leads the fleet since {said}"
    assert wording.title(words, "UTC") == "Nobody leads the fleet since 2027-12-31 12:00", "nothing else says the day"
    assert body(LETTER)[0].startswith("Since 2026-11-26 12:00, for ")
    assert re.search(r"; figures as of [0-9: -]+$", body(LETTER)[0]), "a page that is read later has others"


def test_what_is_over_says_how_far_it_had_reached() -> None:
    over = replace(LETTER, what=RESOLVED, count=1, worst=2)
    assert body(over)[1] == "At its worst it was 2"
    assert not any("worst" in line for line in body(replace(over, count=2)))
