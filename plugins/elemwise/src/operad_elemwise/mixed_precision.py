"""Casts of automatic mixed precision: between half and single precision alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    DType,
    InferredTypes,
    OperatorProperty,
    as_dtype,
    gradient,
    operator,
    param,
)

Arrays: TypeAlias = Any
_CAST: Final = (as_dtype("float16"), as_dtype("float32"))
"""Types of arrays that are cast; others go through as they are."""


@operator("amp_cast")
class AmpCast(OperatorProperty):
    """An array of half or single precision as another type; arrays of other types as they are.

    Shapes:
        data: (...)
        output: (...), of type `dtype` where `data` has half or single precision

    Example:
        >>> import operad as od
        >>> od.nd.amp_cast(od.nd.array([1.5]), dtype="float16").dtype.name
        'float16'
        >>> od.nd.amp_cast(od.nd.array([1], dtype="int32"), dtype="float16").dtype.name
        'int32'

    Source: AMPCastType, src/operator/tensor/amp_cast.h.
    """

    dtype = param("dtype", doc="Element type of the output.")
    spec = "data:any(...) -> output:dtype(...)"
    contract = Contract(
        reference=lambda data: data,
        params={"dtype": ["float16", "float32"]},
        narrowed={"dtype": "casts of mixed precision go to these two; `Cast` has the others"},
    )

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The output's type, once that of the data is known."""
        (given,) = in_types
        return [given], [as_dtype(self.dtype) if given in _CAST else given], []

    def forward(data: Array, output: Array) -> None:
        """Assign, which casts."""
        _assign(data, output)

    def data_grad(output_grad: Array, data_grad: Array) -> None:
        """`dy/dx = 1`, in the argument's type."""
        _assign(output_grad, data_grad)


@operator("amp_multicast")
class AmpMulticast(OperatorProperty):
    """Arrays of half and single precision in one of these types; arrays of other types as they are.

    Shapes:
        data_0, data_1, ...: each its own
        output0, output1, ...: that of the argument of this number

    Example:
        >>> import operad as od
        >>> half, single = od.nd.ones(2, dtype="float16"), od.nd.ones(3)
        >>> [x.dtype.name for x in od.nd.amp_multicast(half, single, num_outputs=2)]
        ['float32', 'float32']

    Source: AMPMultiCastType, src/operator/tensor/amp_cast.h. Differs: the order of the arrays does not
    matter.
    """

    num_outputs = param(int, ge=1, doc="Number of arrays.")
    cast_narrow = param(bool, False, doc="Half precision where any array has it, instead of single.")
    key_var_num_args = "num_outputs"
    spec = "data_[num_outputs]:any(*S[i]) -> output[num_outputs]:(*S[i])"
    contract = Contract(reference=lambda *data: data)

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The types of the outputs, once those of all arguments are known."""
        if any(dtype is None for dtype in in_types):  # of NumPy's types float64 equals None
            return list(in_types), [None] * self.num_outputs, []
        order = _CAST if self.cast_narrow else _CAST[::-1]
        common = next((dtype for dtype in order if dtype in in_types), None)
        return list(in_types), [common if dtype in _CAST else dtype for dtype in in_types], []

    def forward(data_: Arrays, output: Arrays) -> None:
        """Assign, which casts."""
        for value, out in zip(data_, output, strict=True):
            _assign(value, out)

    def backward(output_grad: Arrays, data__grad: Arrays, wanted: frozenset[str]) -> None:
        """`dy/dx = 1`, in the argument's type."""
        for number, (value, out) in enumerate(zip(output_grad, data__grad, strict=True)):
            if f"data_{number}_grad" in wanted:
                _assign(value, out)


def _assign(value: Array, out: Array) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        np.copyto(out, value, casting="unsafe")


@operator("_amp_scale_gradient")
class AmpScaleGradient(OperatorProperty):
    """The array itself; its gradient is multiplied by a number that is a state, and may change between steps.

    A loss whose gradient is large enough for half precision is scaled so; who moves the weights divides
    by it.

    Shapes:
        data: (...)
        scale: (1,), of float32, which a call does not change.
        output: As data.
        factor (hidden): (1,), the scale.

    Example:
        >>> import operad as od
        >>> x, scale = od.nd.ones(2), od.nd.array([8])
        >>> x.attach_grad()
        >>> with od.autograd.record():
        ...     y = od.nd._amp_scale_gradient(x, scale)
        >>> y.backward()
        >>> x.grad.asnumpy()
        array([8., 8.], dtype=float32)

    Source: `scale_loss`, python/mxnet/contrib/amp/amp.py, which multiplies the loss.
    """

    spec = "data:(...), state scale:float32(1) -> output:(...), hidden factor:float32(1)"
    accepts = "floating"
    inplace = "data -> output"
    initializers = {"scale": '["one", {}]'}
    gradient_is_derivative = False
    contract = Contract(
        reference=lambda data, scale: (data, scale, scale),
        no_numeric_gradient="the number is there to change it",
    )

    def forward(data: Array, scale: Array, output: Array, factor: Array) -> None:
        """Copy both."""
        np.copyto(output, data)
        np.copyto(factor, scale)

    @gradient(inplace="output_grad")
    def data_grad(output_grad: Array, factor: Array, data_grad: Array) -> None:
        """The head gradient times the number."""
        np.multiply(output_grad, factor.reshape(()), out=data_grad, casting="unsafe")
