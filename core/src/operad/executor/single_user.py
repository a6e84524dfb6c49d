"""One thread at a time in an executor, whose arrays are one set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from operad.errors import ExecutorBusyError
from operad.imperative import local


@final
class SingleUser:
    """Lets one thread in, which may come in again, and refuses the others.

    Attributes:
        user: The thread that is inside; None while there is none.
    """

    __slots__ = ("user",)

    def __init__(self) -> None:
        self.user: object = None

    def call(self, what: str, function: Callable[..., None], *args: Any) -> None:
        """Call `function(*args)`, for what messages call `what`.

        Raises:
            ExecutorBusyError: Another thread is inside.
        """
        thread = local.state
        # commit: begin
        before = self.user
        if before is None:
            self.user = thread
        # commit: end
        if before is not None and before is not thread:
            raise ExecutorBusyError(
                f"{what}: another thread is inside this executor, which has one set of arrays; bind one for "
                "each thread, with shared_exec= or reshape() where memory matters"
            )
        try:
            function(*args)
        finally:
            self.user = before
