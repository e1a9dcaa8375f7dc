"""Words in new tasks that look misspelt."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from services import assembly
from services import settings as config
from services.cli import guesses
from services.cli.commands.task import create
from services.cli.context import Context
from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.engine.producer import TaskSpec


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[assembly.Engine]:
    opened = assembly.open_engine(config.Settings(home=str(tmp_path)))
    yield opened
    opened.close()


def spec(kind: str = "sync_order", platform: str = "pdd", line: int = 0) -> TaskSpec:
    return TaskSpec(platform=platform, shop_id="s1", task_type=kind, line=line)


@pytest.mark.parametrize(
    ("word", "near"),
    [("sync_oder", "sync_order"), ("Sync-Order", "sync_order"), ("syncorder", "sync_order"), ("make_coffee", "")],
)
def test_a_type_that_nobody_defined(engine: assembly.Engine, word: str, near: str) -> None:
    (doubt,) = guesses.doubts(engine, [spec(word), spec()])
    assert (doubt.field, doubt.word, doubt.near) == ("--type", word, near)
    assert (f"did you mean {near}?" in doubt.sentence) is bool(near)


def test_a_platform_that_no_shop_is_on(engine: assembly.Engine) -> None:
    assert guesses.doubts(engine, [spec(platform="pdf")]) == [], "a fleet without shops knows none"
    engine.store.put_shops([Shop(platform="pdd", shop_id="s1"), Shop(platform="pdf", shop_id="s1", unregistered=True)])
    engine.registry.forget()
    (doubt,) = guesses.doubts(engine, [spec(platform="pdf", line=3), spec(platform="pdf", line=9), spec()])
    assert (doubt.field, doubt.near, doubt.lines) == ("--platform", "pdd", (3, 9))
    assert "line 3 and 1 more" in doubt.sentence


def test_shops_that_nobody_has_registered(engine: assembly.Engine) -> None:
    def of(*shops: str) -> list[TaskSpec]:
        return [TaskSpec(platform="pdd", shop_id=shop, task_type="sync_order") for shop in shops]

    assert guesses.doubts(engine, of("shop1")) == [], "a fleet without shops knows none"
    engine.store.put_shops([Shop(platform="pdd", shop_id="shop017"), Shop(platform="temu", shop_id="shop071")])
    engine.registry.forget()
    (doubt,) = guesses.doubts(engine, of("shop071", "shop017", "shop071"))
    assert (doubt.field, doubt.word, doubt.near) == ("--shop", "pdd:shop071", "pdd:shop017")
    assert "pdd:shop071' is not registered" in doubt.sentence
    many = guesses.doubts(engine, of(*(f"x{number}" for number in range(300))))
    assert [doubt.word for doubt in many] == [f"pdd:x{number}" for number in range(5)]
    assert "and 295 more" in many[-1].sentence
    assert "more" not in many[0].sentence


def test_a_shop_that_is_refused_is_not_said_to_run_with_the_defaults(tmp_path: Path) -> None:
    with closing(assembly.open_engine(config.Settings(home=str(tmp_path), strict_shops=True))) as engine:
        engine.store.put_shops([Shop(platform="pdd", shop_id="shop017")])
        engine.registry.forget()
        (doubt,) = guesses.doubts(engine, [TaskSpec(platform="pdd", shop_id="shop071", task_type="sync_order")])
    assert "did you mean pdd:shop017?" in doubt.sentence
    assert "defaults" not in doubt.sentence


def look(doubts: list[guesses.Doubt], **words: object) -> list[str] | None:
    given = {"json": False, "strict": False, "yes": False} | words
    return create._look_at(Context(argparse.Namespace(**given), lambda _: 0), doubts)


def test_strict_refuses_and_otherwise_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    doubt = guesses.Doubt(field="--type", word="sync_oder", near="sync_order")
    with pytest.raises(UsageError, match="did you mean sync_order") as caught:
        look([doubt], strict=True)
    assert caught.value.field == "--type"
    assert look([doubt]) == [doubt.sentence], "nobody to ask: it goes on"
    assert "did you mean sync_order?" in capsys.readouterr().err
    assert look([doubt], json=True) == [doubt.sentence]
    assert capsys.readouterr() == ("", "")


def test_a_person_at_a_terminal_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    doubt = guesses.Doubt(field="--type", word="sync_oder", near="sync_order")
    asked: list[str] = []
    monkeypatch.setattr(Context, "person", property(lambda _: True))
    monkeypatch.setattr(Context, "confirm", lambda _, what: asked.append(what))
    assert look([doubt]) is None
    assert look([doubt], yes=True) == [doubt.sentence]
    assert look([guesses.Doubt(field="--type", word="own")]) is not None, "nothing similar: told, not asked"
    assert len(asked) == 1
