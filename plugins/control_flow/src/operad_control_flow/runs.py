"""Executors of a subgraph that run inside an operator.

An operation of the engine runs what it calls at once, in its own thread, so an executor is an ordinary
value inside one. An executor keeps what its `backward` reads until its next `forward`; so a loop in training
has one for each step, and in prediction one for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import final

from operad import Executor, NDArray, nd
from operad.context import Context
from operad.dtypes import DType
from operad.errors import ShapeError, UnsupportedError
from operad.operator import Shape
from operad.symbol import Symbol
from operad_control_flow.rebinding import rebound
from operad_control_flow.subgraph import Subgraph


@final
class Runs:
    """Executors of a subgraph, with some inputs that all steps share. All methods are called in an operation.

    Args:
        subgraph: What is run.
        ctx: Where.
        shapes: Of the subgraph's inputs; `types` likewise.
        shared: Numbers of the inputs that have one value in all steps; their gradients are summed.
    """

    def __init__(
        self,
        subgraph: Subgraph,
        ctx: Context,
        shapes: Sequence[Shape],
        types: Sequence[DType],
        shared: Sequence[int] = (),
    ) -> None:
        self._subgraph, self._ctx = subgraph, ctx
        self._symbol = Symbol(subgraph.graph.outputs)
        self._specs = dict(zip(subgraph.names, zip(shapes, types, strict=True), strict=True))
        self._shared_names = [subgraph.names[number] for number in shared]
        self._shared: dict[str, NDArray] = {}
        self._shared_grads: dict[str, NDArray] = {}
        self._kept: list[Executor] = []
        self._prediction: Executor | None = None

    def set_shared(self, values: Mapping[int, NDArray]) -> None:
        """Copy values of shared inputs, by number, for the steps that follow."""
        for name in self._shared_names:
            if name not in self._shared:
                self._shared[name] = self._empty(name)
        for number, value in values.items():
            self._shared[self._subgraph.names[number]][...] = value

    def clear_shared_grads(self) -> None:
        """Begin the sums of `shared_grad` at 0."""
        for grad in self._shared_grads.values():
            grad[...] = 0

    def forward(
        self, step: int, is_train: bool, values: Mapping[int, NDArray], keep: bool = False
    ) -> list[NDArray]:
        """Outputs of a step.

        Args:
            values: The inputs that are the step's own, by number.
            keep: Whether to keep the outputs, and what `backward` reads, until the step runs again; else
                until any step does.
        Raises:
            UnsupportedError: Training would change auxiliary states.
        """
        if is_train and self._subgraph.states:
            raise UnsupportedError(
                f"{', '.join(sorted(self._subgraph.states))}: auxiliary states in the body of a loop or "
                f"branch "
                "are not trained; use the operator outside, or in prediction only"
            )
        executor = self._executor(step, keep)
        for number, value in values.items():
            name = self._subgraph.names[number]
            target = executor.aux_dict if name in self._subgraph.states else executor.arg_dict
            target[name][...] = value
        return executor.forward(is_train=is_train)

    def backward(
        self, step: int, heads: Sequence[NDArray], is_train: bool
    ) -> Callable[[int], NDArray | None]:
        """Compute the gradients of a step that was kept; gives those of its own inputs, by number."""
        executor = self._kept[step]
        executor.backward(list(heads), is_train=is_train)
        return lambda number: executor.grad_dict.get(self._subgraph.names[number])

    def shared_grad(self, number: int) -> NDArray | None:
        """The gradient of a shared input, summed over the steps since `clear_shared_grads`."""
        return self._shared_grads.get(self._subgraph.names[number])

    def _executor(self, step: int, keep: bool) -> Executor:
        if not keep:
            if self._prediction is None:
                self._prediction = self._bound({})
            return self._prediction
        while len(self._kept) <= step:
            self._kept.append(self._bound_for_training())
        return self._kept[step]

    def _bound_for_training(self) -> Executor:
        flowing = [name for name in self._specs if self._flows(name)]
        for name in self._shared_names:
            if name in flowing and name not in self._shared_grads:
                self._shared_grads[name] = self._empty(name)
        own = {name: self._empty(name) for name in flowing if name not in self._shared_grads}
        return self._bound({**own, **self._shared_grads})

    def _bound(self, grads: dict[str, NDArray]) -> Executor:
        arrays = {
            name: self._shared[name] if name in self._shared else self._empty(name) for name in self._specs
        }
        states = {name: arrays.pop(name) for name in self._subgraph.states}
        if grads and self._kept:
            return rebound(self._kept[0], arrays, grads, states)
        requests = {name: "add" if name in self._shared else "write" for name in arrays}
        return self._symbol.bind(self._ctx, arrays, grads, requests, states)

    def _flows(self, name: str) -> bool:
        """Return whether an input gets a gradient: integers and states do not."""
        return self._specs[name][1].kind == "f" and name not in self._subgraph.states

    def _empty(self, name: str) -> NDArray:
        shape, dtype = self._specs[name]
        return nd.empty(shape, ctx=self._ctx, dtype=dtype)


def truth(call: str, outputs: Sequence[NDArray]) -> bool:
    """The value of a condition, an array of one element.

    Raises:
        ShapeError: It has more.
    """
    (output,) = outputs
    if output.size != 1:
        raise ShapeError(f"{call}: the condition has shape {output.shape}, expected one element")
    return bool(output.asscalar())
