"""Backward of a tape that is one compiled call: the program is there, so none is made of the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from operad.compiled.operator import CompiledProperty
from operad.imperative import Plan
from operad.op import BackwardEntry, Gradient


@final
class BackwardAlone:
    """Computes the gradients of one call of a plan.

    Args:
        plan: The plan of a compiled property, none of whose operators keeps anything.
        recorded: One flag for each argument: whether an entry of the tape stands behind it.
    """

    def __init__(self, plan: Plan, prop: CompiledProperty, recorded: tuple[bool, ...]) -> None:
        self._plan, self._prop = plan, prop
        self._num_recorded, self._num_outputs = sum(recorded), prop.num_visible_outputs
        self._saved = plan.saved_tensors(recorded).entries
        self._plans: dict[Any, tuple[Plan, list[int], list[int]]] = {}

    def __call__(
        self, nodes: Sequence[Any], heads: Any, head_grads: Any, wanted: Any, results: Any, *how: Any
    ) -> bool:
        """Compute the gradients, if this is a usual case; see `Recordable.backward_alone`."""
        node, (buffers, train_mode) = nodes[-1], how
        sources = {entry: i for i, entry in enumerate(node.inputs) if entry is not None}
        outputs = tuple([index for each, index in heads if each is node])
        if (
            not len(nodes) - 1 == len(sources) == self._num_recorded  # other calls, or an array came twice
            or not len(heads) == len({*outputs}) == self._num_outputs
            or not sources.keys() >= {*wanted}
            or any(buffer.req != "write" for buffer in buffers)
        ):
            return False
        node.check_unchanged()
        targets = tuple([sources[entry] for entry in wanted])
        key = (targets, outputs, train_mode)
        plan, positions, order = self._plans.get(key) or self._new_plan(*key)
        arrays = (*node.saved, *head_grads, *node.aux)
        plan.compute([arrays[i] for i in positions], [results[i] for i in order], into_given=True)
        return True

    def _new_plan(self, targets: Any, outputs: Any, train_mode: bool) -> tuple[Plan, list[int], list[int]]:
        """The plan of some gradients, its inputs among what is saved, heads and states, and its outputs."""
        prop, signature = self._prop, self._plan.signature
        gradient = Gradient(prop, [i in targets for i in range(len(prop.args))])
        specs = {"in_data": signature.in_specs, "out_data": prop.out_specs, "out_grad": prop.out_specs}
        states = signature.in_specs[len(prop.args) :]
        read = [specs[kind][index] for kind, index in gradient.entries]
        plan = Plan(gradient, [*read, *states], signature.ctx, train_mode)
        there = [*self._saved, *[BackwardEntry("out_grad", index) for index in outputs]]
        # Of what is not read only the shape counts, which the plan knows.
        positions = [there.index(entry) if entry in there else 0 for entry in gradient.entries]
        positions += range(len(there), len(there) + len(states))
        found = plan, positions, [targets.index(i) for i in sorted(targets)]
        plan.run.templates[:] = plan.operator.forward_templates(
            plan.run.op_ctx, plan.run.req, len(read), len(states)
        )
        return self._plans.setdefault((targets, outputs, train_mode), found)
