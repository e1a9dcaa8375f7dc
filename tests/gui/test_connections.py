"""Several connections in one window: listed, added, tested, edited, removed, switched; and one that does not open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from console import lifecycle
from console.connection.open_connection import OpenConnection
from console.lifecycle import Console
from services import assembly
from services import settings as config
from services.cli.window import pages
from services.commands.tasks import TaskSpec
from services.domain.task.status import Status
from services.profiles.book import Book, SavedProfile
from tests.gui.desk import SHOPS
from tests.gui.test_console import off, play, until
from tests.support.services import RabbitMQ, Redis, start_rabbitmq, start_redis
from views.dialogs.connection import ConnectionDialog
from views.pages.overview.page import OverviewPage
from views.pages.settings.page import SettingsPage
from views.shell.health_pill import HealthPill
from views.support.acting import Acting

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
FILES = "[profiles.tryout]\nenvironment = 'test'\n[profiles.branch]\nenvironment = 'production'\nread_only = true\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A machine with two engines of its own in config.toml, that worked with the usual one last."""
    # A read-only connection makes no database: somebody has worked with that one before.
    (tmp_path / "config.toml").write_text("[profiles.branch]\n")
    assembly.open_engine(config.load(home=tmp_path, profile="branch")).close()
    (tmp_path / "config.toml").write_text(f'[worker]\nslots = 1\nhandlers = ["tests.gui.close_handlers"]\n{FILES}')
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}))
    return tmp_path


@pytest.fixture(scope="module")
def broker() -> Iterator[RabbitMQ]:
    """A broker that is stopped and started."""
    with start_rabbitmq() as server:
        yield server


@pytest.fixture
def redis() -> Iterator[Redis]:
    """A Redis that is stopped and started."""
    with start_redis() as server:
        yield server


async def shown(console: Console, name: str) -> None:
    """Wait for the window over a connection."""
    await until(
        lambda: (
            console.connection is not None
            and console.connection.settings.profile == name
            and console.opened is not None
            and console.opened.window.isVisible()
            and not console.entering
        ),
        f"the window over {name}",
    )


def windows(console: Console) -> list[QWidget]:
    """Every window that can be seen now."""
    return [one for one in QApplication.topLevelWidgets() if one.isVisible() and one.windowTitle()]


