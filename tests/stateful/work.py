"""What producers and workers do."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from services.domain.task import envelope
from services.domain.task.status import ACTIVE, CLAIMABLE
from services.engine.producer import TaskSpec
from tests.stateful import rules
from tests.stateful.lives import ENDS, KINDS, NUMBER, SHOPS, SMALL, Lives, S, outcome_of
from tests.stateful.world import World


class Work(Lives):
    """Rules of tasks and workers."""

    @rule(n=NUMBER, how=SMALL, more=SMALL, duplicate=st.sampled_from(["reject", "queue", "force"]))
    def create(self, n: int, how: int, more: int, duplicate: str) -> None:
        platform, shop_id = SHOPS[n % 3]
        kind, now = KINDS[n % len(KINDS)], self.clock.now_ms()
        names = sorted(self.tasks)
        fields: dict[str, Any] = {"payload": {"n": n % 2}, "batch": "B1" if how % 2 else ""}
        if how == 3:
            fields["delay_s"] = float(5 + 20 * more)
        if how == 5:
            fields["deadline_ms"] = now + 15_000 * (1 + more)
        if how in (7, 8, 9) and names:
            fields["depends_on"] = tuple(dict.fromkeys((names[n % len(names)], names[more % len(names)])))
            fields["on_dependency_failure"] = ("hold", "cancel")[more % 2]
            fields["delay_s"] = 40.0 if how == 9 else 0.0
        spec = TaskSpec(
            platform=platform, shop_id=shop_id, task_type=kind, priority=1 + (n + more) % 10, if_duplicate=duplicate,
            reason="it must" if duplicate == "force" else "", **fields,
        )  # fmt: skip
        active = [task for task in self.tasks.values() if task.guard and task.status in ACTIVE]

        def do(world: World) -> Any:
            made = world.commands.tasks.create([spec], origin="cli")
            assert not made.errors, made.errors
            told = [done.task_id for _, done in made.done]
            return [task.task_id for task in made.created], [task.task_id for _, task in made.duplicates], told

        created, twins, done = self.act(do)
        known = [one.task_id for one in active]
        assert len(created) + len(twins) + len(done) == 1
        # what may not run twice asks why where it has just succeeded
        assert not done or (kind == "once" and duplicate != "force")
        assert not twins or (duplicate == "reject" and twins[0] in known)

    @rule(n=NUMBER)
    def create_batch(self, n: int) -> None:
        specs = [
            TaskSpec(
                platform=platform, shop_id=shop_id, task_type="plain", payload={"n": n}, batch="B2", priority="low"
            )
            for platform, shop_id in SHOPS
        ]
        self.act(lambda world: len(world.commands.tasks.create(specs, origin="file").created))

    def deliver(self, place: int, name: str) -> None:
        messages = self.worlds[0].bag.waiting()
        hand = self.worlds[0].hands[name]
        if not messages or not hand.free:
            return
        rank = messages[place % len(messages)].rank
        headers = messages[place % len(messages)].order.headers

        def do(world: World) -> Any:
            message = next(one for one in world.bag.waiting() if one.rank == rank)
            world.hands[name].take(message)
            return None

        task = self.tasks.get(messages[place % len(messages)].order.message_id)
        if task is None:  # of another program and new, or of a task whose record is removed
            self.act(do)
            return
        same = (headers.get(envelope.GEN, 0), headers.get(envelope.ATTEMPT, 0)) == (task.gen, task.attempt)
        usable = task.status in CLAIMABLE and same
        gates = rules.gates_for(self.worlds[0], task, self.tasks, able=task.task_type != "lab" or name == "A")
        allowed = {str(task.status)}
        if usable:
            allowed = {S.RUNNING if gate == "run" else S.BLOCKED for gate in gates}
            if "run" in gates and rules.done_by_another(self.worlds[0], task):
                allowed.add(S.HELD)
        self.act(do, {task.task_id: allowed})
        after = self.tasks[task.task_id]
        if usable and after.status == S.BLOCKED:
            assert after.gate in gates, (gates, after)
        if usable and after.status == S.RUNNING:
            assert (after.attempt, after.worker) == (task.attempt + 1, name)
            assert any(held.owner == after.owner for held in self.worlds[0].hands[name].held)

    @rule(n=NUMBER, name=st.sampled_from("AB"))
    @precondition(lambda self: self.worlds[0].bag.waiting())
    def delivery(self, n: int, name: str) -> None:
        self.deliver(n, name)

    @rule(n=NUMBER)
    @precondition(lambda self: self.worlds[0].bag.waiting())
    def deliveries(self, n: int) -> None:
        for place in range(4):
            self.deliver(n + place, "AB"[(n + place) % 2])

    @rule(n=NUMBER, name=st.sampled_from("AB"))
    @precondition(lambda self: self.worlds[0].bag.waiting())
    def lost_reply(self, n: int, name: str) -> None:
        """The store does as it is told and its answer is lost: the worker asks with the same words."""
        for world in self.worlds:
            world.store.lose = "reply" if n % 3 else "request"
        self.deliver(n, name)
        for world in self.worlds:
            world.store.lose = ""

    @rule(n=NUMBER, name=st.sampled_from("AB"), end=st.sampled_from(ENDS))
    @precondition(lambda self: self.running())
    def finish(self, n: int, name: str, end: tuple[str, bool]) -> None:
        self._finish(n, name, *end)

    @rule(n=NUMBER, end=st.sampled_from(ENDS))
    @precondition(lambda self: self.running())
    def finish_several(self, n: int, end: tuple[str, bool]) -> None:
        for name in "AB":
            self._finish(n, name, *end)
            self._finish(n, name, "", True)

    def _finish(self, n: int, name: str, kind: str, ok: bool) -> None:
        hand = self.worlds[0].hands[name]
        if not hand.held:
            return
        place = n % len(hand.held)
        held = hand.held[place]
        self.act(
            lambda world: world.hands[name].finish(world.hands[name].held[place], outcome_of(kind, ok)),
            self._after(held, ok, kind),
        )

    def _after(self, held: Any, ok: bool, kind: str) -> dict[str, set[str]]:
        task = self.tasks.get(held.task.task_id)
        if task is None:
            return {}
        if (task.status, task.owner) != (S.RUNNING, held.owner):
            return {task.task_id: {str(task.status)}}
        return {task.task_id: rules.after_end(self.worlds[0], task, held, ok, kind)}

    @rule(n=NUMBER, end=st.sampled_from(ENDS))
    @precondition(lambda self: self.worlds[0].gone)
    def late_result(self, n: int, end: tuple[str, bool]) -> None:
        """What an ended life of a worker ran comes to an end after all."""
        place = n % len(self.worlds[0].gone)
        kind, ok = end

        def do(world: World) -> Any:
            hand, held = world.gone.pop(place)
            hand.finish(held, outcome_of(kind, ok))

        self.act(do, self._after(self.worlds[0].gone[place][1], ok, kind))

    @rule(n=NUMBER, name=st.sampled_from("AB"))
    @precondition(lambda self: self.running())
    def given_back(self, n: int, name: str) -> None:
        hand = self.worlds[0].hands[name]
        if hand.held:
            place = n % len(hand.held)
            held = hand.held[place]
            task = self.known[held.task.task_id]
            mine = (task.status, task.owner) == (S.RUNNING, held.owner)
            cancelled = task.cancel or held.cancel_reason == "requested"
            to = ({S.CANCELLED} if cancelled else {S.PENDING, S.QUEUED}) if mine else {str(task.status)}
            self.act(lambda world: world.hands[name].give_back(world.hands[name].held[place]), {task.task_id: to})

    @rule(name=st.sampled_from("AB"))
    @precondition(lambda self: self.tasks)
    def beat(self, name: str) -> None:
        if not self.worlds[0].hands[name].cut_off:
            fetchable = {one: {S.BLOCKED, S.RUNNING} for one, task in self.tasks.items() if task.gate == "no_worker"}
            self.act(lambda world: world.hands[name].beat(), fetchable)

    @rule(name=st.sampled_from("AB"))
    def cut_off_or_back(self, name: str) -> None:
        for world in self.worlds:
            world.hands[name].cut_off = not world.hands[name].cut_off

    @rule(name=st.sampled_from("AB"))
    @precondition(lambda self: self.running())
    def start_anew(self, name: str) -> None:
        fetchable = {one: {S.BLOCKED, S.RUNNING} for one, task in self.tasks.items() if task.gate == "no_worker"}
        self.act(lambda world: world.start_anew(name), fetchable)
