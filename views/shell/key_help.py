"""All keys of the console, by what they are for (?)."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from services.i18n import N_, _
from views.dialogs.frame import DialogFrame
from views.support.look import Label
from views.widgets.buttons import Button, shortcut_text
from views.widgets.scroll_pane import ScrollPane

WIDTH, HEIGHT, KEY_WIDTH = 820, 600, 120
PAGES = N_("Pages")
#: group, then keys and what they do; texts are source texts
KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        N_("Anywhere"),
        (
            ("Ctrl+K", N_("search tasks, shops, commands")),
            ("Ctrl+N", N_("new task")),
            ("Ctrl+D", N_("did it run? asked of a shop, a type and a day")),
            ("Ctrl+T", N_("look back: what the fleet was at a moment, and what changed")),
            ("Ctrl+H", N_("handover: what who takes over must know")),
            ("Ctrl+Shift+N", N_("one more window, with a page and filters of its own")),
            ("Ctrl+S", N_("save what is seen as PDF or picture")),
            ("Ctrl+P", N_("print what is seen")),
            ("Ctrl+Z", N_("take back while Undo is offered")),
            ("Ctrl+Shift+L", N_("copy a link to what is seen; paste one into the search to open it")),
            ("Ctrl+.", N_("freeze the view, or let it go on")),
            ("F5", N_("refresh, or connect again")),
            ("F1", N_("what the guide says of this page")),
            ("?", N_("all keys")),
            ("Shift+F1", N_("the operator's guide")),
        ),
    ),
    (
        PAGES,
        (
            ("Alt+1 …", N_("pages in the order of the rail")),
            ("Alt+Left  Right", N_("back, forward")),
            ("Ctrl+,", N_("Settings")),
            ("Ctrl+B", N_("fold the rail")),
            ("F6  Shift+F6", N_("next, previous part of the window")),
        ),
    ),
    (
        N_("Tables"),
        (
            ("/", N_("filter field of the page")),
            ("Up  PgUp  Home …", N_("move; with Shift tick on the way")),
            ("Space", N_("details of the row")),
            ("Enter", N_("open the row")),
            ("Ctrl+Space", N_("tick the row")),
            ("Ctrl+A", N_("tick all loaded rows")),
            ("Ctrl+C", N_("copy the cell")),
            ("Ctrl+Shift+C", N_("copy the rows")),
            ("Shift+F10", N_("menu of the row")),
            ("Esc", N_("close the panel, then clear the selection, then the filter")),
        ),
    ),
    (
        N_("Tasks"),
        (
            ("R", N_("retry")),
            ("P", N_("raise the priority")),
            ("Shift+P", N_("lower the priority")),
            ("Del", N_("cancel")),
            ("Ctrl+Return", N_("run now; in dialogs the main button")),
        ),
    ),
)


class KeyHelp(DialogFrame):
    """Reads ``KEYS`` aloud, and those of the pages."""

    def __init__(self, pages: Mapping[str, str], parent: QWidget | None = None) -> None:
        """``pages``: keys and title (source text) of the pages that have some."""
        super().__init__(N_("All keys"), icon="ph.keyboard", parent=parent)
        self.resize(WIDTH, HEIGHT)
        pane = ScrollPane()
        columns = QHBoxLayout()
        columns.setSpacing(32)
        for half in (KEYS[::2], KEYS[1::2]):
            column = QVBoxLayout()
            column.setSpacing(18)
            for title, keys in half:
                column.addLayout(_group(title, (keys[0], *pages.items(), *keys[1:]) if title == PAGES else keys))
            column.addStretch(1)
            columns.addLayout(column, 1)
        pane.body.addLayout(columns)
        pane.body.addStretch(1)
        self.body.addWidget(pane, 1)
        close = Button(N_("Close"), hint="Esc")
        close.clicked.connect(self.reject)
        self.foot.addStretch(1)
        self.foot.addWidget(close)


def _group(title: str, keys: tuple[tuple[str, str], ...]) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(8)
    column.addWidget(Label(_(title), "card"))
    grid = QGridLayout()
    grid.setHorizontalSpacing(14)
    grid.setVerticalSpacing(6)
    grid.setColumnMinimumWidth(0, KEY_WIDTH)
    grid.setColumnStretch(1, 1)
    for row, (key, words) in enumerate(keys):
        name = Label(shortcut_text(key), "mono", "text2")
        grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(Label(_(words), "label", wrap=True), row, 1, Qt.AlignmentFlag.AlignTop)
    column.addLayout(grid)
    return column
