"""Which shops: ticked in a list, pasted, or by group, which fill the same set; or a file of whole tasks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QTextCursor,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from services import called
from services.commands.sheet import table
from services.commands.sheet.shop_index import ShopIndex
from services.domain.fleet.shop import Shop
from services.domain.insight.shop import ShopNow
from services.i18n import N_, _, ngettext
from views.dialogs.file import FileDialog
from views.dialogs.new_task.draft import ALL
from views.dialogs.notice import dropped
from views.support import text
from views.support.language import say_in_language
from views.support.look import Label, panel, ruled
from views.support.throttle import Debounce
from views.support.words import shop as shop_words
from views.tables import painters
from views.tables.column import Column
from views.tables.painters import Cell, Ink
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.tokens import platform_badge
from views.widgets.buttons import Button, LinkLabel
from views.widgets.elided import Elided
from views.widgets.layout import STRETCH, in_column, in_row

_SEPARATORS = re.compile(r"[,;\t，；、|]+")
_QUOTES = "\"'“”‘’「」"
SUGGESTED = 200  #: unknown names for which that is done


class ShopFile(QWidget):
    """Signals:
    chosen: the path of a file.
    blank_wanted: a table that holds nothing yet, to be typed into.
    pasted: rows copied out of a spreadsheet.
    look_wanted: show its rows again.
    """

    chosen = Signal(object)
    blank_wanted = Signal()
    pasted = Signal(str)
    look_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._words, self._error = "", ""
        self.choose = Button(N_("Choose a file"), icon="ph.file-text", small=True)
        self.blank = Button(N_("Empty table"), icon="ph.table", small=True)
        self.look = Button(N_("Look at its rows"), icon="ph.list-bullets", small=True)
        self._state = Elided("", "label", "text3")
        in_row(self.choose, self.blank, self.look, (self._state, 1), owner=self, spacing=8)
        self.choose.clicked.connect(self.ask)
        self.blank.clicked.connect(self.blank_wanted)
        self.look.clicked.connect(self.look_wanted)
        say_in_language(self._say)

    def open(self, path: Path) -> None:
        """Take a file."""
        self.chosen.emit(path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take rows that were copied in a spreadsheet."""
        words = QGuiApplication.clipboard().text()
        if event.matches(QKeySequence.StandardKey.Paste) and words.strip():
            self.pasted.emit(words)
            return
        super().keyPressEvent(event)

    def show_file(self, words: str) -> None:
        """Say what was read, "" for nothing."""
        self._words, self._error = words, ""
        self._say()

    def show_error(self, words: str) -> None:
        """Say why the file cannot be read."""
        self._words, self._error = "", words
        self._say()

    def state(self) -> str:
        """What it says."""
        return self._state.text()

    def ask(self) -> None:
        """Let a person choose a file."""
        kinds = " ".join(f"*{ending}" for ending in table.ENDINGS)
        forms = [_("Tables") + f" ({kinds})"]
        FileDialog(self, _("Tasks from a file"), self.open, forms=forms).open()

    def _say(self) -> None:
        self.look.setVisible(bool(self._words))
        self._state.set_tone("dead" if self._error else "text3")
        hint = _("Excel, CSV, JSON lines, or rows pasted with Ctrl+V: each becomes the task that it says")
        self._state.show_text(self._error or self._words or hint)


HEIGHT, FILE_BAR = 190, 32
PICK, PASTE, FILE, GROUP = "pick", "paste", "file", "group"


class ShopRow(msgspec.Struct, frozen=True, kw_only=True):
    """A shop and what should be known before it gets a task."""

    shop: Shop
    active: bool = False  #: the same task is active already
    now: ShopNow | None = None  #: what is true of it, None while that is asked
    at_ms: int = 0  #: when that was, UTC

    @property
    def note(self) -> str:
        """A word about its state."""
        if self.active:
            return _("already active")
        if not self.shop.enabled:
            return _("switched off")
        return shop_words.remark(self.now) if self.now is not None else ""

    @property
    def why(self) -> str:
        """Why it is in its state."""
        return shop_words.why(self.now, self.at_ms) if self.now is not None else ""


