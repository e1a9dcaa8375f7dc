"""The language of everything people read: gettext catalogues, switched while running.

Every sentence goes through one of the functions here; source text is English.

    _("Nothing is waiting.")
    ngettext("{n} task", "{n} tasks", n).format(n=n)
    pgettext("lane", "High")                      # same English word, different meaning
    TITLE = N_("Dead letters")                    # marked here, translated later by _(TITLE)
    LANE = NP_("lane", "High")                    # the same, translated later by pgettext("lane", LANE)
    render(N_("{n} of {total} ticked"), {"n": 3, "total": 9})

``set_language("zh_CN")`` switches at once and calls every listener registered with
``on_language_changed``. A compiled ``.mo`` beside the ``.po`` is used while it is newer;
otherwise the ``.po`` is read in memory, so that a clean checkout needs no build step.
"""

from __future__ import annotations

import contextlib
import functools
import gettext as _gettext
import io
import string
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import MethodType

SOURCE_LANGUAGE = "en"
LANGUAGES: Mapping[str, str] = {"en": "English", "zh_CN": "简体中文"}
DOMAIN = "fleetdeck"
CATALOGUES = Path(__file__).resolve().parents[1] / "resources" / "translations"

Listener = Callable[[], None]


class _Blank(dict[str, object]):
    """Leaves a place-holder visible when its parameter is missing."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


class _State:
    """The language in use and who wants to hear of a change."""

    def __init__(self, language: str = SOURCE_LANGUAGE) -> None:
        self.language = language
        self.listeners: list[Callable[[], Listener | None]] = []

    @functools.cached_property
    def catalogue(self) -> _gettext.NullTranslations:
        """Read at the first word: who says none in it does not wait for it."""
        return load(self.language)


_state = _State()
#: the language of this thread or task alone, while it writes for somebody who speaks another one than the screen
_aside: ContextVar[_State | None] = ContextVar("fleetdeck_language", default=None)


def _now() -> _State:
    return _aside.get() or _state


def language() -> str:
    """Return the code of the language in use: ``en`` or ``zh_CN``."""
    return _now().language


def is_chinese() -> bool:
    """Tell whether numbers and times take their Chinese form."""
    return _now().language.startswith("zh")


def set_language(code: str) -> None:
    """Switch to `code`; an unknown code means the source language."""
    chosen = code if code in LANGUAGES else SOURCE_LANGUAGE
    if chosen == _state.language:
        return
    _state.catalogue = load(chosen)
    _state.language = chosen
    for reference in list(_state.listeners):
        listener = reference()
        if listener is None:
            _state.listeners.remove(reference)
        else:
            listener()


@contextlib.contextmanager
def speaking(code: str) -> Iterator[None]:
    """Say everything in another language here, and nowhere else: the screen and other threads keep theirs."""
    token = _aside.set(_of(code if code in LANGUAGES else SOURCE_LANGUAGE))
    try:
        yield
    finally:
        _aside.reset(token)


@functools.cache
def _of(code: str) -> _State:
    return _State(code)


def on_language_changed(listener: Listener) -> Callable[[], None]:
    """Call `listener` after each switch; bound methods are held weakly. Returns the undo."""
    reference: Callable[[], Listener | None]
    if isinstance(listener, MethodType):
        reference = weakref.WeakMethod(listener)
    else:

        def reference() -> Listener | None:
            return listener

    _state.listeners.append(reference)

    def forget() -> None:
        if reference in _state.listeners:
            _state.listeners.remove(reference)

    return forget


def load(code: str, folder: Path = CATALOGUES) -> _gettext.NullTranslations:
    """Return the catalogue of `code`, an empty one for the source language or a missing file."""
    source = folder / code / "LC_MESSAGES" / f"{DOMAIN}.po"
    compiled = source.with_suffix(".mo")
    if code == SOURCE_LANGUAGE or not (source.exists() or compiled.exists()):
        return _gettext.NullTranslations()
    if _is_fresh(compiled, source):
        with compiled.open("rb") as stream:
            return _gettext.GNUTranslations(stream)
    return _gettext.GNUTranslations(io.BytesIO(compile_catalogue(source, code)))


def _is_fresh(compiled: Path, source: Path) -> bool:
    if not compiled.exists():
        return False
    return not source.exists() or compiled.stat().st_mtime >= source.stat().st_mtime


def compile_catalogue(source: Path, code: str) -> bytes:
    """Return the compiled form of a .po file."""
    # Imported here: 60 ms that an English start does not pay.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with source.open("rb") as stream:
        catalogue = read_po(stream, locale=code, ignore_obsolete=True)
    buffer = io.BytesIO()
    write_mo(buffer, catalogue)
    return buffer.getvalue()


def _(message: str) -> str:
    """Translate `message`."""
    # gettext answers "" with its own header: an empty label must stay empty.
    return _now().catalogue.gettext(message) if message else ""


def N_(message: str) -> str:
    """Mark `message` for extraction; translate it later with ``_``."""
    return message


def NP_(_context: str, message: str) -> str:
    """Mark `message` with its context for extraction; translate it later with ``pgettext``."""
    return message


def ngettext(singular: str, plural: str, n: int) -> str:
    """Translate with the plural form for `n`."""
    return _now().catalogue.ngettext(singular, plural, n)


def pgettext(context: str, message: str) -> str:
    """Translate `message` as it is meant in `context`."""
    return _now().catalogue.pgettext(context, message)


def fill(template: str, params: Mapping[str, object]) -> str:
    """Put `params` into an already translated template; a missing one stays visible."""
    try:
        return put(template, _Blank(params))
    except (ValueError, AttributeError, TypeError, IndexError, KeyError):
        # A broken translation must not hide what happened: show it as it is.
        return template


def put(template: str, params: Mapping[str, object]) -> str:
    """``template.format_map(params)``; in Chinese with the spaces that belong beside what is put in, whatever that is:
    one between a character and a Latin word or number, none between two characters.

    Raises what ``str.format_map`` raises.
    """
    if not is_chinese():
        return template.format_map(params)
    said = ""
    for literal, field in _pieces(template):
        said = _beside(said, literal)
        if field:
            said = _beside(said, field.format_map(params))
    return said


@functools.lru_cache(maxsize=4096)
def _pieces(template: str) -> tuple[tuple[str, str], ...]:
    """Plain text and the place-holder that follows it, "" after the last."""
    found = []
    for literal, name, spec, conversion in string.Formatter().parse(template):
        field = "" if name is None else "{" + name + (f"!{conversion}" if conversion else "")
        found.append((literal, field and field + (f":{spec}" if spec else "") + "}"))
    return tuple(found)


def _beside(before: str, after: str) -> str:
    """Both parts with the right space between them."""
    if not before or not after:
        return before + after
    if before[-1] == " " and _is_character(before[-2:-1]) and _is_character(after[0]):
        return before[:-1] + after
    if after[0] == " " and _is_character(before[-1]) and _is_character(after[1:2]):
        return before + after[1:]
    apart = (_is_character(before[-1]) and _is_latin(after[0])) or (_is_latin(before[-1]) and _is_character(after[0]))
    return f"{before} {after}" if apart else before + after


def _is_character(sign: str) -> bool:
    return "\u4e00" <= sign <= "\u9fff"


def _is_latin(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


def render(template: str, params: Mapping[str, object]) -> str:
    """Translate `template` and fill it."""
    return fill(_(template), params)


def listed(parts: Iterable[str], mark: str = ",") -> str:
    """Return parts as one line: ``a, b``, in Chinese ``a，b``; `mark` ``;`` sets apart what has commas itself."""
    return {",": "，", ";": "；"}[mark].join(parts) if is_chinese() else f"{mark} ".join(parts)
