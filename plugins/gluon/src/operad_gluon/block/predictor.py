"""Predictions by an executor.

A compiled function prepares arrays of weights, such as packed ones, in each run. An executor keeps them while
the weights are the same, and costs less per call; but it has one set of arrays. So inputs are copied in and
outputs out, and a thread that finds another one inside goes the way of the compiled function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final, final

from operad import Context, NDArray, Symbol
from operad.imperative import insert_bounded

_MOST_KEPT: Final = 8
"""Executors of one predictor, each for one kind of inputs."""


@final
class Predictor:
    """Outputs of a symbol outside of training.

    Args:
        symbol: The graph.
        inputs: Names of the inputs, in their order.
        value_of: Gives the array of each other argument or state on a context.
    """

    def __init__(
        self, symbol: Symbol, inputs: Sequence[str], value_of: Callable[[str, Context], NDArray]
    ) -> None:
        self._symbol, self._value_of = symbol, value_of
        arguments = symbol.list_arguments()
        self._used = [(i, name) for i, name in enumerate(inputs) if name in arguments]
        self._others = [name for name in arguments if name not in inputs]
        self._states = symbol.list_auxiliary_states()
        self._executors: dict[object, Any] = {}
        self._lock = Lock()

    def __call__(self, arrays: Sequence[NDArray]) -> list[NDArray] | None:
        """The outputs, as new arrays; None where another thread is inside."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            key = tuple([(x.shape, x.dtype, x.context) for x in arrays])
            executor = self._executors.get(key)
            if executor is None:
                executor = self._bound(arrays)
                insert_bounded(self._executors, key, executor, _MOST_KEPT)
            executor.forward(is_train=False, **{name: arrays[i] for i, name in self._used})
            return [output.copy() for output in executor.outputs]
        finally:
            self._lock.release()

    def _bound(self, arrays: Sequence[NDArray]) -> Any:
        ctx = arrays[0].context
        given = {name: arrays[i].copy() for i, name in self._used}
        given |= {name: self._value_of(name, ctx) for name in self._others}
        states = {name: self._value_of(name, ctx) for name in self._states}
        return self._symbol.bind(ctx, args=given, grad_req="null", aux_states=states)
