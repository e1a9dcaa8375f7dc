"""Nothing outgrows the reader."""

from __future__ import annotations

from tests.architecture import sizes


def test_no_module_passes_the_wall() -> None:
    assert not [size for size in sizes.module_sizes() if size.lines > sizes.MODULE_WALL]


def test_no_function_passes_the_wall() -> None:
    assert not [size for size in sizes.function_sizes() if size.lines > sizes.FUNCTION_WALL]
