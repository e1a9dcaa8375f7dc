"""Colours of JSON, line by line."""

from __future__ import annotations

import re

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

from views.theme import theme

#: above so many characters, or lines, a text is shown without colours: they would take several turns of the window
PLAIN_ABOVE, PLAIN_LINES = 20_000, 1_500
#: a string, whether it is a key, a number, a word; Qt's own expressions take four times as long from here
_PARTS = re.compile(
    r'("(?:[^"\\]|\\.)*")(\s*:)?|((?<![\w"])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(?:true|false|null)\b', re.ASCII
)


def is_coloured(text: str) -> bool:
    """Whether a text is short enough for colours."""
    return len(text) <= PLAIN_ABOVE and text.count("\n") < PLAIN_LINES


class JsonHighlighter(QSyntaxHighlighter):
    """Colours keys, strings, numbers and words of JSON."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._styles: dict[str, QTextCharFormat] = {}
        theme().changed.connect(self._restyle)

    def _restyle(self) -> None:
        self._styles.clear()
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        if self.document().characterCount() > PLAIN_ABOVE:
            return
        wide = not text.isascii() and max(text) > "\uffff"
        for found in _PARTS.finditer(text):
            string, colon, number = found.groups()
            role = ("text" if colon else "succeeded") if string else "running" if number else "scheduled"
            start, end = found.start(), found.end(1) if string else found.end()
            if wide:  # Qt counts what is beyond the basic plane twice
                start, end = (place + sum(one > "\uffff" for one in text[:place]) for place in (start, end))
            self.setFormat(start, end - start, self._style(role))

    def _style(self, role: str) -> QTextCharFormat:
        if role not in self._styles:
            self._styles[role] = style = QTextCharFormat()
            style.setForeground(theme().color(role))
        return self._styles[role]
