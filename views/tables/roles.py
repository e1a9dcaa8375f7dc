"""Item roles as plain integers: comparing Qt's enums in ``data()`` costs four times the paint."""

from __future__ import annotations

from PySide6.QtCore import Qt

DISPLAY = int(Qt.ItemDataRole.DisplayRole)
TOOLTIP = int(Qt.ItemDataRole.ToolTipRole)
CHECK = int(Qt.ItemDataRole.CheckStateRole)
ALIGNMENT = int(Qt.ItemDataRole.TextAlignmentRole)
ACCESSIBLE = int(Qt.ItemDataRole.AccessibleTextRole)
USER = int(Qt.ItemDataRole.UserRole)

KEY = USER + 1  #: the key of the row
RECORD = USER + 2  #: the record of the row
VALUE = USER + 3  #: the value of the cell, before it became text
DIMMED = USER + 4  #: the row no longer matches and waits for a refresh

CELL_ROLES = [DISPLAY, TOOLTIP, ACCESSIBLE, VALUE, RECORD]
TICK_ROLES = [CHECK, ACCESSIBLE]
DIM_ROLES = [DIMMED, ACCESSIBLE]

HORIZONTAL = Qt.Orientation.Horizontal
ALIGN_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
ALIGN_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
CHECKED, PARTLY, UNCHECKED = (
    Qt.CheckState.Checked,
    Qt.CheckState.PartiallyChecked,
    Qt.CheckState.Unchecked,
)
