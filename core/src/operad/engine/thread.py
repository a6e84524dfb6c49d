"""What engines keep of a thread, and how a thread sleeps."""

from __future__ import annotations

import threading
from typing import Final

from operad.context import cpu
from operad.engine.bulk import Bulk
from operad.engine.var import Var, Waiter

_CPU: Final = cpu()


class Thread(threading.local):
    """An engine's knowledge of the calling thread.

    Attributes:
        is_running: Whether the thread is inside an operation of the engine.
        bulk: The group it is collecting.
    """

    is_running: bool = False
    bulk: Bulk | None = None


def new_bell() -> threading.Lock:
    """A lock that is held: acquiring it sleeps until someone releases it."""
    bell = threading.Lock()
    bell.acquire()
    return bell


class Sleeper(Waiter):
    """A waiter that a thread sleeps on.

    Attributes:
        bell: Rings when the turn comes.
    """

    __slots__ = ("bell",)

    def __init__(self, var: Var, write: bool) -> None:
        super().__init__(var, _CPU, write)
        self.bell = new_bell()

    def arrive(self) -> None:
        """Wake the thread."""
        super().arrive()
        self.bell.release()
