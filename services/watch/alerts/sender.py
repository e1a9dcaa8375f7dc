"""Sends what was written down: at least once, each channel by itself, so that a dead one delays nothing else."""

from __future__ import annotations

import logging
import socket
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial

from services.domain.alerts import outbox
from services.domain.alerts.channel import Channel
from services.domain.alerts.outbox import MINUTE_MS, Letter
from services.domain.errors import ConsoleError
from services.domain.task import own_words
from services.engine.lead.firing import DEFAULT_ZONE, fleet_zone
from services.monitor.alerts import wording
from services.ports import Store
from services.watch.alerts.book import Book
from services.watch.alerts.channels import carrier
from services.watch.alerts.channels.carrier import BadAddress

log = logging.getLogger(__name__)
#: with it the secret of a channel is found on this machine, None where there is none
Secret = Callable[[str], str | None]


class Sender:
    """``turn`` looks at what waits and gives each channel its own thread for it. One thread at a time calls it."""

    def __init__(self, store: Store, secret: Secret, machine: str = "") -> None:
        self._store, self._secret, self._book = store, secret, Book(store)
        self._machine = machine or socket.gethostname()
        self.waits = True  #: whether something may be left to send since the last turn
        self._busy: dict[str, threading.Thread] = {}
        self._sent: dict[str, deque[int]] = defaultdict(deque)

    def turn(self, stop: threading.Event) -> int:
        """Begin to send what is due; how many messages that is. Raises the errors of the store."""
        letters_now = self._book.letters()
        self.waits = any(one.waits for one in letters_now)
        if not self.waits:
            return 0
        now, known = self._store.now_ms(), self._book.channels()
        waiting: dict[str, list[Letter]] = defaultdict(list)
        for letter in letters_now:
            if outbox.too_old(letter, now) or (letter.waits and letter.channel not in known):
                log.warning("alert %s was not taken in time by %s", letter.name, letter.channel)
                self._book.put_letter(outbox.given_up(letter, now))
            elif letter.waits:
                waiting[letter.channel].append(letter)
        begun = 0
        for name, letters in waiting.items():
            thread = self._busy.get(name)
            letters.sort(key=lambda one: (one.at, one.incident, one.step))
            # in order: what a channel refused is tried again before what came after it
            if not known[name].enabled or letters[0].due_at > now or (thread is not None and thread.is_alive()):
                continue
            begun += len(letters)
            run = partial(self._send_all, known[name], letters, stop)
            self._busy[name] = threading.Thread(target=run, name=f"alert-{name}", daemon=True)
            self._busy[name].start()
        return begun

    def wait(self, seconds: float) -> None:
        """Until what is being sent is through."""
        for thread in list(self._busy.values()):
            thread.join(seconds)

    def _send_all(self, channel: Channel, letters: list[Letter], stop: threading.Event) -> None:
        try:
            for letter in letters:
                if stop.is_set() or not self._may(channel):
                    return
                if not self._send(channel, letter):
                    return
        except ConsoleError as exc:  # it is sent again: once too often is better than never
            log.warning("alerts of %s: %s", channel.name, exc)
        except Exception:  # whatever it is, the next turn tries again, and other channels go on
            log.exception("alerts of %s", channel.name)

    def _may(self, channel: Channel) -> bool:
        """Whether the channel takes one more in this minute."""
        now, sent = self._store.now_ms(), self._sent[channel.name]
        while sent and sent[0] <= now - MINUTE_MS:
            sent.popleft()
        return len(sent) < channel.rate

    def _send(self, channel: Channel, letter: Letter) -> bool:
        text = wording.letter_text(letter, channel.language, fleet_zone(self._store) or DEFAULT_ZONE)
        tone = "resolved" if letter.what == "resolved" else letter.severity
        why = self.hand_over(channel, text, tone)
        now = self._store.now_ms()
        self._sent[channel.name].append(now)
        self._book.put_letter(outbox.sent(letter, now) if not why else outbox.refused(letter, why, now))
        if why:
            log.warning("alert %s is not taken by %s: %s", letter.name, channel.name, why)
        return not why

    def hand_over(self, channel: Channel, text: wording.Text, tone: str) -> str:
        """Send one text now; "" once it was taken, else why not (English, no secret)."""
        secret = self._secret(channel.secret_name)
        if not secret:
            return own_words.write("own.secret_missing", machine=self._machine, variable=channel.variable)
        try:
            return carrier.send(channel, secret, text.title, text.body, tone)
        except BadAddress:
            return own_words.write("own.address_bad", kind=channel.kind)
