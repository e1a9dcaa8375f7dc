"""The two pairs of drivers, as parameters of a fixture."""

from __future__ import annotations

import pytest

PAIRS = [
    pytest.param("embedded", id="embedded"),
    pytest.param("fleet", id="fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis]),
]
