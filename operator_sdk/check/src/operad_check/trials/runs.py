"""One case as a user's program: imperative or symbolic, pushed now and read later."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from operad import autograd
from operad.context import cpu
from operad.graph import Entry
from operad.imperative import Invoker
from operad.ndarray import NDArray, array
from operad.symbol import Symbol, apply
from operad_check.trials.trial import Trial


class Run(ABC):
    """A case on its way through the engine.

    Attributes:
        name: For messages.
        trial: The case.
        inputs: Its arguments as asynchronous arrays; `states` likewise.
        gradients: One per argument, None where none flows; empty where none are computed.
        copies: How often the operator is applied to the same arguments.
    """

    name: str

    def __init__(self, trial: Trial, copies: int = 1) -> None:
        self.trial = trial
        self.copies = copies
        self.prop = trial.new_property()
        self.inputs = [_array(value) for value in trial.inputs]
        self.states = [_array(value) for value in trial.aux]
        self.heads = [_array(value) for value in trial.out_grads[: trial.visible]] * copies
        self.gradients: list[NDArray | None] = []
        if any(trial.differentiable()) and self._may_differentiate():
            flags = zip(trial.inputs, trial.differentiable(), strict=True)
            self.gradients = [_array(np.zeros_like(value)) if flag else None for value, flag in flags]
        self.outputs: Sequence[NDArray] = []

    def _may_differentiate(self) -> bool:
        """Return whether this way of running can compute gradients of this case."""
        return all(dtype.kind == "f" for dtype in self.trial.out_types[: self.trial.visible])

    @abstractmethod
    def push(self) -> None:
        """Start the whole computation; return without waiting."""

    def read(self) -> list[Any]:
        """Wait for the visible outputs, the states, and one gradient per argument."""
        gradients = [None if g is None else g.asnumpy() for g in self.gradients]
        return [*[x.asnumpy() for x in self.outputs], *[x.asnumpy() for x in self.states], *gradients]

    def names(self) -> list[str]:
        """Names of the arrays that `read` returns."""
        visible = self.trial.outputs[: self.trial.visible] * self.copies
        gradients = [f"gradient of {name}" for name in self.trial.arguments] if self.gradients else []
        return [*visible, *self.trial.states, *gradients]

    def expected(self) -> list[Any]:
        """Same arrays from plain calls of the operator that programs have."""
        trial = self.trial
        operator = trial.new_operator(as_in_programs=True)
        result = trial.forward(operator=operator)
        visible = result.outputs[: trial.visible] * self.copies
        if not self.gradients:
            return [*visible, *result.aux]
        once = trial.backward(
            operator=operator, outputs=result.outputs, aux=result.aux, keep=_declared_only(trial)
        )
        return [*visible, *result.aux, *[None if g is None else g * self.copies for g in once]]


def can_be_bound(trial: Trial) -> bool:
    """Return whether a graph of the operator alone knows its shapes: a length of 0 from a user is unknown."""
    return bool(trial.arguments) or all(0 not in shape for shape in trial.out_shapes)


@final
class ImperativeRun(Run):
    """Run by calls on arrays, recorded where gradients are wanted."""

    name = "imperative"

    def push(self) -> None:
        """Call the operator, then run backward if there are gradients."""
        invoke, is_train = Invoker(self.prop), self.trial.case.is_train
        marked = [(x, g) for x, g in zip(self.inputs, self.gradients, strict=False) if g is not None]
        if not marked:
            with autograd.train_mode() if is_train else autograd.predict_mode():
                self.outputs = [y for _ in range(self.copies) for y in self._call(invoke)]
            return
        autograd.mark_variables([x for x, _ in marked], [g for _, g in marked])
        with autograd.record(train_mode=is_train):
            self.outputs = [y for _ in range(self.copies) for y in self._call(invoke)]
        autograd.backward(self.outputs, self.heads, train_mode=is_train)

    def _call(self, invoke: Invoker) -> Sequence[NDArray]:
        given = [*self.inputs, *self.states]
        positions = self.prop.input_positions()
        if positions is not None:  # a call has states among the arguments
            given = [
                array for _, array in sorted(zip(positions, given, strict=True), key=lambda pair: pair[0])
            ]
        # Without inputs the context is not known from them.
        found = invoke(given, ctx=cpu(), cls=NDArray)
        return found if isinstance(found, list) else [found]


@final
class SymbolicRun(Run):
    """Run by an executor bound to the arrays."""

    name = "symbolic"

    def __init__(self, trial: Trial, copies: int = 1) -> None:
        super().__init__(trial, copies)
        first = apply(self.prop, {}, "checked")
        inputs = dict(zip([*trial.arguments, *trial.states], first.inputs, strict=True))
        nodes = [first, *[apply(self.prop, inputs, f"checked{i}") for i in range(1, copies)]]
        symbol = Symbol([Entry(node, i) for node in nodes for i in range(trial.visible or 1)])
        names = symbol.list_arguments()
        order = [names.index(entry.node.name) for entry in first.inputs[: len(trial.arguments)]]
        args = [self.inputs[order.index(index)] for index in range(len(names))]
        grads: list[NDArray | None] = [None] * len(names)
        if self.gradients:
            grads = [self.gradients[order.index(index)] for index in range(len(names))]
        requests = ["null" if grad is None else "write" for grad in grads]
        self._executor = symbol.bind(cpu(), args, grads, requests, self.states)

    def _may_differentiate(self) -> bool:
        return self.trial.case.is_train and super()._may_differentiate()

    def push(self) -> None:
        """Run forward, and backward if there are gradients."""
        found = self._executor.forward(is_train=self.trial.case.is_train)
        self.outputs = found[: self.trial.visible * self.copies]
        if self.gradients:
            self._executor.backward(self.heads)


def _declared_only(trial: Trial) -> Any:
    declared = set(trial.prop.backward_dependency(trial.differentiable()))
    return lambda entry, value: value.copy() if entry in declared else None


def _array(value: Any) -> NDArray:
    return array(value, dtype=value.dtype, ctx=cpu())
