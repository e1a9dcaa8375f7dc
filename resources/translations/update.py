"""Keeps the catalogues: finds every string, updates the .po files, says what is missing.

    python resources/translations/update.py                 extract and update
    python resources/translations/update.py --add FILE      and take translations from a JSON file:
                                                            {"Retry": "重试", "lane|High": "高"}
    python resources/translations/update.py --check         change nothing, exit 1 when something is missing
    python resources/translations/update.py --compile       also write the .mo files

In the JSON file a context stands before ``|``; a plural is named by its singular.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from services.cli import helps, program  # noqa: E402 - this runs as a file too, where the program is not on the path

SOURCES = ("console", "views", "services")
LANGUAGES = ("zh_CN",)
TEMPLATE = HERE / "fleetdeck.pot"
KEYWORDS: dict[str, object] = {
    "_": None,
    "N_": None,
    "NN_": (1, 2),
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "NP_": ((1, "c"), 2),
    "phrase": None,
    "plural": (1, 2),
}


def extract() -> Catalog:
    """Return every string of the program."""
    found = Catalog(project="Fleetdeck", version="", charset="utf-8", fuzzy=False)
    for source in SOURCES:
        # The second and third argument follow from babel.cfg: Python files only.
        for name, line, text, comments, context in extract_from_dir(
            str(ROOT / source), [("**.py", "python")], {}, KEYWORDS, comment_tags=("L10N:",)
        ):
            del line  # line numbers would change the catalogue with every edit
            found.add(text, None, [(f"{source}/{name}", 0)], auto_comments=comments, context=context)
    for text in filter(None, helps.texts(program.grammar())):
        found.add(text, None, [("services/cli/helps.py", 0)], context=helps.CONTEXT)
    return found


def path_of(language: str) -> Path:
    """Return the catalogue of a language."""
    return HERE / language / "LC_MESSAGES" / "fleetdeck.po"


def load(language: str) -> Catalog:
    """Return the catalogue of a language, an empty one if there is none yet."""
    path = path_of(language)
    if not path.exists():
        return Catalog(locale=language, project="Fleetdeck", version="", charset="utf-8", fuzzy=False)
    with path.open("rb") as stream:
        return read_po(stream, locale=language)


def merged(language: str, found: Catalog) -> Catalog:
    """Return the catalogue of a language with exactly the strings of the program."""
    old = load(language)
    new = Catalog(
        locale=language,
        project="Fleetdeck",
        version="",
        charset="utf-8",
        fuzzy=False,
        creation_date=old.creation_date,
        revision_date=old.revision_date,
    )
    for message in found:
        if not message.id:
            continue
        known = old.get(message.id, message.context)
        text = known.string if known is not None and not known.fuzzy else _blank(message, new)
        new.add(message.id, text, message.locations, auto_comments=message.auto_comments, context=message.context)
    return new


def _blank(message: Message, catalogue: Catalog) -> str | tuple[str, ...]:
    return ("",) * catalogue.num_plurals if message.pluralizable else ""


def name_of(message: Message) -> str:
    """Return how the JSON file and the report call a message."""
    text = message.id[0] if message.pluralizable else message.id
    return f"{message.context}|{text}" if message.context else str(text)


def missing(catalogue: Catalog) -> list[str]:
    """Return the names of messages without a translation."""
    return [name_of(message) for message in catalogue if message.id and not _is_done(message)]


def _is_done(message: Message) -> bool:
    texts = message.string if isinstance(message.string, (tuple, list)) else (message.string,)
    return bool(texts) and all(texts) and not message.fuzzy


def refused(catalogue: Catalog) -> list[str]:
    """Return what a catalogue's compiler would refuse, a line a message.

    Babel takes every "% d" and "% o" of a sentence ("40 % done") for a placeholder that each language must have.
    """
    lines = []
    for message in catalogue:
        if message.id and _is_done(message):
            lines += [f"{name_of(message)}: {error}" for error in message.check(catalogue)]
    return lines


def add(catalogue: Catalog, texts: dict[str, str]) -> list[str]:
    """Set translations by name; return the names nobody asked for."""
    names = {name_of(message): message for message in catalogue if message.id}
    for name, text in texts.items():
        if name in names:
            message = names[name]
            message.string = (text,) * catalogue.num_plurals if message.pluralizable else text
    return [name for name in texts if name not in names]


def save(catalogue: Catalog, path: Path) -> None:
    """Write a catalogue, sorted, so that a new string is one new entry in the difference."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        write_po(stream, catalogue, width=110, sort_output=True, include_lineno=False, omit_header=False)


def compile_catalogue(catalogue: Catalog, path: Path) -> None:
    """Write the .mo file beside the .po file."""
    with path.with_suffix(".mo").open("wb") as stream:
        write_mo(stream, catalogue)


def say(line: str) -> None:
    """Write a line for the person at the terminal."""
    sys.stdout.write(f"{line}\n")


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--add", type=Path)
    chosen = parser.parse_args(arguments)
    found = extract()
    if not chosen.check:
        found.creation_date = load(LANGUAGES[0]).creation_date
        save(found, TEMPLATE)
    lacking = 0
    for language in LANGUAGES:
        catalogue = merged(language, found)
        if chosen.add:
            for name in add(catalogue, json.loads(chosen.add.read_text(encoding="utf-8"))):
                say(f"{language}: not a string of the program: {name}")
        if not chosen.check:
            save(catalogue, path_of(language))
        if chosen.compile:
            compile_catalogue(catalogue, path_of(language))
        names = missing(catalogue)
        for name in names:
            say(f"{language}: missing: {name}")
        wrong = refused(catalogue)
        for line in wrong:
            say(f"{language}: refused: {line}")
        say(f"{language}: {len(catalogue)} strings, {len(names)} missing, {len(wrong)} refused")
        lacking += len(names) + len(wrong)
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
