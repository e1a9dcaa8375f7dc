"""One attempt from claim to the operation that records its end."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from services import log as logs
from services.domain.change import Finish
from services.domain.task import classify, fingerprint, own_words, retry, step_times
from services.domain.task.record import ERROR_LIMIT, Attempt
from services.domain.task.status import CANCELLED, HELD, PENDING, RETRYING, SUCCEEDED
from services.domain.text import mask
from services.domain.types import task_type
from services.engine.lead import deadlines
from services.engine.registry import Registry
from services.executors.base import Executor, Job, JobContext, Outcome
from services.ports import ArtifactStore, Clock, Store
from services.workers.abilities import Abilities
from services.workers.artifact_sink import AttemptArtifacts
from services.workers.preempt import OUTCOME
from services.workers.slots import ClaimedTask

log = logging.getLogger(__name__)
#: characters of an error that the log of the program takes
LOGGED = 500
GOES_ON = "waiting"  #: outcome of an attempt that did its part and goes on with the next one


class Runner:
    """Picks the executor of a task type and turns its outcome into a decision."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        registry: Registry,
        executors: Mapping[str, Executor],
        *,
        worker: str,
        abilities: Abilities,
        policy: retry.RetryPolicy,
        artifacts: ArtifactStore | None = None,
    ) -> None:
        self._artifacts = artifacts
        self._store, self._clock, self._registry, self._executors = store, clock, registry, executors
        self._worker, self._abilities, self._policy = worker, abilities, policy

    def run(self, claimed: ClaimedTask, slot: int) -> Finish:
        """Execute and decide; never raises."""
        with logs.about(task=claimed.task.task_id, attempt=claimed.task.attempt, worker=self._worker):
            return self._run(claimed, slot)

    def _run(self, claimed: ClaimedTask, slot: int) -> Finish:
        claimed.started = self._clock.monotonic()
        started = claimed.task.started_at
        if claimed.cancelled.is_set():
            return self.unstarted(claimed)
        try:
            outcome = self._execute(claimed, slot)
            end = self._decide(claimed, outcome, started, self._ended(claimed))
            if not outcome.ok:  # a line for each success would cost more than many tasks do
                log.info("%s ended as %s: %s %s", claimed.task.task_id, end.to, end.error_kind, end.error[:LOGGED])
            return end
        except Exception as exc:  # the edge of the slot: a thread that ends here would keep its task running for ever
            log.exception("%s could not be executed", claimed.task.task_id)
            decision = retry.decide(claimed.task, "crashed", self._policy)
            text = own_words.write("own.worker_failed", why=f"{type(exc).__name__}: {exc}")[-ERROR_LIMIT:]
            delay = decision.delay_s if decision.to == RETRYING else -1
            return self._finish(
                claimed,
                decision.to,
                "failed",
                started,
                self._ended(claimed),
                error=text,
                error_kind="crashed",
                delay_s=delay,
            )

    def unstarted(self, claimed: ClaimedTask) -> Finish:
        """Claimed, and given back before its executor saw it: nothing has happened outside, whatever its type."""
        started = claimed.task.started_at
        if claimed.cancel_reason == "requested":
            return self._finish(
                claimed,
                CANCELLED,
                "cancelled",
                started,
                started,
                error=own_words.write("own.not_begun"),
                error_kind="cancelled",
            )
        if claimed.made_way_for:
            return self._made_way(claimed, started, started)
        why = "own.worker_stopped" if claimed.cancelled.is_set() else "own.slots_busy"
        return self._finish(claimed, PENDING, "returned", started, started, error=own_words.write(why))

    def _made_way(self, claimed: ClaimedTask, started: int, ended: int) -> Finish:
        """Stopped for a more urgent task; its type says that it may be stopped and begun again."""
        why = own_words.write("own.made_way", task=claimed.made_way_for)
        return self._finish(claimed, PENDING, OUTCOME, started, ended, error=why)

    def _ended(self, claimed: ClaimedTask) -> int:
        """UTC ms of now by the clock that durations are measured with."""
        return claimed.task.started_at + max(0, round((self._clock.monotonic() - claimed.started) * 1000))

    def _execute(self, claimed: ClaimedTask, slot: int) -> Outcome:
        task = claimed.task
        kind = self._registry.task_type(task.task_type)
        if deadlines.missed(task):
            return Outcome(ok=False, error=deadlines.sentence(task), error_kind=classify.EXPIRED)
        refusal = self._refusal(claimed, kind)
        if refusal is not None:
            return refusal
        name = self._abilities.executor_for(kind)
        executor = self._executors.get(name)
        if executor is None:
            text = own_words.write("own.cannot_any_more", type=task.task_type)
            return Outcome(ok=False, error=text, error_kind="unknown_type", unable=True)
        files = claimed.files = AttemptArtifacts(self._artifacts, task.task_id, task.attempt)
        context = JobContext(
            log=lambda stream, line: claimed.lines.append((self._clock.now_ms(), stream, _storable(line))),
            progress=lambda percent, note: _show(claimed, percent, note, self._clock.monotonic()),
            cancelled=claimed.cancelled,
            stopping=lambda: _begin_stop(claimed),
            artifacts=files,
        )
        timeout = float(task.timeout_s or kind.timeout_s)
        job = Job(task=task, attempt=task.attempt, worker=self._worker, slot=slot, timeout_s=timeout)
        try:
            return executor.run(job, context)
        except Exception as exc:  # the edge of foreign code: whatever it is becomes the attempt's outcome
            log.exception("executor %s failed on %s", name, task.task_id)
            return Outcome(ok=False, error=f"{type(exc).__name__}: {exc}", error_kind="crashed")

    def _refusal(self, claimed: ClaimedTask, kind: task_type.TaskType) -> Outcome | None:
        task = claimed.task
        if self._abilities.refuses(kind):
            text = own_words.write("own.not_defined", type=repr(task.task_type))
            return Outcome(ok=False, error=text, error_kind="unknown_type")
        if not kind.schema or (task.origin != "foreign" and task.type_version == kind.version):
            return None
        problems = task_type.validate_payload(kind, json.loads(task.payload))
        if not problems:
            return None
        return Outcome(
            ok=False, error=f"{problems[0].path or 'payload'}: {problems[0].message}", error_kind="bad_payload"
        )

    def _decide(self, claimed: ClaimedTask, outcome: Outcome, started: int, ended: int) -> Finish:
        task = claimed.task
        error = outcome.error[-ERROR_LIMIT:]
        kind = outcome.error_kind or ("" if outcome.ok else classify.classify(error, None))
        if outcome.ok:
            return self._finish(claimed, SUCCEEDED, "succeeded", started, ended, result=outcome.result)
        if outcome.unable:
            # it was there when the task was claimed; now others must have their chance, and it counts for nothing
            self._abilities.refresh()
            return self._finish(claimed, PENDING, "returned", started, ended, error=error, error_kind=kind)
        closing = outcome.cancelled and not claimed.cancel_reason
        if closing or claimed.cancel_reason == "shutdown":
            to = PENDING if task.idempotent else HELD
            return self._finish(
                claimed, to, "returned", started, ended, error=own_words.write("own.worker_stopped"), error_kind=""
            )
        if claimed.made_way_for:
            return self._made_way(claimed, started, ended)
        if outcome.again_s and not claimed.cancel_reason:
            return self._finish(
                claimed, RETRYING, GOES_ON, started, ended, error=error, delay_s=outcome.again_s, counted=False
            )
        if outcome.cancelled or claimed.cancel_reason:
            return self._cancelled(claimed, outcome, started, ended)
        if kind == classify.CANCELLED:  # its text speaks of something cancelled (an order); nobody cancelled the task
            kind = classify.UNKNOWN
        own = self._registry.task_type(task.task_type)
        policy = self._policy_of(own)
        decision = retry.decide(task, kind, policy, of_shop=outcome.of_shop)
        # a session kind parks the task at the gate of its shop, which this end closes
        word = "timeout" if outcome.timed_out else "failed"
        delay = retry.asked(decision.delay_s, outcome.retry_after_s, policy) if decision.to == RETRYING else -1
        return self._finish(
            claimed, decision.to, word, started, ended, error=error, error_kind=kind, delay_s=delay,
        )  # fmt: skip

    def _cancelled(self, claimed: ClaimedTask, outcome: Outcome, started: int, ended: int) -> Finish:
        # its executor says that it was asked to stop, and nobody wanted that
        fenced = outcome.cancelled and claimed.cancel_reason == "lost"
        error = own_words.write("own.fenced") if fenced else outcome.error[-ERROR_LIMIT:]
        return self._finish(claimed, CANCELLED, "cancelled", started, ended, error=error, error_kind="cancelled")

    def _policy_of(self, own: task_type.TaskType) -> retry.RetryPolicy:
        base, cap = own.retry_base_s, own.retry_cap_s
        return retry.RetryPolicy(
            base_s=base if base is not None else self._policy.base_s,
            cap_s=cap if cap is not None else self._policy.cap_s,
            max_retries=self._policy.max_retries,
        )

    def _finish(
        self,
        claimed: ClaimedTask,
        to: str,
        word: str,
        started: int,
        ended: int,
        *,
        result: str = "",
        error: str = "",
        error_kind: str = "",
        delay_s: float = -1,
        counted: bool = True,
    ) -> Finish:
        task = claimed.task
        error, result = _storable(error), _storable(result)
        artifacts, note = claimed.files.told() if claimed.files is not None else ((), "")
        return Finish(
            task_id=task.task_id,
            owner=claimed.owner,
            to=to,
            attempt=Attempt(
                number=task.attempt,
                worker=self._worker,
                started_at=started,
                ended_at=ended,
                outcome=word,
                error_kind=error_kind,
                error=error,
                retry_in_s=int(delay_s),
                artifacts=artifacts,
                artifacts_note=_storable(note),
                took=step_times.took(claimed.marks, self._clock.monotonic()) if claimed.marks else (),
            ),
            delay_ms=max(0, round(delay_s * 1000)),
            error=error,
            error_kind=error_kind,
            fingerprint=fingerprint.fingerprint(task.task_type, error_kind, error) if error_kind else "",
            result=result,
            counted=counted,
        )


def _storable(text: str) -> str:
    """Texts of foreign code may hold halves of characters (names of files, broken encodings), which no store takes, and
    secrets of this machine, which none shall have.
    """
    return mask.known(text.encode("utf-8", "replace").decode("utf-8")) if text else ""


def _show(claimed: ClaimedTask, percent: int, note: str, at: float) -> None:
    told = _storable(note)[:200]
    claimed.progress = (min(100, max(0, percent)), told)
    name = fingerprint.normalise(told) if told else ""
    if name and len(claimed.marks) < step_times.MARKS and (not claimed.marks or claimed.marks[-1][0] != name):
        claimed.marks.append((name, at))


def _begin_stop(claimed: ClaimedTask) -> None:
    # a worker that leaves gives the task back; nobody asked to cancel it
    claimed.stopping = claimed.cancel_reason == "requested"
