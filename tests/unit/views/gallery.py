"""Saves pictures of the shell and of each widget, in both themes and languages; run by hand.

QT_QPA_PLATFORM=offscreen .venv/bin/python tests/unit/views/gallery.py /tmp/gallery
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QSlider,
    QSplitter,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from console.main_window import MainWindow
from console.navigation import PageSpec
from services import i18n
from services.i18n import N_, _
from tests.unit.views.samples import COLUMNS, FIELDS, sample_rows
from views.page import Page
from views.shell.lost_card import DisconnectedCard, LostPart
from views.shell.status_bar import Vitals
from views.shell.top_bar import Health
from views.support.language import language_relay
from views.support.look import Label, panel
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.widgets.badge import Badge
from views.widgets.buttons import Button, IconButton, LinkLabel
from views.widgets.card import Card
from views.widgets.empty_state import EmptyState
from views.widgets.fields import DateTimeField, Labelled, NumberField
from views.widgets.filter.bar import Choice, FilterBar, ValuePopup
from views.widgets.json.editor import JsonEditor, Problem
from views.widgets.key_values import KeyValues
from views.widgets.section import Section
from views.widgets.segmented import Segmented
from views.widgets.status_pill import StatusPill
from views.widgets.stepper import Stepper
from views.widgets.strip import ErrorStrip, Strip
from views.widgets.timeline import Timeline, TimelineEntry
from views.widgets.toast import ToastAction, ToastSpec
from views.widgets.toggle import Toggle

PAYLOAD = {
    "task": "sync_order",
    "shop_id": "pdd-10021",
    "since": "2026-11-21T13:00:00+08:00",
    "status": ["paid", "shipped"],
    "page_size": 500,
    "login": {"mode": "qr", "wait_s": 180, "force": True},
}


def timeline() -> Timeline:
    view = Timeline()
    view.set_entries(
        (
            TimelineEntry(time="14:29:02", text="Created by schedule", strong="Orders every 30 min"),
            TimelineEntry(time="14:29:02", text="Waited in", strong="tasks.normal", span="1 m 04 s"),
            TimelineEntry(
                time="14:30:06", text="Attempt 1 on", strong="rpa-04", tail="TimeoutError", span="22.4 s", status="dead"
            ),
            TimelineEntry(time="14:30:28", text="Back-off, then 31 s in tasks.normal", span="30 s", status="retrying"),
            TimelineEntry(
                time="14:31:48", text="Back-off in", strong="retry.60", span="41 s left", status="retrying", share=0.3
            ),
            TimelineEntry(
                time="14:32:48", text="Attempt 3, the last; then a dead letter", status="waiting", future=True
            ),
        )
    )
    return view


class TablePage(Page):
    """Tasks: tabs, chips, table, action bar, detail panel."""

    def __init__(self) -> None:
        super().__init__(N_("Tasks"))
        self.set_summary("1,409 match, of 18,402 kept")
        self.header.add_action(Button(N_("Columns"), icon="ph.columns"))
        self.header.add_action(Button(N_("Export"), icon="ph.export"))
        bar = FilterBar(FIELDS, placeholder=N_("Error contains"))
        bar.set_expression("status:running,retrying -platform:pdd error~login")
        model = RecordModel(COLUMNS, key=lambda row: row.id, tickable=True)
        model.apply(sample_rows(80))
        model.set_ticked([8, 11, 12])
        model.set_sorts([("age", True)])
        self.table = TableView(model, N_("Tasks"))
        self.table.set_current_key(12)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addWidget(self.table, 1)
        column.addWidget(self.action_bar())
        splitter = QSplitter()
        splitter.addWidget(left)
        splitter.addWidget(self.detail())
        splitter.setStretchFactor(0, 1)
        splitter.setSizes([960, 440])
        self.body.addWidget(splitter)

    def action_bar(self) -> QWidget:
        bar = panel("actionbar")
        bar.setFixedHeight(42)
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 0, 12, 0)
        row.addWidget(Label("3 selected", "strong"))
        row.addWidget(Button(N_("Retry"), kind="ghost", icon="ph.arrow-clockwise", hint="R"))
        row.addWidget(Button(N_("Cancel"), kind="ghostdanger", icon="ph.prohibit", hint="Del"))
        row.addWidget(Button(N_("Run now"), kind="ghost", icon="ph.lightning", hint="Ctrl+Return"))
        row.addStretch(1)
        row.addWidget(Button(N_("12 new rows"), kind="primary", icon="ph.arrow-down"))
        return bar

    def detail(self) -> QWidget:
        side = panel("side")
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(0)
        pill_row = QHBoxLayout()
        pill_row.setContentsMargins(16, 0, 16, 8)
        pill_row.setSpacing(8)
        pill_row.addWidget(Label("sync_order", "panel"))
        pill_row.addWidget(StatusPill("retrying", "Retrying, attempt 3 in 41 s", framed=True))
        pill_row.addStretch(1)
        pill_row.addWidget(IconButton("ph.x", N_("Close")))
        column.addLayout(pill_row)
        life = Section(N_("Timeline"), foldable=False)
        life.set_note("3 m 05 s so far")
        life.body.addWidget(timeline())
        column.addWidget(life)
        payload = Section(N_("Payload"))
        editor = JsonEditor(N_("Payload"))
        editor.load(PAYLOAD)
        editor.set_validator(lambda _doc: [Problem(text="page_size: 100 at most", path=("page_size",))])
        editor.setFixedHeight(240)
        payload.body.addWidget(editor)
        payload.set_note("valid, schema v3")
        column.addWidget(payload)
        heads = Section(N_("Message and headers"))
        values = KeyValues(mono=True)
        values.set_rows((("x-attempt", "2"), ("x-first-queued", "2026-11-21T14:29:02.131+08:00"), ("priority", "5")))
        heads.body.addWidget(values)
        column.addWidget(heads)
        column.addStretch(1)
        return side


class WidgetsPage(Page):
    """Every widget once."""

    def __init__(self) -> None:
        super().__init__(N_("Overview"))
        self.set_summary("1,284 tasks waiting, clear in about 4 m 50 s at the present pace")
        self.header.add_action(Button(N_("Freeze view"), kind="ghost", icon="ph.pause"))
        self.header.add_action(Segmented((("5", N_("5 min")), ("60", N_("1 h")), ("24", N_("24 h"))), N_("Range")))
        self.header.add_action(IconButton("ph.sliders-horizontal", N_("Settings"), kind="plain"))
        self.body.setContentsMargins(16, 0, 16, 16)
        self.body.setSpacing(12)
        strip = Strip("blocked")
        strip.show_text("for 1 m 48 s by broker flow control. Nothing is lost.", "Publisher scheduler-1 is blocked")
        strip.add_action(LinkLabel(N_("Show connections")))
        error = ErrorStrip()
        error.show_error("redis.example.com:6380, timed out after 3 s", lead="The list could not be loaded.")
        self.body.addWidget(strip)
        self.body.addWidget(error)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.buttons(), 1)
        row.addWidget(self.fields(), 1)
        row.addWidget(self.states(), 1)
        self.body.addLayout(row)
        lower = QHBoxLayout()
        lower.setSpacing(12)
        empty = Card(N_("Needs attention"), divided=True)
        empty.body.addWidget(EmptyState(N_("No task matches."), N_("Two filters are set."), N_("Clear filters")))
        lower.addWidget(empty, 1)
        self.body.addLayout(lower, 1)

    def buttons(self) -> Card:
        card = Card(N_("Buttons"))
        card.set_note("7")
        first = QHBoxLayout()
        for kind in ("primary", "plain", "danger", "dangerfill", "warning", "ghost", "link"):
            if kind == "dangerfill":
                first.addStretch(1)
                card.body.addLayout(first)
                first = QHBoxLayout()
            first.addWidget(Button(N_("Retry"), kind=kind, icon="ph.arrow-clockwise"))
        first.addStretch(1)
        card.body.addLayout(first)
        second = QHBoxLayout()
        second.addWidget(Button(N_("Republish"), kind="primary", hint="Ctrl+Return"))
        off = Button(N_("Cancel"), icon="ph.prohibit")
        off.disable("2 of 3 are not failed")
        second.addWidget(off)
        second.addWidget(IconButton("ph.copy", N_("Copy id")))
        second.addStretch(1)
        card.body.addLayout(second)
        card.body.addStretch(1)
        return card

    def fields(self) -> Card:
        card = Card(N_("Fields"), divided=True)
        card.body.addWidget(QLineEdit("mq.example.com:5671"))
        lanes = (
            ("high", N_("High"), "ph.caret-double-up-bold", "lane.high"),
            ("normal", N_("Normal"), "ph.minus-bold", "lane.normal"),
            ("low", N_("Low"), "ph.caret-double-down-bold", "lane.low"),
        )
        card.body.addWidget(Segmented(lanes, N_("Lane"), stretch=True))
        row = QHBoxLayout()
        row.addWidget(Toggle(N_("Dedicated queue"), on=True))
        row.addWidget(Toggle(N_("Dedicated queue")))
        row.addWidget(Stepper(N_("Slots"), 16))
        row.addStretch(1)
        card.body.addLayout(row)
        facts = KeyValues(spread=True)
        facts.set_rows(
            (("Shared lane Normal", "119"), ("First starts", "in about 1 m 20 s"), ("Likely all done", "14:45"))
        )
        card.body.addWidget(facts)
        return card

    def states(self) -> Card:
        card = Card(N_("States"))
        grid = QHBoxLayout()
        for chunk in (
            ("waiting", "scheduled", "running", "succeeded", "retrying"),
            ("dead", "stuck", "held", "paused", "unconfirmed"),
        ):
            column = QVBoxLayout()
            for name in chunk:
                column.addWidget(StatusPill(name, framed=name == "dead"))
            grid.addLayout(column)
        card.body.addLayout(grid)
        row = QHBoxLayout()
        for badge in (
            Badge.platform("pdd"),
            Badge.platform("temu"),
            Badge("PROD", "dead"),
            Badge.count("143", "dead"),
            Badge.count("18.4k"),
        ):
            row.addWidget(badge)
        row.addStretch(1)
        card.body.addLayout(row)
        card.body.addStretch(1)
        return card


class RawPage(Page):
    """Qt's own widgets, dressed by the style sheet."""

    def __init__(self) -> None:
        super().__init__(N_("Settings"))
        row = QHBoxLayout()
        row.setSpacing(12)
        self.body.setContentsMargins(16, 0, 16, 16)
        self.body.addLayout(row, 1)
        row.addWidget(self.inputs(), 1)
        row.addWidget(self.choices(), 1)
        row.addWidget(self.lists(), 1)

    def inputs(self) -> Card:
        card = Card(N_("Fields"))
        combo = QComboBox()
        combo.addItems(["All lanes", "High", "Normal"])
        off = QComboBox()
        off.addItem("Disabled")
        off.setEnabled(False)
        spin, when = NumberField(50), DateTimeField()
        when.show_moment(datetime(2026, 11, 21, 14, 32, 7, tzinfo=UTC))
        edit = QLineEdit(placeholderText="Drop a file here")
        password = QLineEdit("secret", echoMode=QLineEdit.EchoMode.Password)
        wrong = QLineEdit("500")
        wrong.setProperty("invalid", True)
        disabled = QLineEdit("off")
        disabled.setEnabled(False)
        text = QPlainTextEdit("pdd-10021\npdd-10025")
        labelled = Labelled(N_("Page size"), QLineEdit("500"), hint="1 to 100")
        labelled.set_error("page_size: 100 at most")
        for widget in (labelled, combo, off, spin, when, edit, password, wrong, disabled, text):
            card.body.addWidget(widget)
        return card

    def choices(self) -> Card:
        card = Card(N_("States"))
        for state in (Qt.CheckState.Unchecked, Qt.CheckState.PartiallyChecked, Qt.CheckState.Checked):
            box = QCheckBox("Create them too")
            box.setTristate(True)
            box.setCheckState(state)
            card.body.addWidget(box)
        off = QCheckBox("Disabled")
        off.setEnabled(False)
        on = QRadioButton("Dark")
        on.setChecked(True)
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setValue(30)
        bar = QProgressBar()
        bar.setValue(40)
        bar.setTextVisible(False)
        tabs = QTabBar()
        for name in ("All 18.4k", "In flight 1,409", "Retrying 37"):
            tabs.addTab(name)
        tabs.setDrawBase(False)
        for widget in (
            off,
            on,
            QRadioButton("Light"),
            slider,
            bar,
            tabs,
            QPushButton("Raw button"),
            QToolButton(text="Raw"),
        ):
            card.body.addWidget(widget)
        card.body.addStretch(1)
        return card

    def lists(self) -> Card:
        card = Card(N_("Tasks"))
        names = QListWidget()
        names.addItems([f"rpa-0{n}" for n in range(1, 30)])
        names.setCurrentRow(2)
        card.body.addWidget(names)
        group = QGroupBox("Group")
        inner = QVBoxLayout(group)
        inner.addWidget(QLabel("A label"))
        card.body.addWidget(group)
        return card


