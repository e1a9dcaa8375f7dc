"""The blocks of the pages that are not typed: settings, a payload, a handler."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from services import assembly
from services import settings as config
from services.commands.tasks import TaskSpec
from services.domain.fleet.shop import Shop
from tests.e2e.readme.blocks import Block, blocks
from tests.support.pages import PAGES


def of(language: str) -> list[Block]:
    return [block for page in PAGES for block in blocks(page) if block.language == language]


def python(name: str) -> list[Block]:
    """Blocks that begin with what they import of Fleetdeck."""
    return [block for block in of("python") if block.text.startswith(f"from fleetdeck import {name}\n")]


@pytest.mark.parametrize("block", of("toml"), ids=lambda block: block.where)
def test_settings_are_read(block: Block, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(block.text, encoding="utf-8")
    settings = config.load(home=tmp_path)
    assert settings != config.load(home=tmp_path / "elsewhere"), "a block that changes nothing says nothing"


@pytest.mark.parametrize("block", of("json"), ids=lambda block: block.where)
def test_a_payload_is_one(block: Block, tmp_path: Path) -> None:
    engine = assembly.open_engine(config.load(home=tmp_path))
    try:
        commands = assembly.commands(engine)
        commands.fleet.import_shops(tuple(Shop(platform="pdd", shop_id=shop) for shop in ("s1", "s2")))
        many = {"name": "many", "version": 1, "title": {"en": "many"}, "executor": "batch"}
        engine.store.put_document("type", "many", json.dumps(many))
        engine.registry.forget()
        spec = TaskSpec(platform="pdd", shop_id="s1", task_type="many", payload=json.loads(block.text))
        answer = commands.tasks.create([spec], origin="cli")
        assert answer.created, answer.errors
    finally:
        engine.close()


@pytest.mark.parametrize("block", python("task_handler"), ids=lambda block: block.where)
def test_a_handler_is_loaded_and_does_its_work(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"readme_handlers_{'zh' if 'zh' in block.page else 'en'}"
    (tmp_path / f"{name}.py").write_text(block.text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__(name)
    heard: list[tuple[int, str]] = []
    job = type("Job", (), {"progress": staticmethod(lambda percent, note: heard.append((percent, note)))})
    assert sys.modules[name].send({}, job) == {"sent": 1}
    assert [percent for percent, _note in heard] == [50]


@pytest.mark.parametrize("block", python("submit"), ids=lambda block: block.where)
def test_another_program_hands_over_work(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = assembly.open_engine(config.load(home=tmp_path))
    try:
        assembly.commands(engine).fleet.import_shops((Shop(platform="pdd", shop_id="s1"),))
    finally:
        engine.close()
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    exec(compile(block.text, block.where, "exec"), {})
    task_id, created = capsys.readouterr().out.split()
    assert (task_id.startswith("pdd_send_welcome_email_s1_"), created) == (True, "True")


def test_each_block_of_python_is_one_of_these() -> None:
    assert len(of("python")) == len(python("task_handler")) + len(python("submit"))
