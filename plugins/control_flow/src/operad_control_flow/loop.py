"""Loops: a body that runs for each step, and hands states from one to the next."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from operad import NDArray, nd
from operad.errors import ParamError
from operad.operator import Shape, param
from operad_control_flow.control_flow import ControlFlow
from operad_control_flow.rules import Rules
from operad_control_flow.runner import Runner, Target
from operad_control_flow.subgraph import Subgraph


class Loop(ControlFlow):
    """An operator that runs its last subgraph, the body, again and again.

    The outputs of the body are `num_out_data` arrays that are stacked over the steps, and then the states of
    the next step. What is neither a slice nor a state is the same in every step.

    Attributes:
        states: Number of the input of the body that each state is.
    """

    num_out_data = param(int, ge=0, doc="Number of outputs that have a row for each step.")

    states: list[int]

    @property
    def body(self) -> Subgraph:
        """The subgraph of a step."""
        return self.parts[-1]

    @property
    def state_arguments(self) -> list[int]:
        """The argument that each state is in the first step."""
        return [self.sources[-1][number].argument for number in self.states]

    def check_body(self) -> None:
        """Refuse counts, of a file perhaps, that do not go together.

        Raises:
            ParamError: They do not.
        """
        counts = (self.body.num_outputs, self.num_out_data + len(self.states))
        if not self.num_outputs == counts[0] == counts[1]:
            raise ParamError(
                f"{self.name}: num_outputs is {self.num_outputs} and the body has {counts[0]} outputs, "
                f"expected "
                f"{counts[1]}: {self.num_out_data} to be stacked, and {len(self.states)} states"
            )

    def outputs_of(
        self, ins: list[Any], outs: Sequence[Sequence[Any]], length: int | None, rules: Rules
    ) -> list[Any]:
        """A state is alike in all steps."""
        stacked, states = outs[-1][: self.num_out_data], outs[-1][self.num_out_data :]
        for number, (argument, after) in enumerate(zip(self.state_arguments, states, strict=True)):
            ins[argument] = rules.same(after, ins[argument], f"state {number} after a step")
        return [*(rules.of_stack(out, length) for out in stacked), *(ins[i] for i in self.state_arguments)]


class LoopRunner(Runner):
    """Runs the steps of a loop forth and back."""

    def set_up(self, prop: Any, in_shapes: Sequence[Shape]) -> None:
        """Take the numbers of what is sliced, handed on and shared."""
        self._num_stacked, self._states, self._first_states = (
            prop.num_out_data,
            prop.states,
            prop.state_arguments,
        )
        sources = dict(enumerate(prop.sources[-1]))
        self._sliced = {number: source.argument for number, source in sources.items() if source.is_sliced}
        others = sources.keys() - self._sliced.keys() - set(prop.states)
        self._shared = {number: sources[number].argument for number in sorted(others)}
        self._runs = self.runs(len(prop.parts) - 1, list(self._shared))
        self._num_steps = 0

    @abstractmethod
    def goes_on(self, step: int, states: list[NDArray]) -> bool:
        """Return whether there is such a step."""

    def begin(self, ins: list[NDArray]) -> None:
        """Prepare for a run with these arguments."""

    def run(self, is_train: bool, keep: bool, ins: list[NDArray], outs: list[Target]) -> None:
        """Run the steps."""
        count = self._num_stacked
        self.begin(ins)
        self._runs.set_shared({number: ins[argument] for number, argument in self._shared.items()})
        states = [ins[argument] for argument in self._first_states]
        step = 0
        while self.goes_on(step, states):
            values = dict(zip(self._states, states, strict=True))
            values |= {number: ins[argument][step] for number, argument in self._sliced.items()}
            found = self._runs.forward(step, is_train, values, keep)
            for out, value in zip(outs[:count], found[:count], strict=True):
                out.write_row(step, value)
            states = found[count:]
            step += 1
        self._num_steps = step
        for out, value in zip(outs[count:], states, strict=True):
            out.write(value)
        self.end(step, outs[:count])

    def end(self, num_steps: int, stacked: list[Target]) -> None:
        """Write the rows of the stacked outputs that no step wrote."""

    def run_back(self, is_train: bool, heads: list[NDArray], grads: list[Target]) -> None:
        """Run the steps' gradients, the last one first."""
        count = self._num_stacked
        self._runs.clear_shared_grads()
        carried = heads[count:]
        for step in reversed(range(self._num_steps)):
            rows = [head[step] for head in heads[:count]]
            grad_of = self._runs.backward(step, [*rows, *carried], is_train)
            for number, argument in self._sliced.items():
                if (grad := grad_of(number)) is not None:
                    grads[argument].write_row(step, grad)
            carried = [
                _or_zeros(grad_of(number), like) for number, like in zip(self._states, carried, strict=True)
            ]
        for argument, grad in zip(self._first_states, carried, strict=True):
            grads[argument].write(grad)
        for number, argument in self._shared.items():
            if (grad := self._runs.shared_grad(number)) is not None:
                grads[argument].write(grad)


def _or_zeros(grad: NDArray | None, like: NDArray) -> NDArray:
    """A gradient; zeros where there is none, as for integers."""
    if grad is None:
        grad = nd.empty(like.shape, ctx=like.context, dtype=like.dtype)
        grad[...] = 0
    return grad
