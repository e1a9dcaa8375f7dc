"""The style sheet, written from tokens.

Widgets choose their look by object properties, never by a style sheet of their own:

    kind   buttons: ``primary``, ``danger``, ``plain`` (default), ``ghost``, ``link``, ``icon``
    panel  frames: ``card``, ``rail``, ``bar``, ``table``, ``raised``, ``dialog``, ``code``
    tone   labels: ``text``, ``text2``, ``text3``, ``accent``, ``dead`` and each status

Set them with ``views.support.look.set_kind`` and its sisters, which repolish.
Fonts are not set here: both fonts are variable and a style sheet cannot name an axis.
"""

from __future__ import annotations

from collections.abc import Mapping

from views.theme.tokens import (
    BUTTON,
    BUTTON_SMALL,
    FIELD,
    RADIUS_BUTTON,
    RADIUS_CARD,
    RADIUS_CHECK,
    RADIUS_DIALOG,
    TABLE_HEADER,
    Tokens,
)

TONES = (
    "text", "text2", "text3", "dis", "accent", "waiting", "scheduled", "running",
    "succeeded", "retrying", "dead", "stuck",
)  # fmt: skip


def make_qss(tokens: Tokens, glyphs: Mapping[str, str]) -> str:
    """Return the style sheet of `tokens`; `glyphs` are the image paths by name."""
    role = tokens.role
    parts = (_base(tokens), _panels(tokens), _buttons(tokens), _fields(tokens, glyphs), _spins(glyphs))
    lists = (_checks(tokens, glyphs), _lists(tokens), _scroll(tokens), _menus(tokens, glyphs))
    tones = "\n".join(f'QLabel[tone="{tone}"] {{ color: {role(tone)}; }}' for tone in TONES)
    return "\n".join((*parts, *lists, tones))


def _base(t: Tokens) -> str:
    return f"""
QWidget {{ color: {t.role("text")}; }}
QMainWindow, QDialog {{ background: {t.role("bg")}; }}
QLabel {{ background: transparent; }}
QLabel:disabled {{ color: {t.role("dis")}; }}
QToolTip {{
    background: {t.role("raised")}; color: {t.role("text")};
    border: 1px solid {t.role("line2")}; padding: 5px 7px;
}}
/* Qt paints the note beside the icon of the tray light yellow in every theme */
QBalloonTip QLabel {{ color: {t.role("onretry")}; }}
QSplitter::handle {{ background: {t.role("line")}; }}
QSplitter::handle:horizontal {{ width: 1px; }}
QSplitter::handle:vertical {{ height: 1px; }}
QSplitter::handle:hover {{ background: {t.role("accent")}; }}
QFrame[line="h"] {{ background: {t.role("line")}; border: none; max-height: 1px; min-height: 1px; }}
QFrame[line="v"] {{ background: {t.role("line2")}; border: none; max-width: 1px; min-width: 1px; }}
"""


def _panels(t: Tokens) -> str:
    return f"""
*[panel="card"] {{
    background: {t.role("surface")}; border: 1px solid {t.role("line")};
    border-radius: {RADIUS_CARD}px;
}}
*[panel="card"][late="true"] {{ border-top: 2px solid {t.role("retrying")}; }}
*[panel="surface"] {{ background: {t.role("surface")}; }}
*[panel="page"] {{ background: {t.role("bg")}; }}
*[panel="table"] {{ background: {t.role("table")}; }}
*[panel="raised"] {{ background: {t.role("raised")}; }}
*[panel="rail"] {{ background: {t.role("rail")}; border-right: 1px solid {t.role("line")}; }}
*[panel="topbar"] {{ background: {t.role("bg")}; border-bottom: 1px solid {t.role("line")}; }}
*[panel="statusbar"] {{ background: {t.role("rail")}; border-top: 1px solid {t.role("line")}; }}
*[panel="side"] {{ background: {t.role("surface")}; border-left: 1px solid {t.role("line")}; }}
*[panel="actionbar"] {{ background: {t.role("sel")}; border-top: 1px solid {t.role("selline")}; }}
*[panel="footer"] {{ background: {t.role("surface")}; border-top: 1px solid {t.role("line")}; }}
*[panel="header"] {{ border-bottom: 1px solid {t.role("line")}; }}
*[panel="code"] {{
    background: {t.role("input")}; border: 1px solid {t.role("line")};
    border-radius: {RADIUS_BUTTON}px;
}}
*[panel="popup"] {{ background: {t.role("raised")}; border: 1px solid {t.role("line2")}; }}
*[panel="popup"] QListView, QListView[panel="clear"] {{ background: transparent; border: none; }}
*[panel="dialog"] {{
    background: {t.role("surface")}; border: 1px solid {t.role("line2")};
    border-radius: {RADIUS_DIALOG}px;
}}
"""


