"""The older ways to write an operator, whose instances make symbols: `NumpyOp` and `NDArrayOp`.

Source: PythonOp, NumpyOp and NDArrayOp, python/mxnet/operator.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

from operad_custom.registered import register
from operad_custom.user import CustomOp, CustomOpProp

_numbers: Final = itertools.count()


class PythonOp:
    """Base class of both; an instance is an operator, and calling it makes a symbol.

    Args:
        need_top_grad: What `need_top_grad()` gives.
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """`get_symbol`."""
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        """A symbol of the operator, applied to symbols."""
        from operad import sym  # noqa: PLC0415 - an operator is run without symbols

        op_type = f"{type(self).__name__}_{next(_numbers)}"
        register(op_type)(_prop_of(self))
        return sym.Custom(*args, op_type=op_type, **kwargs)

    def forward(self, in_data: list[Any], out_data: list[Any]) -> None:
        """Write the outputs: `out_data[0][:] = ...`."""
        out_data[0][:] = in_data[0]

    def backward(
        self, out_grad: list[Any], in_data: list[Any], out_data: list[Any], in_grad: list[Any]
    ) -> None:
        """Write the gradients: `in_grad[0][:] = ...`."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape: list[list[int]]) -> Sequence[Any]:
        """Shapes of arguments and outputs."""
        return in_shape, [in_shape[0]]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return ["output"]

    def list_arguments(self) -> list[str]:
        """Names of the arguments."""
        return ["data"]

    def need_top_grad(self) -> bool:
        """Return whether the gradient reads that of the outputs; False for losses."""
        return self.need_top_grad_

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> list[int]:
        """Numbers of the arrays that `backward` reads."""
        return [*(out_grad if self.need_top_grad() else ()), *in_data, *out_data]

    def _converted(self, arrays: Sequence[Any]) -> list[Any]:
        """Arrays as this kind of operator sees them."""
        return list(arrays)


class NDArrayOp(PythonOp):
    """Computes with NDArrays."""


class NumpyOp(PythonOp):
    """Computes with NumPy arrays."""

    def _converted(self, arrays: Sequence[Any]) -> list[Any]:
        return [None if array is None else array.asnumpy() for array in arrays]


def _prop_of(op: PythonOp) -> type[CustomOpProp]:
    class Prop(CustomOpProp):
        """The instance `op`, as a registered class."""

        list_arguments = staticmethod(op.list_arguments)
        list_outputs = staticmethod(op.list_outputs)
        infer_shape = staticmethod(op.infer_shape)
        declare_backward_dependency = staticmethod(op.declare_backward_dependency)

        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> CustomOp:
            return _Instance(op)

    return Prop


class _Instance(CustomOp):
    """Operator that calls a `PythonOp`, whose methods know no requests: they write copies, and this adds."""

    def __init__(self, op: PythonOp) -> None:
        self._op = op

    def forward(
        self, is_train: bool, req: list[str], in_data: list[Any], out_data: list[Any], aux: list[Any]
    ) -> None:
        written = self._fresh(out_data)
        self._op.forward(self._op._converted(in_data), written)
        for array, each, value in zip(out_data, req, written, strict=True):
            self.assign(array, each, value)

    def backward(
        self,
        req: list[str],
        out_grad: list[Any],
        in_data: list[Any],
        out_data: list[Any],
        in_grad: list[Any],
        aux: list[Any],
    ) -> None:
        converted = self._op._converted
        written = self._fresh(in_grad)
        self._op.backward(converted(out_grad), converted(in_data), converted(out_data), written)
        for array, each, value in zip(in_grad, req, written, strict=True):
            self.assign(array, each, value)

    def _fresh(self, arrays: Sequence[Any]) -> list[Any]:
        """Copies to write into."""
        return self._op._converted([array.copy() for array in arrays])
