"""Libraries that Windows has and wine 8 has not, made by Debian's mingw assembler and linker out of a few lines.

- ``bcryptprimitives.dll``: ``ProcessPrng``, which wheels written in Rust ask for random numbers; wine has the same in
  ``advapi32.dll`` under another name.
- ``icuuc.dll``: Qt asks for it and uses none of it here; its functions return 0.
- numpy asks the C runtime for mathematics of complex numbers. Its files are made to name ``fdmath….dll`` instead, which
  has those (``shims/complex.s``) and passes all else on.

None of it is part of the program, and none of it is needed on Windows.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_TOOLS = "x86_64-w64-mingw32-"
_COMPLEX = Path(__file__).with_name("shims") / "complex.s"
_RUNTIME = b"api-ms-win-crt-math-l1-1-0.dll"
#: as long as the name that it stands for
_MATHEMATICS = f"fdmath{'h' * (len(_RUNTIME) - 10)}.dll"
_ENTRY = ".text\n.globl DllMainCRTStartup\nDllMainCRTStartup:\n movl $1, %eax\n ret\n"


def make(system: Path, packages: Path) -> None:
    """Put them into the system folder of a prefix, and mend numpy's files in ``packages``.

    Raises:
        subprocess.CalledProcessError: a tool failed.
    """
    _build(system / "bcryptprimitives.dll", _ENTRY, ["ProcessPrng = advapi32.SystemFunction036"])
    wanted = sorted(_imports(packages / "PySide6" / "Qt6Core.dll", "icuuc.dll"))
    idle = "".join(f".globl {name}\n{name}:\n" for name in wanted)
    _build(system / "icuuc.dll", f"{_ENTRY}{idle} xorl %eax, %eax\n ret\n", wanted)
    _mathematics(system, packages / "numpy")


def _mathematics(system: Path, numpy: Path) -> None:
    code = _COMPLEX.read_text(encoding="ascii")
    own = set(re.findall(r"^(\w+):", code, re.MULTILINE))
    wanted = set[str]()
    for file in (*numpy.rglob("*.pyd"), *numpy.parent.glob("numpy.libs/*.dll")):
        names = _imports(file, _RUNTIME.decode()) | _imports(file, _MATHEMATICS)
        if names:
            wanted |= names
            file.write_bytes(file.read_bytes().replace(_RUNTIME, _MATHEMATICS.encode()))
    exports = [name if name in own else f"{name} = ucrtbase.{name}" for name in sorted(wanted)]
    _build(system / _MATHEMATICS, code, exports, ("atan2", "atan2f", "hypot", "_hypotf"))


def _imports(file: Path, library: str) -> set[str]:
    """Names of the functions that a file wants of a library."""
    listed = _run("objdump", "-p", str(file))
    for part in listed.split("DLL Name: ")[1:]:
        if part.splitlines()[0].lower() == library.lower():
            return set(re.findall(r"^\s+[0-9a-f]+\s+\d+\s+(\w+)\s*$", part.partition("\n\n")[0], re.MULTILINE))
    return set()


def _build(target: Path, code: str, exports: Sequence[str], of_runtime: Sequence[str] = ()) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "code.s").write_text(code, encoding="ascii")
        _definitions(folder / "exports.def", target.name, exports)
        _run("as", "code.s", "-o", "code.o", cwd=folder)
        _run("dlltool", "-d", "exports.def", "-e", "exports.o", "-D", target.name, cwd=folder)
        libraries = []
        if of_runtime:
            _definitions(folder / "runtime.def", "ucrtbase.dll", of_runtime)
            _run("dlltool", "-d", "runtime.def", "-l", "runtime.a", cwd=folder)
            libraries = ["runtime.a"]
        arguments = ("-shared", "-e", "DllMainCRTStartup", "-o", str(target), "code.o", "exports.o", *libraries)
        _run("ld", *arguments, cwd=folder)


def _definitions(file: Path, library: str, names: Sequence[str]) -> None:
    file.write_text("\n".join((f"LIBRARY {library}", "EXPORTS", *names, "")), encoding="ascii")


def _run(tool: str, *arguments: str, cwd: Path | None = None) -> str:
    return subprocess.run([_TOOLS + tool, *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout
