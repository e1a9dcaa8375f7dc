"""What needs a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QCursor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from tests.support.painted import faults, painted
from views.widgets.attention.list import LEAVES_AFTER_MS, AttentionList, AttentionModel, AttentionRow

LOGIN = AttentionRow(
    key="login",
    severity="dead",
    title="Seller login expired",
    sentence="58 dead letters in 9 shops",
    age="34 min",
    verbs=(("triage", "f1", "Triage"), ("open_tasks", "fp:f1", "Show tasks")),
)
SILENT = AttentionRow(key="silent", severity="warning", title="Worker rpa-06 is silent", age="1 m 14 s")
SELECTOR = replace(LOGIN, key="selector", title="SelectorNotFound")


@pytest.fixture
def listing(qtbot: QtBot) -> AttentionList:
    listing = AttentionList()
    qtbot.addWidget(listing)
    listing.resize(400, 480)
    listing.show()
    return listing


def keys(listing: AttentionList) -> list[str]:
    return [item.row.key for item in listing.items()]


def test_the_order_is_the_one_given_and_what_is_over_keeps_its_place() -> None:
    model = AttentionModel()
    shown = model.update([SILENT, LOGIN, SELECTOR], 0)
    assert [row.key for row, _resolved in shown] == ["silent", "login", "selector"]
    shown = model.update([SELECTOR, SILENT], 1_000)
    assert [(row.key, resolved) for row, resolved in shown] == [
        ("selector", False), ("login", True), ("silent", False),
    ]  # fmt: skip


def test_what_is_over_stays_ten_seconds_as_resolved() -> None:
    model = AttentionModel()
    model.update([LOGIN, SILENT], 1_000)
    assert [(row.key, resolved) for row, resolved in model.update([SILENT], 2_000)] == [
        ("login", True),
        ("silent", False),
    ]
    assert len(model.update([SILENT], 2_000 + LEAVES_AFTER_MS - 1)) == 2
    assert [row.key for row, _resolved in model.update([SILENT], 2_000 + LEAVES_AFTER_MS)] == ["silent"]


def test_what_may_have_ended_badly_is_never_called_resolved() -> None:
    """A last try that became a dead letter stood there with a green tick."""
    model = AttentionModel()
    model.update([replace(LOGIN, end_open=True), SILENT], 1_000)
    assert model.update([SILENT], 2_000) == [(SILENT, False)]


def test_what_is_told_among_others_now_is_not_called_resolved() -> None:
    model, alone = AttentionModel(), replace(LOGIN, key="session:pdd:s1")
    many = replace(LOGIN, key="sessions", covers="session:")
    model.update([alone], 0)
    assert model.update([many], 1_000) == [(many, False)]
    assert model.update([alone], 2_000) == [(alone, False)], "nor are all of them over while one is there"
    assert model.update([], 3_000) == [(alone, True)]
    assert model.update([SILENT], 4_000) == [(alone, True), (SILENT, False)]


def test_what_comes_back_is_no_longer_resolved() -> None:
    model = AttentionModel()
    model.update([LOGIN], 0)
    model.update([], 1_000)
    assert model.update([LOGIN], 2_000) == [(LOGIN, False)]


def test_an_age_that_counts_on_lays_nothing_out_again(qtbot: QtBot, listing: AttentionList) -> None:
    laid: list[str] = []

    class Eyes(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.LayoutRequest:
                laid.append(type(watched).__name__)
            return False

    listing.set_rows([LOGIN, SILENT], 0)
    qtbot.wait(1)
    for _turn in range(9):  # a request to lay out may bring the next one
        QApplication.processEvents()
    eyes = Eyes()
    for part in (listing, *listing.findChildren(QWidget)):
        part.installEventFilter(eyes)
    listing.set_rows([LOGIN, replace(SILENT, age="1 m 15 s")], 0)
    QApplication.processEvents()
    assert listing.items()[1].accessibleName().endswith("is silent. 1 m 15 s")
    assert "1 m 15 s" in [label.text() for label in listing.items()[1].findChildren(QLabel)]
    assert not laid
    listing.set_rows([LOGIN, replace(SILENT, sentence="It held 3 tasks", age="1 m 16 s")], 0)
    QApplication.processEvents()
    assert laid
    label = next(one for one in listing.items()[1].findChildren(QLabel) if one.text() == "1 m 16 s")
    assert label.width() >= label.sizeHint().width()


@pytest.fixture
def aiming(listing: AttentionList) -> Iterator[Callable[[QPoint], None]]:
    """Moves the mouse to a place in the list."""
    before = QCursor.pos()
    yield lambda place: QCursor.setPos(listing.mapToGlobal(place))
    QCursor.setPos(before)


def test_nothing_moves_away_from_the_mouse_that_aims_at_it(
    qtbot: QtBot, listing: AttentionList, aiming: Callable[[QPoint], None]
) -> None:
    """A button went up a line as "1 m 00 s" became "59 s", and an item for good as the one above it was over."""
    long = replace(SELECTOR, sentence="5 of the last 5 attempts failed; next try in 1 m 08 s. Network error.")

    def place() -> int:
        QApplication.processEvents()
        link = next(item for item in listing.items() if item.row.key == "selector").links()[0]
        return link.mapTo(listing, QPoint()).y()

    listing.set_rows([LOGIN, long], 0)
    qtbot.waitUntil(lambda: listing.items()[1].sentence.height() > 0)
    while listing.items()[1].sentence.height() < 2 * listing.items()[1].sentence.fontMetrics().height():
        listing.resize(listing.width() - 4, listing.height())
        QApplication.processEvents()
    aiming(QPoint(40, 60))
    at = place()
    listing.set_rows([SILENT, replace(long, sentence="next try in 59 s")], 1_000)
    assert keys(listing) == ["login", "selector", "silent"], "what is new comes below"
    assert place() == at
    listing.set_rows([SILENT, replace(long, sentence="failed; " * 30)], 1_100)
    further = place()
    assert further > at, "more is not cut off for that"
    listing.set_rows([SILENT, replace(long, sentence="next try in 58 s")], 1_200)
    assert place() == further, "and it stays where it is by now"
    listing.set_rows([SILENT, replace(long, sentence="next try in 48 s")], 12_500)
    assert keys(listing) == ["silent", "selector"], "the mouse rests there, and what is over has gone"
    listing.set_rows([long], 13_000)
    aiming(QPoint(40, 70))
    listing.set_rows([long], 22_500)
    listing.set_rows([long], 23_500)
    assert keys(listing) == ["silent", "selector"], "it is over for ten seconds, and keeps its place"
    aiming(QPoint(-40, 70))
    listing.set_rows([long], 24_000)
    assert keys(listing) == ["selector"], "the mouse has left"


def test_what_comes_while_the_mouse_aims_takes_no_more_room_than_it_needs(
    qtbot: QtBot, listing: AttentionList, aiming: Callable[[QPoint], None]
) -> None:
    listing.set_rows([LOGIN], 0)
    qtbot.waitUntil(lambda: listing.items()[0].height() < 120)
    aiming(QPoint(40, 60))
    listing.set_rows([LOGIN, SELECTOR], 1_000)
    qtbot.waitUntil(lambda: listing.items()[1].isVisible())
    QApplication.processEvents()
    assert listing.items()[1].height() < 120


def test_all_is_said_again_once_the_mouse_left_what_needs_less_room_by_then(
    listing: AttentionList, aiming: Callable[[QPoint], None]
) -> None:
    """It stayed shortened in an empty list until the next item came or went."""
    rows = [replace(LOGIN, key=f"k{number}", sentence="58 dead letters in 9 shops; " * 8) for number in range(4)]
    brief = [replace(row, sentence="next try in 1 m") for row in rows]

    def shortened() -> bool:
        return bool(listing.items()[1].sentence.toolTip())

    listing.set_rows(rows, 0)
    assert shortened()
    aiming(QPoint(40, 60))
    listing.set_rows(brief, 1_000)
    assert shortened(), "nothing moves while the mouse aims"
    aiming(QPoint(-40, 60))
    listing.set_rows(brief, 2_000)
    assert not shortened()


def test_the_keyboard_stays_where_an_item_went(qtbot: QtBot, listing: AttentionList) -> None:
    """It went on to the bar at the foot of the window, where Space opens something else."""
    listing.set_rows([LOGIN, SELECTOR], 0)
    qtbot.waitUntil(listing.isActiveWindow)
    listing.items()[0].links()[0].setFocus()
    listing.set_rows([SELECTOR], 1_000)
    QApplication.processEvents()
    assert QApplication.focusWidget() is listing, "its verbs are gone, and no other one is pressed by chance"
    listing.set_rows([SELECTOR], 1_000 + LEAVES_AFTER_MS)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is listing.items()[0].links()[0]


def test_nothing_needs_you(qtbot: QtBot, listing: AttentionList, language: str) -> None:
    assert listing.empty.isVisible()
    listing.set_rows([LOGIN], 0)
    assert not listing.empty.isVisible()
    listing.set_rows([], 0)
    listing.set_rows([], LEAVES_AFTER_MS)
    assert listing.empty.isVisible()


def test_while_a_server_is_lost_nobody_says_that_nothing_needs_you(listing: AttentionList, language: str) -> None:
    def told() -> str:
        return " ".join(label.text() for label in listing.empty.findChildren(QLabel) if label.isVisible())

    listing.set_rows([], 0)
    calm = told()
    listing.set_rows([], 1, blind=True)
    assert told() not in ("", calm)
    listing.set_rows([], 2)
    assert told() == calm


def test_verbs_are_links_that_say_what_they_are_about(qtbot: QtBot, listing: AttentionList) -> None:
    listing.set_rows([LOGIN], 0)
    links = listing.items()[0].links()
    assert [link.text() for link in links] == ["Triage", "Show tasks"]
    with qtbot.waitSignal(listing.verb) as signal:
        qtbot.mouseClick(links[1], Qt.MouseButton.LeftButton)
    assert signal.args == ["open_tasks", "fp:f1"]
    with qtbot.waitSignal(listing.verb) as signal:
        qtbot.keyClick(links[0], Qt.Key.Key_Return)
    assert signal.args == ["triage", "f1"]


def filled(listing: AttentionList) -> list[str]:
    return [link.text() for item in listing.items() for link in item.links() if link.kind == "primary"]


def test_one_verb_is_filled_the_first_of_the_first_item(listing: AttentionList) -> None:
    quiet = replace(LOGIN, key="quiet", verbs=())
    listing.set_rows([quiet, LOGIN, replace(SILENT, verbs=(("open_worker", "w1", "Open worker"),))], 0)
    assert filled(listing) == ["Triage"]
    listing.set_rows([quiet, replace(SILENT, verbs=(("open_worker", "w1", "Open worker"),))], 1)
    assert listing.items()[1].resolved
    assert filled(listing) == ["Open worker"], "what is over asks for nothing"


def test_an_item_that_only_aged_keeps_its_widgets(listing: AttentionList) -> None:
    listing.set_rows([LOGIN, SILENT], 0)
    item, links = listing.items()[0], listing.items()[0].links()
    listing.set_rows([replace(LOGIN, age="35 min"), SILENT], 1_000)
    assert listing.items()[0] is item
    assert item.links() == links
    assert "35 min" in item.accessibleName()


def test_a_verb_that_copies_tells_what_the_item_says(qtbot: QtBot, listing: AttentionList) -> None:
    listing.set_rows([replace(LOGIN, verbs=(("copy_server", "", "Copy message for IT"),))], 0)
    with qtbot.waitSignal(listing.verb) as heard:
        listing.items()[0].links()[0].click()
    assert heard.args == ["copy_server", "Seller login expired\n58 dead letters in 9 shops"]


def test_what_there_is_no_room_for_is_counted(qtbot: QtBot, listing: AttentionList) -> None:
    told: list[int] = []
    listing.below_changed.connect(told.append)
    listing.resize(400, 150)
    listing.set_rows([replace(LOGIN, key=f"k{number}") for number in range(5)], 0)
    qtbot.waitUntil(lambda: bool(told) and told[-1] >= 3)
    while told[-1]:
        before = told[-1]
        listing.show_below()
        assert told[-1] < before
    listing.resize(400, 900)
    listing.set_rows([LOGIN], 0)
    qtbot.waitUntil(lambda: told[-1] == 0)


def test_what_is_over_is_not_counted_among_those_below(qtbot: QtBot, listing: AttentionList) -> None:
    told: list[int] = []
    listing.below_changed.connect(told.append)
    listing.resize(400, 90)
    rows = [replace(LOGIN, key=f"k{number}") for number in range(5)]
    listing.set_rows(rows, 0)
    qtbot.waitUntil(lambda: bool(told) and told[-1] == 4)
    listing.set_rows(rows[:3], 1_000)
    qtbot.waitUntil(lambda: told[-1] == 2)
    assert len(listing.items()) == 5


def test_the_last_item_that_is_seen_is_seen_whole(qtbot: QtBot, listing: AttentionList) -> None:
    listing.set_rows([replace(LOGIN, key=f"k{number}") for number in range(5)], 0)
    (area,) = listing.findChildren(QScrollArea)

    def cut() -> list[str]:
        height = area.viewport().height()
        tops = [item.mapTo(area.viewport(), QPoint()).y() for item in listing.items()]
        pairs = zip(listing.items(), tops, strict=True)
        return [item.row.key for item, top in pairs if top < height < top + item.height()]

    for height in (150, 213, 290):
        listing.resize(400, height)
        qtbot.waitUntil(lambda: not cut())
    listing.resize(400, 900)
    qtbot.waitUntil(lambda: area.height() == 900)
    listing.resize(400, 30)
    qtbot.waitUntil(lambda: area.height() == listing.height())


def test_where_there_is_little_room_each_item_says_less_so_that_more_of_them_are_seen(
    qtbot: QtBot, listing: AttentionList
) -> None:
    verbs = (
        ("triage", "f1", "See the cause"),
        ("copy_flow", "f1", "Copy report for the maker"),
        ("pause", "t", "Pause"),
    )
    long = replace(
        LOGIN,
        title="Page element missing in sync_order",
        sentence="a retry fails again until it is adapted. " * 4,
        verbs=verbs,
    )
    told: list[int] = []
    listing.below_changed.connect(told.append)
    listing.resize(320, 900)
    listing.set_rows([replace(long, key=f"k{number}") for number in range(4)], 0)
    (first, *rest) = listing.items()
    qtbot.waitUntil(lambda: first.sentence.height() > 3 * first.sentence.fontMetrics().height())
    assert first.sentence.toolTip() == ""
    assert all(link.isVisible() for link in first.links())
    listing.resize(320, 280)
    qtbot.waitUntil(lambda: max(item.geometry().bottom() for item in rest) < 280)
    assert (told or [0])[-1] == 0
    assert "until it is adapted. a retry" in first.sentence.toolTip(), "what is left out can be read"
    assert [link.isVisible() for link in first.links()] == [True, False, False]
    first.more_button.click()
    menu = first.findChild(QMenu)
    assert menu is not None
    assert {"See the cause", "Copy report for the maker", "Pause"} <= {action.text() for action in menu.actions()}
    menu.close()


def test_words_that_are_left_out_are_told_by_dots_and_only_those(qtbot: QtBot, listing: AttentionList) -> None:
    long = replace(LOGIN, title="Page element missing", sentence="a retry fails again until it is adapted. " * 4)
    listing.resize(320, 280)
    listing.set_rows([replace(long, key=f"k{number}") for number in range(4)], 0)
    (first, *_rest) = listing.items()
    line = first.sentence.fontMetrics().height()

    def dots() -> int:
        return sum(one.text.count("…") for one in painted(listing))

    qtbot.waitUntil(lambda: first.sentence.height() <= 2 * line)
    qtbot.waitUntil(lambda: dots() == 4)  # one for each sentence, none for a title
    qtbot.waitUntil(lambda: faults(listing) == ())
    listing.resize(320, 900)
    qtbot.waitUntil(lambda: first.sentence.height() > 3 * line)
    assert dots() == 0
    qtbot.waitUntil(lambda: faults(listing) == ())


def test_words_that_grow_by_a_line_and_shrink_again_do_not_switch_the_others_each_time(
    qtbot: QtBot, listing: AttentionList
) -> None:
    rows = [replace(LOGIN, key=f"k{number}", sentence="58 dead letters in 9 shops; " * 8) for number in range(4)]
    longer = [
        replace(rows[0], title="Seller login expired, asked for again today, and once more after that"),
        *rows[1:],
    ]

    def shortened() -> bool:
        return bool(listing.items()[1].sentence.toolTip())

    listing.resize(400, 2000)
    listing.set_rows(rows, 0)
    first, *_rest = listing.items()
    qtbot.waitUntil(lambda: first.sentence.height() > 3 * first.sentence.fontMetrics().height())
    whole = listing.items()[-1].geometry().bottom() + 1
    listing.resize(400, whole)
    assert not shortened(), "all of it fits"
    listing.set_rows(longer, 1)
    assert shortened()
    for turn in range(4):
        listing.set_rows((rows, longer)[turn % 2], turn + 2)
        assert shortened()
    listing.set_rows(rows, 9)
    listing.resize(400, whole + 60)
    assert not shortened(), "where there is room to spare all of it is said again"


def test_a_title_with_signs_of_two_units_is_broken_where_it_is_without_a_bound(
    qtbot: QtBot, listing: AttentionList
) -> None:
    row = replace(
        LOGIN, title="😀" * 5 + " Shop seven of the north is broken since yesterday, and nobody came to see it"
    )
    listing.resize(320, 900)
    listing.set_rows([replace(row, key=f"k{number}") for number in range(3)], 0)
    title = listing.items()[0].title
    line = title.fontMetrics().lineSpacing()
    qtbot.waitUntil(lambda: title.height() >= 3 * line)

    def second_line() -> QImage:  # its begin: its end has dots
        return title.grab().toImage().copy(0, line, title.width() // 2, line)

    whole, tall = second_line(), title.height()
    while title.height() == tall:
        listing.resize(320, listing.height() - 2)
        QApplication.processEvents()
    assert title.height() >= 2 * line, "two lines are left"
    assert second_line() == whole


def test_order_follows_and_the_count_is_told(qtbot: QtBot, listing: AttentionList) -> None:
    with qtbot.waitSignal(listing.count_changed) as signal:
        listing.set_rows([LOGIN, SILENT], 0)
    assert signal.args == [2]
    listing.set_rows([SELECTOR, LOGIN, SILENT], 0)
    assert keys(listing) == ["selector", "login", "silent"]
    with qtbot.waitSignal(listing.count_changed) as signal:
        listing.set_rows([SELECTOR, SILENT], 1)
    assert signal.args == [2]
    over = listing.items()[1]
    assert over.resolved
    assert over.links() == []
    assert not over.sentence.isVisibleTo(over), "58 dead letters are not there any more"
    assert over.accessibleName() == "Dead letter: Seller login expired. resolved"


def test_it_speaks(listing: AttentionList) -> None:
    listing.set_rows([LOGIN], 0)
    assert listing.accessibleName() == "Needs attention"
    name = listing.items()[0].accessibleName()
    assert name == "Dead letter: Seller login expired. 58 dead letters in 9 shops 34 min"


def test_foreign_text_is_shown_plain(listing: AttentionList) -> None:
    listing.set_rows([replace(LOGIN, title="<b>x</b>\nsecond\u202e", sentence="a\x00b")], 0)
    item = listing.items()[0]
    assert item.title.text() == "<b>x</b> …"
    assert item.title.textFormat() == Qt.TextFormat.PlainText
    item.copy_text()
    assert QGuiApplication.clipboard().text().startswith("<b>x</b>")


def test_words_are_never_cut(qtbot: QtBot, listing: AttentionList) -> None:
    long = replace(
        LOGIN, title="A cause with a rather long name " * 3, sentence="and a sentence that is no shorter " * 4
    )
    listing.set_rows([long], 0)
    listing.resize(300, 480)
    item = listing.items()[0]
    qtbot.waitUntil(lambda: item.title.height() >= item.title.heightForWidth(item.title.width()) > 20)
    assert item.sentence.height() >= item.sentence.heightForWidth(item.sentence.width())


def test_verbs_that_change_something_are_disabled_with_the_reason(qtbot: QtBot) -> None:
    shown = AttentionList()
    qtbot.addWidget(shown)
    verbs = (("open_tasks", "status:dead", "Show tasks"), ("pause", "type:sync_order", "Pause sync_order"))
    shown.set_rows([AttentionRow(key="a", severity="dead", title="a", verbs=verbs)], 0)
    shown.set_acting("Not while the connection is lost")
    look, pause = shown.items()[0].links()
    assert look.isEnabled()
    assert not pause.isEnabled()
    assert pause.toolTip() == "Not while the connection is lost"
    shown.set_acting("")
    assert all(link.isEnabled() for link in shown.items()[0].links())
