"""`_contrib_MultiBoxPrior`: anchors around every pixel."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from operad_box import definitions
from operad_sdk import Array, Contract, OpContext, OperatorProperty, ParamError, operator, param


@operator("_contrib_MultiBoxPrior")
class MultiBoxPrior(OperatorProperty):
    """Boxes of several sizes and ratios around every pixel; there is no gradient.

    The image is the unit square, and of `data` only the number of pixels counts. Around a pixel come
    boxes of all sizes with the first ratio, then boxes of the first size with the other ratios: of size s
    and ratio r, s sqrt(r) wide, in units of the image's height, and s / sqrt(r) high.

    Shapes:
        data: (N, C, H, W).
        output: (1, H W (sizes + ratios - 1), 4), corners.

    Example:
        >>> import operad as od
        >>> od.nd._contrib_MultiBoxPrior(od.nd.zeros((1, 1, 1, 2)), sizes=(0.5,)).asnumpy()
        array([[[0.125, 0.25 , 0.375, 0.75 ],
                [0.625, 0.25 , 0.875, 0.75 ]]], dtype=float32)

    Source: MultiBoxPriorParam, src/operator/contrib/multibox_prior-inl.h.
    """

    sizes = param("floats", (1.0,), doc="Sizes of the boxes; 1 is as high as the image.")
    ratios = param("floats", (1.0,), gt=0, doc="Ratios of width to height.")
    clip = param(bool, False, doc="Clip boxes to the image.")
    steps = param("floats", (-1.0, -1.0), doc="Distance of pixels, (y, x); not positive: from their number.")
    offsets = param("floats", (0.5, 0.5), doc="Centre of a box, (y, x), as a share of a step.")

    spec = "data:(N, C, H, W) -> output:(1, H*W*(len(sizes) + len(ratios) - 1), 4)"
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(
        params={
            "sizes": ((1.0,), (0.5, 0.25)),
            "ratios": ((1.0,), (2.0, 0.5, 1.0)),
            "steps": ((-1.0, -1.0), (0.25, 0.5)),
            "offsets": ((0.5, 0.5), (0.0, 1.0)),
        },
        reference=definitions.prior,
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        for name in ("sizes", "ratios"):
            if not getattr(self, name):
                raise ParamError(f"{self.name}: {name} is empty, expected at least one number")
        for name in ("steps", "offsets"):
            if len(getattr(self, name)) != 2:
                raise ParamError(f"{self.name}: {name} is {getattr(self, name)}, expected two numbers (y, x)")
        if self.steps[0] * self.steps[1] < 0:
            raise ParamError(f"{self.name}: steps is {self.steps}, expected both positive or none")

    def half_sizes(self, height: int, width: int) -> list[tuple[float, float]]:
        """Half the width and half the height of each box around a pixel."""
        shapes = [(size, self.ratios[0]) for size in self.sizes]
        shapes += [(self.sizes[0], ratio) for ratio in self.ratios[1:]]
        aspect = height / width
        return [(size * aspect * sqrt(ratio) / 2, size / sqrt(ratio) / 2) for size, ratio in shapes]

    def forward(self, op_ctx: OpContext, data: Array, output: Array) -> None:
        """Centres along each axis, less and plus half the sizes."""
        height, width = data.shape[2:]
        if not output.size:
            return
        half = op_ctx.xp.asarray(self.half_sizes(height, width), output.dtype)
        y, x = (
            (op_ctx.xp.arange(length, dtype=output.dtype) + offset) * (step if step > 0 else 1 / length)
            for length, offset, step in zip((height, width), self.offsets, self.steps, strict=True)
        )
        anchors = output.reshape(height, width, len(half), 4)
        np.subtract(x[None, :, None], half[:, 0], out=anchors[..., 0])
        np.subtract(y[:, None, None], half[:, 1], out=anchors[..., 1])
        np.add(x[None, :, None], half[:, 0], out=anchors[..., 2])
        np.add(y[:, None, None], half[:, 1], out=anchors[..., 3])
        if self.clip:
            np.clip(output, 0, 1, out=output)
