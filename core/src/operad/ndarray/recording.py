"""The protocol by which imperative calls are recorded.

`autograd` sits above this layer. It puts a `Recorder` into the thread's state; `invoke` reports each
call to it. The state also says whether calls run in training mode.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, final

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray
    from operad.ndarray.plan import Plan


class Recorder(Protocol):
    """What `autograd` gives."""

    def record(self, plan: Plan, inputs: Sequence[NDArray], outputs: Sequence[NDArray]) -> None:
        """Note that a call was made.

        Args:
            plan: How it was run.
            inputs: The arguments and then the auxiliary states.
            outputs: All outputs, hidden ones included.
        """

    def tracks(self, array: NDArray) -> bool:
        """Whether `array` takes part in what is recorded, so that it must not be overwritten."""


class Frontend(Protocol):
    """What `NDArray.attach_grad` and `NDArray.backward` stand for."""

    def mark_variables(
        self, variables: Sequence[NDArray], gradients: Sequence[NDArray], grad_reqs: str
    ) -> None:
        """Attach gradient buffers."""

    def backward(
        self,
        heads: Sequence[NDArray],
        head_grads: Sequence[NDArray | None] | None,
        retain_graph: bool,
        train_mode: bool,
    ) -> None:
        """Compute gradients."""

    def record_copy(self, source: NDArray, target: NDArray) -> None:
        """Note that `target` holds a copy of `source`, cast or on another device."""


@final
class _State(threading.local):
    """The calling thread's recorder (None: nothing is recorded) and mode."""

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self.is_training = False


recording_state: Final = _State()

_frontend: Frontend | None = None


def set_frontend(found: Frontend) -> None:
    """Called by `operad.autograd`, once."""
    global _frontend
    _frontend = found


def frontend() -> Frontend:
    """The autograd module."""
    if _frontend is None:
        # The layer above, by name only: programs that never differentiate do not import it.
        import_module("operad.autograd")
    assert _frontend is not None, "importing operad.autograd sets the front end"
    return _frontend