def test_switching_keeps_one_window_and_everything_in_it_follows(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        await shown(console, "local")
        assert console.opened is not None
        first = console.opened.window
        first.open_page("tasks")
        place = first.geometry()
        first.top_bar.profile.click()
        menu = console.connections.menu
        assert menu is not None
        assert [row.connection.title for row in menu.rows] == ["Local", "tryout", "branch"]
        assert [row.connection.opened for row in menu.rows] == [True, False, False]
        assert menu.rows[1].edit_button.toolTip() == "Edit\nIt stands in config.toml; change it there"
        menu.rows[2].chosen.emit("branch")
        await shown(console, "branch")
        assert console.opened is not None
        window = console.opened.window
        assert windows(console) == [window]
        assert (window.geometry(), window.current) == (place, "tasks")
        assert window.windowTitle() == "branch · PROD · Tasks · Fleetdeck"
        assert window.top_bar.profile.accessibleName() == "Connection: branch PROD"
        assert console.opened.context.environment == "production"
        await until(lambda: window.status_bar.part("rights").words() == "READ-ONLY", "the badge")
        console.connections.choose("tryout")
        await shown(console, "tryout")
        assert console.opened is not None
        assert console.opened.window.top_bar.profile.accessibleName() == "Connection: tryout TEST"
        settings = console.opened.window.page("settings")
        assert isinstance(settings, SettingsPage)
        assert settings.connections is not None
        assert [row.connection.opened for row in settings.connections.rows] == [False, True, False]

    play(qapp, home, scene)
    assert json.loads((home / "console.json").read_text())["profile"] == "tryout"

    async def again(console: Console) -> None:
        await shown(console, "tryout")

    play(qapp, home, again)


def test_a_connection_that_takes_long_to_open_shows_the_page_of_the_one_before(
    qapp: QApplication, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(console: Console) -> None:
        await shown(console, "local")
        assert console.opened is not None
        console.opened.window.open_page("tasks")
        monkeypatch.setattr(lifecycle, "PATIENCE_S", 0.0)
        console.connections.wanted.emit("tryout")
        await shown(console, "tryout")
        assert console.opened.window.current == "tasks"

    play(qapp, home, scene)


def test_a_word_names_the_connection_and_leaves_the_last_one_alone(qapp: QApplication, home: Path) -> None:
    (home / "console.json").write_text(json.dumps({"chosen": "local", "profile": "tryout"}))

    async def scene(console: Console) -> None:
        await shown(console, "branch")

    settings = config.load(home=home, profile="branch")
    play(qapp, home, scene, settings=settings, named=True)
    assert json.loads((home / "console.json").read_text())["profile"] == "tryout"


def test_one_can_go_back_to_the_connection_of_the_command_line(
    qapp: QApplication, home: Path, broker: RabbitMQ, redis: Redis
) -> None:
    settings = config.load(home=home, broker=broker.amqp_url, redis=redis.url)

    async def scene(console: Console) -> None:
        await shown(console, settings.profile)
        console.connections.choose("tryout")
        await shown(console, "tryout")
        await until(
            lambda: [row.name for row in console.connections.rows()] == ["local", "tryout", "branch", settings.profile],
            "it stays in the list",
        )
        console.connections.choose(settings.profile)
        await shown(console, settings.profile)

    play(qapp, home, scene, settings=settings, named=True, led=True)


def test_what_is_edited_holds_at_once_also_where_a_word_named_the_connection(qapp: QApplication, home: Path) -> None:
    """As in the window that "open in a window of its own" starts."""
    Book(home).put(SavedProfile(name="east"))

    async def scene(console: Console) -> None:
        await shown(console, "east")
        console.connections.edit("east")
        await until(lambda: console.connections.dialog is not None, "the dialog")
        dialog = console.connections.dialog
        assert dialog is not None
        dialog.environment.setCurrentIndex(dialog.environment.findData("staging"))
        dialog.save_button.click()
        await until(
            lambda: (
                console.opened is not None
                and console.opened.window.top_bar.profile.accessibleName() == "Connection: east STAGING"
                and not console.entering
            ),
            "it is opened anew",
        )

    play(qapp, home, scene, settings=config.load(home=home, profile="east"), named=True)


def test_what_runs_here_is_asked_about_before_another_is_opened(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        await shown(console, "local")
        session = console.connection
        assert session is not None
        spec = TaskSpec(platform="pdd", shop_id="s1", task_type="until_file", payload={"file": str(home / "go")})
        task_id = session.commands.tasks.create([spec], origin="console").created[0].task_id
        await until(lambda: bool(session.local.running()), "the task runs here")
        console.connections.choose("tryout")
        assert console.windows is not None
        dialog = console.windows.leaving.dialog
        assert dialog is not None
        assert dialog.verb_button.text() == "Finish 1 task, then switch"
        dialog.verb_button.click()
        assert console.connection is session
        (home / "go").touch()
        await shown(console, "tryout")
        engine = assembly.open_engine(config.load(home=home))
        try:
            (task,) = engine.store.get([task_id])
            assert task is not None
            assert task.status == Status.SUCCEEDED
        finally:
            engine.close()

    play(qapp, home, scene)


def type_into(field: QLineEdit, words: str) -> None:
    field.setText(words)


def test_a_fleet_is_added_tested_opened_edited_and_removed(
    qapp: QApplication, home: Path, broker: RabbitMQ, redis: Redis
) -> None:
    async def scene(console: Console) -> None:
        await shown(console, "local")
        connections = console.connections
        connections.add()
        dialog = connections.dialog
        assert isinstance(dialog, ConnectionDialog)
        dialog.save_button.click()
        assert dialog.fields["name"].error() == "Give the connection a name."
        assert dialog.fields["broker"].error() == "Enter the address of the broker, or choose this machine."
        type_into(dialog.name, "East")
        dialog.addresses["broker"].set_address("mq.example.com")
        dialog.addresses["redis"].set_address(redis.url.replace("redis://", "redis://:s3cret@"))
        dialog.save_button.click()
        assert dialog.fields["broker"].error().startswith("The address of the broker must begin with amqp://")
        dialog.addresses["broker"].set_address(broker.amqp_url)
        assert "s3cret" not in dialog.addresses["redis"].text()
        dialog.test_button.click()
        await until(lambda: bool(dialog.answers["store"].words()), "both parts answer")
        assert dialog.answers["broker"].words().startswith("answers")
        assert "user or password" in dialog.answers["store"].words() or "AUTH" in dialog.answers["store"].words()
        dialog.addresses["redis"].set_address(redis.url)
        dialog.test_button.click()
        await until(lambda: dialog.answers["store"].words().startswith("answers"), "Redis answers")
        dialog.environment.setCurrentIndex(dialog.environment.findData("production"))
        assert dialog.read_only.isChecked()
        dialog.read_only.click()  # whoever means to act there says so
        dialog.save_button.click()
        await until(lambda: "East" in [row.name for row in connections.rows()], "it is listed")
        kept = (home / "profiles.json").read_text()
        assert "guest:guest" not in kept
        connections.choose("East")
        await shown(console, "East")
        assert console.opened is not None
        assert console.opened.window.top_bar.profile.accessibleName() == "Connection: East PROD"
        connections.edit("East")
        await until(lambda: connections.dialog is not dialog, "the dialog")
        editor = connections.dialog
        assert editor is not None
        assert editor.addresses["broker"].address() == broker.amqp_url
        assert "guest:guest" not in editor.addresses["broker"].text()
        editor.read_only.setChecked(True)
        session = console.connection
        editor.save_button.click()
        await until(lambda: console.connection is not None and console.connection is not session, "it is opened anew")
        await shown(console, "East")
        assert console.connection is not None
        assert console.connection.commands.operator.read_only.startswith("The connection East is read-only")
        connections.remove("East")
        assert connections.question is None, "what is open stays"
        connections.choose("local")
        await shown(console, "local")
        connections.remove("East")
        question = connections.question
        assert question is not None
        assert not question.verb_button.isEnabled()
        question.typed_field.setText("East")
        question.verb_button.click()
        await until(lambda: "East" not in [row.name for row in connections.rows()], "it is gone")
        assert redis.running

    play(qapp, home, scene)


def fleet(home: Path, broker: RabbitMQ, redis: Redis) -> None:
    """A home whose last connection was a fleet."""
    (home / "config.toml").write_text(
        f"[profiles.East]\nbroker = '{broker.amqp_url}'\nredis = '{redis.url}'\nenvironment = 'production'\n"
    )
    (home / "console.json").write_text(json.dumps({"chosen": "fleet", "profile": "East"}))


@pytest.mark.deep
@pytest.mark.parametrize("down", ["redis", "broker"])
def test_a_start_without_a_part_shows_the_profile_and_the_cause_and_goes_on_by_itself(
    qapp: QApplication, tmp_path: Path, broker: RabbitMQ, redis: Redis, down: str
) -> None:
    fleet(tmp_path, broker, redis)
    lost = redis if down == "redis" else broker
    lost.stop()

    async def scene(console: Console) -> None:
        await until(lambda: console.unopened is not None and len(console.unopened.words()) > 5, "the cause")
        page, window = console.unopened, console.welcome
        assert page is not None
        assert window is not None
        assert console.first_run is None, "this is no first run"
        assert window.windowTitle() == "East · PROD · Fleetdeck"
        said = page.words()
        assert said[0] == "East does not open"
        silent, answers = (said[5], said[4]) if down == "redis" else (said[4], said[5])
        assert silent.startswith("Nothing listens at")
        assert "start R" in silent
        assert answers.startswith("answers")
        assert ("Redis is back" if down == "redis" else "the broker is back") in said[2]
        assert (page.copy_button.kind, page.again_button.kind) == ("primary", "plain")
        buttons = [button.text() for button in window.findChildren(type(page.again_button)) if button.isVisible()]
        assert "Start local mode" not in buttons
        page.other_link.click()
        menu = console.connections.menu
        assert menu is not None
        assert [row.connection.title for row in menu.rows] == ["Local", "East"]
        menu.close()
        assert page.edit_link.isEnabled()
        page.edit_link.activated.emit()
        await until(lambda: console.connections.dialog is not None, "the address can be corrected")
        dialog = console.connections.dialog
        assert dialog is not None
        entered = [field.text() for field in dialog.findChildren(QLineEdit)]
        assert "East-2" in entered, "config.toml is not this window's to write"
        assert redis.url in entered
        dialog.reject()
        await off(lost.start)
        await shown(console, "East")
        assert windows(console) == [console.opened.window]  # type: ignore[union-attr]

    try:
        play(qapp, tmp_path, scene)
    finally:
        lost.start()


def test_a_switch_that_fails_shows_its_page_and_leads_back(
    qapp: QApplication, home: Path, broker: RabbitMQ, redis: Redis
) -> None:
    (home / "config.toml").write_text(f"[profiles.East]\nbroker = '{broker.amqp_url}'\nredis = '{redis.url}'\n")
    redis.stop()

    async def scene(console: Console) -> None:
        await shown(console, "local")
        console.connections.choose("East")
        await until(lambda: console.unopened is not None and len(console.unopened.words()) > 5, "the cause")
        page = console.unopened
        assert page is not None
        assert windows(console) == [console.welcome]
        assert page.back_link.text() == "Back to Local"
        page.back_link.click()
        await shown(console, "local")
        assert windows(console) == [console.opened.window]  # type: ignore[union-attr]

    play(qapp, home, scene)


def test_who_goes_on_to_another_one_while_one_is_being_left_leaves_no_window_behind(
    qapp: QApplication, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.toml").write_text(
        f"{FILES}[profiles.East]\nbroker = 'amqp://127.0.0.1:1'\nredis = 'redis://127.0.0.1:1'\n"
    )
    held = [True]
    monkeypatch.setattr(Acting, "busy", property(lambda _self: held[0]))

    async def scene(console: Console) -> None:
        await shown(console, "local")
        first = console.opened
        assert first is not None
        first.window.open_page("tasks")
        assert first.window.findChildren(Acting), "what was asked for there is sent before it goes"
        console.connections.choose("East")
        await until(lambda: console.unopened is not None, "the page of the one that does not answer")
        console.connections.choose("tryout")
        await asyncio.sleep(0.2)
        held[0] = False
        await shown(console, "tryout")
        assert windows(console) == [console.opened.window]  # type: ignore[union-attr]

    play(qapp, home, scene)


def test_a_profile_that_is_gone_is_named_with_those_that_are_there(qapp: QApplication, home: Path) -> None:
    (home / "console.json").write_text(json.dumps({"chosen": "fleet", "profile": "West"}))

    async def scene(console: Console) -> None:
        await until(lambda: console.unopened is not None, "its page")
        assert console.unopened is not None
        page = console.unopened
        await until(lambda: "It was removed, or has another name now." in page.words(), "why")
        assert "everything on this machine" not in page.report(), "nobody knows where it was"
        assert not page.edit_link.isVisible()
        assert [row.name for row in console.connections.rows()] == ["local", "tryout", "branch"]
        assert console.first_run is None
        assert console.opened is None
        console.welcome.top_bar.profile_requested.emit(QPoint(0, 0))  # type: ignore[union-attr]
        assert console.connections.menu is not None
        console.connections.menu.rows[0].chosen.emit("local")
        await shown(console, "local")

    play(qapp, home, scene)


def test_one_that_is_there_again_opens_at_the_next_try(qapp: QApplication, home: Path) -> None:
    (home / "console.json").write_text(json.dumps({"chosen": "local", "profile": "West"}))

    async def scene(console: Console) -> None:
        await until(lambda: console.unopened is not None, "its page")
        assert console.unopened is not None
        await until(lambda: len(console.unopened.words()) > 3, "why")  # type: ignore[union-attr]
        await off(Book(home).put, SavedProfile(name="West"))
        console.unopened.again_button.click()
        await shown(console, "West")

    play(qapp, home, scene)


def remembered(home: Path) -> dict[str, object]:
    """What the next start finds."""
    found = json.loads((home / "console.json").read_text())
    assert isinstance(found, dict)
    return found


def test_the_next_start_follows_a_connection_that_was_renamed_or_removed(qapp: QApplication, home: Path) -> None:
    Book(home).put(SavedProfile(name="West"))
    (home / "console.json").write_text(json.dumps({"chosen": "local", "profile": "West"}))

    async def rename(console: Console) -> None:
        await shown(console, "West")
        assert console.opened is not None
        console.opened.keys.another_wanted.emit()
        console.connections.edit("West")
        await until(lambda: console.connections.dialog is not None, "the dialog")
        dialog = console.connections.dialog
        assert dialog is not None
        dialog.name.setText("East")
        dialog.save_button.click()
        await shown(console, "East")
        await until(
            lambda: console.windows is not None and len(console.windows.others) == 1, "both windows are there again"
        )

    play(qapp, home, rename)
    assert remembered(home)["profile"] == "East"
    assert len(remembered(home)["windows"]["East"]) == 2  # type: ignore[index]

    async def remove(console: Console) -> None:
        await shown(console, "branch")
        await until(lambda: len(console.connections.rows()) == 4, "the list")
        console.connections.remove("East")
        question = console.connections.question
        assert question is not None
        question.typed_field.setText("East")
        question.verb_button.click()
        await until(lambda: len(console.connections.rows()) == 3, "it is gone")

    play(qapp, home, remove, settings=config.load(home=home, profile="branch"), named=True)
    assert remembered(home)["profile"] == "branch"


def test_one_renamed_to_where_nobody_answers_leads_back_to_where_one_came_from(qapp: QApplication, home: Path) -> None:
    Book(home).put(SavedProfile(name="West"))

    async def scene(console: Console) -> None:
        await shown(console, "local")
        console.connections.choose("West")
        await shown(console, "West")
        console.connections.edit("West")
        await until(lambda: console.connections.dialog is not None, "the dialog")
        dialog = console.connections.dialog
        assert dialog is not None
        dialog.name.setText("East")
        dialog.where.set_current("fleet")
        dialog.addresses["broker"].set_address("amqp://127.0.0.1:1/")
        dialog.addresses["redis"].set_address("redis://127.0.0.1:1/0")
        dialog.save_button.click()
        await until(lambda: console.unopened is not None and len(console.unopened.words()) > 5, "the cause")
        assert console.unopened is not None
        assert console.unopened.back_link.text() == "Back to Local"

    play(qapp, home, scene)


def test_the_way_back_follows_what_is_renamed_and_removed_meanwhile(qapp: QApplication, home: Path) -> None:
    for name in ("South", "North"):
        Book(home).put(SavedProfile(name=name, broker="amqp://127.0.0.1:1/", redis="redis://127.0.0.1:1/0"))
    Book(home).put(SavedProfile(name="West"))

    async def scene(console: Console) -> None:
        def back() -> str | None:
            page = console.unopened
            return (
                None
                if page is None or len(page.words()) < 6
                else ""
                if page.back_link.isHidden()
                else page.back_link.text()
            )

        await shown(console, "local")
        connections = console.connections
        connections.choose("West")
        await shown(console, "West")
        connections.choose("South")
        await until(lambda: back() == "Back to West", "its page")
        connections.edit("West")
        await until(lambda: connections.dialog is not None, "the dialog")
        dialog = connections.dialog
        assert dialog is not None
        dialog.name.setText("East")
        dialog.save_button.click()
        await until(lambda: "East" in [row.name for row in connections.rows()], "its new name")
        connections.choose("North")
        await until(lambda: back() == "Back to East", "the page of the next")
        connections.remove("East")
        question = connections.question
        assert question is not None
        question.typed_field.setText("East")
        question.verb_button.click()
        await until(lambda: "East" not in [row.name for row in connections.rows()], "it is gone")
        connections.choose("South")
        await until(lambda: back() == "", "no way back to what is gone")

    play(qapp, home, scene)


def test_where_the_window_cannot_be_loaded_the_connection_that_was_begun_is_closed(
    qapp: QApplication, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, load, failures = [], lifecycle.import_module, ["a file is missing"]
    close = OpenConnection.close

    def import_module(name: str) -> object:
        if failures:
            raise ImportError(failures.pop())
        return load(name)

    def noted(connection: OpenConnection, grace_s: float) -> object:
        closed.append(connection)
        return close(connection, grace_s)

    monkeypatch.setattr(lifecycle, "import_module", import_module)
    monkeypatch.setattr(OpenConnection, "close", noted)

    async def scene(console: Console) -> None:
        await until(lambda: console.unopened is not None, "its page")
        assert console.unopened is not None
        await until(lambda: len(closed) == 1, "the first is closed")
        console.unopened.again.emit()
        await shown(console, "local")
        assert console.connection is not closed[0]

    play(qapp, home, scene)


def test_what_is_open_and_was_removed_elsewhere_is_not_said_to_come_from_the_command_line(
    qapp: QApplication, home: Path
) -> None:
    Book(home).put(SavedProfile(name="West"))

    async def scene(console: Console) -> None:
        await shown(console, "West")
        await until(lambda: len(console.connections.rows()) == 4, "the list")
        await off(Book(home).remove, "West")
        qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
        await until(lambda: console.connections.rows()[-1].origin == "no longer kept", "what became of it")
        assert "removed or renamed in another window" in console.connections.rows()[-1].fixed

    play(qapp, home, scene, settings=config.load(home=home, profile="West"), named=True)


def test_an_engine_that_fails_in_an_unforeseen_way_is_a_page_and_no_program_without_a_window(
    qapp: QApplication, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = assembly.open_engine
    failures = ["the disk said no"]

    def open_engine(settings: config.Settings, *, via: str = "") -> assembly.Engine:
        if failures:
            raise OSError(failures.pop())
        return opened(settings, via=via)

    monkeypatch.setattr(assembly, "open_engine", open_engine)

    async def scene(console: Console) -> None:
        await until(lambda: console.unopened is not None, "its page")
        assert console.unopened is not None
        await until(lambda: any("the disk said no" in one for one in console.unopened.words()), "why")
        console.unopened.again.emit()
        await shown(console, "local")

    play(qapp, home, scene)


@dataclass(frozen=True)
class Told:
    """All that Overview and the bars around it say at one moment."""

    headline: str
    pills: dict[str, tuple[str, str, str]]
    tiles: dict[str, tuple[str, str]]
    grey: frozenset[str]
    items: tuple[str, ...]
    shops: frozenset[tuple[str, str]]  #: states, and what is lost where nobody knows
    vitals: tuple[str, ...]


def told(console: Console) -> Told:
    """What can be read of the first page now."""
    assert console.opened is not None
    window = console.opened.window
    page = window.page("overview")
    assert isinstance(page, OverviewPage)
    cards = {"depth": page.charts.depth, "rates": page.charts.rates, "held": page.charts.unacked, **page.tiles}
    parts = set(window.top_bar.findChildren(HealthPill)) - {window.top_bar.pill("freshness")}
    health = {pill.health.key: pill.health for pill in parts}
    return Told(
        headline=page.header.summary(),
        pills={key: (one.name, one.value, one.state) for key, one in health.items()},
        tiles={key: (tile.kpi.value, tile.kpi.context) for key, tile in page.tiles.items()},
        grey=frozenset(name for name, card in cards.items() if card.graphicsEffect() is not None),
        items=tuple(item.row.title for item in page.attention.list.items() if not item.resolved),
        shops=frozenset((cell.state, cell.lost) for cell in page.fleet.map.rows.cells),
        vitals=tuple(window.status_bar.part(key).words() for key in ("in", "out")),
    )


@pytest.mark.deep
@pytest.mark.parametrize("down", ["redis", "broker"])
def test_overview_says_which_server_is_lost_and_lets_nothing_of_it_move(
    qapp: QApplication, tmp_path: Path, broker: RabbitMQ, redis: Redis, down: str
) -> None:
    fleet(tmp_path, broker, redis)
    lost = redis if down == "redis" else broker

    async def scene(console: Console) -> None:
        await shown(console, "East")
        assert console.opened is not None
        assert console.connection is not None
        opened, window, commands = console.opened, console.opened.window, console.connection.commands
        commands.fleet.import_shops(SHOPS)

        def create(number: int) -> None:
            shop = SHOPS[number % 3]
            spec = TaskSpec(
                platform=shop.platform, shop_id=shop.shop_id, task_type="get_content", payload={"n": number}
            )
            assert commands.tasks.create([spec], origin="console").created

        for number in range(4):
            await off(create, number)
        window.open_page("overview")
        page = window.page("overview")
        assert isinstance(page, OverviewPage)
        await until(lambda: told(console).tiles["ready"][0] == "4", "it counts four")
        await until(lambda: console.opened.feed.latest.depths_fresh and page.settled, "all is asked")  # type: ignore[union-attr]
        await until(lambda: told(console).shops == {("waiting", "workers")}, "the shops: nobody works there")
        before = told(console)
        await off(lost.stop)
        await until(window.banner.isVisible, "the banner")
        words = {
            "redis": "Everything below is as it was then. Workers finish what they hold and keep the outcomes on their",
            "broker": "What the broker holds is as it was then; tasks, shops and workers are live. Workers finish what",
        }
        await until(lambda: words[down] in window.banner.accessibleName(), "what is true")
        name = {"redis": "as of", "broker": "records live, broker as of"}[down]
        await until(lambda: window.top_bar.pill("freshness").health.name == name, "the pill")
        await until(lambda: bool(page.header.still()) == (down == "redis"), "the page stands, or goes on")
        assert window.top_bar.create_button.isEnabled() == (down == "broker")
        if down == "redis":
            await until(lambda: told(console).headline.startswith("The records cannot be reached"), "the headline")
            await until(lambda: told(console).shops == {("unknown", "store")}, "nobody knows how a shop does")
            await until(lambda: window.stack.graphicsEffect() is not None, "the whole page is as it was")
            await until(lambda: told(console).pills["workers"][2] == "unconfirmed", "the pills")
            first = told(console)
            assert first.pills["store"] == ("Redis", "lost", "dead")
            ages = {"oldest"}
            assert [first.tiles[key][0] for key in first.tiles.keys() - ages] == [
                before.tiles[key][0] for key in first.tiles.keys() - ages
            ]
            assert first.vitals == ("In –", "Out –")
            newest = page.charts.window.now
            for _look in range(30):
                await asyncio.sleep(0.05)
                assert window.top_bar.pill("freshness").health.name == "as of"
                assert "0.0" not in window.top_bar.pill("freshness").health.value
                now = told(console)
                assert (now.tiles, now.headline, now.shops) == (first.tiles, first.headline, first.shops)
                assert now.vitals == first.vitals
            assert page.charts.window.now == newest, "no curve goes on"
        else:
            held = "the broker cannot be reached: none starts until it is back, then all go on"
            await until(lambda: held in told(console).headline, "the headline")
            await until(lambda: told(console).grey == {"depth", "held", "unacked"}, "what the broker told is grey")
            assert told(console).pills["broker"][1:] == ("lost", "dead")
            assert told(console).tiles["unacked"][:2] == ("–", "not known while the broker is lost")
            legend = page.charts.depth.legend.item("normal")
            depth = legend.accessibleName()
            await off(create, 4)
            await until(lambda: told(console).tiles["ready"][0] == "5", "records go on")
            assert "recorded, not sent" in told(console).tiles["ready"][1]
            assert legend.accessibleName() == depth, "depth is as it was"
            assert window.top_bar.pill("freshness").health.name == "records live, broker as of"
        for other in (*pages(), "overview"):
            window.open_page(other)
            await asyncio.sleep(0.2)
        failed = [one.spec.text + one.spec.detail for one in window.toasts.toasts()]
        assert not failed, "nobody did anything that could have failed"
        await off(lost.start)
        opened.feed.try_now()
        await until(lambda: window.top_bar.pill("freshness").health.name == "live", "it is live again")
        assert not page.header.still()
        await until(lambda: told(console).pills[{"redis": "store"}.get(down, down)][2] == "healthy", "so says the pill")
        await until(lambda: not told(console).grey and window.stack.graphicsEffect() is None, "in colour")
        await until(lambda: "cannot be reached" not in told(console).headline, "the headline")
        await until(lambda: told(console).shops == before.shops, f"the shops: {told(console)}")

        def holes() -> bool:
            end = page.charts.window.now
            frame = page._data.buffer.frame(end - 300, end)
            return bool(frame.gaps if down == "redis" else frame.untold) and bool(np.isfinite(frame["high"][-1]))

        await until(holes, "the time of the loss is a hole in the curves, and they go on")

    try:
        play(qapp, tmp_path, scene)
    finally:
        lost.start()


def test_a_connection_that_another_window_added_is_listed_here_too(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        await shown(console, "local")
        await until(lambda: len(console.connections.rows()) == 3, "the list")
        other = SavedProfile(name="added there", broker="amqp://b", redis="redis://r")
        await off(Book(home).put, other)
        qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
        await until(lambda: "added there" in [row.name for row in console.connections.rows()], "the new one")
        console.connections.add()
        dialog = console.connections.dialog
        assert dialog is not None
        dialog.where.set_current("here")
        dialog.name.setText("added there")
        dialog.save_button.click()
        assert dialog.fields["name"].error() == "There is a connection added there already; take another name."
        dialog.done(0)

    play(qapp, home, scene)


def test_a_home_that_keeps_nothing_is_told(qapp: QApplication, home: Path) -> None:
    (home / "console.part").mkdir()  # where what is remembered is written first

    async def scene(console: Console) -> None:
        await shown(console, "local")
        console.connections.choose("tryout")
        await shown(console, "tryout")
        assert console.opened is not None
        toasts = console.opened.window.toasts
        told = "What this window remembers is not kept."
        await until(lambda: any(one.spec.text == told for one in toasts.toasts()), "that nothing is kept")
        (home / "console.part").rmdir()
        await until(lambda: all(one.spec.text != told for one in toasts.toasts()), "that it is kept again")
        assert json.loads((home / "console.json").read_text())["profile"] == "tryout"

    play(qapp, home, scene)


def test_looks_that_only_another_program_knows_keep_no_window_shut(qapp: QApplication, home: Path) -> None:
    looks = {"theme": "sepia", "rows": "huge", "contrast": 3, "text": "large", "language": 7, "windows": [], "pages": 1}
    (home / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1, **looks}))
    play(qapp, home, lambda console: shown(console, "local"))
