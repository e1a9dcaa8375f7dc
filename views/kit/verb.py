"""One action of a page as a value, and what is made of a list of them: menu entries, buttons, keys, the palette.

    VERBS = (ShopVerb(key="pause", text=N_("Pause shop"), shortcut="shops.x", …), …)   # a subclass says what it fits
    verbs = Verbs(VERBS, run=lambda verb, row: verb.do(actions, row), barred=actions.barred)
    verbs.fill(menu, row)                      # grey with a reason where it cannot be done
    verbs.bind(table, self._row)               # keys, only while the table has the focus
    verbs.offers(Place.BAR, row)               # what a row of buttons shows, each by show(button, offer)
    verbs.commands("shops", row)               # the palette

A verb is offered in every place unless it names some; nothing else of a page has to know it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec
from PySide6.QtWidgets import QMenu, QWidget

from services.i18n import _
from views.page import PageCommand
from views.support.keys import bind, refuse
from views.support.offers import offer
from views.widgets.buttons import Button


class Place(StrEnum):
    """Where a verb can be offered; a key works wherever the verb has one."""

    BAR = "bar"
    PANEL = "panel"
    MENU = "menu"
    PALETTE = "palette"


EVERYWHERE = frozenset(Place)
#: the role of a verb that changes nothing: whoever sees the page may, whatever else is barred
LOOK = "viewer"
C = TypeVar("C")
V = TypeVar("V", bound="Verb[Any]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb(Generic[C]):
    """What a person can do about what is chosen (``C``)."""

    key: str
    text: str  #: source text
    icon: str = "ph.lightning"
    shortcut: str = ""  #: a command of ``keymap``
    danger: bool = False
    role: str = "operator"  #: the least that may; the command asks again
    places: frozenset[Place] = EVERYWHERE
    special: bool = False  #: offered only in some cases, before the usual ones
    group: int = 0  #: a menu has a line between two groups

    def name(self, chosen: C) -> str:
        """What it is called for this, source text."""
        return self.text

    def said(self, chosen: C) -> str:
        """What it is called for this, translated; with a number where it has one."""
        return _(self.name(chosen))

    def entry(self, chosen: C) -> str:
        """The entry of a menu, translated."""
        return self.said(chosen)

    def glyph(self, chosen: C) -> str:
        """Its icon for this."""
        return self.icon

    def offered(self, place: Place, chosen: C) -> bool:
        """Whether it is shown there at all; what only cannot be done now is shown with its reason."""
        return place in self.places

    def why_not(self, chosen: C) -> str:
        """Why it cannot be done to this, translated, "" where it can."""
        return ""

    def needless(self, chosen: C) -> str:
        """Why it would be of no use, which a button says; a key does it all the same. "" where it would."""
        return ""

    def warning(self, chosen: C) -> str:
        """What must be known before, translated; "" for nothing."""
        return ""


class Offer(msgspec.Struct, Generic[V], frozen=True, kw_only=True):
    """A verb as a button shows it now."""

    verb: V
    name: str  #: source text
    said: str  #: the same translated, with its number
    glyph: str
    shown: bool = True
    reason: str = ""  #: translated; why it is disabled
    warning: str = ""  #: translated


def button_of(verb: Verb[Any], act: Callable[[str], object], *, kind: str = "plain", small: bool = False) -> Button:
    """The button of a verb, which acts by its key."""
    button = Button(verb.text, icon=verb.icon, kind=kind, small=small)
    button.clicked.connect(lambda _checked: act(verb.key))
    return button


def show(button: Button, offer: Offer[Any]) -> None:
    """Let a button be what is offered now."""
    button.setVisible(offer.shown)
    button.set_count_text(offer.said)
    button.disable(offer.reason)


class Verbs(Generic[V, C]):
    """The verbs of a page, in their order."""

    def __init__(self, verbs: Sequence[V], run: Callable[[V, C], object], barred: Callable[[str], str]) -> None:
        """``barred`` says for a role why nothing may be changed now that needs it, "" where it may."""
        self.all = tuple(verbs)
        self._run, self._barred = run, barred

    def reason(self, verb: V, chosen: C) -> str:
        """Why it cannot be done now, "" where it can."""
        return (self._barred(verb.role) if verb.role != LOOK else "") or verb.why_not(chosen)

    def at(self, place: Place) -> tuple[V, ...]:
        """Those that may stand in a place."""
        return tuple(verb for verb in self.all if place in verb.places)

    def offers(self, place: Place, chosen: C) -> tuple[Offer[V], ...]:
        """What a row of buttons shows now."""
        return tuple(
            Offer(
                verb=verb,
                name=verb.name(chosen),
                said=verb.said(chosen),
                glyph=verb.glyph(chosen),
                shown=verb.offered(place, chosen),
                reason=self.reason(verb, chosen) or verb.needless(chosen),
                warning=verb.warning(chosen),
            )
            for verb in self.at(place)
        )

    def act(self, key: str, chosen: C) -> None:
        """Do it, or say why not: whoever presses a key sees no grey button."""
        verb = next(one for one in self.all if one.key == key)
        if reason := self.reason(verb, chosen):
            refuse(reason)
        else:
            self._run(verb, chosen)

    def fill(self, menu: QMenu, chosen: C) -> None:
        """Put them into a menu, the special ones and each group apart."""
        shown = [verb for verb in self.all if verb.offered(Place.MENU, chosen)]
        for place, verb in enumerate(shown):
            before = shown[place - 1] if place else verb
            if (before.special and not verb.special) or before.group != verb.group:
                menu.addSeparator()
            run = partial(self._run, verb, chosen)
            offer(menu, verb.entry(chosen), run, self.reason(verb, chosen), keys=verb.shortcut)

    def bind(self, widget: QWidget, chosen: Callable[[], C]) -> None:
        """Let their keys act on what is ``chosen`` when one is pressed."""

        def act(key: str) -> None:
            self.act(key, chosen())

        bind(widget, {verb.shortcut: partial(act, verb.key) for verb in self.all if verb.shortcut})

    def commands(self, page: str, chosen: C, note: str = "") -> list[PageCommand]:
        """What the palette offers; ``note`` says about what."""
        return [
            PageCommand(
                key=f"{page}.{verb.key}",
                words=verb.said(chosen),
                note=note,
                icon=verb.glyph(chosen),
                keys=verb.shortcut,
                reason=self.reason(verb, chosen),
                run=partial(self._run, verb, chosen),
            )
            for verb in self.all
            if verb.offered(Place.PALETTE, chosen)
        ]
