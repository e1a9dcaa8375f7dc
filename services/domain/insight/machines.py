"""The machines of the fleet: what works on each, how loaded it is, and where its versions differ from the others'."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from services.domain.insight import worker as insight
from services.domain.insight.worker import WorkerNow

#: what is compared; the version of this program stands first
PROGRAM = "fleetdeck"
PARTS = (PROGRAM, "python", "playwright", "chromium")


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A part that is not of the version which most machines have."""

    part: str
    own: tuple[str, ...]
    others: str


class MachineNow(msgspec.Struct, frozen=True, kw_only=True):
    """One machine with its workers that are heard of; of one where none is, nothing else is told."""

    name: str
    system: str = ""
    workers: tuple[str, ...] = ()
    heard_at: int = 0  #: of one where no worker is heard of: when the last of them was, UTC ms
    slots: int = 0
    busy: int = 0
    browsers: int = 0
    cpu: float = -1.0  #: percent of the whole machine, as ``memory``; -1 unknown
    memory: float = -1.0
    versions: Mapping[str, tuple[str, ...]] = {}  #: by part; several where its workers differ
    differs: tuple[Difference, ...] = ()

    def version(self, part: str) -> str:
        """As people read it, "" where nobody told."""
        return ", ".join(self.versions.get(part, ()))


def look_at_all(workers: Sequence[WorkerNow]) -> tuple[MachineNow, ...]:
    """Those that ``look`` finds, and those whose workers are all missing, by name."""
    found = {one.name: one for one in look(workers)}
    heard: dict[str, int] = {}
    for one in workers:
        if one.missing and (name := insight.machine(one.info)) not in found:
            heard[name] = max(heard.get(name, 0), one.info.seen_at)
    silent = {name: MachineNow(name=name, heard_at=at) for name, at in heard.items()}
    return tuple(one for _name, one in sorted({**found, **silent}.items()))


def look(workers: Iterable[WorkerNow]) -> tuple[MachineNow, ...]:
    """All machines with a living worker, by name."""
    by_name: dict[str, list[WorkerNow]] = {}
    for one in workers:
        if one.living:
            by_name.setdefault(insight.machine(one.info), []).append(one)
    found = {name: _versions(group) for name, group in sorted(by_name.items())}
    usual = {part: _usual([versions.get(part, ()) for versions in found.values()]) for part in PARTS}
    return tuple(_machine(name, by_name[name], versions, usual) for name, versions in found.items())


def _versions(group: Sequence[WorkerNow]) -> dict[str, tuple[str, ...]]:
    told: dict[str, set[str]] = {}
    for one in group:
        for part, version in {PROGRAM: one.info.version, **one.info.versions}.items():
            if version and part in PARTS:
                told.setdefault(part, set()).add(version)
    return {part: tuple(sorted(told[part], key=_order)) for part in PARTS if part in told}


def _usual(told: Sequence[tuple[str, ...]]) -> str:
    """What most machines have; of equally many the newest."""
    counts = Counter(version for versions in told for version in versions)
    return max(counts, key=lambda version: (counts[version], _order(version)), default="")


def _machine(
    name: str, group: Sequence[WorkerNow], versions: Mapping[str, tuple[str, ...]], usual: Mapping[str, str]
) -> MachineNow:
    infos = [one.info for one in group]
    return MachineNow(
        name=name,
        system=infos[0].system,
        workers=tuple(sorted(info.worker for info in infos)),
        slots=sum(len(one.slots) for one in group),
        busy=sum(one.busy for one in group),
        browsers=sum(max(0, info.browsers) for info in infos),
        cpu=max(info.cpu_machine for info in infos),
        memory=max(info.memory_machine for info in infos),
        versions=versions,
        differs=tuple(
            Difference(part=part, own=own, others=usual[part])
            for part, own in versions.items()
            if own != (usual[part],)
        ),
    )


def _order(version: str) -> tuple[tuple[int, str], ...]:
    """3.9 comes before 3.11."""
    return tuple((int(word), "") if word.isdecimal() else (0, word) for word in re.findall(r"\d+|[^\d.]+", version))
