"""How everything looks, as a person chose it: shown at once, and kept for the next start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtWidgets import QApplication

from console.state import ConsoleState
from services import i18n
from services import settings as config
from views.theme import theme
from views.theme.theme import MODES


def chosen_language(stored: str, configured: str) -> str:
    """The language to begin with: of the environment, as chosen in the window before, configured, the system's."""
    language = config.language_asked_for() or stored or configured or config.system_language()
    return language if language in ("en", "zh_CN") else "en"


def _speak(code: str) -> None:
    i18n.set_language(code)
    theme().refresh()


#: what can be chosen, by the names of ``console.palette.LOOKS``, under which it is kept too
_SHOWN: Mapping[str, Callable[[Any], object]] = {
    "theme": lambda mode: theme().set_mode(mode),
    "contrast": lambda name: theme().set_contrast(name),
    "language": _speak,
    "rows": lambda density: theme().set_density(density),
    "text": lambda percent: theme().set_text_size(percent),
}


class Appearance:
    """Of a program: all its windows look alike."""

    def __init__(self, state: ConsoleState) -> None:
        self._state = state
        self.choices: Mapping[str, Callable[..., None]] = {name: partial(self._choose, name) for name in _SHOWN}
        """Who shows and keeps a choice, by its name in ``console.palette.LOOKS``."""

    def dress(self, app: QApplication, settings: config.Settings) -> None:
        """Look as it was chosen before, else as it is configured."""
        kept = self._state.get
        i18n.set_language(chosen_language(str(kept("language") or ""), settings.language))
        mode, size = kept("theme"), kept("text")
        theme().set_mode(mode if mode in MODES else settings.theme)  # a newer program may know more of them
        theme().set_contrast(str(kept("contrast") or theme().contrast))
        theme().set_density(str(kept("rows") or theme().density))
        theme().set_text_size(size if isinstance(size, int) else theme().text_size)
        theme().install(app)

    def _choose(self, name: str, value: str | int) -> None:
        _SHOWN[name](value)
        self._state.set(**{name: value})
