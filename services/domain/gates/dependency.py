"""Tasks that wait for other tasks: the words for it, and circles among what is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: name of the gate
GATE = "dependency"
#: what becomes of a task when one that it depends on is dead or cancelled: it stays at the gate, or is cancelled too
HOLD, CANCEL = "hold", "cancel"
POLICIES = (HOLD, CANCEL)
#: ids that one task may name
MOST = 100
#: dependants that one round of operations tells; more would hold up everybody else
AT_ONCE = 200


def find_circle(graph: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A way that leads back to its beginning (``("a", "b", "a")``), () if there is none.

    ``graph``: name -> names that it depends on; names without an entry of their own depend on nothing.
    """
    done: set[str] = set()
    for start in graph:
        way = [] if start in done else [(start, iter(graph[start]))]
        on_way = {start}
        while way:
            name, rest = way[-1]
            following = next((one for one in rest if one not in done), None)
            if following is None:
                done.add(name)
                on_way.discard(name)
                way.pop()
            elif following in on_way:
                names = [one for one, _ in way]
                return (*names[names.index(following) :], following)
            else:
                on_way.add(following)
                way.append((following, iter(graph.get(following, ()))))
    return ()


def in_order(graph: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of a graph, each behind those that it depends on (circles apart), else in their own order."""
    done: dict[str, None] = {}
    begun: set[str] = set()
    for start in graph:
        way = [] if start in begun else [(start, iter(graph[start]))]
        begun.add(start)
        while way:
            name, rest = way[-1]
            following = next((one for one in rest if one in graph and one not in begun), None)
            if following is None:
                done[name] = None
                way.pop()
            else:
                begun.add(following)
                way.append((following, iter(graph[following])))
    return list(done)
