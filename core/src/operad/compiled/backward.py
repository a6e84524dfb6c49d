"""Backward of a tape that is one compiled call: the program is there, so none is made of the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

from operad import resource
from operad.compiled.operator import CompiledProperty
from operad.imperative import Plan, TapeNode, distinct, execute
from operad.op import OpContext, OpReq

Tape = Sequence[Any]


class _Prepared(NamedTuple):
    """What is the same in the next iteration of training.

    Attributes:
        key: The call's inputs, the outputs that are heads, what is wanted, the requests, and the mode.
        run: Computes the gradients.
        heads: Where the gradient of each head stands among its arguments.
        targets: Where each result stands.
    """

    key: tuple[Any, ...]
    run: Any
    heads: Sequence[int]
    targets: Sequence[int]


@final
class BackwardAlone:
    """Computes the gradients of one call of a plan.

    Args:
        plan: The plan of a compiled property, none of whose operators keeps anything.
        recorded: One flag for each argument: whether an entry of the tape stands behind it.
    """

    def __init__(self, plan: Plan, prop: CompiledProperty, recorded: tuple[bool, ...]) -> None:
        layout, num_args = prop.layout, len(prop.args)
        self._plan, self._prop, self._recorded, self._ctx = plan, prop, recorded, layout.ctx
        self._name = f"backward of {prop.name}"
        self._requested = resource.get().request_all(layout.ctx, layout.kinds["backward"])
        self._vars = resource.mutable_vars_of(self._requested)
        cost = layout.cost("backward")
        self._inline = cost.is_light and not layout.ctx.is_gpu
        self._is_parallel, self._uses_blas = cost.is_parallel, cost.has_product
        entries = plan.saved_tensors(recorded).entries
        self._saved = [index if kind == "in_data" else num_args + index for kind, index in entries]
        self._first_head = num_args + len(prop.out_specs)
        self._first_grad = self._first_head + len(prop.out_specs)
        self._runners: dict[Any, Any] = {}
        # One tuple, replaced whole, so that threads agree on what they see.
        self._last = _Prepared((), None, (), ())

    def __call__(
        self, nodes: Tape, heads: Any, head_grads: Any, wanted: Any, results: Any, *how: Any
    ) -> bool:
        """Compute the gradients, if this is a usual case; see `Recordable.backward_alone`."""
        node, saved = nodes[-1], nodes[-1].saved
        key = (node.inputs, [head[1] for head in heads], wanted, *how)
        prepared = self._last
        if prepared.key != key:
            if any(each is not node for each, _ in heads) or any(
                type(each) is TapeNode for each in nodes[:-1]
            ):
                return False
            found = self._prepared(*key)
            if found is None:
                return False
            prepared = self._last = found
        if [x._chunk.var.version for x in saved] != node.versions:
            node.check_unchanged()
        data: list[Any] = [None] * (self._first_grad + len(self._recorded))
        read, kept, written = [], [x._chunk.var for x in node.aux], [*self._vars]
        for slot, array in zip((*self._saved, *prepared.heads), (*saved, *head_grads), strict=True):
            data[slot] = array._data
            read.append(array._chunk.var)
        for slot, array, request in zip(prepared.targets, results, how[0], strict=True):
            data[slot] = array._data
            (kept if request is OpReq.ADD or array._is_part else written).append(array._chunk.var)
        const, mutable, updated = distinct(read, kept, written)
        args = (*data, *[x._data for x in node.aux])
        execute(
            prepared.run, args, self._ctx, const, mutable, self._name, self._inline, updated,
            self._is_parallel, 0, self._uses_blas,
        )  # fmt: skip
        return True

    def _prepared(
        self, inputs: Any, outputs: Any, wanted: Any, requests: Sequence[OpReq], train_mode: bool
    ) -> _Prepared | None:
        """What a call needs; None if an array came twice, or not all outputs are heads."""
        prop, key = self._prop, (inputs, outputs, wanted, requests, train_mode)
        positions = {entry: i for i, entry in enumerate(inputs) if entry is not None}
        is_usual = len(positions) == sum(self._recorded) and positions.keys() >= {*wanted}
        if not is_usual or sorted(outputs) != [*range(prop.num_visible_outputs)]:
            return None
        req = [OpReq.NULL] * len(inputs)
        for entry, request in zip(wanted, requests, strict=True):
            req[positions[entry]] = request
        run = self._runners.get((*req, train_mode))
        if run is None:
            op_ctx = OpContext(self._ctx, train_mode, self._requested)
            sizes = len(prop.out_specs), len(prop.states)
            (call,) = self._plan.operator.backward_templates(op_ctx, tuple(req), *sizes)
            run = self._runners[(*req, train_mode)] = call.function
        heads = [self._first_head + index for index in outputs]
        return _Prepared(key, run, heads, [self._first_grad + positions[entry] for entry in wanted])
