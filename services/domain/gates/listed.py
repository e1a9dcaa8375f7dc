"""The gates in the order in which they are tested: a new one is a module of this package and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from services.domain.fleet.shop import Pause
from services.domain.gates import breaker, dependency, home, limit, paused, quiet_hours, session
from services.domain.gates.gate import Gate, Switch
from services.domain.text.sentences import N_

NOT_DUE, SHOP_BUSY, TWIN, LANE_ORDER = "not_due", "shop_busy", "twin", "lane_order"
MESSAGE, BROKER = "message", "broker"

ORDER: tuple[Gate, ...] = (
    Gate(name=NOT_DUE, short=N_("not due")),
    Gate(name=dependency.GATE, short=N_("after another task"), no_help=N_("It waits for another task")),
    paused.ENTRY,
    quiet_hours.ENTRY,
    Gate(
        name=session.GATE,
        short=N_("needs login"),
        no_help=N_("Its shop needs a login first"),
        person=True,
        flow="login",
    ),
    Gate(
        name=breaker.GATE,
        short=N_("keeps failing"),
        no_help=N_("Its shop keeps failing; one task tries first"),
        flow="breaker",
    ),
    Gate(
        name=SHOP_BUSY,
        short=N_("shop busy"),
        no_help=N_("Its shop is busy and it is next already: only stopping the running task would help"),
    ),
    Gate(
        name=limit.GATE,
        short=N_("at limit"),
        no_help=N_("The limit of its platform or type is reached"),
        flow="limit",
    ),
    Gate(name=TWIN, short=N_("after its twin"), no_help=N_("The same work goes first")),
    Gate(
        name=home.GATE,
        short=N_("its machine is busy"),
        no_help=N_("It starts only where the browser profile of its shop lives"),
    ),
    Gate(name=MESSAGE, short=N_("not sent yet")),
    Gate(name=BROKER, short=N_("broker lost"), no_help=N_("The broker does not answer"), person=True),
    Gate(name=home.NO_WORKER, short=N_("no worker"), no_help=N_("No worker can run it"), person=True),
    Gate(name=LANE_ORDER, short=N_("in lane")),
)
BY_NAME: Mapping[str, Gate] = {gate.name: gate for gate in ORDER}
#: those that are closed by switches, by name, in their order
SWITCHES: Mapping[str, Switch] = {gate.name: gate.switch for gate in ORDER if gate.switch is not None}
#: kind of the documents that keep when one of them is closed -> how one is read
DOCUMENTS: Mapping[str, Callable[[str, str, int], Pause | None]] = {
    one.document: one.read for one in SWITCHES.values() if one.document and one.read is not None
}
#: sentences by code
SENTENCES: dict[str, str] = {code: text for gate in ORDER for code, text in gate.sentences.items()}


def switched(pauses: Iterable[Pause], documents: Mapping[str, Mapping[str, str]], now_ms: int) -> list[Pause]:
    """All switches that are closed at an instant (UTC ms): the pauses, and what the documents (kind -> name -> body)
    close; in the order of their gates.
    """
    found = [*pauses]
    for kind, read in DOCUMENTS.items():
        read_now = (read(name, body, now_ms) for name, body in documents.get(kind, {}).items())
        found += [one for one in read_now if one is not None]
    order = tuple(SWITCHES)
    return sorted(found, key=lambda one: order.index(one.gate))


def at_switch(scopes: Mapping[str, Iterable[str]], of_task: Iterable[str]) -> str:
    """The first gate that is closed for any of these scopes, "" for none. ``scopes``: gate -> what is closed."""
    wanted = frozenset(of_task)
    return next((gate for gate in SWITCHES if not wanted.isdisjoint(scopes.get(gate, ()))), "")
