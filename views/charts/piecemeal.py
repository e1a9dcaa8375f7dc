"""A large package loaded a statement of its own source at a time, so that the window goes on between them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.util import find_spec, module_from_spec


def in_parts(name: str) -> Iterator[None]:
    """Load a package as an import does, but that whoever asks for the next step decides when it goes on. Until it has
    ended nobody else may import it: half of it is there.

    Raises:
        ImportError: it is not there, or a part of it is not.
    """
    spec = find_spec(name) if name not in sys.modules else None
    source = spec.loader.get_source(name) if spec is not None and isinstance(spec.loader, InspectLoader) else None
    if spec is None or source is None:  # it is there, or without its source: in one piece
        import_module(name)
        return
    module = sys.modules[name] = module_from_spec(spec)
    origin = spec.origin or name
    try:
        for statement in ast.parse(source, origin).body:
            exec(compile(ast.Module([statement], []), origin, "exec"), module.__dict__)
            yield
    except BaseException:
        sys.modules.pop(name, None)
        raise
