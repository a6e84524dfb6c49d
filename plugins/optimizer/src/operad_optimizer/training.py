"""Training programs: forward, backward and the updates of weights, bound together.

An update then runs where its gradient was just made, in the same operation of the engine, and a gradient for
which the executor has no array never leaves the plan's memory. What a step computes is what `forward`,
`backward` and the updater compute one after another, bit for bit; where one program cannot stand for these, a
step is these.

Numbers that change from step to step, such as a learning rate, are those of the moment in which a step is
called. They travel with what is pushed, since the step itself may run later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_not
from typing import Any, Protocol, final

from operad import NDArray
from operad.boundary import shortened
from operad.errors import ArgumentError, BindError, suggestion
from operad.executor import Executor
from operad.graph import MemoryPlan
from operad.imperative import Invoker
from operad.program import Program
from operad_optimizer.known_call import KnownCall
from operad_optimizer.whole_step import ApartError, UpdateCall, WholeStep, overlap

Index = int | str


class Updater(Protocol):
    """Moves weights along their gradients.

    It may have a method `calls(indices, weights)`, which counts an update of each weight and returns an
    `UpdateCall` for each; None, and counts nothing, where updates are more than such calls.
    """

    def __call__(
        self, index: Sequence[Index], grad: Sequence[NDArray], weight: Sequence[NDArray], /
    ) -> object:
        """Move weights in place."""


@final
class TrainingProgram:
    """Steps of training an executor's arguments; each is forward, backward and the updates.

    Attributes:
        executor: What is trained.
        updater: What moves its arguments.
        why_apart: Why the last step was three programs; "" where it was one, or none was yet.
    """

    def __init__(
        self, executor: Executor, updater: Updater, indices: Mapping[str, Index] | None = None
    ) -> None:
        """Prepare to train.

        Args:
            executor: Its arguments are moved, and its outputs and gradients are filled as by `forward` and
                `backward`. An argument that it has no gradient for may be trained too: then the gradient has
                no array.
            updater: As made by `od.optimizer.get_updater`.
            indices: By name, what the updater calls each argument that is trained, in the order in which it
                is told of them; None: each that has a gradient, by its name.

        Raises:
            ArgumentError: A name is not an argument, or nothing is trained.
        """
        if indices is None:
            indices = {name: name for name, grad in executor.grad_dict.items() if grad is not None}
        for name in indices:
            if name not in executor.arg_dict:
                advice = suggestion(name, executor.arg_dict)
                raise ArgumentError(f"TrainingProgram: unknown argument {name!r}; {advice}")
        if not indices:
            raise ArgumentError("TrainingProgram: no argument has a gradient; name those to train in indices")
        self.executor, self.updater, self.why_apart = executor, updater, ""
        self._indices = dict(indices)
        self._weights = [executor.arg_dict[name] for name in self._indices]
        self._overlap = overlap(executor, self._indices, {})
        self._known = [KnownCall() for _ in self._weights]
        self._whole: WholeStep | None = None
        self._made_of: Sequence[object] = ()
        self._why_never = ""

    def __repr__(self) -> str:
        return f"<TrainingProgram of {len(self._indices)} arguments of {self.executor!r}>"

    def why(self) -> Any:
        """Return the kernel of each part of each node, of updates too after a step in one program."""
        return Executor.why(self)  # a plugin's

    @property
    def memory_plan(self) -> MemoryPlan:
        """The static memory plan, with gradients that have no arrays."""
        return self.program.plan

    @property
    def program(self) -> Program:
        """Program of a step; the executor's, while none was one program."""
        return self.executor.program if self._whole is None else self._whole.program

    @shortened
    def step(self, **arrays: Any) -> list[NDArray]:
        """Compute the outputs and the gradients, and move the weights; returns at once.

        Args:
            arrays: New values of arguments, copied into the bound arrays.

        Returns:
            The executor's outputs, of the weights before the step.

        Raises:
            ArgumentError: A name is not an argument.
            BindError: A value has another shape; an output is no loss; or an argument without an array for
                its gradient is trained, and one program cannot do it.
            ExecutorBusyError: Another thread is in the executor.
        """
        self.executor.single_user.call("step", self._step, arrays)
        return self.executor.outputs

    def _step(self, arrays: Mapping[str, Any]) -> None:
        self.executor.set_arguments("step", arrays)
        self.why_apart = self._problem()
        calls: Sequence[UpdateCall] | None = None
        if not self.why_apart:
            calls = self.updater.calls([*self._indices.values()], self._weights)  # type: ignore[attr-defined]
        if calls is None:
            self.why_apart = self.why_apart or "its updater makes more of an update than one operator's call"
            gradients = self._compute_gradients()
            self.updater([*self._indices.values()], gradients, self._weights)
            return
        found = [
            known.of(operator, params)
            for known, (operator, _, params) in zip(self._known, calls, strict=True)
        ]
        try:
            whole = self._whole_of(calls, [invoker for invoker, _ in found])
        except ApartError as error:
            self.why_apart = str(error)
            gradients = self._compute_gradients()
            # The updates have been counted, so they are made here.
            for weight, grad, (_, own, _), (invoker, values) in zip(
                self._weights, gradients, calls, found, strict=True
            ):
                invoker([weight, grad, *own], out=weight, values=values)
            return
        whole.run([values for _, values in found])

    def _problem(self) -> str:
        """Reason why no step can be one program, whatever the updates are; "" for none."""
        executor = self.executor
        if executor.monitor is not None:
            return "a monitor looks at its nodes"
        if not hasattr(self.updater, "calls"):
            return "its updater does not say which operators it calls"
        if executor.group2ctx:
            return "its nodes may be on several contexts"
        if "add" in executor.grad_req.values():
            return "a gradient is added to its array"
        return self._overlap

    def _compute_gradients(self) -> list[NDArray]:
        executor = self.executor
        gradients: list[NDArray] = []
        for name in self._indices:
            grad = executor.grad_dict[name]
            if grad is None:
                raise BindError(
                    f"step: {name!r} has no array for its gradient, and this cannot be one program: "
                    f"{self.why_apart}; bind it with grad_req='write'"
                )
            gradients.append(grad)
        executor.forward(is_train=True)
        executor.backward()
        return gradients

    def _whole_of(self, calls: Sequence[UpdateCall], invokers: Sequence[Invoker]) -> WholeStep:
        made_of: Sequence[object] = [*invokers, *[state for _, own, _ in calls for state in own]]
        if len(made_of) != len(self._made_of) or any(map(is_not, made_of, self._made_of)):
            self._whole, self._made_of, why = None, (), ""  # the new one may use the old one's memory
            try:
                self._whole = WholeStep(self.executor, [*self._indices], calls, invokers)
            except ApartError as error:
                why = str(error)
            self._why_never, self._made_of = why, made_of
        if self._whole is None:
            raise ApartError(self._why_never)
        return self._whole
