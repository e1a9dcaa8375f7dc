"""All keys of the console, by what they are for (?)."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from services.i18n import N_, _
from views.dialogs.frame import DialogFrame
from views.support.keymap import ANYWHERE, CONNECTION, FIXED, LISTS, PAGES, RAIL, TABLES, Command, keymap
from views.support.look import Label
from views.widgets.buttons import Button, shortcut_text
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane

WIDTH, HEIGHT, KEY_WIDTH = 820, 600, 120
#: these stand before the pages
_FIRST = (ANYWHERE, PAGES, LISTS)
#: what stands in one line where all of it has its defaults: the first of its keys, and what they do (source text)
_ALIKE = {
    RAIL: N_("pages in the order of the rail"),
    CONNECTION: N_("connections in their order"),
    TABLES: N_("move; with Shift tick on the way"),
}
#: by what they are for (source text): keys as they are shown, and what they do
Groups = dict[str, list[tuple[str, str]]]


def groups() -> Groups:
    """All keys that there are now; a command that has none is left out."""
    found: Groups = {title: [] for title in _FIRST}
    told = set[str]()
    chosen = {place for place in _ALIKE if any(_alike(one) == place for one in keymap().commands() if _is_chosen(one))}
    for command in keymap().commands():
        keys, alike = shortcut_text(command.name), _alike(command)
        if not keys or alike in told:
            continue
        words = command.said()
        if alike and alike not in chosen:
            told.add(alike)
            keys, words = f"{keys} …", _(_ALIKE[alike])
        found.setdefault(keymap().title(command.place), []).append((keys, words))
    for fixed in FIXED:
        found[fixed.group].append((shortcut_text(fixed.shown), _(fixed.words)))
    return found


def _alike(command: Command) -> str:
    """The place whose commands are told together, "" for a command that is told alone."""
    return command.place if command.number or command.extends else ""


def _is_chosen(command: Command) -> bool:
    return command.name in keymap().chosen()


class KeyHelp(DialogFrame):
    """Reads them aloud as they are now; leads to where they are changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(N_("All keys"), icon="ph.keyboard", parent=parent)
        self.resize(WIDTH, HEIGHT)
        pane = ScrollPane(name=N_("All keys"))
        columns = in_row(spacing=32)
        for half in _halves(groups()):
            column = in_column(spacing=18)
            for title, keys in half.items():
                column.addLayout(_group(title, keys))
            column.addStretch(1)
            columns.addLayout(column, 1)
        pane.body.setContentsMargins(8, 4, 8, 4)  # the ring of the keyboard stands around it
        pane.body.addLayout(columns)
        pane.body.addStretch(1)
        self.body.addWidget(pane, 1)
        self.change_button = Button(N_("Keys…"), icon="ph.pencil-simple")
        self.change_button.clicked.connect(self._change)
        close = Button(N_("Close"), hint="Esc")
        close.clicked.connect(self.reject)
        put(self.foot, self.change_button, STRETCH, close)

    def _change(self) -> None:
        from views.dialogs.keys import open_keys

        self.reject()
        open_keys(self.parentWidget())


def _halves(found: Groups) -> tuple[Groups, Groups]:
    """Two columns of about the same height, the order kept in each."""
    columns: tuple[Groups, Groups] = ({}, {})
    heights = [0, 0]
    for title, keys in found.items():
        shorter = heights.index(min(heights))
        columns[shorter][title] = keys
        heights[shorter] += len(keys) + 2  # a title and the gap take about as much as two keys
    return columns


def _group(title: str, keys: list[tuple[str, str]]) -> QVBoxLayout:
    column = in_column(Label(_(title), "card"), spacing=8)
    grid = QGridLayout()
    grid.setHorizontalSpacing(14)
    grid.setVerticalSpacing(6)
    grid.setColumnMinimumWidth(0, KEY_WIDTH)
    grid.setColumnStretch(1, 1)
    for row, (key, words) in enumerate(keys):
        name = Label(key, "mono", "text2")
        grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(Label(words, "label", wrap=True), row, 1, Qt.AlignmentFlag.AlignTop)
    column.addLayout(grid)
    return column
