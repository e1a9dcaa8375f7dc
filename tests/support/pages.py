"""The pages that people read: which there are, and what they say. Tests that look for words look here."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: the first pages, then the guide and the reference; all blocks of these are tried as they stand there
READMES = ("README.md", "README.zh-CN.md")
DOCS = tuple(sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "resources" / "docs").glob("*.md")))
PAGES = (*READMES, *DOCS)
#: beside these: about the house, its changes, and how it is put to work
OTHERS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "resources/deploy/README.md")


def text_of(page: str) -> str:
    """A page whole."""
    return (ROOT / page).read_text(encoding="utf-8")
