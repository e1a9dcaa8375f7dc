"""A verb is one entry of a list: menu, buttons, keys and palette are made of it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from views.kit.verb import LOOK, Place, Verb, Verbs, show
from views.support import safe
from views.widgets.buttons import Button

LACKING = "Only an admin may change this"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint(Verb[str]):
    """A verb on a fence of some colour."""

    needs: str = ""

    def name(self, chosen: str) -> str:
        """The second coat is called so."""
        return f"{self.text} again" if chosen == "white" else self.text

    def offered(self, place: Place, chosen: str) -> bool:
        """Nothing is offered for a fence that is gone."""
        return place in self.places and chosen != "gone"

    def why_not(self, chosen: str) -> str:
        """Some verbs need another colour."""
        return f"It is {chosen}" if self.needs and chosen != self.needs else ""


WHITEN = Paint(key="whiten", text="Whiten", shortcut="W")
SELL = Paint(key="sell", text="Sell", role="admin", places=frozenset({Place.MENU, Place.PALETTE}), needs="white")
STRIP = Paint(key="strip", text="Strip", special=True, places=frozenset({Place.MENU}))
Done = list[tuple[str, str]]


@pytest.fixture
def done() -> Done:
    """What was done to which fence."""
    return []


@pytest.fixture
def verbs(done: Done) -> Verbs[Paint, str]:
    """For an operator."""
    return Verbs(
        (STRIP, WHITEN, SELL),
        run=lambda verb, chosen: done.append((verb.key, chosen)),
        barred=lambda role: LACKING if role == "admin" else "",
    )


def test_a_menu_has_them_grey_with_their_reasons_and_the_special_ones_apart(
    qtbot: QtBot, verbs: Verbs[Paint, str], done: Done
) -> None:
    menu = QMenu()
    qtbot.addWidget(menu)
    verbs.fill(menu, "white")
    entries = [one for one in menu.actions() if not one.isSeparator()]
    assert [one.text() for one in entries] == ["Strip again", "Whiten again", "Sell again"]
    assert [one.toolTip() for one in entries if not one.isEnabled()] == [LACKING]
    assert [one.shortcut().toString() for one in entries] == ["", "W", ""]
    assert [one.isSeparator() for one in menu.actions()] == [False, True, False, False]
    menu.actions()[2].trigger()
    assert done == [("whiten", "white")]
    verbs.fill(gone := QMenu(menu), "gone")
    assert gone.actions() == []


def test_buttons_have_those_of_their_place(verbs: Verbs[Paint, str]) -> None:
    (offer,) = verbs.offers(Place.BAR, "red")
    assert (offer.verb, offer.name, offer.shown, offer.reason) == (WHITEN, "Whiten", True, "")
    assert not verbs.offers(Place.BAR, "gone")[0].shown
    assert verbs.at(Place.MENU) == (STRIP, WHITEN, SELL)


def test_the_palette_names_reason_key_and_what_it_is_about(verbs: Verbs[Paint, str], done: Done) -> None:
    whiten, sell = verbs.commands("fences", "red", "1 fence")
    assert (whiten.key, whiten.words, whiten.note, whiten.keys) == ("fences.whiten", "Whiten", "1 fence", "W")
    assert sell.reason == LACKING
    whiten.run()
    assert done == [("whiten", "red")]


def test_a_key_acts_on_what_is_chosen_then_unless_there_is_a_reason(
    qtbot: QtBot, verbs: Verbs[Paint, str], done: Done
) -> None:
    fences = QListWidget()
    qtbot.addWidget(fences)
    chosen = ["red"]
    verbs.bind(fences, lambda: chosen[0])
    with qtbot.waitExposed(fences):
        fences.show()
    fences.setFocus()
    chosen[0] = "blue"
    qtbot.keyClick(fences, Qt.Key.Key_W)
    assert done == [("whiten", "blue")]
    verbs.act("sell", "white")
    assert done == [("whiten", "blue")], "an operator may not"


def test_looking_is_never_barred_and_groups_have_a_line_between_them(qtbot: QtBot) -> None:
    look = Paint(key="look", text="Look", role=LOOK, group=1)
    verbs: Verbs[Paint, str] = Verbs((WHITEN, look), run=lambda _verb, _chosen: None, barred=lambda _role: LACKING)
    menu = QMenu()
    qtbot.addWidget(menu)
    verbs.fill(menu, "red")
    assert [(one.isSeparator(), one.isEnabled()) for one in menu.actions()] == [
        (False, False),
        (True, True),
        (False, True),
    ]


def test_a_button_is_what_is_offered(qtbot: QtBot, verbs: Verbs[Paint, str]) -> None:
    button = Button()
    qtbot.addWidget(button)
    show(button, verbs.offers(Place.MENU, "white")[2])
    assert (button.text(), button.isEnabled(), button.toolTip()) == ("Sell again", False, LACKING)
    show(button, verbs.offers(Place.BAR, "gone")[0])
    assert button.isHidden()


def test_a_key_that_does_nothing_says_why(qtbot: QtBot, verbs: Verbs[Paint, str], done: Done) -> None:
    table = QListWidget()
    qtbot.addWidget(table)
    with qtbot.waitActive(table):
        table.show()
        table.activateWindow()
    table.setFocus()
    verbs.act("sell", "red")
    assert (QToolTip.text(), done) == (safe.tooltip(LACKING), [])
    QToolTip.hideText()
