"""What every test gets: a private environment, real servers on request, a check for what GUI tests leave behind."""

from __future__ import annotations

import gc
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

# Before anything imports PySide6.
os.environ["QT_QPA_PLATFORM"] = os.environ.get("FLEETDECK_TEST_QPA", "offscreen")
os.environ["QT_API"] = os.environ["PYTEST_QT_API"] = "pyside6"
# A test must neither read nor change the settings and secrets of the person at this desk.
for name in [key for key in os.environ if key.startswith("FLEETDECK_") and not key.startswith("FLEETDECK_TEST_")]:
    del os.environ[name]
# Nor must what it finds hang on the language of that person: the command line speaks it.
for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
    if os.environ.get(name, "").lower().startswith("zh"):
        os.environ[name] = "C.UTF-8"
if sys.platform == "win32":  # there it is asked for where no variable says it
    os.environ.setdefault("LANG", "C.UTF-8")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell tells what it runs in the background to hear no Ctrl-C, and what a test starts would not hear it either.
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
_PRIVATE = tempfile.TemporaryDirectory(prefix="fleetdeck-home-")
for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
    os.environ[name] = str(Path(_PRIVATE.name) / name.lower())

import msgspec  # noqa: E402
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from services import i18n  # noqa: E402
from tests.support.pairs import PAIRS  # noqa: E402
from tests.support.rabbit_cluster import NODES, PROFILE, RabbitCluster  # noqa: E402
from tests.support.services import (  # noqa: E402
    Pulsar,
    RabbitMQ,
    Redis,
    ServiceUnavailable,
    in_memory,
    start_rabbitmq,
    start_redis,
)

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from services.settings import Settings

# Each change of an embedded engine waits for its disk, and a slow one would be most of what a run waits for.
if (memory := in_memory(6 << 30)) is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))

pytest_plugins = ("tests.within", "tests.stuck")

IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")
PATIENCE_MS = 40_000
QT_FIXTURES = {"qapp", "qtbot", "qtmodeltester", "qtlog"}
MARKS = {"rabbitmq": "rabbitmq", "pulsar": "pulsar_server", "redis": "redis_server", "gui": "qapp"}
#: folders whose tests are believed the first time they fail (see ``tests.flaky``)
BELIEVED = {"faults": "fault", "stateful": "race"}

# Built on its plain profile: where ``CI`` is set the library begins with one that draws the same examples each time.
settings.register_profile(
    "desk", settings.get_profile("default"), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# Other examples each time, by the seed that ``tests.flaky`` prints.
settings.register_profile("ci", settings.get_profile("desk"), print_blob=True, max_examples=40, derandomize=False)
settings.load_profile("ci" if IN_CI else "desk")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[object]:
    """Collect without looking for garbage: each of several processes makes half a million objects that all stay.

    Afterwards they are left out of every later look.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the fixtures they use, and by their folder."""
    for item in items:
        if mark := BELIEVED.get(Path(item.nodeid.partition("::")[0]).parent.name):
            item.add_marker(mark)
        for mark, fixture in MARKS.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run on both pairs of drivers what is marked so, itself or as its module."""
    marked = {mark.name for mark in metafunc.definition.iter_markers()}
    if "pair" in metafunc.fixturenames and "both_pairs" in marked and "one_pair" not in marked:
        metafunc.parametrize("pair", PAIRS, indirect=True)


@pytest.fixture(autouse=True)
def _nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a GUI test that leaves a window, a timer or a thread; cost the others nothing."""
    if not QT_FIXTURES & set(request.fixturenames):
        yield
        return
    from tests.support import qt_leaks

    request.getfixturevalue("qapp")
    from PySide6.QtGui import QCursor

    from views.support import heard, shown
    from views.theme import theme

    QCursor.setPos(-1, -1)  # where a test before left the mouse, a table would take it for a person's
    # A collection in a worker thread would destroy widgets there; console.opened does the same for the program.
    gc.disable()
    try:
        # A patch of its own: the test's monkeypatch may be undone before the watch has looked.
        with pytest.MonkeyPatch.context() as patch:
            yield from qt_leaks.watch(patch)
    finally:
        gc.enable()
        heard.forget()  # a rig without a window's life has nobody to leave its fleet
        shown.set_zone("")
        shown.set_here(False)
        theme().set_mode("dark")
        theme().set_text_size(100)


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    """Let no test speak the language of the one before: which one that was, hangs on how processes share them."""
    yield
    i18n.set_language(i18n.SOURCE_LANGUAGE)


@pytest.fixture
def qtbot(qtbot: QtBot) -> QtBot:
    """Waits longer than five seconds for what is certain to come: several test processes share a machine.

    Who looks whether something does *not* come (``raising=False``) waits as long as he says.
    """
    for name in ("waitUntil", "waitSignal"):
        setattr(qtbot, name, _patient(getattr(qtbot, name)))
    return qtbot


def _patient(wait: Callable[..., Any]) -> Callable[..., Any]:
    def waited(*what: Any, timeout: int = 0, **options: Any) -> Any:
        certain = options.get("raising") is not False
        return wait(*what, timeout=max(timeout, PATIENCE_MS) if certain else timeout, **options)

    return waited


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMQ]:
    """A private RabbitMQ; take an empty virtual host from ``new_vhost()`` or use ``amqp_vhost``."""
    try:
        cluster = RabbitCluster(NODES).start() if NODES > 1 else None
        server = cluster.nodes[0] if cluster else start_rabbitmq()
    except ServiceUnavailable as error:
        missing_service(error)
    yield server
    (cluster or server).close()


@pytest.fixture
def amqp_vhost(rabbitmq: RabbitMQ) -> Iterator[str]:
    """The address of a virtual host that only this test knows."""
    url = rabbitmq.new_vhost()
    yield url
    rabbitmq.drop_vhost(url)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Redis]:
    """A private Redis; call ``flush()`` first, or use ``redis_url``."""
    try:
        server = start_redis()
    except ServiceUnavailable as error:
        missing_service(error)
    yield server
    server.close()


@pytest.fixture
def redis_url(redis_server: Redis) -> str:
    """The address of an empty Redis."""
    redis_server.flush()
    return redis_server.url


@pytest.fixture(scope="session")
def pulsar_server() -> Iterator[Pulsar]:
    """A private Pulsar; take a namespace of its own from ``pulsar_url``."""
    try:
        server = Pulsar().start()
    except ServiceUnavailable as error:
        missing_service(error)
    yield server
    server.close()


@pytest.fixture
def pulsar_url(pulsar_server: Pulsar) -> str:
    """The address of a namespace that only this test knows."""
    pulsar_server.start()
    return pulsar_server.url(f"fleet/t{secrets.token_hex(6)}")


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> str:
    """The pair of drivers: SQLite; both for a test that is marked with ``both_pairs``."""
    return str(getattr(request, "param", "embedded"))


@pytest.fixture
def place(pair: str, request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a connection to an empty engine on that pair."""
    from services.settings import load

    if pair == "embedded":
        return load(home=tmp_path)
    amqp, redis = request.getfixturevalue("amqp_vhost"), request.getfixturevalue("redis_url")
    found = load(home=tmp_path, broker=amqp, redis=redis)
    return msgspec.structs.replace(found, broker=msgspec.structs.replace(found.broker, profile=PROFILE))


def missing_service(error: ServiceUnavailable) -> NoReturn:
    """A service that is not there is a reason to skip at a desk and a failure in CI."""
    if IN_CI:
        pytest.fail(str(error), pytrace=False)
    pytest.skip(str(error))
