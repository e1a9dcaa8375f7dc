"""The one way in which anything changes a record: apply, publish what was released, mark what ended, tell workers.

Nobody else calls ``Store.apply`` or ``Dispatcher.send``; a test of the architecture holds that.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from services.domain.change import Answer, GiveUp, Op, Published
from services.domain.errors import StoreError, StoreUnavailable
from services.domain.task import classify, fingerprint, follow_up, own_words
from services.domain.task.order import Receipt
from services.domain.task.record import ERROR_LIMIT, Task
from services.domain.task.status import message_of
from services.engine.dispatch import Dispatcher
from services.ports import Store

log = logging.getLogger(__name__)


class Steps:
    """Safe to share between threads: it remembers nothing."""

    def __init__(self, store: Store, dispatcher: Dispatcher) -> None:
        self._store = store
        self.dispatcher = dispatcher

    def apply(self, ops: Sequence[Op]) -> list[Answer]:
        """Record, and do all that follows; the answers stand at the operations' places.

        Raises:
            StoreError: nothing may have been recorded; operations are safe to repeat. What follows raises nothing.
        """
        if not ops:
            return []
        answers = self._store.apply(ops)
        self.follow(ops, answers)
        return answers

    def record(self, ops: Sequence[Op]) -> list[Answer]:
        """The first half of ``apply``, for who has something else to do, or several answers to put together, before
        ``follow``: until then what was released waits in the outbox.

        Raises:
            StoreError: as in ``apply``.
        """
        return self._store.apply(ops) if ops else []

    def follow(self, ops: Sequence[Op], answers: Sequence[Answer], *, soon: bool = False) -> frozenset[str]:
        """The second half: publish in one batch, then mark, then tell. Ids of the tasks whose message is not confirmed;
        it stays in the outbox, where the reconciler finds it. Raises nothing.

        ``soon``: nobody waits until the outbox marks of the confirmed ones are cleared, see ``Store.apply_soon``.
        """
        messages: dict[str, Task] = {}
        ended: dict[str, None] = {}
        told: list[tuple[str, str]] = []
        for op, answer in zip(ops, answers, strict=True):
            own = answer.task
            if own is not None and own.task_id in messages and not message_of(own.status):
                del messages[own.task_id]  # an earlier step of this batch released it, and it has gone on since
            if (marked := follow_up.to_publish(op, answer)) is not None:
                messages[marked.task_id] = marked
            for task in answer.released:
                messages[task.task_id] = task
            for task_id in follow_up.ended(op, answer):
                ended[task_id] = None
            if worker := follow_up.to_tell(op, answer):
                told.append((worker, own.task_id if own is not None else ""))
        tasks = list(messages.values())
        receipts = self.publish(tasks, soon=soon) if tasks else []
        self._mark(list(ended))
        self._tell(told)
        return frozenset(task.task_id for task, receipt in zip(tasks, receipts, strict=True) if not receipt.ok)

    def publish(self, tasks: Sequence[Task], *, soon: bool = False) -> list[Receipt]:
        """Publish the messages of these records and clear their outbox marks (``soon``: see ``follow``), one receipt
        each in their order; raises nothing. What fails keeps its mark and is published again by the reconciler.

        A record that no message can be made of is given up: it becomes a dead letter with the reason, and its receipt
        is that of a record that needs no message.
        """
        ready = [task for task in tasks if message_of(task.status)]
        if not ready:
            return [Receipt(True)] * len(tasks)
        try:
            now = self._store.now_ms()
        except StoreUnavailable as exc:
            log.warning("%d messages wait in the outbox, the store is silent: %s", len(ready), exc)
            return [Receipt(not message_of(task.status), "store") for task in tasks]
        sent = self.dispatcher.send(ready, now)
        confirmed = [task for task in ready if (one := sent.receipts.get(task.task_id)) is not None and one.ok]
        self._confirm(confirmed, soon=soon)
        receipts = {**sent.receipts, **self._give_up(ready, sent.unfit)} if sent.unfit else sent.receipts
        self._report({task_id: receipt for task_id, receipt in receipts.items() if not receipt.ok})
        return [receipts.get(task.task_id, Receipt(True)) for task in tasks]

    def _confirm(self, tasks: Sequence[Task], *, soon: bool) -> None:
        ops: list[Op] = [
            Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt) for task in tasks
        ]
        try:
            if soon:
                self._store.apply_soon(ops)
            elif ops:
                self._store.apply(ops)
        except StoreError as exc:
            log.warning("confirmed messages keep their outbox mark until the store answers: %s", exc)

    def _give_up(self, tasks: Sequence[Task], unfit: Mapping[str, str]) -> dict[str, Receipt]:
        ops = [
            given_up(task, classify.BAD_MESSAGE, own_words.write("own.no_message", why=unfit[task.task_id]))
            for task in tasks
            if task.task_id in unfit
        ]
        try:
            self.apply(ops)
        except StoreError as exc:
            log.warning("%s keep their outbox mark until the store answers: %s", ", ".join(unfit), exc)
            return dict.fromkeys(unfit, Receipt(False, "store"))
        return dict.fromkeys(unfit, Receipt(True))

    def _mark(self, ended: Sequence[str]) -> None:
        try:
            if ended:
                self._store.mark_executed(ended)
        except StoreError as exc:
            log.warning("executed marks of %d tasks are missing: %s", len(ended), exc)

    def _tell(self, cancels: Sequence[tuple[str, str]]) -> None:
        try:
            for worker, task_id in cancels:
                self._store.tell_worker(worker, f"cancel={task_id}")
        except StoreError as exc:  # the record says so too, and the worker sees it when it renews its lease
            log.warning("workers hear of %d cancelled tasks a little later: %s", len(cancels), exc)

    def _report(self, failed: Mapping[str, Receipt]) -> None:
        if failed:
            first, receipt = next(iter(failed.items()))
            tell = log.info if self.dispatcher.away else log.warning  # then it has been told before
            tell("%d messages wait in the outbox, first %s: %s", len(failed), first, receipt.error)


def given_up(task: Task, kind: str, why: str) -> GiveUp:
    """The step that makes a dead letter of a record as it stands. ``kind``: see ``domain.classify``; ``why``: what a
    person reads, cut at ``ERROR_LIMIT`` characters.
    """
    text = why[:ERROR_LIMIT]
    return GiveUp(
        task_id=task.task_id,
        gen=task.gen,
        attempt=task.attempt,
        error=text,
        error_kind=kind,
        fingerprint=fingerprint.fingerprint(task.task_type, kind, text),
    )
