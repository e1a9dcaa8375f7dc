"""Colours of JSON, line by line."""

from __future__ import annotations

from PySide6.QtCore import QRegularExpression
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

from views.theme import theme

#: Above this size the text is shown without colours: a thousand lines take a turn of the window.
PLAIN_ABOVE = 20_000


class JsonHighlighter(QSyntaxHighlighter):
    """Colours keys, strings, numbers and words of JSON."""

    _RULES = (
        (r"(?<![\w\"])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", "running"),
        (r"\b(?:true|false|null)\b", "scheduled"),
    )

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._rules = [(QRegularExpression(pattern), role) for pattern, role in self._RULES]
        self._strings = QRegularExpression(r'"(?:[^"\\]|\\.)*"')
        theme().changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        if self.document().characterCount() > PLAIN_ABOVE:
            return
        spans = self._colour_strings(text)
        for expression, role in self._rules:
            matches = expression.globalMatch(text)
            while matches.hasNext():
                match = matches.next()
                start = match.capturedStart()
                if not any(first <= start < end for first, end in spans):
                    self._colour(start, match.capturedLength(), role)

    def _colour_strings(self, text: str) -> list[tuple[int, int]]:
        spans, matches = [], self._strings.globalMatch(text)
        while matches.hasNext():
            match = matches.next()
            start, end = match.capturedStart(), match.capturedEnd()
            is_key = text[end:].lstrip().startswith(":")
            self._colour(start, end - start, "text" if is_key else "succeeded")
            spans.append((start, end))
        return spans

    def _colour(self, start: int, length: int, role: str) -> None:
        style = QTextCharFormat()
        style.setForeground(theme().color(role))
        self.setFormat(start, length, style)
