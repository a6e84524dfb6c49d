"""`Dropout`: zero a random part of the data while training.

The mask is a hidden output of bytes, 1 where an element is kept, so that backward needs nothing else
and the data may be recycled. What kept elements were multiplied by is a hidden output too, so that a
backward pass in another mode than its forward pass is right all the same. 16 random bits decide an
element, a quarter of what a double would draw; the probability is exact to 2**-17.
"""

from __future__ import annotations

import sys
from math import prod
from typing import Any, Final

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Distribution,
    OpContext,
    OperatorProperty,
    Real,
    ResourceRequest,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
)

_STEPS: Final = 1 << 16
_LARGE: Final = 1 << 16
"""Decisions for which it is worth asking where the generator is."""


def _shared(shape: Shape, axes: Shape) -> Shape:
    """Shape of the mask, which has one decision along each of `axes`."""
    for axis in axes:
        if not -len(shape) <= axis < len(shape):
            raise ShapeError(f"axes names axis {axis}, but data has {len(shape)} axes")
    positions = {axis % len(shape) for axis in axes}
    return tuple(1 if position in positions else length for position, length in enumerate(shape))


def _draws(generator: Any, shape: Shape) -> Array:
    """Draw `generator.integers(1 << 16, size=shape, dtype=uint16)`, as words of four where that is the same.

    NumPy's loop over words takes 0.6 of the time of that over parts of words. The numbers are the same if no
    half of a word is left from before and none will be, and the generator is where it would be.
    """
    count = prod(shape)
    # mutant: equivalent, because both ways give the same numbers
    if count >= _LARGE and count % 4 == 0 and sys.byteorder == "little":
        state = getattr(getattr(generator, "bit_generator", None), "state", {})  # CuPy tells none
        # mutant: True becomes False: equivalent, because NumPy's generators have it
        if not state.get("has_uint32", True):
            words = generator.integers(1 << 64, size=count // 4, dtype=np.uint64)
            return words.view(np.uint16).reshape(shape)
    return generator.integers(_STEPS, size=shape, dtype=np.uint16)


@operator("Dropout")
class Dropout(OperatorProperty):
    """Each element is zeroed with probability `p`, and the others divided by `1 - p`, while training.

    In prediction, and with `p=0`, the output is the data, unless `mode="always"`.

    Shapes:
        data: Any.
        output: As data.
        mask (hidden): As data, with length 1 on `axes`, where one decision counts for all.
        scale (hidden): (1,).

    Example:
        >>> import operad as od
        >>> od.random.seed(1)
        >>> with od.autograd.train_mode():
        ...     kept = od.nd.Dropout(od.nd.array([[1, 2, 3, 4]] * 100), p=0.5).asnumpy()
        >>> sorted(set(kept[:, 0].tolist()))
        [0.0, 2.0]

    Source: DropoutParam, src/operator/nn/dropout-inl.h.
    Differs: the mask has a byte per element, and its scale an output.
    """

    p = param(float, 0.5, ge=0, le=1, doc="Probability that an element is zeroed.")
    mode = param(str, "training", choices=("training", "always"), doc="When to drop: in training, or always.")
    axes = param("shape", (), doc="Axes along which one decision counts for all elements.")
    cudnn_off = param(
        bool, False, optional=True, ignored="Accepted for MXNet's files; there is no cuDNN here."
    )

    spec = "data:(*S) -> output:(*S), hidden mask:uint8(*shared(S, axes)), hidden scale:(1)"
    functions = {"shared": _shared}
    accepts = "floating"
    inplace = "data -> output"
    constant_outputs = ("mask", "scale")
    contract = Contract(
        inputs={"data": Real(nonzero=True)},
        distribution=Distribution(
            mean=lambda prop: 1 - prop.p,
            variance=lambda prop: prop.p * (1 - prop.p),
            # kept elements are data over the probability of keeping them
            draws=lambda prop, inputs, outputs: outputs[0] / inputs[0] * (1 - prop.p),
            params=({"p": 0.25}, {"p": 0.5}),
        ),
    )

    def forward_resource(self, in_shapes: Any) -> list[ResourceRequest]:
        """Random numbers, unless nothing is ever dropped."""
        return [ResourceRequest.RANDOM] if self.p > 0 else []

    def forward(
        data: Array,
        op_ctx: OpContext,
        is_train: bool,
        p: float,
        mode: str,
        output: Array,
        mask: Array,
        scale: Array,
    ) -> None:
        """Draw the mask and apply it: `output = data * mask * scale`."""
        if p == 0 or not (is_train or mode == "always"):
            np.copyto(output, data)
            mask.fill(1)
            scale.fill(1)
            return
        draws = _draws(op_ctx.requested[0].generator, mask.shape)
        np.greater_equal(draws, round(p * _STEPS), out=mask)
        # mutant: 0 becomes 1: equivalent, because the mask is 0 everywhere where p is 1
        scale.fill(1 / (1 - p) if p < 1 else 0)
        np.multiply(data, mask, out=output)
        np.multiply(output, scale.reshape(()), out=output)

    @gradient(inplace="output_grad")
    def data_grad(output_grad: Array, mask: Array, scale: Array, data_grad: Array) -> None:
        """`d output / d data = mask * scale`."""
        np.multiply(output_grad, mask, out=data_grad)
        np.multiply(data_grad, scale.reshape(()), out=data_grad)