class EmptyPage(Page):
    """Nothing yet."""

    def __init__(self) -> None:
        super().__init__(N_("Dead letters"))
        self.body.addWidget(EmptyState(N_("No dead letters."), icon="ph.check-circle"))


SPECS = (
    PageSpec(id="overview", title=N_("Overview"), icon="ph.gauge", factory=WidgetsPage),
    PageSpec(id="tasks", title=N_("Tasks"), icon="ph.list-bullets", factory=TablePage),
    PageSpec(id="dead_letters", title=N_("Dead letters"), icon="ph.file-x", factory=EmptyPage),
    PageSpec(id="workers", title=N_("Workers"), icon="ph.robot", factory=EmptyPage),
    PageSpec(id="settings", title=N_("Settings"), icon="ph.gear-six", factory=RawPage, group=1),
)


def dress(window: MainWindow, *, lost: bool = False) -> None:
    """Give the shell the numbers of the design's pictures."""
    window.rail.set_badge("tasks", "1,409")
    window.rail.set_badge("dead_letters", "143", "dead")
    window.rail.set_badge("workers", "1", "retrying")
    window.top_bar.show_profile("Production · CN-East", "PROD", production=True)
    state, value = ("dead", _("lost")) if lost else ("healthy", "3 ms")
    parts = [
        Health(key="broker", name=_("Broker"), value=value, state=state),
        Health(key="redis", name="Redis", value=value, state=state),
        Health(key="workers", name=_("Workers"), value="7 / 8", state="unconfirmed" if lost else "warning"),
    ]
    window.top_bar.show_health(parts)
    window.top_bar.set_search_enabled(True)
    window.top_bar.show_freshness(timedelta(seconds=134 if lost else 0.4))
    window.top_bar.set_can_create(_("Not connected") if lost else "")
    window.status_bar.show_vitals(Vitals(rate_in=4.8, rate_out=4.4, event_lag=timedelta(milliseconds=120)))
    window.status_bar.show_due(31)
    window.status_bar.show_operator("Chen Yu", _("operator"))
    label = _("READ-ONLY while disconnected") if lost else ""
    window.status_bar.show_rights(label, label)
    if lost:
        window.status_bar.show_silence(timedelta(seconds=134))