def _paint_name(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    row: ShopRow = cell.record
    name = cell.column.display(row)
    ink.text(painter, room, name, cell, role="text3" if row.active else "text", kind="table")
    if row.note:
        left = room.adjusted(min(room.width(), ink.width(name, "table") + 10), 0, 0, 0)
        ink.text(painter, left, row.note, cell, role="retrying", kind="table")


painters.register("shopname", _paint_name)

COLUMNS: tuple[Column[ShopRow], ...] = (
    Column(
        key="name",
        title=N_("Shop"),
        value=lambda row: (row.shop.name, row.note),
        text=lambda row: row.shop.called,
        kind="shopname",
        width=150,
        stretch=True,
        speech=lambda row: f"{row.shop.name} {row.note}".strip(),
        tooltip=lambda row: row.why,
    ),
    Column(key="group", title=N_("Group"), value=lambda row: row.shop.group, tone="text3", width=70, hide_rank=1),
    Column(key="platform", title=N_("Plat."), value=lambda row: row.shop.platform, kind="badge", width=56, hide_rank=2),
    Column(
        key="id", title=N_("Id"), value=lambda row: row.shop.shop_id, mono=True, tone="text2", align="right", width=104
    ),
)


class ShopPicker(QWidget):
    """Signals:
    changed: other shops are ticked.
    mixed: shops of other platforms than the one in view are named.
    file_dropped: a file was dropped here; what there is to tell of that.
    """

    changed = Signal()
    mixed = Signal()
    file_dropped = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shops: Mapping[str, Shop] = {}
        self._states: Mapping[str, ShopNow] = {}
        self._at_ms = 0
        self._platform = ALL
        self._active: frozenset[str] = frozenset()
        self.model: RecordModel[ShopRow] = RecordModel(COLUMNS, key=lambda row: row.shop.key, tickable=True)
        self.table = TableView(self.model, name=N_("Shops"), ground="input")
        self.table.header.hide()
        self.paste = ShopPaste()
        self.paste.hide()
        self.file, self.groups = ShopFile(), ShopGroups()
        self.file.hide()
        self.groups.hide()
        self._all = QCheckBox()
        self._all.setTristate(True)
        self.filter = QLineEdit()
        self.filter.setMaximumWidth(150)
        self._put_together()
        self._all.clicked.connect(self._on_all)
        self.filter.textChanged.connect(self._show_rows)
        self.model.ticked_changed.connect(self._on_ticked)
        self.table.peek_requested.connect(self._toggle)
        self.table.open_requested.connect(self._toggle)
        self.paste.changed.connect(self._on_pasted)
        self.groups.ticked.connect(self._on_group)
        self.setAcceptDrops(True)
        say_in_language(self._say)

    def _put_together(self) -> None:
        box = self._box = panel("code")
        head = in_row(self._all, STRETCH, self.filter, margins=(11, 4, 10, 4))
        ruled(box, head, self.table, tall=1)
        box.setFrameShape(QFrame.Shape.NoFrame)
        row = in_row((self.paste, 10), (self.groups, 10), (box, 18), spacing=12)
        in_column(self.file, (row, 1), owner=self, spacing=8)
        self.setFixedHeight(HEIGHT)

    def set_shops(self, shops: Mapping[str, Shop]) -> None:
        """Take the shops there are."""
        self._shops = shops
        self._name_shops()
        self._show_rows()

    def set_states(self, states: Mapping[str, ShopNow], at_ms: int) -> None:
        """Say what is true of the shops at this instant (UTC ms)."""
        self._states, self._at_ms = states, at_ms
        self._show_rows()

    def set_platform(self, platform: str) -> None:
        """List the shops of one platform, or of all."""
        self._platform = platform
        self._name_shops()
        self._show_rows()
        self.changed.emit()

    def _name_shops(self) -> None:
        here = "" if self._platform == ALL else self._platform
        self.paste.set_shops(self._shops, here)
        self.groups.set_shops({key: shop for key, shop in self._shops.items() if self._suits(shop)})
        self.groups.follow(self.model.ticked())

    def set_mode(self, mode: str) -> None:
        """One of ``PICK``, ``PASTE``, ``FILE``, ``GROUP``."""
        self.paste.setVisible(mode == PASTE)
        self.file.setVisible(mode == FILE)
        self._box.setVisible(mode != FILE)
        self.groups.setVisible(mode == GROUP)
        self.setFixedHeight(FILE_BAR if mode == FILE else HEIGHT)

    def take_keys(self, mode: str) -> None:
        """Put the keyboard where a person who chose this mode goes on."""
        if mode == PASTE:
            self.paste.field.setFocus()
        elif mode == FILE:
            self.file.choose.setFocus()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take a file, never to be moved: the desktop might delete it."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        """Read the file that was dropped."""
        files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.file_dropped.emit(dropped(len(files), files[0].name))
            self.file.open(files[0])

    def set_active(self, shops: frozenset[str]) -> None:
        """Mark shops that have the same task already."""
        if shops != self._active:
            self._active = shops
            self._show_rows()

    def tick(self, shops: tuple[str, ...]) -> None:
        """Tick these and no others."""
        wanted = set(shops)
        self.model.set_ticked(self.model.ticked() - wanted, on=False)
        self.model.set_ticked(wanted)
        first = min((row for row in map(self.model.row_of, shops) if row >= 0), default=-1)
        if first >= 0:
            self.table.scrollTo(self.model.index(first, 0))

    def chosen(self) -> tuple[str, ...]:
        """Keys of the ticked shops of the platform in view."""
        ticked = self.model.ticked()
        return tuple(key for key, shop in self._shops.items() if key in ticked and self._suits(shop))

    def offered(self) -> int:
        """How many shops there are of the platform in view."""
        return sum(map(self._suits, self._shops.values()))

    def _suits(self, shop: Shop) -> bool:
        return self._platform in (ALL, "", shop.platform)

    def _show_rows(self) -> None:
        words = self.filter.text().casefold().split()
        rows = [
            ShopRow(shop=shop, active=key in self._active, now=self._states.get(key), at_ms=self._at_ms)
            for key, shop in self._shops.items()
            if self._suits(shop) and all(word in _haystack(shop) for word in words)
        ]
        self.model.apply(rows, settle=True)
        self._say()

    def _toggle(self, key: object) -> None:
        row = self.model.row_of(str(key))
        if row >= 0:
            self.model.toggle(row)

    def _on_all(self) -> None:
        shown = [self.model.key_at(row) for row in range(self.model.rowCount())]
        self.model.set_ticked(shown, on=self.model.tick_state() != Qt.CheckState.Checked)
        self._say()

    def _on_ticked(self) -> None:
        self.groups.follow(self.model.ticked())
        self._say()
        self.changed.emit()

    def _on_group(self, shops: Sequence[str], on: bool) -> None:
        self.model.set_ticked(shops, on=on)

    def _on_pasted(self) -> None:
        named = self.paste.chosen()
        self.tick(named)
        if any(not self._suits(self._shops[key]) for key in named):
            self.mixed.emit()

    def _say(self) -> None:
        number = len(self.chosen())
        self._all.setText(ngettext("{n} ticked", "{n} ticked", number).format(n=text.count(number)))
        self._all.setAccessibleName(_("Tick all shops of the list"))
        state = Qt.CheckState.Unchecked if not number else self.model.tick_state()
        self._all.setCheckState(state)
        self.filter.setPlaceholderText(_("filter"))
        self.filter.setAccessibleName(_("Filter the shops"))


def _haystack(shop: Shop) -> str:
    words = (shop.shop_id, shop.name, shop.name_en, shop.group, shop.platform, platform_badge(shop.platform))
    return " ".join(words).casefold()


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Shops that belong together. ``name`` "" stands for a whole platform."""

    platform: str
    name: str
    shops: tuple[str, ...]

    @property
    def key(self) -> str:
        """``platform/name``."""
        return f"{self.platform}/{self.name}"

    def title(self) -> str:
        """What people call it."""
        return self.name or _("All of {platform}").format(platform=called.platform(self.platform))


GROUP_COLUMNS: tuple[Column[Group], ...] = (
    Column(key="name", title=N_("Group"), value=lambda group: group.name, text=Group.title, width=120, stretch=True),
    Column(key="platform", title=N_("Plat."), value=lambda group: group.platform, kind="badge", width=56),
    Column(
        key="shops",
        title=N_("Shops"),
        value=lambda group: len(group.shops),
        text=lambda group: text.count(len(group.shops)),
        kind="number",
        tone="text3",
        width=52,
    ),
)


def groups_of(shops: Mapping[str, Shop]) -> list[Group]:
    """Platform by platform: the whole of it, then its groups by name."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, shop in shops.items():
        members[shop.platform, ""].append(key)
        if shop.group:
            members[shop.platform, shop.group].append(key)
    return [
        Group(platform=platform, name=name, shops=tuple(keys)) for (platform, name), keys in sorted(members.items())
    ]


class ShopGroups(QWidget):
    """Signals:
    ticked: keys of the shops of a group, and whether they shall be ticked.
    """

    ticked = Signal(object, bool)

    def __init__(self) -> None:
        super().__init__()
        self._following = False
        self._shown: frozenset[object] = frozenset()
        self.model: RecordModel[Group] = RecordModel(GROUP_COLUMNS, key=lambda group: group.key, tickable=True)
        self.table = TableView(self.model, name=N_("Groups of shops"), ground="input")
        self.table.header.hide()
        box = panel("code")
        in_column(self.table, owner=box, margins=(1, 1, 1, 1))
        in_column(box, owner=self)
        self.model.ticked_changed.connect(self._on_ticked)
        self.table.peek_requested.connect(self._toggle)
        self.table.open_requested.connect(self._toggle)

    def set_shops(self, shops: Mapping[str, Shop]) -> None:
        """Take the shops there are."""
        self.model.apply(groups_of(shops), settle=True)

    def follow(self, ticked: frozenset[object]) -> None:
        """Tick the groups whose shops are all ticked."""
        whole = {group.key for group in self.model.records() if all(shop in ticked for shop in group.shops)}
        self._following = True
        self.model.set_ticked(self.model.ticked() - whole, on=False)
        self.model.set_ticked(whole)
        self._shown = self.model.ticked()
        self._following = False

    def _toggle(self, key: object) -> None:
        row = self.model.row_of(str(key))
        if row >= 0:
            self.model.toggle(row)

    def _on_ticked(self) -> None:
        if self._following:
            return
        before, after = self._shown, self.model.ticked()
        self._shown = after
        for group in self.model.records():
            if (group.key in before) != (group.key in after):
                self.ticked.emit(group.shops, group.key in after)


class Entry(msgspec.Struct, frozen=True):
    """One name of the list: where it stands, which shop it is ("" unknown), which one may be meant."""

    line: int
    text: str
    shop: str
    suggestion: str = ""
    several: int = 0  #: how many shops the name fits, where that is more than one


def read(text: str, index: ShopIndex) -> list[Entry]:
    """The entries of a pasted text, line by line."""
    entries: list[Entry] = []
    lost = 0
    for number, line in enumerate(text.splitlines(), start=1):
        for part in _SEPARATORS.split(line):
            word = part.strip().strip(_QUOTES).strip()
            if word:
                fresh = _entries(number, word, index, suggest=lost < SUGGESTED)
                lost += sum(not entry.shop for entry in fresh)
                entries += fresh
    return entries


def found(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Shops of the list, each once."""
    return tuple(dict.fromkeys(entry.shop for entry in entries if entry.shop))


def unknown(entries: Iterable[Entry]) -> list[Entry]:
    """What was not found."""
    return [entry for entry in entries if not entry.shop]


def _entries(number: int, word: str, index: ShopIndex, *, suggest: bool) -> list[Entry]:
    keys = index.candidates(word)
    if len(keys) == 1:
        return [Entry(number, word, keys[0])]
    if keys:
        return [Entry(number, word, "", keys[0], len(keys))]
    # Names may hold spaces, ids never do: only when every part is known was the space a separator.
    parts = word.split()
    found_ = [index.find(part) for part in parts]
    if len(parts) > 1 and all(found_):
        return [Entry(number, part, key) for part, key in zip(parts, found_, strict=True)]
    return [Entry(number, word, "", index.suggest(word) if suggest else "")]


_VCENTRE = int(Qt.AlignmentFlag.AlignVCenter)
QUIET_MS = 150


class ShopPaste(QWidget):
    """Signals:
    changed: other shops are named.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._shops: Mapping[str, Shop] = {}
        self._platform = ""
        self._index = ShopIndex({})
        self.field = _PasteField()
        self.state = Label("", "label", "text3")
        self._copy = LinkLabel(N_("Copy them"))
        self._copy.activated.connect(self._on_copy)
        self._read = Debounce(self._on_text, QUIET_MS, self)
        self.field.textChanged.connect(self._read)
        self.field.suggestion_taken.connect(self._take)
        foot = in_row(self.state, STRETCH, self._copy)
        in_column((self.field, 1), foot, owner=self, spacing=5)
        say_in_language(self._say)

    def set_shops(self, shops: Mapping[str, Shop], platform: str = "") -> None:
        """Take the shops that may be named; where a name fits several, those of the platform in view are meant."""
        if shops is not self._shops or platform != self._platform:
            self._shops, self._platform, self._index = shops, platform, ShopIndex(shops, platform)
            self._on_text()

    @property
    def index(self) -> ShopIndex:
        """Finds shops by what people call them."""
        return self._index

    def show_lines(self, lines: Iterable[str]) -> None:
        """Put a list into the field, one name a line."""
        self.field.setPlainText("\n".join(lines))
        self.flush()

    def lost(self) -> list[Entry]:
        """Names that are not found."""
        return unknown(self.field.entries)

    def go_to(self, line: int) -> QWidget:
        """Put the cursor on a line (1-based)."""
        self.field.setTextCursor(QTextCursor(self.field.document().findBlockByNumber(line - 1)))
        self.field.setFocus()
        return self.field

    def chosen(self) -> tuple[str, ...]:
        """Keys of the shops named."""
        return found(self.field.entries)

    def flush(self) -> None:
        """Read what was typed at once."""
        self._read.flush()

    def _on_text(self) -> None:
        self._read.cancel()
        before = self.chosen()
        entries = read(self.field.toPlainText(), self._index)
        wanted = {entry.suggestion for entry in entries if entry.suggestion}
        several = {entry.suggestion for entry in entries if entry.several}
        names = {key: key if key in several else self._shops[key].shop_id for key in wanted}
        self.field.show_entries(entries, names)
        self._say()
        if before != self.chosen():
            self.changed.emit()

    def _take(self, entry: Entry) -> None:
        shop = self._shops.get(entry.suggestion)
        if shop is None:
            return
        block = self.field.document().findBlockByNumber(entry.line - 1)
        at = block.text().find(entry.text)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + at)
        cursor.setPosition(block.position() + at + len(entry.text), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(shop.key if entry.several else shop.shop_id)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(entry.text for entry in self.lost()))

    def _say(self) -> None:
        lost = len(self.lost())
        self.field.setAccessibleName(_("List of shops"))
        self.field.setPlaceholderText(_("Paste ids or names, one a line or separated by commas"))
        if lost:
            self.state.setText(ngettext("{n} not found", "{n} not found", lost).format(n=lost))
        elif self.field.entries:
            number = len(self.chosen())
            self.state.setText(ngettext("{n} shop found", "{n} shops found", number).format(n=number))
        else:
            self.state.setText("")
        self.state.set_tone("dead" if lost else "text3")
        self._copy.setVisible(bool(lost))


class _PasteField(QPlainTextEdit):
    """Lines with the suggestion at their right end.

    Signals:
        suggestion_taken: the ``Entry`` whose suggestion was clicked.
    """

    suggestion_taken = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []
        self._names: Mapping[str, str] = {}
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.viewport().setMouseTracking(True)
        self.document().setDocumentMargin(7)
        theme().changed.connect(self._restyle)
        self._restyle()

    def show_entries(self, entries: list[Entry], names: Mapping[str, str]) -> None:
        """Mark what was not found."""
        self.entries, self._names = entries, names
        self.viewport().update()

    def _restyle(self) -> None:
        self.setFont(theme().font("mono"))
        self.viewport().update()

    def _marks(self) -> list[tuple[Entry, QRect]]:
        marks = []
        seen: set[int] = set()
        for entry in unknown(self.entries):
            block = self.document().findBlockByNumber(entry.line - 1)
            if entry.line in seen or not block.isVisible():
                continue
            seen.add(entry.line)
            box = self.blockBoundingGeometry(block).translated(self.contentOffset()).toRect()
            marks.append((entry, QRect(0, box.top(), self.viewport().width(), box.height())))
        return marks

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the marks below and the suggestions beside the text."""
        painter = QPainter(self.viewport())
        for _entry, room in self._marks():
            painter.fillRect(room, theme().tint("dead", 12, "input"))
        painter.end()
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setFont(theme().font("label"))
        for entry, room in self._marks():
            name = self._names.get(entry.suggestion, "")
            painter.setPen(theme().color("accent" if name else "dead"))
            painter.drawText(self._word_room(room, name), _VCENTRE, f"{name}?" if name else _("no match"))

    def _word_room(self, room: QRect, name: str) -> QRect:
        words = f"{name}?" if name else _("no match")
        width = QFontMetrics(theme().font("label")).horizontalAdvance(words) + 8
        return QRect(room.right() - width, room.top(), width, room.height())

    def _suggestion_at(self, event: QMouseEvent) -> Entry | None:
        point = event.position().toPoint()
        for entry, room in self._marks():
            name = self._names.get(entry.suggestion, "")
            if name and self._word_room(room, name).contains(point):
                return entry
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show that a suggestion can be taken."""
        over = self._suggestion_at(event) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor)
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take a suggestion."""
        entry = self._suggestion_at(event)
        if entry is not None:
            self.suggestion_taken.emit(entry)
            return
        super().mousePressEvent(event)
