"""Gradients node by node: of passes that are themselves recorded, and of tapes with hand-written functions.

The walk goes over the tape from its end. A recorded pass, `grad(..., create_graph=True)`, makes an imperative
call for each node: of the operator that computes this node's gradients
(`OperatorProperty.gradient_operator`), with the kernels that a compiled backward pass runs. These calls are
recorded like any others, so what they give can be differentiated, in any way and as often as is wanted. What
a node saved is put back in its place on the tape for that. A pass that is not recorded runs the compiled
program of the node alone, and calls the gradients of functions where it comes to them.

A compiled program of the whole tape would be quicker, but it leaves no values between its nodes, which a
second backward or a function reads. Gradients are summed as in `graph.gradient`, from the last reader to the
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import final

from operad import registry
from operad.autograd.function import FunctionCall, record_copy
from operad.autograd.program import Tape, backward_program
from operad.errors import GradientError, OperadError
from operad.graph import CrossDeviceCopy, GradAdd, ZerosLike
from operad.imperative import (
    Array,
    ArraySpec,
    Invoker,
    Marked,
    Plan,
    TapeEntry,
    TapeNode,
    apply,
    copy_into,
    is_recording,
    is_training,
    local,
    record,
)


def gradients_by_node(
    tape: Tape,
    heads: Sequence[TapeEntry],
    head_grads: Sequence[Array],
    wanted: Sequence[TapeEntry],
    train_mode: bool,
) -> list[Array | None]:
    """The gradients of `heads` with respect to `wanted`, recorded if the thread records.

    Args:
        tape: The nodes that both depend on, in the order of recording.
        heads: The entries to differentiate.
        head_grads: Their gradients; those that are recorded are differentiated as well.
        wanted: The entries whose gradients are wanted.
        train_mode: Whether operators run in training mode.
    Returns:
        One gradient for each of `wanted`; None where no gradient reaches it.
    Raises:
        GradientError: The pass is recorded, and the gradient of an operator on the way cannot be
            differentiated.
    """
    return _Walk(tape, wanted, train_mode).run(heads, head_grads)


@final
class _Walk:
    """One pass over a tape."""

    def __init__(self, tape: Tape, wanted: Sequence[TapeEntry], train_mode: bool) -> None:
        self._tape = tape
        self._wanted = wanted
        self._kept = set(wanted)
        self._train_mode = train_mode
        self._leads: set[TapeNode | Marked] = {entry[0] for entry in wanted}  # the nodes on the ways there
        for node in tape:
            if isinstance(node, TapeNode) and any(self._flows(node)):
                self._leads.add(node)
        self._terms: dict[TapeEntry, list[Array]] = {}  # the gradients of each entry that are there so far

    def _flows(self, node: TapeNode) -> list[bool]:
        """For each argument, whether its gradient is of use."""
        flows = [entry is not None and entry[0] in self._leads for entry in node.inputs]
        if isinstance(node.plan, Plan):
            flows = [a and b for a, b in zip(flows, node.plan.prop.differentiable_inputs(), strict=True)]
        return flows

    def run(self, heads: Sequence[TapeEntry], head_grads: Sequence[Array]) -> list[Array | None]:
        for entry, gradient in zip(heads, head_grads, strict=True):
            # A copy, for what is returned must be no array of the caller's.
            self._terms.setdefault(entry, []).append(_sum([gradient]))
        for number, node in reversed(list(enumerate(self._tape))):
            if isinstance(node, TapeNode) and node in self._leads:
                flows = self._flows(node)
                reached = [i for i in range(len(node.plan.out_specs)) if (node, i) in self._terms]
                if any(flows) and reached:
                    self._differentiate(node, number, flows, reached)
        return [self._total(entry) for entry in self._wanted]

    def _differentiate(self, node: TapeNode, number: int, flows: list[bool], reached: list[int]) -> None:
        plan = node.plan
        gradients: Sequence[Array | None]
        if isinstance(plan, FunctionCall):
            if is_recording():
                raise self._not_differentiable(
                    node,
                    number,
                    "it is an autograd.Function, whose backward is not recorded; write it with operators "
                    "under autograd.record(), without a Function",
                )
            gradients = plan.gradients(self._gradients_of(node, range(len(plan.out_specs))))
        elif not is_recording():
            gradients = self._compiled(node, flows, reached)
        else:
            assert isinstance(plan, Plan)
            if isinstance(plan.prop, (GradAdd, CrossDeviceCopy)):
                (total,) = self._gradients_of(node, reached)
                gradients = [_like(total, spec) for spec in plan.signature.in_specs]
            else:
                gradients = self._recorded(node, number, plan, flows)
        for entry, gradient, flag in zip(node.inputs, gradients, flows, strict=True):
            if flag:
                assert entry is not None
                assert gradient is not None
                self._terms.setdefault(entry, []).append(gradient)

    def _compiled(self, node: TapeNode, flows: Sequence[bool], reached: list[int]) -> list[Array | None]:
        heads = self._gradients_of(node, reached)
        assert isinstance(node.plan, Plan)
        # One for each input that was recorded, wanted or not: it decides what the node has saved.
        leaves = [
            None if entry is None else Marked(heads[0]._new(spec), "write")
            for entry, spec in zip(node.inputs, node.plan.signature.in_specs, strict=False)
        ]
        inputs = tuple([leaf and (leaf, 0) for leaf in leaves])
        alone = TapeNode(node.plan, inputs, node.saved or (), node.aux)
        alone.versions = node.versions
        tape: Tape = [*[leaf for leaf in leaves if leaf is not None], alone]
        wanted = [leaf for leaf, flag in zip(leaves, flows, strict=True) if leaf and flag]
        program = backward_program(
            tape, [(alone, i) for i in reached], [(leaf, 0) for leaf in wanted], ["write"] * len(wanted)
        )
        program.run(tape, heads, [leaf.grad for leaf in wanted], self._train_mode)
        return [leaf and leaf.grad for leaf in leaves]

    def _recorded(self, node: TapeNode, number: int, plan: Plan, flows: Sequence[bool]) -> list[Array | None]:
        assert node.saved is not None
        node.check_unchanged()
        if is_training():
            plan.check_trained(node.wanted)
        entries = plan.declared.backward_dependency(flows)
        saved = dict(zip(plan.saved_tensors(node.wanted).entries, node.saved, strict=True))
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
            found = plan.gradient_plan(tuple(flows), [x._spec for x in inputs], is_training())
        except OperadError as error:
            raise self._not_differentiable(node, number, str(error)) from error
        made = apply(found, inputs, None, (), local.state.mode, inputs[0].__class__)
        gradients = iter(made if isinstance(made, list) else [made])
        return [next(gradients) if flag else None for flag in flows]

    def _gradients_of(self, node: TapeNode, outputs: Iterable[int]) -> list[Array]:
        """The gradients of outputs, of which this is the only reader; zeros where none came."""
        some = next(terms[0] for terms in self._terms.values())
        found = []
        for index in outputs:
            entry = (node, index)
            total = self._total(entry)
            if total is None:
                total = some._new(node.plan.out_specs[index])._set(0)
            elif entry not in self._kept:
                del self._terms[entry]
            found.append(total)
        return found

    def _total(self, entry: TapeEntry) -> Array | None:
        terms = self._terms.get(entry)
        if not terms:
            return None
        if len(terms) > 1:
            terms[:] = [_sum(terms)]
        return terms[0]

    def _not_differentiable(self, node: TapeNode, number: int, why: str) -> GradientError:
        found = registry.find(str(node.plan.name).removeprefix("_backward_"))
        provider = "" if found is None else f" ({f'{found.distribution} {found.version}'.strip()})"
        return GradientError(
            f"grad with create_graph=True: the gradient of {node.plan.name}{provider} (node {number + 1} "
            f"of {len(self._tape)} that were recorded) cannot be differentiated: {why}; its author can find "
            "out how to change that in docs/authoring/gradients-of-gradients.md"
        )


def _sum(terms: Sequence[Array]) -> Array:
    """From the first to the last."""
    made: Array = Invoker(GradAdd(num_args=len(terms)))(terms)
    return made


def _like(gradient: Array, spec: ArraySpec) -> Array:
    """A gradient on the device and of the type of an array, recorded."""
    if gradient._spec is spec:
        return gradient
    made = gradient._new(spec)
    copy_into(made, gradient)
    record_copy(gradient, made)
    return made


def with_zero_grad(variable: Array, gradient: Array | None) -> Array:
    """A gradient that is on the tape: one that does not change with the variable has a gradient of zeros.

    Args:
        gradient: None: zeros.
    """
    found = variable._new(variable._spec)._set(0) if gradient is None else gradient
    if found._autograd is None:
        # All that is recorded of this call is that no gradient flows through it.
        record(Invoker(ZerosLike()).plan([variable]), [variable], [found])
    return found