def shoot(window: MainWindow, folder: Path, name: str) -> None:
    QApplication.processEvents()
    window.toasts.arrange()
    QApplication.processEvents()
    window.grab().save(str(folder / f"{name}.png"))


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/tmp/gallery")
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    theme().install(app)
    language_relay()
    for code in ("en", "zh_CN"):
        i18n.set_language(code)
        for mode in ("dark", "light"):
            theme().set_mode(mode)
            for width, height in ((1600, 1000), (1280, 800), (960, 540)):
                if (width, mode) == (960, "light"):
                    continue
                window = MainWindow(SPECS)
                dress(window)
                window.resize(width, height)
                window.show()
                label = f"{code}-{mode}-{width}"
                window.open_page("tasks")
                shoot(window, folder, f"tasks-{label}")
                window.open_page("overview")
                window.toasts.show(
                    ToastSpec(
                        text="128 tasks created.",
                        actions=(ToastAction(text=_("Open"), call=int), ToastAction(text=_("Undo"), call=int)),
                    )
                )
                window.toasts.show(
                    ToastSpec(text="Republishing stopped", detail="3 of 51 were not sent", status="dead", copy="x")
                )
                shoot(window, folder, f"widgets-{label}")
                if width == 1280:
                    window.toasts.clear()
                    window.open_page("settings")
                    shoot(window, folder, f"raw-{label}")
                    popups(window, folder, label)
                if width == 1600:
                    lost(window, folder, label)
                window.close()
                window.deleteLater()


