"""What a connection is for, however it was written down."""

from __future__ import annotations

import pytest

from services.domain.fleet import environment


@pytest.mark.parametrize("words", ["production", "PROD", "Production", " prod ", "live"])
def test_production_is_known_however_it_is_written(words: str) -> None:
    assert environment.is_production(words)
    assert environment.tag(words) == "PROD"


@pytest.mark.parametrize(
    ("words", "tag"),
    [("staging", "STAGING"), ("test", "TEST"), ("", ""), ("qa-2", "QA-2"), ("产品化预发布环境", "产品化预发布环境")],
)
def test_any_other_word_is_only_a_tag(words: str, tag: str) -> None:
    assert not environment.is_production(words)
    assert environment.tag(words) == tag
