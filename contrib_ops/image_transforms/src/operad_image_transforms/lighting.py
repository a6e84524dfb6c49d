"""`_image_adjust_lighting` and `_image_random_lighting`: one colour added to all pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_image_transforms import colours
from operad_image_transforms.pixels import floats, write
from operad_image_transforms.random_colours import NO_GRADIENT, Recoloured, image_shapes
from operad_sdk import (
    Array,
    Contract,
    Distribution,
    OpContext,
    ParamError,
    Real,
    ResourceRequest,
    operator,
    param,
)


def _reference(data: Array, alpha: tuple[float, ...]) -> Array:
    values = ((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203))
    spread = (55.46, 4.794, 1.148)
    colour = [sum(a * s * v for a, s, v in zip(alpha, spread, row, strict=True)) for row in values]
    return data + np.array(colour) if data.shape[-1] == 3 else data


@operator("_image_adjust_lighting")
class adjust_lighting(Recoloured):
    """One colour added to all pixels, along the main axes of the colours of ImageNet's images.

    After Krizhevsky et al., "ImageNet classification with deep convolutional neural networks", 2012.

    Shapes:
        data: (..., H, W, C), of one channel, which stays as it is, or three.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.image.adjust_lighting(od.nd.zeros((1, 1, 3)), alpha=(0.1, 0, 0)).asnumpy().round(3)
        array([[[-3.147, -3.221, -3.237]]], dtype=float32)

    Source: AdjustLightingImpl, src/operator/image/image_random-inl.h. Differs: integers stop at the ends
    of their type, whatever it is.
    """

    alpha = param("floats", doc="Amounts along the three axes.")
    contract = Contract(
        params={"alpha": ((0.1, -0.2, 0.3), (0.0, 0.0, 0.0))},
        narrowed={"alpha": "any three numbers are sums of what one of each adds"},
        # Sums of integers that stay within every type, and small enough for movements to have digits.
        inputs={"data": Real(14.0, 30.0)},
        shapes=image_shapes,
        reference=_reference,
        expected_failures={"D607": "pixels that are integers stay so, as in MXNet"},
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if len(self.alpha) != 3:
            raise ParamError(f"{self.name}: alpha is {self.alpha}, expected three numbers")

    def forward(self, op_ctx: OpContext, data: Array, output: Array) -> None:
        """Add the colour."""
        _add(op_ctx.xp, data, np.asarray(self.alpha), output)

    def data_grad(output_grad: Array, data_grad: Array) -> None:
        """`d/dx = 1`."""
        np.copyto(data_grad, output_grad)


def _add(xp: Any, data: Array, alpha: Any, output: Array) -> None:
    image = floats(data)
    write(colours.shifted(image, xp.asarray((colours.EIGENVECTORS @ alpha).astype(image.dtype))), output)


def _amount(prop: Any, inputs: Any, outputs: Any) -> Any:
    """The three amounts behind the colour that was added."""
    added = np.asarray(outputs[0] - inputs[0]).reshape(-1, 3)[0]
    return np.linalg.solve(colours.EIGENVECTORS, added)


@operator("_image_random_lighting")
class random_lighting(Recoloured):
    """`_image_adjust_lighting` by amounts that are drawn, once for all images; there is no gradient.

    Shapes:
        data: (..., H, W, C), of one channel, which stays as it is, or three.
        output: As data.

    Example:
        >>> import operad as od
        >>> found = od.nd.image.random_lighting(od.nd.zeros((2, 2, 3))).asnumpy()
        >>> (found == found[0, 0]).all()
        np.True_

    Source: RandomLighting, src/operator/image/image_random-inl.h. Differs: other numbers for a seed; integers
    stop at the ends of their type, whatever it is.
    """

    alpha_std = param(float, 0.05, ge=0, doc="Standard deviation of the amounts.")
    resource = ResourceRequest.RANDOM
    contract = Contract(
        params={"alpha_std": (0.05, 0.5)},
        shapes=image_shapes,
        no_numeric_gradient=NO_GRADIENT,
        distribution=Distribution(
            mean=lambda prop: 0.0,
            variance=lambda prop: prop.alpha_std**2,
            draws=_amount,
            params=[{"alpha_std": 0.5}],
            shapes=[(1, 1, 3)],
        ),
    )

    def forward(self, op_ctx: OpContext, data: Array, output: Array) -> None:
        """Draw, and add the colour."""
        drawn = op_ctx.requested[0].generator.standard_normal(3)
        _add(op_ctx.xp, data, np.asarray(drawn.tolist()) * self.alpha_std, output)