def popups(window: MainWindow, folder: Path, label: str) -> None:
    page = window.page("tasks")
    assert isinstance(page, TablePage)
    menu = page.table.build_menu(page.table.records.index(3, 3))
    columns = page.table.layout_of_columns.menu()
    popup = ValuePopup(_("Status"), window)
    choices = [Choice(v.value, _(v.word), v.glyph, 12) for v in FIELDS[0].values]
    popup.fill(choices, ("dead",), negated=False, free=True)
    popup.adjustSize()
    for name, widget in (("menu", menu), ("columns", columns), ("popup", popup)):
        widget.grab().save(str(folder / f"{name}-{label}.png"))


def lost(window: MainWindow, folder: Path, label: str) -> None:
    dress(window, lost=True)
    window.toasts.clear()
    window.banner.show_loss("Redis lost at 14:32:07.", "Everything below is as it was then.", 8.0, 16.0)
    window.open_page("tasks")
    window.set_stale(True)
    card = DisconnectedCard(window)
    card.show_parts(
        "Production · CN-East does not answer",
        "Attempt 6. Each wait doubles, up to 30 s.",
        (
            LostPart(name=_("Network"), text="this computer is online, gateway 4 ms", state="healthy"),
            LostPart(name=_("Broker"), text="mq.example.com:5671, no route to host", seen="last seen 14:32:07"),
            LostPart(name="Redis", text="redis.example.com:6380, timed out after 3 s", seen="last seen 14:32:06"),
            LostPart(name=_("Workers"), text="not known, 7 of 8 were up", state="unconfirmed", seen="14:32:07"),
        ),
    )
    card.move((window.width() - card.width()) // 2, 370)
    shoot(window, folder, f"lost-{label}")


if __name__ == "__main__":
    main()
