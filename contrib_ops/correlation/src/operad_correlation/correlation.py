"""`Correlation`: similarity of patches of two feature maps, for all displacements within a range.

One displacement is a product of the first map with a shifted view of the second, summed over channels and
then over windows. So displacements are a loop, of one contraction each, and no array holds the products of
all of them; the kernel is a second loop, of views of the contraction.

With `p` and `q` the padded maps, m the largest displacement and (u, v) one of them,
`output[n, (u, v), i, j]` is the mean of `p[n, c, y, x] q[n, c, y + u, x + v]` over all channels and over the
window whose first pixel is (m + i stride1, m + j stride1). With `is_multiply=False` the product is
`|p - q|`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, ParamError, ShapeError, blocked_sum, operator, param

View = tuple[slice, ...]


def _reference(
    data1: Array, data2: Array, kernel_size: int, max_displacement: int, stride1: int, stride2: int,
    pad_size: int, is_multiply: bool,
) -> Array:  # fmt: skip
    """Patch by patch."""
    pads = ((0, 0), (0, 0), (pad_size, pad_size), (pad_size, pad_size))
    first, second = np.pad(data1, pads), np.pad(data2, pads)
    reach = max_displacement // stride2
    steps = [step * stride2 for step in range(-reach, reach + 1)]
    border = max_displacement + kernel_size // 2
    rows, columns = (range(0, length - 2 * border, stride1) for length in first.shape[2:])
    found = np.zeros((len(data1), len(steps) ** 2, len(rows), len(columns)))
    for position, (u, v) in enumerate((u, v) for u in steps for v in steps):
        for i, y in enumerate(rows):
            for j, x in enumerate(columns):
                y1, x1 = y + max_displacement, x + max_displacement
                one = first[:, :, y1 : y1 + kernel_size, x1 : x1 + kernel_size]
                other = second[:, :, y1 + u : y1 + u + kernel_size, x1 + v : x1 + v + kernel_size]
                alike = one * other if is_multiply else abs(one - other)
                found[:, position, i, j] = alike.sum(axis=(1, 2, 3)) / one[0].size if one.size else 0
    return found


@operator("Correlation")
class Correlation(OperatorProperty):
    """The mean product, or absolute difference, of patches of two maps, for each displacement of the second.

    After Dosovitskiy et al., "FlowNet: learning optical flow with convolutional networks", 2015.

    Shapes:
        data1: (N, C, H, W).
        data2: As data1.
        output: (N, D * D, height, width), where `D = 2 (max_displacement // stride2) + 1` counts the
            displacements of one axis, and `height = ceil((H + 2 pad_size - 2 b) / stride1)` with the border
            `b = max_displacement + (kernel_size - 1) / 2`.

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[[[1, 2], [3, 4]]]])
        >>> od.nd.Correlation(data, data, max_displacement=0).asnumpy()
        array([[[[ 1.,  4.],
                 [ 9., 16.]]]], dtype=float32)

    Source: CorrelationForward, src/operator/correlation.cc.
    """

    kernel_size = param(int, 1, ge=0, doc="Height and width of a patch; an odd number.")
    max_displacement = param(int, 1, ge=0, doc="Largest displacement, in pixels.")
    stride1 = param(int, 1, ge=0, doc="Pixels from one patch of the first map to the next.")
    stride2 = param(int, 1, ge=0, doc="Pixels from one displacement to the next.")
    pad_size = param(int, 0, ge=0, doc="Zeros around both maps.")
    is_multiply = param(bool, True, doc="Multiply pixels; otherwise use absolute differences.")
    spec = (
        "data1:(N, C, H, W), data2:(N, C, H, W) -> output:(N, displacements,"
        " ceil_div(H + 2*pad_size - 2*border, stride1), ceil_div(W + 2*pad_size - 2*border, stride1))"
    )
    accepts = "floating"
    compute_dtype = "float32"
    contract: ClassVar = Contract(
        reference=_reference,
        params={
            "kernel_size": (1, 3),
            "max_displacement": (1, 0, 2),
            "stride1": (1, 2),
            "stride2": (1, 2),
            "pad_size": (0, 1, 3),
        },
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.kernel_size % 2 == 0:
            raise ParamError(
                f"{self.name}: parameter 'kernel_size' is {self.kernel_size}, expected an odd number"
            )
        for name in ("stride1", "stride2"):
            if getattr(self, name) < 1:
                raise ParamError(f"{self.name}: parameter {name!r} is 0, expected at least 1")

    @property
    def border(self) -> int:
        """Pixels at each edge in which no patch begins or ends."""
        return int(self.max_displacement + (self.kernel_size - 1) // 2)

    @property
    def displacements(self) -> int:
        """Number of displacements."""
        return int((2 * (self.max_displacement // self.stride2) + 1) ** 2)

    def infer_shape(self, in_shapes: Any) -> Any:
        """Infer shapes from the shape line, where at least one patch fits into the maps."""
        inferred = super().infer_shape(in_shapes)
        found = inferred[1][0]
        if found is not None and 0 in found[2:]:
            raise ShapeError(
                f"{self.name}: data1 has shape {inferred[0][0]}, and no patch fits into it: expected more "
                f"than {2 * (self.border - self.pad_size)} pixels each way; enlarge pad_size or data1"
            )
        return inferred

    def forward(self: Any, data1: Array, data2: Array, output: Array) -> None:
        """One displacement after the other."""
        first, second = self.padded(data1), self.padded(data2)
        output[...] = 0
        for position, (here, there) in enumerate(self.views(output)):
            one, other = first[here], second[there]
            alike = blocked_sum(one * other if self.is_multiply else np.abs(one - other), 1)
            for window in self.windows(output):
                output[:, position] += alike[window]
        output /= max(self.kernel_size**2 * data1.shape[1], 1)

    def backward(
        self: Any, output_grad: Array, data1: Array, data2: Array, wanted: Any,
        data1_grad: Array, data2_grad: Array,
    ) -> None:  # fmt: skip
        """`d (p q) / d p = q`, and `d |p - q| / d p` is 1 where `p >= q`, else -1; of q the other way."""
        first, second = self.padded(data1), self.padded(data2)
        sent1, sent2 = np.zeros_like(first), np.zeros_like(second)
        scale = 1 / max(self.kernel_size**2 * data1.shape[1], 1)
        for position, (here, there) in enumerate(self.views(output_grad)):
            one, other = first[here], second[there]
            sent = np.zeros_like(one, shape=(len(one), *one.shape[2:]))
            for window in self.windows(output_grad):
                sent[window] += scale * output_grad[:, position]
            heads = sent[:, None]
            sign = None if self.is_multiply else np.where(one >= other, heads, -heads)
            if "data1_grad" in wanted:
                sent1[here] += heads * other if sign is None else sign
            if "data2_grad" in wanted:
                sent2[there] += heads * one if sign is None else -sign
        inside = slice(self.pad_size, -self.pad_size or None)
        data1_grad[...] = sent1[:, :, inside, inside]
        data2_grad[...] = sent2[:, :, inside, inside]

    def padded(self, data: Array) -> Array:
        """The map with zeros around it."""
        pad = (self.pad_size, self.pad_size)
        return np.pad(data, ((0, 0), (0, 0), pad, pad)) if self.pad_size else data

    def views(self, output: Array) -> Iterator[tuple[View, View]]:
        """For each displacement the pixels of all patches of the first map, and of the second."""
        start, reach = self.max_displacement, self.max_displacement // self.stride2
        height, width = ((length - 1) * self.stride1 + self.kernel_size for length in output.shape[2:])

        def view(u: int, v: int) -> View:
            y, x = start + u, start + v
            return slice(None), slice(None), slice(y, y + height), slice(x, x + width)

        steps = [step * self.stride2 for step in range(-reach, reach + 1)]
        yield from ((view(0, 0), view(u, v)) for u in steps for v in steps)

    def windows(self, output: Array) -> Iterator[View]:
        """For each pixel of a patch the position of that pixel in all patches."""
        height, width = ((length - 1) * self.stride1 + 1 for length in output.shape[2:])
        for y in range(self.kernel_size):
            for x in range(self.kernel_size):
                yield (
                    slice(None),
                    slice(y, y + height, self.stride1),
                    slice(x, x + width, self.stride1),
                )
