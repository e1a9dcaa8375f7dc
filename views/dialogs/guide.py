"""The operator's guide in the window: its pages, their pictures, and the links between them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QFont, QImage, QTextBlock, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QWidget

from services import i18n
from services.i18n import N_, _
from services.messages import told
from services.monitor import guide
from services.monitor.guide import GuidePage
from views.dialogs.frame import DialogFrame
from views.support.operation import Operation
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.layout import STRETCH, put
from views.widgets.strip import ErrorStrip

WIDTH, HEIGHT = 980, 720
#: per cent of a line's height; pixels above a heading and below a paragraph
LINES, HEADING, PARAGRAPH = 125, 22, 8


class PageView(QTextBrowser):
    """A page and its pictures, which are there already: nothing is read while it is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self._pictures: dict[str, QImage] = {}
        self.setOpenLinks(False)
        self.setAccessibleName(_("Operator's guide"))
        self.document().setDocumentMargin(16)

    def show_page(self, page: GuidePage, part: str = "") -> None:
        """Show it from its beginning, or from one of its headings (as ``guide.mark`` names it)."""
        room = self.viewport().width() - 48
        self._pictures = {name: _fitted(QImage.fromData(data), room) for name, data in page.pictures.items()}
        self.document().setMarkdown(page.text)
        if i18n.is_chinese():
            self._upright()
        self._air()
        self.setExtraSelections([])
        self.verticalScrollBar().setValue(0)
        self.show_part(part)

    def _upright(self) -> None:
        """Emphasis by weight: Chinese letters have no slanted form, and slanted by force they are hard to read."""
        upright, block, slanted = QTextCharFormat(), self.document().begin(), list[tuple[int, int]]()
        upright.setFontItalic(False)
        upright.setFontWeight(QFont.Weight.Bold)
        while block.isValid():
            pieces = block.begin()
            while not pieces.atEnd():
                piece = pieces.fragment()
                if piece.charFormat().fontItalic():
                    slanted.append((piece.position(), piece.length()))
                pieces += 1
            block = block.next()
        for begin, length in slanted:
            cursor = QTextCursor(self.document())
            cursor.setPosition(begin)
            cursor.setPosition(begin + length, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(upright)

    def _air(self) -> None:
        """Lines that are not crowded, and headings that belong to what follows them."""
        block = self.document().begin()
        while block.isValid():
            air, cursor = QTextBlockFormat(), QTextCursor(block)
            air.setLineHeight(LINES, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            if block.blockFormat().headingLevel():
                air.setTopMargin(HEADING if block.previous().isValid() else 0)
                air.setBottomMargin(HEADING / 3)
            elif cursor.currentList() is None and cursor.currentTable() is None:
                air.setBottomMargin(PARAGRAPH)
            if not block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence):
                cursor.mergeBlockFormat(air)
            block = block.next()

    def show_part(self, part: str) -> None:
        """Scroll to a heading; the page stays as it is where it has none of this name."""
        block = self.document().begin() if part else self.document().end()
        while block.isValid() and not (block.blockFormat().headingLevel() and guide.mark(block.text()) == part):
            block = block.next()
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            top = self.document().documentLayout().blockBoundingRect(block).top()
            self.verticalScrollBar().setValue(round(top))
            self._mark(block)

    def _mark(self, block: QTextBlock) -> None:
        """Show which heading is meant: one near the end of a page cannot be scrolled to the top."""
        mark = QTextEdit.ExtraSelection()
        cursor, look = QTextCursor(block), QTextCharFormat()
        look.setBackground(theme().tint("accent", 30))
        look.setProperty(QTextFormat.Property.FullWidthSelection, True)
        mark.cursor, mark.format = cursor, look
        self.setExtraSelections([mark])

    def part_shown(self) -> str:
        """The text of the heading that was scrolled to last, "" for none."""
        return self.textCursor().block().text() if self.textCursor().blockNumber() else ""

    def loadResource(self, _kind: int, name: QUrl | str) -> object:
        """A picture of the page; nothing else is loaded, from wherever it may be."""
        return self._pictures.get(name.toString() if isinstance(name, QUrl) else name)


class GuideDialog(DialogFrame):
    """Shows one page after another."""

    def __init__(self, parent: QWidget | None = None, *, about: str = "") -> None:
        """``about``: the title of a page of the window, to begin with what is written of it."""
        super().__init__(N_("Operator's guide"), icon="ph.book-open", parent=parent)
        self._wanted = (WIDTH, HEIGHT)
        self.resize(WIDTH, HEIGHT)
        self._name, self._before = guide.first(i18n.language()), list[tuple[str, str]]()
        self._part = guide.mark(about)
        if about:
            self._before.append((self._name, ""))
            self._name = guide.of_pages(i18n.language())
        self._reading = Operation(self, latest=True)
        self.error = ErrorStrip()
        self.error.hide()
        self.view = PageView()
        self.view.anchorClicked.connect(self._follow)
        self.body.addWidget(self.error)
        self.body.addWidget(self.view, 1)
        self.back_button = Button(N_("Back"), icon="ph.arrow-left", kind="ghost")
        self.back_button.clicked.connect(self.back)
        close = Button(N_("Close"), hint="Esc")
        close.clicked.connect(self.reject)
        self.error.retry.connect(self._ask)
        put(self.foot, self.back_button, STRETCH, close)
        self._ask()

    @property
    def page(self) -> str:
        """The page that is shown or on its way."""
        return self._name

    def back(self) -> None:
        """To the page before."""
        if self._before:
            self._name, self._part = self._before.pop()
            self._ask()

    def _follow(self, link: QUrl) -> None:
        where = link.toString()
        if where.startswith("#"):
            self.view.show_part(guide.part(where))
        elif name := guide.target(self._name, where):
            self._before.append((self._name, self._part))
            self._name, self._part = name, guide.part(where)
            self._ask()

    def _ask(self) -> None:
        self.back_button.disable("" if self._before else _("This is the page that you opened first"))
        self._reading.start(partial(guide.read, self._name), self._show, lambda exc: self.error.show_error(told(exc)))

    def _show(self, page: GuidePage) -> None:
        self.error.clear()
        self.view.show_page(page, self._part)


def _fitted(picture: QImage, room: int) -> QImage:
    if not 0 < room < picture.width():
        return picture
    return picture.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation)