def _buttons(t: Tokens) -> str:
    ring = f"border: 2px solid {t.role('focus')};"
    return f"""
QPushButton, QToolButton {{
    background: {t.role("raised")}; color: {t.role("text")};
    border: 1px solid {t.role("line2")}; border-radius: {RADIUS_BUTTON}px;
    min-height: {BUTTON - 2}px; max-height: {BUTTON - 2}px; padding: 0 9px;
}}
QPushButton:hover, QToolButton:hover {{ background: {t.role("hover")}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {t.role("line")}; }}
QPushButton:focus, QToolButton:focus {{ {ring} padding: 0 8px; min-height: {BUTTON - 4}px;
    max-height: {BUTTON - 4}px; }}
QPushButton:disabled, QToolButton:disabled {{
    background: transparent; color: {t.role("dis")}; border-color: {t.role("line")};
}}
QLineEdit QToolButton, QLineEdit QToolButton:hover, QLineEdit QToolButton:pressed {{
    background: transparent; border: none; padding: 0; min-height: 0; max-height: {FIELD}px; }}
*[small="true"] {{ min-height: {BUTTON_SMALL - 2}px; max-height: {BUTTON_SMALL - 2}px;
    padding: 0 7px; }}
*[small="true"]:focus {{ min-height: {BUTTON_SMALL - 4}px; max-height: {BUTTON_SMALL - 4}px;
    padding: 0 6px; }}
QToolButton::menu-indicator, QPushButton::menu-indicator {{ image: none; width: 0; }}
"""


def _fields(t: Tokens, glyphs: Mapping[str, str]) -> str:
    edges = "QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox, QDateTimeEdit, QTimeEdit, QDateEdit"
    focused = ", ".join(f"{name.strip()}:focus" for name in edges.split(","))
    disabled = ", ".join(f"{name.strip()}:disabled" for name in edges.split(","))
    return f"""
{edges} {{
    background: {t.role("input")}; color: {t.role("text")}; border: 1px solid {t.role("ctl")};
    border-radius: {RADIUS_BUTTON}px; min-height: {FIELD - 2}px; max-height: {FIELD - 2}px;
    padding: 0 8px; selection-background-color: {t.role("accentbg")};
    selection-color: {t.role("white")};
}}
{focused} {{ border: 2px solid {t.role("focus")}; padding: 0 7px;
    min-height: {FIELD - 4}px; max-height: {FIELD - 4}px; }}
{disabled} {{ color: {t.role("dis")}; border-color: {t.role("line2")}; }}
QComboBox QLineEdit, QComboBox QLineEdit:focus {{
    border: none; background: transparent; padding: 0; min-height: 0; }}
QAbstractSpinBox QLineEdit, QAbstractSpinBox QLineEdit:focus {{
    border: none; background: transparent; padding: 0 6px; }}
*[changed="true"] {{ border: 1px solid {t.role("accent")}; }}
*[invalid="true"] {{ border: 1px solid {t.role("dead")}; }}
QPlainTextEdit, QTextEdit {{
    background: {t.role("input")}; border: 1px solid {t.role("ctl")};
    border-radius: {RADIUS_BUTTON}px; selection-background-color: {t.role("accentbg")};
    selection-color: {t.role("white")};
}}
QPlainTextEdit[readOnly="true"], QTextEdit[readOnly="true"] {{ border-color: {t.role("line2")}; }}
QPlainTextEdit:focus, QTextEdit:focus {{ border: 2px solid {t.role("focus")}; }}
QComboBox {{ combobox-popup: 0; }}
QComboBox::drop-down {{ border: none; width: 24px; }}
QComboBox::down-arrow {{ image: url("{glyphs["down"]}"); width: 12px; height: 12px; }}
QComboBox::down-arrow:disabled {{ image: url("{glyphs["down-disabled"]}"); }}
QComboBox QAbstractItemView {{
    background: {t.role("raised")}; border: 1px solid {t.role("line2")};
    selection-background-color: {t.role("sel")}; selection-color: {t.role("text")};
    outline: none; padding: 4px;
}}
QComboBox QAbstractItemView::item {{ min-height: 26px; padding: 0 6px; }}
"""


def _spins(glyphs: Mapping[str, str]) -> str:
    return f"""
QSpinBox::up-button, QDoubleSpinBox::up-button, QTimeEdit::up-button, QDateTimeEdit::up-button {{
    border: none; background: transparent; width: 18px; }}
QSpinBox::down-button, QDoubleSpinBox::down-button, QTimeEdit::down-button,
QDateTimeEdit::down-button {{ border: none; background: transparent; width: 18px; }}
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow, QTimeEdit::up-arrow, QDateTimeEdit::up-arrow {{
    image: url("{glyphs["up"]}"); width: 10px; height: 10px; }}
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow, QTimeEdit::down-arrow,
QDateTimeEdit::down-arrow {{ image: url("{glyphs["down"]}"); width: 10px; height: 10px; }}
"""


