"""Every page over a store in which something of everything cannot be read: shown with all else, without an error."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from console import bootstrap
from console.desk import Console
from console.session import Session
from services import assembly, i18n
from services import settings as config
from services.entrypoints.window import PAGES
from tests.gui.test_console import play, until
from tests.integration import fleet_rig, sample
from tests.support.spoil import RedisSpoiler, Spoiler, SqliteSpoiler
from views.support import operation
from views.support.memory import ShortMemory
from views.theme import theme

SAFE = "healthy"
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
PAIRS = ["embedded", pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])]


@pytest.mark.parametrize("pair", PAIRS)
def test_every_page_opens(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, pair: str, request: pytest.FixtureRequest
) -> None:
    seed = int(os.environ.get("FLEETDECK_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
    print(f"the same again: FLEETDECK_TEST_SEED={seed}", file=sys.stderr)
    place = fleet_rig.settings_for(pair, tmp_path)
    if pair == "fleet":
        amqp, redis = request.getfixturevalue("amqp_vhost"), request.getfixturevalue("redis_url")
        management = request.getfixturevalue("rabbitmq").management_url
        place = fleet_rig.settings_for(pair, tmp_path, amqp=amqp, redis=redis, management=management)
    with fleet_rig.opened(pair, place, tmp_path) as fleet:
        sample.fill(fleet.engine.store, SAFE)
    spoiler: Spoiler = RedisSpoiler(place.store.url, SAFE) if pair == "fleet" else SqliteSpoiler(place.database, SAFE)
    spoiler.keep()
    rng = random.Random(seed)
    hows = [how for how in spoiler.hows if how != "another kind of key"]
    for target in spoiler.targets():
        if target != "{rpa}:meta":
            spoiler.spoil(target, rng.choice(hows), rng)
    _look(qapp, qtbot, place)


def _look(qapp: QApplication, qtbot: QtBot, place: config.Settings) -> None:
    i18n.set_language("en")
    theme().set_mode("dark")
    theme().install(qapp)
    errors: list[BaseException] = []
    operation.configure(errors.append)
    session = Session(msgspec.structs.replace(place, profile=place.profile))
    session.live.start()
    desk = bootstrap.build(session, on_theme=lambda _mode: None, on_language=lambda _code: None, memory=ShortMemory())
    try:
        desk.window.resize(1280, 800)
        desk.window.open_page("overview")
        desk.window.show()
        qtbot.waitUntil(lambda: desk.feed.latest.at_ms > 0)
        for page in PAGES:
            desk.window.open_page(page)
            shown = desk.feed.latest.at_ms
            qtbot.waitUntil(lambda shown=shown: desk.feed.latest.at_ms > shown + 1200)
            assert desk.window.current == page
            assert not desk.window.grab().isNull()
    finally:
        desk.window.close()
        desk.window.deleteLater()
        desk.feed.deleteLater()
        operation.shut_down(wait=True)
        session.close(0.0)
        operation.configure(None)
    assert not errors, errors


@pytest.mark.parametrize("how", ["emptied", "gone", "no tasks"])
def test_a_database_that_is_none_is_said_on_a_page(qapp: QApplication, tmp_path: Path, how: str) -> None:
    place = config.load(home=tmp_path)
    assembly.open_engine(place).close()
    (tmp_path / "console.json").write_text('{"chosen": "local"}', encoding="utf-8")
    if how == "no tasks":
        with closing(sqlite3.connect(place.database)) as conn:
            conn.execute("DROP TABLE tasks")
            conn.commit()
    for part in tmp_path.glob(f"{place.database.name}*") if how != "no tasks" else ():
        if part.suffix != ".known" and how == "gone":
            part.unlink()
        elif part.suffix != ".known":
            part.write_bytes(b"")

    wanted = {"emptied": "is empty", "gone": "is gone", "no tasks": "tasks"}[how]

    def said(console: Console) -> str:
        return " ".join(console._unopened.words()) if console._unopened is not None else ""

    async def scene(console: Console) -> None:
        await until(lambda: wanted in said(console), "the cause")
        assert "Traceback" not in said(console)

    play(qapp, tmp_path, scene)
