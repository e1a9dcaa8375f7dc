"""The script is filled from Python: nothing in it may name what Python does not have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from services.domain.change import Op
from services.domain.task.status import Status, Triage
from services.store.redis import keys, script

FOLDER = Path(script.__file__).parent / "scripts"
LUA = sorted(FOLDER.glob("*.lua"))
#: quoted words of the scripts that are compared with a status or a triage
COMPARED = re.compile(r"(?:status|was|to|from) [~=]= '(\w+)'|\[T\.(?:status|triage)\] [~=]= '(\w+)'")


def test_every_name_is_filled_in() -> None:
    text = script.load_apply().text
    assert not re.findall(r"\b(?:T|K|C|[A-Z][a-z]\w+)\.[a-z_]+\b", _code(text))


def _code(text: str) -> str:
    return "\n".join(line.partition("--")[0] for line in text.splitlines())


@pytest.mark.parametrize("word", ["T.nonsense", "K.nonsense", "C.nonsense", "Claim.nonsense", "T.marks", "T.payload"])
def test_an_unknown_name_is_an_error(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "guard.lua").write_text("", encoding="utf-8")
    (tmp_path / "wrong.lua").write_text(f"return {word}\n", encoding="utf-8")
    monkeypatch.setattr(script, "_FOLDER", tmp_path)
    with pytest.raises(KeyError):
        _ = script.load("wrong").text


def test_statuses_in_the_scripts_are_statuses() -> None:
    known = set(Status) | set(Triage)
    used = {
        word for path in LUA for pair in COMPARED.findall(path.read_text(encoding="utf-8")) for word in pair if word
    }
    assert len(used) > 8
    assert used <= known


def test_every_operation_has_its_length_and_handler() -> None:
    text = script.load_apply().text
    lengths = next(line for line in text.splitlines() if line.startswith("local LENGTH = "))
    for op in Op.__subclasses__():
        assert op in script.OPERATIONS
        assert f"{op.__name__} = {len(op.__struct_fields__) + 1}" in lengths
        assert re.search(rf"\b{op.__name__} = \w+,", text)


def test_all_keys_share_one_slot() -> None:
    names = [value for name, value in vars(keys).items() if name.isupper() and isinstance(value, str)]
    own = [value for value in names if value != keys.EXECUTED]
    assert len(own) > 20
    assert all(value.startswith("{rpa}:") for value in own)
    assert keys.executed("t") == "executed:t"


def test_scripts_touch_no_other_key() -> None:
    for path in LUA:
        text = _code(path.read_text(encoding="utf-8"))
        assert "executed" not in text
        assert "{rpa}" not in text
