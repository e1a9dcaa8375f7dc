"""Which lines of logs a filter asks for: ``log:"timeout waiting"``. A line is compared as the screen shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from services.domain.task.search.query import LOG, Term
from services.domain.text.mask import masked_text

#: of a task the logs of its last attempts are looked into, and the lines of so many tasks at a time
ATTEMPTS, AT_ONCE = 5, 100
#: seconds after which one question looks no further, and records that it looks at
LOOK_S, LOOK_MOST = 1.0, 5_000
#: the words of a line, whole lines of one task
Lines = Iterable[str]


def of_logs(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The terms that logs must answer."""
    return tuple(term for term in terms if term.field == LOG)


def others(terms: Iterable[Term]) -> tuple[Term, ...]:
    """All other terms."""
    return tuple(term for term in terms if term.field != LOG)


def finder(terms: Iterable[Term]) -> Callable[[Lines], bool]:
    """Whether the lines of a task are as all terms ask: each asks for words that stand in one line, in any case."""
    wanted = [(term.values[0].lower(), term.negated) for term in terms]

    def holds(lines: Lines) -> bool:
        left = {words for words, _ in wanted}
        for line in lines:
            if not left:
                break
            low = line.lower()
            if any(words in low for words in left):  # masking costs more than looking
                shown = masked_text(line).lower()
                left = {words for words in left if words not in shown}
        return all((words in left) == negated for words, negated in wanted)

    return holds
