"""A connection through which nothing is changed: every verb is refused with the reason, every look answers."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from services import assembly, workforce
from services import settings as config
from services.commands.tasks import TaskSpec
from services.domain.errors import NotAllowed
from tests.integration.cli_rig import Cli

ACTS = (
    ("task", "create", "--shop", "pdd:s1", "--type", "refresh_goods"),
    ("task", "cancel", "--yes", "ID"),
    ("task", "prioritize", "--priority", "9", "--yes", "ID"),
    ("task", "run-now", "--yes", "ID"),
    ("task", "retry", "--yes", "ID"),
    ("shop", "pause", "pdd:s1", "--yes"),
    ("queue", "pause", "platform:pdd", "--yes"),
    ("worker", "--drain"),
    ("repair",),
)
LOOKS = (("task", "list"), ("shop", "list"), ("queue", "list"), ("stats",), ("task", "show", "ID"))


def profile(place: config.Settings) -> str:
    """The same fleet as a profile that only looks; the embedded engine's file goes by the profile's name."""
    lines = ["[profiles.look]", "read_only = true"]
    if not place.embedded:
        lines += [f"broker = '{place.broker.url}'", f"redis = '{place.store.url}'"]
    return "\n".join(lines) + "\n"


@pytest.fixture
def task_id(place: config.Settings, tmp_path: Path) -> str:
    """A task that could be changed."""
    (tmp_path / "config.toml").write_text(profile(place))
    named = config.load(home=tmp_path, profile="look")
    engine = assembly.open_engine(msgspec.structs.replace(named, read_only=False))
    try:
        spec = TaskSpec(platform="pdd", shop_id="s1", task_type="refresh_goods")
        return assembly.commands(engine).tasks.create([spec], origin="cli").created[0].task_id
    finally:
        engine.close()


def test_every_verb_is_refused_and_every_look_answers(tmp_path: Path, task_id: str) -> None:
    cli = Cli(tmp_path, words=("--profile", "look"))
    for words in ACTS:
        said = cli.call(*(task_id if word == "ID" else word for word in words))
        assert said.returncode == 1, (words, said.stdout, said.stderr)
        assert "The connection look is read-only" in said.stderr, (words, said.stderr)
    for words in LOOKS:
        said = cli.call(*(task_id if word == "ID" else word for word in words))
        assert said.returncode == 0, (words, said.stderr)
    assert cli.run("task", "show", task_id)["task"]["status"] == "queued"


def test_the_word_lowers_whatever_the_profile_permits(tmp_path: Path, task_id: str) -> None:
    (tmp_path / "config.toml").write_text((tmp_path / "config.toml").read_text().replace("true", "false"))
    cli = Cli(tmp_path, words=("--profile", "look"))
    said = cli.call("task", "cancel", task_id, "--yes", "--read-only")
    assert (said.returncode, "read-only" in said.stderr) == (1, True)
    assert cli.call("task", "cancel", task_id, "--yes").returncode == 0


def test_whoever_only_looks_leaves_no_trace(place: config.Settings, tmp_path: Path) -> None:
    engine = assembly.open_engine(msgspec.structs.replace(place, read_only=True))
    try:
        who = assembly.commands(engine).operator
        assert (who.role, who.read_only) == ("viewer", place.profile)
        assert not engine.store.documents("role")
        assert not engine.store.documents("type")
        with pytest.raises(NotAllowed, match="no worker runs"):
            workforce.refuse_read_only(engine.settings)
    finally:
        engine.close()
