"""config.toml changed as by a form: checked like the start, comments kept, secrets neither shown nor lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.domain.errors import UsageError
from services.domain.text.mask import DOTS
from services.settings import load
from services.settings.config_file import ConfigFile
from services.settings.declared import everything
from services.settings.words import WORDS

BROKER = "amqp://shop:Hidden7Word@rabbit:5672/"
STORE = "redis://:Hidden8Word@store:6379/0"
TEXT = f"""\
# this desk
[broker]
url = "{BROKER}"  # the office
[store]
url = "{STORE}"

[worker]
slots = 5

[executors.rpa.environment]
SHOP_WORD = "Hidden9Word"
"""


@pytest.fixture
def file(tmp_path: Path) -> ConfigFile:
    (tmp_path / "config.toml").write_text(TEXT, encoding="utf-8")
    return ConfigFile(tmp_path)


def text(file: ConfigFile) -> str:
    return file.path.read_text(encoding="utf-8")


def test_every_setting_is_there_with_its_words_and_where_it_comes_from(
    file: ConfigFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEETDECK_RETRY__MAX_RETRIES", "7")
    seen = file.look()
    assert {one.what.name for one in seen.settings} <= set(WORDS)
    assert len(seen.settings) == len(everything())
    found = [(seen.of(name).value, seen.of(name).origin) for name in ("worker.slots", "worker.name")]
    assert found == [(5, "file"), ("", "default")]
    assert (seen.of("retry.max_retries").value, seen.of("retry.max_retries").variable) == (
        "7",
        "FLEETDECK_RETRY__MAX_RETRIES",
    )


def test_what_is_written_is_read_by_the_next_start_and_the_rest_stays(file: ConfigFile, tmp_path: Path) -> None:
    file.write({"worker.slots": 8, "worker.name": "desk 2", "lease.seconds": 90.0}, file.look().mark)
    settings = load(home=tmp_path)
    assert (settings.worker.slots, settings.worker.name, settings.lease.seconds) == (8, "desk 2", 90.0)
    assert text(file).startswith("# this desk\n")
    assert "# the office" in text(file)
    file.write({"worker.slots": None, "worker.name": None}, file.look().mark)
    assert load(home=tmp_path).worker.slots == 5
    assert "desk 2" not in text(file)


def test_a_first_file_is_made_for_this_user_alone(tmp_path: Path) -> None:
    file = ConfigFile(tmp_path / "new")
    file.write({"language": "zh_CN"}, file.look().mark)
    assert text(file) == 'language = "zh_CN"\n'
    if os.name == "posix":
        assert file.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"worker.slots": 0}, "worker.slots"),
        ({"worker.slots": "many"}, "worker.slots"),
        ({"retry.base_seconds": 500}, "retry.base_seconds"),
        ({"store.url": None}, "broker.url"),
        ({"worker.lane_slots": {"fast": "1"}}, "worker.lane_slots.fast"),
        ({"broker.url": "http://mq"}, "broker.url"),
    ],
)
def test_what_the_start_would_refuse_is_refused_before_anything_is_written(
    file: ConfigFile, changes: dict[str, object], field: str
) -> None:
    with pytest.raises(UsageError) as caught:
        file.write(changes, file.look().mark)
    assert caught.value.field == field
    assert text(file) == TEXT


def test_secrets_are_dots_and_stay_what_they_are(file: ConfigFile) -> None:
    seen = file.look()
    shown = seen.of("broker.url").value
    assert shown == BROKER.replace("Hidden7Word", DOTS)
    assert seen.of("executors.rpa.environment").value == {"SHOP_WORD": DOTS}
    words = {"SHOP_WORD": DOTS, "NEW": "1"}
    moved = {"broker.url": shown.replace("rabbit", "rabbit2"), "executors.rpa.environment": words}
    assert "Hidden" not in str(file.told(moved))
    file.write(moved, seen.mark)
    assert BROKER.replace("rabbit", "rabbit2") in text(file)
    assert 'SHOP_WORD = "Hidden9Word"\nNEW = "1"' in text(file)
    with pytest.raises(UsageError, match="dots"):
        file.check({"worker.name": DOTS})


def test_a_file_that_somebody_changed_meanwhile_is_left_alone(file: ConfigFile) -> None:
    mark = file.look().mark
    file.path.write_text(TEXT + "# theirs\n", encoding="utf-8")
    with pytest.raises(UsageError, match="changed meanwhile"):
        file.write({"worker.slots": 8}, mark)
    assert text(file).endswith("# theirs\n")


def test_a_file_that_is_read_only_is_left_as_it_is(file: ConfigFile) -> None:
    before, mark = file.path.read_bytes(), file.look().mark
    file.path.chmod(0o444)
    for change in (lambda: file.check({"worker.slots": 9}), lambda: file.write({"worker.slots": 9}, mark)):
        with pytest.raises(UsageError, match="read-only") as refused:
            change()
        assert str(file.path) in str(refused.value)
        assert "allow writing" in str(refused.value)
    assert file.path.read_bytes() == before
    file.path.chmod(0o644)
    file.write({"worker.slots": 9}, mark)
    assert file.look().of("worker.slots").value == 9
