"""Every page over a store in which something of everything cannot be read: shown with all else, without an error."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import traceback
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from console.connection.open_connection import OpenConnection
from console.lifecycle import Console
from services import assembly, diagnosis, i18n
from services import settings as config
from services.cli.window import pages
from services.domain.upkeep.health import Finding
from tests.gui.test_console import play, until
from tests.integration import fleet_rig, sample
from tests.support.console_window import window_over
from tests.support.spoil import RedisSpoiler, Spoiled, Spoiler, SqliteSpoiler
from views.support import operation
from views.theme import theme

SAFE, META = "healthy", "{rpa}:meta"
KIND = "another kind of key"
#: wrong wherever it stands
NO_TEXT = frozenset({"no text", "a name that is no text", KIND})
pytestmark = [pytest.mark.qt_log_ignore("This plugin does not support", extend=True), pytest.mark.deep]
PAIRS = ["embedded", pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])]


@pytest.mark.parametrize("pair", PAIRS)
def test_every_page_opens(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, pair: str, request: pytest.FixtureRequest
) -> None:
    place, spoiler = _filled(pair, tmp_path, request)
    rng = _seeded()
    hows = [how for how in spoiler.hows if how != KIND]
    for target in spoiler.targets():
        if target != META:
            spoiler.spoil(target, rng.choice(hows), rng)
    _look(qapp, qtbot, place)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.timeout(300)
def test_every_page_opens_with_one_thing_spoiled(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, pair: str, request: pytest.FixtureRequest
) -> None:
    """Alone: among all others, what one of them breaks may hide what the next would."""
    place, spoiler = _filled(pair, tmp_path, request)
    rng = _seeded()
    targets = [target for target in spoiler.targets() if target != META]
    _one_by_one(qapp, qtbot, place, spoiler, rng.sample(targets, 2), rng)


@pytest.mark.harsh
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("pair", PAIRS)
def test_every_page_opens_whatever_is_spoiled(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, pair: str, request: pytest.FixtureRequest
) -> None:
    """Each family of keys and each column, one after the other."""
    place, spoiler = _filled(pair, tmp_path, request)
    targets = [target for target in spoiler.targets() if target != META]
    _one_by_one(qapp, qtbot, place, spoiler, targets, _seeded())


def _filled(pair: str, folder: Path, request: pytest.FixtureRequest) -> tuple[config.Settings, Spoiler]:
    """The sample fleet, kept as it is, and the hand that spoils it."""
    place = fleet_rig.settings_for(pair, folder)
    if pair == "fleet":
        amqp, redis = request.getfixturevalue("amqp_vhost"), request.getfixturevalue("redis_url")
        management = request.getfixturevalue("rabbitmq").management_url
        place = fleet_rig.settings_for(pair, folder, amqp=amqp, redis=redis, management=management)
    with fleet_rig.opened(pair, place, folder) as fleet:
        sample.fill(fleet.engine.store, SAFE)
    spoiler: Spoiler = RedisSpoiler(place.store.url, SAFE) if pair == "fleet" else SqliteSpoiler(place.database, SAFE)
    spoiler.keep()
    return place, spoiler


def _seeded() -> random.Random:
    seed = int(os.environ.get("FLEETDECK_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
    print(f"the same again: FLEETDECK_TEST_SEED={seed}", file=sys.stderr)
    return random.Random(seed)


def _one_by_one(
    qapp: QApplication,
    qtbot: QtBot,
    place: config.Settings,
    spoiler: Spoiler,
    targets: Sequence[str],
    rng: random.Random,
) -> None:
    """Every page over each of them; what nobody can read is named by the doctor."""
    wrong = []
    for target in targets:
        spoiler.restore()
        spoiled = spoiler.spoil(target, rng.choice(spoiler.hows), rng)
        if spoiled is None:
            continue
        print(spoiled, file=sys.stderr)
        try:
            _look(qapp, qtbot, place, settle_ms=300)
        except Exception:
            wrong.append(f"{spoiled}: {traceback.format_exc()}")
        if spoiled.how in NO_TEXT and not _named(diagnosis.examine(place).findings, spoiled):
            wrong.append(f"the doctor does not name {spoiled}")
    assert not wrong, "\n\n".join(wrong)


def _named(findings: Sequence[Finding], spoiled: Spoiled) -> bool:
    """Where it lies; of a record what follows from it is named too."""
    places = {one.message.params.get("place") for one in findings}
    return spoiled.place in places or (
        spoiled.place == "tasks" and any(one.message.code.startswith("repair.") for one in findings)
    )


def _look(qapp: QApplication, qtbot: QtBot, place: config.Settings, *, settle_ms: int = 1200) -> None:
    i18n.set_language("en")
    theme().set_mode("dark")
    theme().install(qapp)
    errors: list[BaseException] = []
    operation.configure(errors.append)
    session = OpenConnection(msgspec.structs.replace(place, profile=place.profile))
    session.live.start()
    desk = window_over(session)
    try:
        desk.window.resize(1280, 800)
        desk.window.open_page("overview")
        desk.window.show()
        qtbot.waitUntil(lambda: desk.feed.latest.at_ms > 0)
        for page in pages():
            desk.window.open_page(page)
            shown = desk.feed.latest.at_ms
            qtbot.waitUntil(lambda shown=shown: desk.feed.latest.at_ms > shown + settle_ms)
            assert desk.window.current == page
            assert not desk.window.grab().isNull()
    finally:
        desk.window.close()
        desk.window.deleteLater()
        desk.feed.deleteLater()
        operation.shut_down()
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
        return " ".join(console.unopened.words()) if console.unopened is not None else ""

    async def scene(console: Console) -> None:
        await until(lambda: wanted in said(console), "the cause")
        assert "Traceback" not in said(console)

    play(qapp, tmp_path, scene)