def _checks(t: Tokens, glyphs: Mapping[str, str]) -> str:
    return f"""
QCheckBox, QRadioButton {{ spacing: 8px; background: transparent; min-height: {BUTTON_SMALL}px; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.role("dis")}; }}
QCheckBox::indicator, QAbstractItemView::indicator {{
    width: 13px; height: 13px; border: 1px solid {t.role("ctl")};
    border-radius: {RADIUS_CHECK}px; background: {t.role("input")};
}}
QCheckBox::indicator:focus {{ border: 2px solid {t.role("focus")};
    width: 11px; height: 11px; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{ background: {t.role("accentbg")};
    border-color: {t.role("accentbg")}; image: url("{glyphs["check"]}"); }}
QCheckBox::indicator:indeterminate, QAbstractItemView::indicator:indeterminate {{ background: {t.role("accentbg")};
    border-color: {t.role("accentbg")}; image: url("{glyphs["partial"]}"); }}
QCheckBox::indicator:checked:focus, QCheckBox::indicator:indeterminate:focus {{ border: 2px solid {t.role("focus")}; }}
QCheckBox::indicator:disabled {{ border-color: {t.role("line2")}; background: transparent; }}
QRadioButton::indicator {{ width: 13px; height: 13px; border: 1px solid {t.role("ctl")};
    border-radius: 7px; background: {t.role("input")}; }}
QRadioButton::indicator:checked {{ border: 4px solid {t.role("accentbg")};
    width: 7px; height: 7px; background: {t.role("white")}; }}
QRadioButton::indicator:focus {{ border: 2px solid {t.role("focus")}; width: 11px; height: 11px; }}
QRadioButton::indicator:checked:focus {{ border: 4px solid {t.role("focus")}; width: 7px; height: 7px; }}
QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {t.role("line2")}; }}
QSlider::sub-page:horizontal {{ border-radius: 2px; background: {t.role("accent")}; }}
QSlider::handle:horizontal {{ width: 12px; height: 12px; margin: -5px 0; border-radius: 7px;
    background: {t.role("accentbg")}; border: 1px solid {t.role("white")}; }}
QSlider::handle:horizontal:focus {{ border: 2px solid {t.role("focus")}; }}
QProgressBar {{ background: {t.role("line2")}; border: none; border-radius: 2px;
    max-height: 4px; min-height: 4px; }}
QProgressBar::chunk {{ background: {t.role("accent")}; border-radius: 2px; }}
"""


def _lists(t: Tokens) -> str:
    return f"""
QAbstractItemView {{ background: {t.role("table")}; border: none; outline: none;
    selection-background-color: {t.role("sel")}; selection-color: {t.role("text")}; }}
QHeaderView {{ background: {t.role("raised")}; border: none; }}
QHeaderView::section {{ background: {t.role("raised")}; color: {t.role("text2")}; border: none;
    border-bottom: 1px solid {t.role("line")}; padding: 0 8px; min-height: {TABLE_HEADER - 1}px; }}
QTableCornerButton::section {{ background: {t.role("raised")}; border: none; }}
QListView[panel="list"] {{ border: 2px solid transparent; border-radius: {RADIUS_BUTTON}px; }}
QListView[panel="list"]:focus {{ border-color: {t.role("focus")}; }}
QListView::item, QTreeView::item {{ padding: 5px 6px; border: none; }}
QListView::item:hover, QTreeView::item:hover {{ background: {t.role("hover")}; }}
QListView::item:selected, QTreeView::item:selected {{ background: {t.role("sel")};
    color: {t.role("text")}; }}
QScrollArea, QScrollArea > QWidget > QWidget[scroll="true"] {{ background: transparent;
    border: none; }}
QScrollArea[reached="true"] {{ border: 2px solid transparent; }}
QScrollArea[reached="true"]:focus {{ border-color: {t.role("focus")}; }}
QTabBar::tab {{ background: transparent; color: {t.role("text2")}; padding: 8px 12px;
    border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: {t.role("text")}; border-bottom-color: {t.role("accent")}; }}
QTabBar::tab:hover {{ color: {t.role("text")}; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {t.role("line")}; }}
"""


def _scroll(t: Tokens) -> str:
    return f"""
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
QScrollBar::handle {{ background: {t.role("line2")}; border-radius: 3px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: 32px; }}
QScrollBar::handle:horizontal {{ min-width: 32px; }}
QScrollBar::handle:hover {{ background: {t.role("ctl")}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QAbstractScrollArea::corner {{ background: transparent; border: none; }}
"""


def _menus(t: Tokens, glyphs: Mapping[str, str]) -> str:
    return f"""
QMenu {{ background: {t.role("raised")}; border: 1px solid {t.role("line2")};
    padding: 4px; }}
QMenu::item {{ padding: 5px 28px 5px 10px; border-radius: 4px; min-height: 18px; }}
QMenu::item:selected {{ background: {t.role("sel")}; }}
QMenu::item:disabled {{ color: {t.role("dis")}; }}
QMenu::separator {{ height: 1px; background: {t.role("line")}; margin: 4px 6px; }}
QMenu::icon {{ padding-left: 8px; }}
QMenu::indicator {{ width: 13px; height: 13px; left: 7px; border: 1px solid {t.role("ctl")};
    border-radius: {RADIUS_CHECK}px; }}
QMenu::indicator:checked {{ background: {t.role("accentbg")};
    border-color: {t.role("accentbg")}; image: url("{glyphs["check"]}"); }}
QMenu::right-arrow {{ image: url("{glyphs["right"]}"); width: 12px; height: 12px; }}
"""
