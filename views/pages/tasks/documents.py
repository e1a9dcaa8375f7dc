"""Payload and result of a task in their editors."""

from __future__ import annotations

import contextlib
import json

from views.widgets.json_editor import JsonEditor

MOST_LINES = 12


def show_json(editor: JsonEditor, document: str) -> None:
    """Show a document in lines, as high as it is up to a dozen; what is not JSON stands as it is."""
    with contextlib.suppress(ValueError):
        document = json.dumps(json.loads(document), ensure_ascii=False, indent=2)
    editor.load_text(document)
    lines = min(MOST_LINES, document.count("\n") + 1)
    editor.setFixedHeight(lines * editor.fontMetrics().lineSpacing() + 20)
