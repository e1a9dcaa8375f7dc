"""Requests to end reach a command whatever it is doing at that moment."""

from __future__ import annotations

import os
import signal
import sys
import threading

import psutil
import pytest

from services.cli.signals import heard

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals between processes")


def test_a_signal_inside_the_lock_that_stopping_needs_is_heard_after_it() -> None:
    lock, called = threading.Lock(), threading.Event()

    def stop() -> None:
        if lock.acquire(timeout=5):  # a handler in this very thread would wait here for itself
            lock.release()
            called.set()

    with heard(stop):
        with lock:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
            assert not called.is_set()
        assert called.wait(30)


def test_what_held_before_holds_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    called = threading.Event()
    files = psutil.Process().num_fds()
    with heard(called.set):
        os.kill(os.getpid(), signal.SIGTERM)
        assert called.wait(30)
    assert signal.getsignal(signal.SIGTERM) is before
    assert psutil.Process().num_fds() == files


def test_who_loses_his_terminal_ends_in_good_order_unless_told_to_outlive_it() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        called = threading.Event()
        with heard(called.set):
            os.kill(os.getpid(), signal.SIGHUP)
            assert called.wait(30)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as ``nohup`` does
        called.clear()
        with heard(called.set):
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGTERM)
            assert called.wait(30)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
