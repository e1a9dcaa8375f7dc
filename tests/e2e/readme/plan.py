"""How each command of the pages is tried. A command that no line here fits, or two, fails the suite."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

from tests.e2e.readme.blocks import Command

#: how every command of the program begins
PROGRAM = ".venv/bin/python main.py"


class Way(Enum):
    """What becomes of a command."""

    LINE = auto()  #: runs to its end on the home that was prepared; exit code 0, no traceback
    FLEET_LINE = auto()  #: the same on a real RabbitMQ and Redis
    WINDOW = auto()  #: shows a window, is alive after 5 s, is closed by its cross; exit code 0, nothing on stderr
    FLEET_WINDOW = auto()  #: the same on a real RabbitMQ and Redis
    WORKER = auto()  #: says that it works, and ends by Ctrl-C; exit code 0
    FLEET_WORKER = auto()  #: the same on a real RabbitMQ and Redis
    BROWSER = auto()  #: shows the browser of a shop and ends when that is closed
    NOT_HERE = auto()  #: is not run; ``why`` says the reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One kind of command: what it looks like, and what is done with it."""

    looks: str  #: regular expression of the whole command; ``P`` at its beginning is the program
    way: Way
    why: str = ""
    known: str = ""  #: which id of the prepared home stands in for ``ID``
    answer: str = ""  #: what a person at the terminal types when asked
    works: bool = False  #: a worker is at work beside it
    code: int = 0  #: exit code

    def fits(self, text: str) -> bool:
        """Whether this is about the command."""
        looks = re.escape(PROGRAM) + self.looks[1:] if self.looks.startswith("P ") else self.looks
        return re.fullmatch(looks, text, re.DOTALL) is not None


