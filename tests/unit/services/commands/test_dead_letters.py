"""Commands on dead letters: what is no note is refused."""

from __future__ import annotations

import json

import pytest

from services.domain.errors import UsageError
from services.domain.task.notes import NOTE_LIMIT
from services.domain.text.mask import DOTS, masked
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


SECRET = '{"user": "ann", "password": "hunter2", "pages": 3}'


def test_a_letter_that_is_corrected_with_its_secrets_hidden_keeps_them(room: Room, desk: Desk) -> None:
    letter = room.dead(payload=json.loads(SECRET))
    shown = {**masked(json.loads(SECRET)), "pages": 4}
    made = desk.dead_letters.republish([letter.task_id], payload=shown).made[letter.task_id]
    (fresh,) = room.store.get([made])
    assert fresh is not None
    assert json.loads(fresh.payload) == {"user": "ann", "password": "hunter2", "pages": 4}
    assert "hunter2" not in room.store.audit(1)[0].detail


def test_a_secret_typed_over_the_dots_replaces_the_old_one(room: Room, desk: Desk) -> None:
    letter = room.dead(payload=json.loads(SECRET))
    shown = {**masked(json.loads(SECRET)), "password": "correct horse"}
    made = desk.dead_letters.republish([letter.task_id], payload=shown).made[letter.task_id]
    (fresh,) = room.store.get([made])
    assert fresh is not None
    assert json.loads(fresh.payload)["password"] == "correct horse"


def test_dots_are_never_sent_as_a_secret(room: Room, desk: Desk) -> None:
    letter = room.dead(payload={"user": "ann"})
    with pytest.raises(UsageError, match="dots") as caught:
        desk.dead_letters.republish([letter.task_id], payload={"user": "ann", "password": DOTS})
    assert caught.value.field == "payload.password"
    assert room.store.get([letter.task_id])[0] == letter
