"""The operator `Custom`: what a program registered, by its name.

Source: src/operator/custom/custom.cc. Differs: it runs in the engine's own threads, and what it calls
runs at once, so that nothing it does can wait for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Final

import numpy as np

from operad.context import Context
from operad.dtypes import DType, as_dtype
from operad.errors import ArgumentError, ShapeError
from operad.operator import (
    BackwardArrays,
    ForwardArrays,
    InferredShapes,
    InferredTypes,
    Kernel,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    PartialShape,
    Shape,
    param,
)
from operad_custom.registered import by_name, registered
from operad_custom.user import CustomOp, CustomOpProp
from operad_sdk import Contract


class RegisteredOperator(OperatorProperty):
    """Operator that asks a registered class."""

    op_type: Any
    is_stateful: ClassVar[bool] = True

    def _bind(self, given: dict[str, str]) -> None:
        self._given = given
        make: Callable[..., CustomOpProp] = registered(self.op_type)
        self._prop = make(**given)

    def list_arguments(self) -> list[str]:
        """Names of the arguments, from the registered class."""
        return list(self._prop.list_arguments())

    def list_outputs(self) -> list[str]:
        """Names of the outputs, from the registered class."""
        return list(self._prop.list_outputs())

    def list_auxiliary_states(self) -> list[str]:
        """Names of the auxiliary states, from the registered class."""
        return list(self._prop.list_auxiliary_states())

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Ask the registered class for shapes; with unknown shapes the class is tried, and may fail."""
        known = all(shape is not None and None not in shape for shape in in_shapes)
        asked = [[] if shape is None else [axis or 0 for axis in shape] for shape in in_shapes]
        if known:
            asked = [list(shape) for shape in in_shapes]  # type: ignore[arg-type]  # tested above
        counts = (len(in_shapes), len(self.list_outputs()), len(self.list_auxiliary_states()))
        try:
            found = self._three("infer_shape", self._prop.infer_shape(asked), counts)
        except Exception:
            if known:
                raise
            return list(in_shapes), [None] * counts[1], [None] * counts[2]
        # A 0 and an empty shape mean what is unknown, unless an argument is empty or has no axes itself.
        is_exact = known and any(not shape or 0 in shape for shape in asked)
        ins, outs, aux = ([_shape(shape, is_exact) for shape in shapes] for shapes in found)
        ins = ins if is_exact else [*map(_merged, in_shapes, ins)]
        for name, given, said in zip(self.list_arguments(), in_shapes, ins, strict=True):
            if known and said != given:
                raise ShapeError(f"Custom {self.op_type!r}: {name} has shape {given}, expected {said}")
        return ins, outs, aux

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Ask the registered class for types, once the first argument's type is known."""
        counts = (len(in_types), len(self.list_outputs()), len(self.list_auxiliary_states()))
        if in_types and in_types[0] is None:
            return list(in_types), [None] * counts[1], [None] * counts[2]
        asked = [None if dtype is None else np.dtype(dtype).type for dtype in in_types]
        found = self._three("infer_type", self._prop.infer_type(asked), counts)
        ins, outs, aux = ([*map(as_dtype, dtypes)] for dtypes in found)
        return [*ins], [*outs], [*aux]

    def _three(self, method: str, found: Any, counts: tuple[int, ...]) -> list[list[Any]]:
        """Arguments, outputs and states, of which the last may be left out where there are none."""
        parts = [list(part) for part in found]
        if len(parts) == 2 and not counts[2]:
            parts.append([])
        if tuple(map(len, parts)) != counts:
            raise ArgumentError(
                f"Custom {self.op_type!r}: {method} gave {tuple(map(len, parts))} arguments, outputs and "
                f"states, expected {counts}"
            )
        return parts

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """Ask the registered class for entries by their numbers."""
        entries = [*out_grad, *in_data, *out_data]
        numbers = iter(range(len(entries)))
        groups = [[next(numbers) for _ in group] for group in (out_grad, in_data, out_data)]
        return [entries[number] for number in self._prop.declare_backward_dependency(*groups)]

    def made(self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]) -> CustomOp:
        """The program's operator for one node."""
        made = self._prop.create_operator(ctx, [tuple(shape) for shape in in_shapes], list(in_types))
        if not (callable(getattr(made, "forward", None)) and callable(getattr(made, "backward", None))):
            raise ArgumentError(
                f"Custom {self.op_type!r}: create_operator returned {made!r}, expected a CustomOp"
            )
        return made


