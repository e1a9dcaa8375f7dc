"""People and roles in Settings: an admin changes them, everybody else reads them."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services.commands.operator import current, person
from services.engine import people
from tests.unit.views.pages.fleet_rig import Fleet
from views.pages.settings.cards import PeopleCard, PersonRow

BEN = "ben@desk-02"


@pytest.fixture
def card(qtbot: QtBot, fleet: Fleet) -> PeopleCard:
    """The card as the page shows it, with somebody who has the default."""
    current(fleet.store, who=BEN)
    made = PeopleCard(fleet.context)
    qtbot.addWidget(made)
    made.show()
    made.refresh()
    qtbot.waitUntil(lambda: len(made.rows) == 2)
    return made


def row(card: PeopleCard, who: str) -> PersonRow:
    return next(one for one in card.rows if one.person.who == who)


def test_an_admin_gives_and_takes_roles(qtbot: QtBot, fleet: Fleet, card: PeopleCard) -> None:
    assert row(card, BEN).given.text() == "like everybody else"
    assert not row(card, BEN).remove_button.isEnabled()
    row(card, BEN).choice.choose("viewer")
    qtbot.waitUntil(lambda: row(card, BEN).person.entry is not None)
    assert row(card, BEN).choice.current() == "viewer"
    assert row(card, BEN).given.text().startswith(f"given by {person()}")
    row(card, BEN).remove_button.click()
    qtbot.waitUntil(lambda: row(card, BEN).person.entry is None)
    card.usual.choice.choose("viewer")
    qtbot.waitUntil(lambda: row(card, BEN).person.role == "viewer")
    card.field.setText("cleo@desk-03")
    card.add_button.click()
    qtbot.waitUntil(lambda: len(card.rows) == 3)
    assert card.field.text() == ""
    acts = [one.action for one in fleet.store.audit(10)]
    assert acts == ["role.set", "role.default", "role.remove", "role.set"]


def test_the_only_admin_stays_it_and_the_choice_goes_back(qtbot: QtBot, fleet: Fleet, card: PeopleCard) -> None:
    row(card, person()).choice.choose("viewer")
    qtbot.waitUntil(card.error.isVisible)
    assert row(card, person()).choice.current() == "admin"
    assert people.roles(fleet.store).admins() == (person(),)


def test_a_viewer_sees_it_and_changes_nothing(qtbot: QtBot, fleet: Fleet, card: PeopleCard) -> None:
    fleet.store.put_document("role", BEN, '{"role": "admin"}')
    fleet.store.put_document("role", person(), '{"role": "viewer"}')
    card.refresh()
    qtbot.waitUntil(lambda: row(card, person()).person.role == "viewer")
    for one in card.rows:
        assert not one.choice.isVisible()
        assert not one.remove_button.isVisible()
    assert (row(card, BEN).word.text(), card.add_button.isVisible()) == ("Admin", False)
    assert card.note.text() == "Only an admin may change roles."


def test_nothing_is_changed_while_that_is_not_allowed(card: PeopleCard) -> None:
    card.set_acting("Not while the connection is lost")
    assert not card.add_button.isVisible()
    assert not any(one.choice.isVisible() for one in card.rows)
    assert card.note.text() == "Not while the connection is lost"
