"""Holding other threads' pushes back while the engine stands still."""

from __future__ import annotations

import threading
from typing import final

from operad.engine.thread import OUTSIDE, ThreadState, local, new_event, wait_for


@final
class Gate:
    """Keeps threads outside the engine from pushing, while one of them needs it to stand still.

    Operations, and whatever interrupts a step of the engine, always pass: they are part of what comes
    to rest.
    """

    __slots__ = ("_held", "_owner", "_turn")

    def __init__(self) -> None:
        self._turn = threading.Lock()  # held by the thread that closed the gate
        self._owner: ThreadState | None = None
        self._held: list[threading.Lock] = []

    def close(self) -> bool:
        """Close the gate, after whoever has closed it now; False if that is the calling thread."""
        if self._owner is local.state:
            return False
        self._turn.acquire()
        self._owner = local.state
        return True

    def open(self) -> None:
        """Let the others go on."""
        self._owner = None
        held, self._held = self._held, []
        for event in held:
            event.release()
        self._turn.release()

    def pass_through(self) -> None:
        """Wait while another thread keeps the gate closed."""
        thread = local.state
        while self._owner is not None and self._owner is not thread and thread.inside == OUTSIDE:
            event = new_event()
            held = self._held
            held.append(event)
            # invariant: whoever opens the gate resets the owner first and takes the list after. So either
            # it finds this event, or this thread finds no owner.
            if held is self._held and self._owner is not None:
                wait_for(event)