class Custom(RegisteredOperator):
    """An operator that the program registered with `operator.register(op_type)`.

    All other parameters go to the registered class, as text.

    Example:
        >>> import operad as od
        >>> class Triple(od.operator.CustomOp):
        ...     def forward(self, is_train, req, in_data, out_data, aux):
        ...         self.assign(out_data[0], req[0], in_data[0] * 3)
        >>> @od.operator.register("triple")
        ... class TripleProp(od.operator.CustomOpProp):
        ...     def create_operator(self, ctx, in_shapes, in_dtypes):
        ...         return Triple()
        >>> od.nd.Custom(od.nd.array([1, 2]), op_type="triple").asnumpy()
        array([3., 6.], dtype=float32)

    Source: CustomParam, src/operator/custom/custom.cc.
    """

    op_type = param(str, doc="The name that the operator was registered by.")
    takes_more_params: ClassVar[bool] = True
    contract: ClassVar[Contract] = Contract(
        completed_by_programs="a program registers what it computes, and operad check --module checks that",
        expected_failures={"S104": "its other parameters are those of the class that is registered"},
    )

    def __init__(self, **params: Any) -> None:
        declared = type(self).params
        super().__init__(**{key: value for key, value in params.items() if key in declared})
        self._bind({key: str(value) for key, value in params.items() if key not in declared})

    def get_params(self) -> dict[str, str]:
        """Parameters, with those of the registered class."""
        return {"op_type": self.op_type, **self._given}


class _Adapter(Operator):
    """Calls a `CustomOp` with arrays over the plain ones."""

    def __init__(
        self, prop: RegisteredOperator, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self._op = prop.made(ctx, in_shapes, in_types)
        self._ins = [*zip(in_shapes, in_types, strict=True)]

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """See `CustomOp.forward`."""
        face, ctx = _face(), op_ctx.ctx
        ins, req, outs, states = arrays
        groups = [face.over(datas, ctx) for datas in (ins, outs, states)]
        with face.nested(op_ctx.is_train):
            self._op.forward(op_ctx.is_train, _words(req), *groups)

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """See `CustomOp.backward`. A gradient that was not requested has memory of its own."""
        xp = op_ctx.ctx.xp
        heads, ins, outs, req, grads, states = arrays
        wanted = [
            xp.empty(shape, dtype) if grad is None else grad
            for grad, (shape, dtype) in zip(grads, self._ins, strict=True)
        ]
        face, ctx = _face(), op_ctx.ctx
        groups = [face.over(datas, ctx) for datas in (heads, ins, outs, wanted, states)]
        with face.nested(op_ctx.is_train):
            self._op.backward(_words(req), *groups)


@cache
def _face() -> ModuleType:
    """`operad.ndarray`, when it is needed: a graph is read and planned without arrays."""
    return import_module("operad.ndarray")


_WORDS: Final = {each: each.name.lower() for each in OpReq}


def _words(req: Sequence[OpReq]) -> list[str]:
    return [_WORDS[each] for each in req]


def _shape(shape: Any, is_exact: bool) -> PartialShape:
    """A shape that a program gives; an unknown one, or axis, is empty or 0 as in MXNet unless it is exact."""
    lengths = tuple(int(axis) for axis in shape)
    if is_exact:
        return lengths
    return tuple(axis or None for axis in lengths) if lengths else None


def _merged(given: PartialShape, said: PartialShape) -> PartialShape:
    """Given shape, completed by the one that a program states."""
    if given is None or said is None or len(given) != len(said):
        return given if said is None else said
    return tuple(axis or known for axis, known in zip(said, given, strict=True))


Custom.kernels.append(Kernel("python", _Adapter))
by_name.append(Custom)