PLAN = (
    Entry(looks="make run", way=Way.WINDOW),
    Entry(looks="make test", way=Way.NOT_HERE, why="is what runs this"),
    Entry(looks="P demo --seconds 60 --json", way=Way.LINE),
    Entry(looks="P handover .*", way=Way.LINE),
    Entry(looks="P --profile shops( --read-only)?", way=Way.FLEET_WINDOW),
    Entry(looks="P worker --profile shops .*", way=Way.FLEET_WORKER),
    Entry(looks="P (role list|role default viewer|shop list|worker list) --profile shops", way=Way.FLEET_LINE),
    Entry(looks="P task create --profile shops .*", way=Way.FLEET_LINE),
    Entry(looks="P worker --handlers my_handlers", way=Way.WORKER),
    Entry(looks="P worker --slots .*", way=Way.WORKER),
    Entry(looks="P worker slots desk-01-4711 .*", way=Way.LINE),
    Entry(looks="P task create .*--type browser_flow --payload .*", way=Way.LINE),
    Entry(looks="P task create .*--not-before .*", way=Way.LINE),
    Entry(looks=r"printf .* > (tasks|shops)\.csv", way=Way.LINE),
    Entry(looks=r"P task create --file tasks\.csv .*", way=Way.LINE),
    Entry(looks=r"P shop import shops\.csv", way=Way.LINE),
    Entry(looks="P task create .*--depends-on ID", way=Way.LINE, known="waiting"),
    Entry(looks="P task create .*--type refresh_goods --after sync_order", way=Way.LINE),
    Entry(looks="P shop move .*", way=Way.LINE, answer="y"),
    Entry(looks="P batch (show|cancel) cli-1f3a9c20( --dry-run)?", way=Way.LINE),
    Entry(looks="P dead republish .*--dry-run", way=Way.LINE),
    Entry(looks="P dead republish .*--probe 3 --rate 30", way=Way.LINE, answer="y", works=True),
    Entry(looks="P dead note ID .*", way=Way.LINE, known="dead"),
    Entry(looks="P task resolve ID .*", way=Way.LINE, known="held"),
    Entry(looks="P task try ID .*", way=Way.LINE, known="waiting", code=1),
    Entry(looks="P work pdd:s1 sync_order --day today", way=Way.LINE),
    Entry(looks="P task duplicates", way=Way.LINE),
    Entry(looks="P schedule add nightly .*--dry-run", way=Way.LINE),
    Entry(looks="P type export sync_order > sync_order.json", way=Way.LINE),
    Entry(looks="P queue (pause|limit) platform:.*", way=Way.LINE, answer="y"),
    Entry(looks="P queue (peek|purge|held) rpa_tasks_low.*", way=Way.LINE),
    Entry(looks="P view share Refunds .*", way=Way.LINE),
    Entry(looks="P quiet (set night .*|list)", way=Way.LINE),
    Entry(looks="P at .*", way=Way.LINE),
    Entry(looks="P alert (list|history|channel list|channel set (ops|boss) .*)", way=Way.LINE),
    Entry(
        looks="P alert rule (list|(show|reset) oldest_wait|set (oldest_wait|lane_depth|dead_letters|nights) .*)",
        way=Way.LINE,
    ),
    Entry(looks="P alert channel test ops", way=Way.LINE, code=1),
    Entry(looks="P alert (show|answer|mute|escalate) INC-12.*", way=Way.LINE, code=2),
    Entry(looks="P promise (list|show pdd-orders|set .*)", way=Way.LINE),
    Entry(looks=r"P completion bash > fleetdeck\.bash", way=Way.LINE),
    Entry(looks="P task log ID", way=Way.LINE, known="dead"),
    Entry(looks="P log --level .*", way=Way.LINE),
    Entry(looks="P log --task ID", way=Way.LINE, known="dead"),
    Entry(looks="P causes", way=Way.LINE),
    Entry(looks="P (drift|drain)", way=Way.LINE),
    Entry(looks="P shop list --filter .*", way=Way.LINE),
    Entry(looks="P shop pause .* --yes", way=Way.LINE),
    Entry(looks="P shop dedicate pdd:s1", way=Way.LINE),
    Entry(looks="P shop limit pdd:s1 --concurrency 3", way=Way.LINE),
    Entry(looks="P shop login pdd:s1", way=Way.BROWSER),
    Entry(looks="P shop session (list|open .*)", way=Way.LINE),
    Entry(looks="P shop breaker", way=Way.LINE),
    Entry(looks="P role list", way=Way.LINE),
    Entry(looks="P audit list .*", way=Way.LINE),
    Entry(looks="P audit verify", way=Way.LINE),
    Entry(looks="P repair --dry-run", way=Way.LINE),
    Entry(
        looks=r"P (stats|worker list|dead runs|task list --filter '?(status:held|payload\.since:2026\*)'?)",
        way=Way.LINE,
    ),
    Entry(looks="P task show ID", way=Way.LINE, known="waiting"),
    Entry(looks="P shop show pdd:s1", way=Way.LINE),
    Entry(looks=r"P export --out fleet\.jsonl --yes", way=Way.LINE),
    Entry(looks=r"P import fleet\.jsonl --dry-run", way=Way.LINE),
    Entry(
        looks="(sudo|systemctl|cd /opt/fleetdeck) .*|cp resources/deploy/.*", way=Way.NOT_HERE, why="changes a machine"
    ),
    Entry(looks="rabbitmq(ctl|-plugins) .*|grep -E .*", way=Way.NOT_HERE, why="is for the server's own machine"),
    Entry(looks="docker .*", way=Way.NOT_HERE, why="needs a Docker daemon"),
    Entry(looks="kubectl .*", way=Way.NOT_HERE, why="needs a cluster"),
    Entry(looks="FLEETDECK_.*=.*", way=Way.NOT_HERE, why="a line of a file"),
    Entry(looks="P doctor", way=Way.LINE, code=1),
    Entry(looks=r"P token create (board|import) .*", way=Way.LINE),
    Entry(looks=r"P token list", way=Way.LINE),
    Entry(looks=r"P token revoke import --yes", way=Way.LINE),
    Entry(looks=r"P api .*", way=Way.NOT_HERE, why="serves until it is told to stop: tests/integration/test_api.py"),
    Entry(looks=r"curl .*", way=Way.NOT_HERE, why="needs the server: tests/integration/test_api_page.py types them"),
    Entry(looks=r"py -3\.11 .*|\.venv\\Scripts\\.*", way=Way.NOT_HERE, why="Windows"),
)


@cache
def entry_of(command: Command) -> Entry:
    """What is done with a command; each process asks it for every page that it collects."""
    found = [entry for entry in PLAN if entry.fits(command.text)]
    assert len(found) == 1, f"{command.where}: {command.text!r} is in {len(found)} lines of tests/e2e/readme/plan.py"
    return found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """A command that the comment behind another one names; ``rest`` is what it leaves to the reader."""

    words: str
    rest: str = ""
    answer: str = ""


#: after a colon or semicolon a comment may name what comes next: "and: batch list", "then: repair"
_NOUNS = "batch|dead|queue|repair|role|schedule|shop|task|type|worker"
_NAMED = re.compile(rf"(?:[:;:;]\s*|`)((?:{_NOUNS})(?: [a-z][\w.:-]*[\w])*)")
FOLLOWING = (
    Following(words="batch list"),
    Following(words="worker list"),
    Following(words="batch retry", rest="cli-1f3a9c20 --dry-run"),
    Following(words="type import sync_order.json"),
    Following(words="queue resume platform:temu", answer="y"),
    Following(words="shop undedicate", rest="pdd:s1"),
    Following(words="repair", answer="y"),
    Following(words="role set", rest="ann@desk-02 viewer"),
)


def following(command: Command) -> list[Following]:
    """The commands that a comment names after this one."""
    named = [words for words in _NAMED.findall(command.comment) if words]
    found = [one for words in named for one in FOLLOWING if one.words == words]
    assert len(found) == len(named), f"{command.where}: one of {named} is not in FOLLOWING of tests/e2e/readme/plan.py"
    return found
