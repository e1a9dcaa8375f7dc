"""Every sentence of the domain is well-formed and is used."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from typing import get_args

from services.domain.gates import listed
from services.domain.text.sentences import SENTENCES as OF_THE_DOMAIN
from services.domain.upkeep import miscount, repair

SENTENCES = {**OF_THE_DOMAIN, **listed.SENTENCES}
DOMAIN = Path(__file__).resolve().parents[4] / "services" / "domain"


def test_every_sentence_is_a_sentence() -> None:
    for code, text in OF_THE_DOMAIN.items():
        assert text[:1].isupper() or text.startswith("{"), code
        assert all(name is None or name.isidentifier() for _, name, _, _ in Formatter().parse(text)), code


def test_every_code_is_used_and_every_used_code_has_a_sentence() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in DOMAIN.rglob("*.py") if path.stem != "sentences")
    used = set(re.findall(r"\"((?:filter|gate)\.\w+)\"", sources))
    used |= {f"verdict.{code}" for code in re.findall(r"_verdict\((?:SAFE|CHECK|WOULD_DUPLICATE), \"(\w+)\"", sources)}
    used |= set(re.findall(r"code=\"(verdict\.\w+)\"", sources))
    assert used == {code for code in SENTENCES if code.startswith(("filter.", "gate.", "verdict."))}


def test_each_kind_of_difference_that_repair_and_doctor_tell_has_a_sentence() -> None:
    assert {f"repair.{kind}" for kind in get_args(miscount.Kind)} <= set(repair.SENTENCES)
