"""A wait beside another thread's step: forced schedules, by a trace function on the wait alone."""

from __future__ import annotations

import sys
import threading

import pytest

from operad.device import cpu
from operad.engine import ThreadedEngine
from operad.engine.thread import wait_for

CTX = cpu()


def is_blocked(thread: threading.Thread) -> bool:
    frame = sys._current_frames().get(thread.ident or 0)
    return frame is not None and frame.f_code is wait_for.__code__


@pytest.mark.parametrize("write", [False, True])
def test_a_wait_never_ends_before_a_push_that_was_left_to_another_thread(
    threaded: ThreadedEngine, write: bool
) -> None:
    """The step that the push was left to ends between any two lines of the question."""
    lock, ran = threaded.lock, []
    wait = threaded.wait_to_write if write else threaded.wait_for_var
    num_lines = 40
    for stop_at in range(num_lines):
        var, reached, go, begun, gate = threaded.new_variable(), *(threading.Event() for _ in range(4))
        lines, found = [0], []

        def quiescence(frame, event, _, lines=lines, stop_at=stop_at, reached=reached, go=go):
            if event == "line":
                lines[0] += 1
                if lines[0] == stop_at:
                    reached.set()
                    go.wait()
            return quiescence

        def operation(_, begun=begun, gate=gate) -> None:
            begun.set()
            gate.wait()
            ran.append(1)

        def program(var=var, reached=reached, operation=operation, found=found) -> None:
            threaded.push_sync(operation, CTX, (), (var,))
            sys.settrace(lambda frame, *_: quiescence if "engine" in frame.f_code.co_filename else None)
            try:
                wait(var)
                found.append(len(ran))
            finally:
                sys.settrace(None)
                reached.set()

        lock.take()
        waiter = threading.Thread(target=program)
        waiter.start()
        while not (reached.is_set() or is_blocked(waiter)):
            pass
        lock.give_back()
        lock.catch_up()
        go.set()
        while waiter.is_alive() and not (is_blocked(waiter) or begun.is_set()):
            pass
        gate.set()
        waiter.join()
        assert found == [stop_at + 1], f"stopped at line {stop_at} of the wait"
