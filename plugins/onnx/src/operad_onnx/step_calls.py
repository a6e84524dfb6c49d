"""Functions of NumPy in traced functions as ONNX nodes: those that are not element-wise.

Each gets the steps, the result's shape and type, and the arguments of the call; it gives the name of a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from operad_onnx.sink import Spec
from operad_onnx.step_forms import axes_of

if TYPE_CHECKING:
    from operad_onnx.traced import Steps


def _position(kind: str) -> Callable[..., str]:
    def written(steps: Steps, out: Spec, a: Any, axis: Any = None, keepdims: bool = False) -> str:
        value = steps.operand((a, a))
        if axis is None:
            value, axis = steps.flat(value), 0
        return str(steps.node.add(kind, value.name, axis=int(axis), keepdims=int(keepdims)))

    return written


def _ordered(number: int, before_axis: int = 0) -> Callable[..., str]:
    """Elements in ascending order, or their positions; other orders of parts are ascending, too."""

    def written(steps: Steps, out: Spec, a: Any, *args: Any, axis: int | None = -1, **_: Any) -> str:
        value, axis = steps.operand((a, a)), args[before_axis] if len(args) > before_axis else axis
        if axis is None:
            value, axis = steps.flat(value), 0
        count = steps.node.ints(steps.fixed(value)[axis])
        made = steps.node.add("TopK", value.name, count, outputs=2, axis=axis, largest=0)
        return str(made[number])

    return written


def _counted(steps: Steps, out: Spec, a: Any, axis: Any = None, keepdims: bool = False) -> str:
    value = steps.node.cast(steps.operand((a, a), np.bool_).name, np.int64)
    return steps.node.reduce("ReduceSum", value, axes_of(axis), keepdims)


def _rounded(steps: Steps, out: Spec, a: Any, decimals: int = 0) -> str:
    value, factor = steps.operand((a, a)).name, steps.node.const(10.0**decimals, out.dtype)
    if not decimals:
        return str(steps.node.add("Round", value))
    return str(steps.node.add("Div", steps.node.add("Round", steps.node.add("Mul", value, factor)), factor))


def _einsum(steps: Steps, out: Spec, subscripts: str, *operands: Any, **_: Any) -> str:
    names = [steps.operand((one, one), out.dtype).name for one in operands]
    return str(steps.node.add("Einsum", *names, equation=subscripts))


def _norm(steps: Steps, out: Spec, a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> str:
    value = steps.operand((a, a), out.dtype)
    of_vectors = np.size(axis) == 1 and (axis is not None or len(value.spec.lengths) == 1)
    if ord is not None and (ord != 2 or not of_vectors):
        steps.refuse("norms other than the square root of a sum of squares have no counterpart")
    return steps.node.reduce("ReduceL2", value.name, axes_of(axis), keepdims)


CALLS: Final[Mapping[Any, Callable[..., str]]] = {
    np.argmax: _position("ArgMax"), np.argmin: _position("ArgMin"), np.sort: _ordered(0),
    np.partition: _ordered(0, 1), np.argsort: _ordered(1), np.argpartition: _ordered(1, 1),
    np.count_nonzero: _counted,
    np.round: _rounded, np.around: _rounded, np.einsum: _einsum,
    np.linalg.det: lambda steps, out, a: str(steps.node.add("Det", steps.operand((a, a)).name)),
    np.linalg.norm: _norm,
}  # fmt: skip
"""By functions of NumPy that are not element-wise."""
