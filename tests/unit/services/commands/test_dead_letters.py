"""Commands on dead letters: what is no note is refused."""

from __future__ import annotations

import pytest

from services.domain.errors import UsageError
from services.domain.remarks import NOTE_LIMIT
from tests.unit.services.commands.conftest import Desk
from tests.unit.services.engine.room import Room


@pytest.mark.parametrize("text", ["", "  \n\t", "x" * (NOTE_LIMIT + 1)], ids=["empty", "blank", "too long"])
def test_what_is_no_note_is_refused_and_nothing_written(room: Room, desk: Desk, text: str) -> None:
    letter = room.dead()
    with pytest.raises(UsageError) as caught:
        desk.dead_letters.note(letter.task_id, text)
    assert caught.value.field == "text"
    assert (room.store.notes(letter.task_id), room.store.audit(10)) == ([], [])


@pytest.mark.parametrize("text", ["x", " 已通知店铺 \n", "x" * NOTE_LIMIT], ids=["short", "spaces around", "long"])
def test_a_note_is_kept_without_the_spaces_around_it(room: Room, desk: Desk, text: str) -> None:
    letter = room.dead()
    assert desk.dead_letters.note(letter.task_id, text).done == (letter.task_id,)
    assert [(one.text, one.who) for one in room.store.notes(letter.task_id)] == [(text.strip(), "ann@desk")]
