"""Every command that has a key, and the key that it has now: its default, or what the person chose.

    Button(N_("New task"), shortcut="window.new")    # a command: shown and pressed by its key of the moment
    Button(N_("Cancel"), hint="Esc")                 # no command: a key that is always the same
    keymap().now("tasks.retry")                      # "R"
    keymap().choose("tasks.retry", "Shift+R")        # holds at once, in all windows, and is remembered

What lists and charts hear (Space, Enter, the arrows) are commands, too: they are written for the default, and get it
for the key that a person chose (``keys.ListKeys``).

Keys are written as ``QKeySequence`` writes them for files: ``Ctrl+Return``, ``G, T``; "" is no key.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence

from services.i18n import N_, _
from views.support.memory import Memory, ShortMemory

log = logging.getLogger(__name__)
#: where the choices are remembered
SHELF = "keys"
#: places whose keys work on every page
WINDOW, GO, RAIL, CONNECTION = "window", "go", "rail", "connection"
#: places of which a window and its dialogs have some
TABLES, CHARTS, PARTS = "tables", "charts", "parts"
#: dialogs, which no page hears
DIALOG, WORK = "dialog", "work"
#: what is heard as a key of its own, so that one may not follow another
LISTED = frozenset({TABLES, CHARTS})
#: where some look at each key themselves (``keys.pressed``), which no key before it tells
_KEY_BY_KEY = LISTED | {PARTS, DIALOG, "overview"}
#: how many chords one key may have: ``G, T``
MOST_CHORDS = 2


class Command(msgspec.Struct, frozen=True):
    """Something a key does."""

    name: str  #: where, and what it does there: ``tasks.retry``
    words: str  #: source text
    default: str
    number: int = 0  #: the {n} of its words
    extends: bool = False  #: with Shift it ticks on the way

    @property
    def place(self) -> str:
        """The page it belongs to, or one of the places above."""
        return self.name.partition(".")[0]

    @property
    def most_chords(self) -> int:
        """How many keys one after the other it may have."""
        return 1 if self.place in _KEY_BY_KEY else MOST_CHORDS

    def said(self) -> str:
        """Its words in the language of the moment."""
        return _(self.words).format(n=self.number)

    def forms(self, keys: str) -> tuple[str, ...]:
        """What is pressed for it where it has these keys."""
        return (keys, f"Shift+{keys}") if self.extends and keys else (keys,)


class Fixed(msgspec.Struct, frozen=True):
    """Keys that are the same for everybody: they belong to tables, places in a list, or dialogs."""

    group: str  #: source text
    shown: str
    words: str  #: source text
    keys: tuple[str, ...]


class Displaced(msgspec.Struct, frozen=True):
    """A key that somebody chose and that something else has by now."""

    command: Command
    keys: str
    rival: Command | Fixed


ANYWHERE, PAGES, LISTS = N_("Anywhere"), N_("Pages"), N_("Tables and charts")
_TITLES = {
    **dict.fromkeys((WINDOW, CONNECTION, PARTS), ANYWHERE),
    **dict.fromkeys((GO, RAIL), PAGES),
    **dict.fromkeys((TABLES, CHARTS), LISTS),
    DIALOG: N_("Dialogs"),
    WORK: N_("Did it run?"),
}
_ORDER = (WINDOW, PARTS, CONNECTION, GO, RAIL, TABLES, CHARTS, DIALOG, WORK)
#: as they lie beside each other on the keyboard
_RAIL_KEYS = "1234567890-"
MOST_CONNECTIONS = 9
_PAGE, _CONNECTION = N_("page {n} of the rail"), N_("connection {n} of the list")
COMMANDS = (
    Command("window.search", N_("search tasks, shops, commands"), "Ctrl+K"),
    Command("window.new", N_("new task"), "Ctrl+N"),
    Command("window.work", N_("did it run? asked of a shop, a type and a day"), "Ctrl+D"),
    Command("window.past", N_("look back: what the fleet was at a moment, and what changed"), "Ctrl+T"),
    Command("window.handover", N_("handover: what who takes over must know"), "Ctrl+H"),
    Command("window.another", N_("one more window, with a page and filters of its own"), "Ctrl+Shift+N"),
    Command("window.quit", N_("quit: close all windows, which come back at the next start"), "Ctrl+Q"),
    Command("window.save", N_("save what is seen as PDF or picture"), "Ctrl+S"),
    Command("window.print", N_("print what is seen"), "Ctrl+P"),
    Command("window.undo", N_("take back while Undo is offered"), "Ctrl+Z"),
    Command("window.message", N_("close the newest message of the corner"), "Shift+Esc"),
    Command("window.link", N_("copy a link to what is seen; paste one into the search to open it"), "Ctrl+Shift+L"),
    Command("window.freeze", N_("freeze the view, or let it go on"), "Ctrl+."),
    Command("window.refresh", N_("refresh, or connect again"), "F5"),
    Command("window.filter", N_("filter field of the page"), "/"),
    Command("window.help", N_("what the guide says of this page"), "F1"),
    Command("window.keys", N_("all keys"), "?"),
    Command("window.guide", N_("the operator's guide"), "Shift+F1"),
    Command("window.settings", N_("Settings"), "Ctrl+,"),
    Command("window.back", N_("back to the page before"), "Alt+Left"),
    Command("window.forward", N_("forward again"), "Alt+Right"),
    Command("window.rail", N_("fold the rail"), "Ctrl+B"),
    Command("window.next_part", N_("next part of the window"), "F6"),
    Command("window.previous_part", N_("previous part of the window"), "Shift+F6"),
    Command("parts.next_error", N_("next error of a form, a file or a message"), "F8"),
    Command("parts.find", N_("find in the log that is shown"), "Ctrl+F"),
    *(Command(f"{CONNECTION}.{n}", _CONNECTION, f"Ctrl+{n}", n) for n in range(1, MOST_CONNECTIONS + 1)),
    *(Command(f"{RAIL}.{n}", _PAGE, f"Alt+{key}", n) for n, key in enumerate(_RAIL_KEYS, 1)),
    Command("tables.peek", N_("details of the row"), "Space"),
    Command("tables.open", N_("open the row"), "Return"),
    Command("tables.tick", N_("tick the row"), "Ctrl+Space"),
    Command("tables.tick_all", N_("tick all loaded rows"), "Ctrl+A"),
    Command("tables.copy", N_("copy the cell"), "Ctrl+C"),
    Command("tables.copy_rows", N_("copy the rows"), "Ctrl+Shift+C"),
    Command("tables.menu", N_("menu of the row"), "Shift+F10"),
    Command("tables.up", N_("one up"), "Up", extends=True),
    Command("tables.down", N_("one down"), "Down", extends=True),
    Command("tables.left", N_("one to the left"), "Left", extends=True),
    Command("tables.right", N_("one to the right"), "Right", extends=True),
    Command("tables.page_up", N_("a screen up"), "PgUp", extends=True),
    Command("tables.page_down", N_("a screen down"), "PgDown", extends=True),
    Command("tables.first", N_("to the first one"), "Home", extends=True),
    Command("tables.last", N_("to the last one"), "End", extends=True),
    Command("charts.nearer", N_("show less of the time"), "+"),
    Command("charts.farther", N_("show more of the time"), "-"),
    Command("charts.whole", N_("show all of the time"), "0"),
    Command("dialog.main", N_("the main button of the dialog"), "Ctrl+Return"),
    Command("dialog.compare", N_("compare with the picture of another attempt"), "C"),
    Command("work.again", N_("run again"), "Ctrl+R"),
    Command("work.shop", N_("open the shop"), "Ctrl+O"),
    Command("work.tasks", N_("show its tasks"), "Ctrl+L"),
    Command("overview.earlier", N_("move the number that has the focus to the left"), "Ctrl+Shift+Left"),
    Command("overview.later", N_("move the number that has the focus to the right"), "Ctrl+Shift+Right"),
    Command("tasks.retry", N_("retry"), "R"),
    Command("tasks.raise", N_("raise the priority"), "P"),
    Command("tasks.lower", N_("lower the priority"), "Shift+P"),
    Command("tasks.cancel", N_("cancel"), "Del"),
    Command("tasks.run_now", N_("run now"), "Ctrl+Return"),
    Command("dead_letters.main", N_("the main button of the panel"), "Ctrl+Return"),
    Command("queues.peek", N_("peek into the queue"), "V"),
    Command("queues.purge", N_("purge the queue"), "Del"),
    Command("shops.day", N_("the runs of the shop along time"), "D"),
    Command("shops.edit", N_("edit the shop"), "E"),
    Command("promises.edit", N_("edit the promise"), "E"),
    Command("promises.remove", N_("remove the promise"), "Del"),
    Command("types.edit", N_("edit the task type"), "E"),
    Command("alerts.take", N_("take the incident"), "A"),
    Command("alerts.mute", N_("mute the incident"), "M"),
    Command("alerts.escalate", N_("escalate the incident"), "E"),
    Command("audit.export", N_("write the entries to a file"), "Ctrl+E"),
    Command("batches.retry", N_("retry"), "R"),
    Command("batches.raise", N_("raise the priority"), "P"),
    Command("batches.cancel", N_("cancel"), "Del"),
    Command("batches.export", N_("write the tasks to a file"), "Ctrl+E"),
    Command("batches.next", N_("next batch"), "Alt+Down"),
    Command("batches.previous", N_("previous batch"), "Alt+Up"),
    Command("past.earlier", N_("to the change before"), "Ctrl+Left"),
    Command("past.later", N_("to the change after"), "Ctrl+Right"),
)
FIXED = (
    Fixed(LISTS, "Menu", N_("menu of the row"), ("Menu",)),
    Fixed(LISTS, "Esc", N_("close the panel, then clear the selection, then the filter"), ("Esc",)),
    Fixed(ANYWHERE, "Tab  Shift+Tab", N_("next, previous field"), ("Tab", "Backtab", "Shift+Tab", "Shift+Backtab")),
)


def written(keys: str) -> str:
    """The one way a key is written, "" where it is none; Enter of the number pad is Enter."""
    form = QKeySequence.SequenceFormat.PortableText
    sequence = QKeySequence(keys, form)
    found = sequence.toString(form).replace("Enter", "Return")
    spoiled = any(not found_part or not found_part.isprintable() for found_part in found.split(", ") if found)
    if not found or spoiled or sequence.count() > MOST_CHORDS or QKeySequence(found, form).toString(form) != found:
        return ""
    return found


def both_enters(keys: str) -> list[QKeySequence]:
    """Keys as Qt hears them: where one is Enter, that of the number pad, too; none for ""."""
    return [QKeySequence(form) for form in dict.fromkeys((keys, keys.replace("Return", "Enter"))) if form]


def clash(one: str, other: str) -> bool:
    """Whether both cannot be told apart: the same, or one begins the other (``G`` and ``G, T``)."""
    first, second = QKeySequence(one), QKeySequence(other)
    no = QKeySequence.SequenceMatch.NoMatch
    return bool(one and other) and (first.matches(second) != no or second.matches(first) != no)


def _overlap(some: Sequence[str], others: Sequence[str]) -> bool:
    return any(clash(one, other) for one in some for other in others)


def _meet(one: str, other: str) -> bool:
    """Whether there is a window in which the keys of both places are heard."""
    places, dialogs = {one, other}, {DIALOG, WORK}
    if one == other or places & {*LISTED, PARTS}:
        return True
    if places & dialogs:
        return places <= dialogs
    return bool(places & {WINDOW, GO, RAIL, CONNECTION})


class KeyMap(QObject):
    """Keys of this program, the same in all its windows.

    Signals:
        changed: a command has another key.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._commands = {one.name: one for one in COMMANDS}
        self._chosen: dict[str, str] = {}
        self._memory: Memory = ShortMemory()
        self._read: object = {}  #: what was remembered when it was looked at last
        self._titles: dict[str, str] = {}
        self._displaced: tuple[Displaced, ...] = ()

    # what there is

    def know_pages(self, pages: Sequence[tuple[str, str, str]]) -> None:
        """Take id, title (source text) and letter of the pages: after ``G`` the letter opens one."""
        self._titles = {page_id: title for page_id, title, _letter in pages}
        gone = {name for name in self._commands if name.startswith(f"{GO}.")}
        lettered = [Command(f"{GO}.{page_id}", title, f"G, {letter}") for page_id, title, letter in pages if letter]
        kept = {name: one for name, one in self._commands.items() if name not in gone}
        self._commands = {**kept, **{one.name: one for one in lettered}}

    def commands(self) -> tuple[Command, ...]:
        """All, those of the window first, then those that open pages, those of lists and dialogs, then page by page."""
        order = {place: number for number, place in enumerate(_ORDER)}
        return tuple(sorted(self._commands.values(), key=lambda one: order.get(one.place, len(order))))

    def moved(self) -> tuple[Command, ...]:
        """What lists and charts hear, those first whose key is not the default; none where all have their defaults."""
        listed = [one for one in self._commands.values() if one.place in LISTED]
        moved = [one for one in listed if one.name in self._chosen]
        return (*moved, *(one for one in listed if one not in moved)) if moved else ()

    def title(self, place: str) -> str:
        """What the place of a command is called, source text."""
        return _TITLES.get(place) or self._titles.get(place, place)

    # which key it is

    def now(self, name: str) -> str:
        """The key of a command, "" for none; what is no command is a fixed key, which is itself."""
        command = self._commands.get(name)
        return name if command is None else self._chosen.get(name, command.default)

    def knows(self, name: str) -> bool:
        """Whether it is a command, which may have no key now."""
        return name in self._commands

    def sequences(self, name: str) -> list[QKeySequence]:
        """The same for Qt."""
        return both_enters(self.now(name))

    def chosen(self) -> Mapping[str, str]:
        """The commands whose key is not the default, and that key."""
        return dict(self._chosen)

    def rival(self, name: str, keys: str) -> Command | Fixed | None:
        """What has this key already where the command works."""
        command = self._commands[name]
        pressed = command.forms(keys)
        for fixed in FIXED:
            if _overlap(pressed, fixed.keys):
                return fixed
        for other in self._commands.values():
            others = other.forms(self.now(other.name))
            if other.name != name and _meet(command.place, other.place) and _overlap(pressed, others):
                return other
        return None

    # choosing

    def usable(self, name: str, keys: str) -> str:
        """How the keys are written, "" where the command cannot have them, whoever else has."""
        command, keys = self._commands[name], written(keys)
        held = command.extends and "Shift+" in keys  # Shift with it ticks on the way
        return "" if held or QKeySequence(keys).count() > command.most_chords else keys

    def choose(self, name: str, keys: str) -> None:
        """Give a command a key that no ``rival`` has, or "" for none; its default is no choice any more."""
        keys = written(keys)
        if keys == self._commands[name].default:
            self._keep({one: kept for one, kept in self._chosen.items() if one != name})
        else:
            self._keep({**self._chosen, name: keys})

    def restore(self, chosen: Mapping[str, str]) -> None:
        """Let exactly these choices hold: what ``chosen`` told before, or none."""
        self._keep(dict(chosen))

    def _keep(self, chosen: dict[str, str]) -> None:
        self._chosen = chosen
        stored = self._memory.get(SHELF, {})
        found = stored if isinstance(stored, dict) else {}
        # another version, which shares this memory, knows commands that this one does not
        foreign = {name: keys for name, keys in found.items() if name not in self._commands}
        self._read = {**foreign, **chosen}
        self._memory.put(SHELF, self._read)
        self.changed.emit()

    def take_displaced(self) -> tuple[Displaced, ...]:
        """What was remembered and does not hold, for a person to be told; it is told once and remembered no more."""
        found, self._displaced = self._displaced, ()
        if found:
            told = {one.command.name for one in found}
            kept = self._memory.get(SHELF, {})  # with the commands of another version, which this one does not know
            self._memory.put(SHELF, {name: keys for name, keys in kept.items() if name not in told})
        return found

    def follow(self, memory: Memory) -> None:
        """Take what is remembered, and remember there from now on. What is no key of a command, or belongs to another
        one, is told in the log; the default holds then.
        """
        before, self._memory = self._chosen, memory
        found = self._read = memory.get(SHELF, {})
        if not isinstance(found, dict):
            log.warning("console.json: keys is no table, so all keys have their defaults")
            found = {}
        self._chosen, self._displaced = {}, ()
        for name, keys in found.items():
            if name not in self._commands:
                log.warning("console.json: keys names %.60r, which is no command", name)
            elif not isinstance(keys, str) or (keys and not self.usable(name, keys)):
                log.warning("console.json: the key of %s is not usable: %.60r; the default holds", name, keys)
            else:
                self._chosen[name] = written(keys)
        self._drop_rivals()
        if self._chosen != before:
            self.changed.emit()

    def look_again(self) -> None:
        """Take what another program, which shares this memory, has chosen since."""
        if self._memory.get(SHELF, {}) != self._read:
            self.follow(self._memory)

    def _drop_rivals(self) -> None:
        """Each default that comes back may be in the way of another choice; defaults alone are never."""
        while True:
            for name, keys in self._chosen.items():
                rival = self.rival(name, keys) if keys else None
                if rival is not None:
                    whose = rival.name if isinstance(rival, Command) else rival.shown
                    log.warning("console.json: the key of %s, %s, belongs to %s; the default holds", name, keys, whose)
                    self._displaced += (Displaced(self._commands[name], keys, rival),)
                    del self._chosen[name]
                    break
            else:
                return


@lru_cache(maxsize=1)
def keymap() -> KeyMap:
    """The keys of this process."""
    return KeyMap()
