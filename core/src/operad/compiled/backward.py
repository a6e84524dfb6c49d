"""Backward of a tape that is one compiled call: the program is there, so none is made of the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

from operad import resource
from operad.compiled.operator import CompiledProperty
from operad.imperative import Array, Plan, TapeEntry, TapeNode, distinct, execute
from operad.op import OpContext, OpReq


class _Prepared(NamedTuple):
    """What is the same in the next iteration of training.

    Attributes:
        key: The call's entries, what is asked of it, and the mode.
        run: Computes the gradients.
        slots: Where the arrays of each result stands among its arguments.
        heads: Where the gradient of each head stands.
    """

    key: tuple[Any, ...]
    run: Any
    slots: Sequence[int]
    heads: Sequence[int]


@final
class BackwardAlone:
    """Computes the gradients of one call of a plan.

    Args:
        plan: The plan of a compiled property.
    """

    def __init__(self, plan: Plan, prop: CompiledProperty) -> None:
        layout = prop.layout
        self._plan, self._prop = plan, prop
        self._ctx = layout.ctx
        self._name = f"backward of {prop.name}"
        self._requested = resource.get().request_all(layout.ctx, layout.kinds["backward"])
        self._vars = resource.mutable_vars_of(self._requested)
        cost = layout.cost("backward")
        self._inline = cost.is_light and not layout.ctx.is_gpu
        self._is_parallel, self._uses_blas = cost.is_parallel, cost.has_product
        num_args = len(prop.args)
        entries = plan.saved_tensors(tuple(prop.wanted)).entries
        self._saved = [index if kind == "in_data" else num_args + index for kind, index in entries]
        self._num_slots = 2 * num_args + 2 * len(prop.out_specs)
        self._runners: dict[Any, Any] = {}
        # One tuple, replaced whole, so that threads agree on what they see.
        self._last = _Prepared((), None, (), ())

    def __call__(
        self,
        node: TapeNode,
        outputs: Sequence[int],
        head_grads: Sequence[Array],
        wanted: Sequence[TapeEntry],
        results: Sequence[Array],
        requests: Sequence[OpReq],
        train_mode: bool,
    ) -> bool:
        """Compute the gradients, if this is a usual case.

        Args:
            node: The call.
            outputs: The outputs that are heads; `head_grads` are their gradients.
            wanted: The arguments, by their entries, whose gradients go into `results`, as `requests` say.
        Returns:
            False if it is none: an array came twice, or not all outputs are heads.
        """
        key = (node.inputs, outputs, wanted, requests, train_mode)
        prepared = self._last
        if prepared.key != key:
            found = self._prepare(*key)
            if found is None:
                return False
            prepared = self._last = found
        saved = node.saved
        assert saved is not None
        if [x._chunk.var.version for x in saved] != node.versions:
            node.check_unchanged()
        data: list[Any] = [None] * self._num_slots
        read = []
        for slot, array in zip((*self._saved, *prepared.heads), (*saved, *head_grads), strict=True):
            data[slot] = array._data
            read.append(array._chunk.var)
        written, kept = [*self._vars], [x._chunk.var for x in node.aux]
        for slot, array, request in zip(prepared.slots, results, requests, strict=True):
            data[slot] = array._data
            (kept if request is OpReq.ADD or array._is_part else written).append(array._chunk.var)
        const, mutable, updated = distinct(read, kept, written)
        execute(
            prepared.run, (*data, *[x._data for x in node.aux]), self._ctx, const, mutable, self._name,
            self._inline, updated, self._is_parallel, 0, self._uses_blas,
        )  # fmt: skip
        return True

    def _prepare(
        self, inputs: Any, outputs: Any, wanted: Any, requests: Sequence[OpReq], train_mode: bool
    ) -> _Prepared | None:
        prop = self._prop
        positions = {entry: i for i, entry in enumerate(inputs) if entry is not None}
        num_args, num_visible = len(prop.args), prop.num_visible_outputs
        is_usual = [entry is not None for entry in inputs] == prop.wanted and len(positions) == sum(prop.wanted)
        if not is_usual or sorted(outputs) != [*range(num_visible)] or not all(e in positions for e in wanted):
            return None
        req = [OpReq.NULL] * num_args
        for entry, request in zip(wanted, requests, strict=True):
            req[positions[entry]] = request
        chosen = (tuple(req), train_mode)
        run = self._runners.get(chosen)
        if run is None:
            op_ctx = OpContext(self._ctx, train_mode, self._requested)
            (template,) = self._plan.operator.backward_templates(
                op_ctx, chosen[0], len(prop.out_specs), len(prop.states)
            )
            run = self._runners[chosen] = template.function
        first_head = num_args + len(prop.out_specs)
        first_grad = first_head + len(prop.out_specs)
        key = (inputs, outputs, wanted, requests, train_mode)
        heads = [first_head + index for index in outputs]
        return _Prepared(key, run, [first_grad + positions[entry] for entry in wanted], heads)
