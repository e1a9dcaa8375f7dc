"""Command lines for a terminal: of Linux, and of Windows, whose shell knows other marks."""

from __future__ import annotations

import json
import shlex

from services.domain.text import shell


def of_windows(text: str) -> list[str]:
    """The words that a program of Windows makes of its command line (by the rules of its C library)."""
    words: list[str] = []
    word, within, begun, slashes = "", False, False, 0
    for char in f"{text} ":
        if char == "\\":
            slashes, begun = slashes + 1, True
            continue
        if char == '"':
            word += "\\" * (slashes // 2)
            if slashes % 2:
                word += char
            else:
                within = not within
            begun, slashes = True, 0
            continue
        word += "\\" * slashes
        slashes = 0
        if char == " " and not within:
            words += [word] if begun else []
            word, begun = "", False
        else:
            word, begun = word + char, True
    return words


def test_linux_gets_single_quotation_marks() -> None:
    words = ["fleetdeck", "task", "create", "--payload", '{"note": "it\'s & that"}']
    assert shlex.split(shell.line(words, windows=False)) == words
    assert shell.variable("TOKEN", windows=False) == "$TOKEN"


def test_windows_gets_the_same_words() -> None:
    payload = {"a": 'b "c" \\ d', "note": "50% & more | (x) > y < z ^ $HOME `ls` it's!", "店": "旗舰店"}
    words = ["fleetdeck", "task", "create", "--note", "two words", "--payload", json.dumps(payload, ensure_ascii=False)]
    line = shell.line(words, windows=True)
    *others, given = of_windows(line)
    assert others == words[:-1]
    assert json.loads(given) == payload
    assert not set(line) & set("&|<>^%$`'"), "nothing is left that a shell would obey"
    assert shell.variable("TOKEN", windows=True) == "%TOKEN%"


def test_an_example_is_rewritten_for_windows_alone() -> None:
    example = "dead archive --filter 'age>7d' --note 'too old'"
    assert shell.written(example, windows=False) == example
    assert shell.written(example, windows=True) == 'dead archive --filter "age>7d" --note "too old"'
    assert shell.written("type export sync_order > a.json", windows=True) == "type export sync_order > a.json"
    assert shell.written("work s1 goods --payload '{\"page\":2}'", windows=True) == (
        'work s1 goods --payload "{\\"page\\":2}"'
    )
