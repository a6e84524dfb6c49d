"""A backward pass that is itself recorded: `grad(..., create_graph=True)`.

The pass walks the tape from its end and makes an imperative call for each node: of the operator that
computes this node's gradients (`OperatorProperty.gradient_operator`), with the kernels that a compiled
backward pass runs. These calls are recorded like any others, so what they give can be differentiated, in
any way and as often as is wanted. What a node saved is put back in its place on the tape for that.

A compiled program would be quicker, but it leaves no values between its steps, which a second backward
reads. Gradients are summed as in `graph.gradient`, from the last reader to the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from operad import registry
from operad.autograd.function import FunctionProperty
from operad.errors import GradientError, OperadError
from operad.graph import GradAdd, ZerosLike
from operad.imperative import (
    Array,
    Invoker,
    Marked,
    Plan,
    TapeEntry,
    TapeNode,
    apply,
    is_training,
    local,
    record,
)

Tape = Sequence[TapeNode | Marked]


def recorded_gradients(
    tape: Tape, heads: Sequence[TapeEntry], head_grads: Sequence[Array], wanted: Sequence[TapeEntry]
) -> list[Array | None]:
    """The gradients of `heads` with respect to `wanted`, recorded in the thread's mode.

    Args:
        tape: The nodes that both depend on, in the order of recording.
        heads: The entries to differentiate.
        head_grads: Their gradients; those that are recorded are differentiated as well.
        wanted: The entries whose gradients are wanted.
    Returns:
        One gradient for each of `wanted`; None where no gradient reaches it.
    Raises:
        GradientError: The gradient of an operator on the way cannot be differentiated.
    """
    return _Walk(tape, wanted).run(heads, head_grads)


@final
class _Walk:
    """One pass over a tape.

    Attributes:
        leads: The nodes on the ways to what is wanted.
        terms: The gradients of each entry that are there so far.
    """

    def __init__(self, tape: Tape, wanted: Sequence[TapeEntry]) -> None:
        self._tape = tape
        self._wanted = wanted
        self._leads: set[TapeNode | Marked] = {entry[0] for entry in wanted}
        for node in tape:
            if isinstance(node, TapeNode) and any(self._flows(node)):
                self._leads.add(node)
        self._terms: dict[TapeEntry, list[Array]] = {}

    def _flows(self, node: TapeNode) -> tuple[bool, ...]:
        """For each argument, whether its gradient is of use."""
        flags = node.plan.prop.differentiable_inputs()
        return tuple(
            flag and entry is not None and entry[0] in self._leads
            for flag, entry in zip(flags, node.inputs, strict=True)
        )

    def run(self, heads: Sequence[TapeEntry], head_grads: Sequence[Array]) -> list[Array | None]:
        for entry, gradient in zip(heads, head_grads, strict=True):
            # A copy, for what is returned must be no array of the caller's.
            self._terms.setdefault(entry, []).append(_sum([gradient]))
        for number, node in reversed(list(enumerate(self._tape))):
            if isinstance(node, TapeNode) and node in self._leads:
                flows = self._flows(node)
                if any(flows) and self._is_reached(node):
                    self._differentiate(node, number, flows)
        return [self._total(entry) for entry in self._wanted]

    def _is_reached(self, node: TapeNode) -> bool:
        return any((node, index) in self._terms for index in range(len(node.plan.out_specs)))

    def _differentiate(self, node: TapeNode, number: int, flows: tuple[bool, ...]) -> None:
        if isinstance(node.plan.prop, FunctionProperty):
            gradients = self._of_function(node, number)
        elif isinstance(node.plan.prop, GradAdd):
            (total,) = self._gradients_of(node, [0])
            gradients = [total] * len(flows)
        else:
            gradients = self._of_operator(node, number, flows)
        for entry, gradient, flag in zip(node.inputs, gradients, flows, strict=True):
            if flag:
                assert entry is not None
                self._terms.setdefault(entry, []).append(gradient)

    def _of_function(self, node: TapeNode, number: int) -> list[Any]:
        prop = node.plan.prop
        assert isinstance(prop, FunctionProperty)
        if not prop.is_linear:
            raise _not_differentiable(
                node,
                number,
                len(self._tape),
                "it is an autograd.Function, whose backward is not recorded; write it with operators under "
                "autograd.record(), without a Function",
            )
        heads = self._gradients_of(node, range(len(node.plan.out_specs)))
        return prop.run_backward(heads, is_recorded=True)

    def _of_operator(self, node: TapeNode, number: int, flows: tuple[bool, ...]) -> list[Any]:
        plan = node.plan
        assert isinstance(plan, Plan)
        assert node.saved is not None
        node.check_unchanged()
        entries = plan.prop.backward_dependency(flows)
        saved = dict(zip(plan.recipe(node.wanted).entries, node.saved, strict=True))
        heads = iter(self._gradients_of(node, [index for kind, index in entries if kind == "out_grad"]))
        inputs: list[Array] = []
        for entry in entries:
            if entry.kind == "out_grad":
                inputs.append(next(heads))
                continue
            array = saved[entry].detach()
            array._autograd = node.inputs[entry.index] if entry.kind == "in_data" else (node, entry.index)
            inputs.append(array)
        try:
            if node.aux:
                raise GradientError("it has auxiliary states, which change between calls")
            found = plan.gradient_plan(flows, [x._spec for x in inputs], is_training())
        except OperadError as error:
            raise _not_differentiable(node, number, len(self._tape), str(error)) from error
        made = apply(found, inputs, None, (), local.state.mode, inputs[0].__class__)
        gradients = iter(made if isinstance(made, list) else [made])
        return [next(gradients) if flag else None for flag in flows]

    def _gradients_of(self, node: TapeNode, outputs: Any) -> list[Array]:
        """The gradients of outputs; zeros where none came."""
        some = next(terms[0] for terms in self._terms.values())
        found = [(index, self._total((node, index))) for index in outputs]
        return [
            _zeros(some, node.plan.out_specs[index]) if total is None else total for index, total in found
        ]

    def _total(self, entry: TapeEntry) -> Array | None:
        terms = self._terms.get(entry)
        if not terms:
            return None
        if len(terms) > 1:
            terms[:] = [_sum(terms)]
        return terms[0]


def _sum(terms: Sequence[Array]) -> Array:
    """From the first to the last."""
    made: Array = Invoker(GradAdd(num_args=len(terms)))(terms)
    return made


def followed(variable: Array, gradient: Array | None) -> Array:
    """A gradient that is on the tape: one that does not change with the variable has a gradient of zeros.

    Args:
        gradient: None: zeros.
    """
    found = variable._filled(0) if gradient is None else gradient
    if found._autograd is None:
        # All that is recorded of this call is that no gradient flows through it.
        record(Invoker(ZerosLike()).plan([variable]), [variable], [found])
    return found


def _zeros(some: Array, spec: Any) -> Array:
    made = some._new(spec)
    made._data[...] = 0  # fresh, so nothing is pending on it
    return made


def _not_differentiable(node: TapeNode, number: int, count: int, why: str) -> GradientError:
    found = registry.find(node.plan.prop.name.removeprefix("_backward_"))
    provider = "" if found is None else f" ({f'{found.distribution} {found.version}'.strip()})"
    return GradientError(
        f"grad with create_graph=True: the gradient of {node.plan.name}{provider} (node {number + 1} "
        f"of {count} that were recorded) cannot be differentiated: {why}; its author can find out how to "
        "change that in docs/authoring/gradients-of-gradients.md"
    )
