"""`_image_random_brightness` and others: colours that change by a number that is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from operad_image_transforms import colours
from operad_image_transforms.pixels import floats, write
from operad_sdk import (
    Array,
    Contract,
    Distribution,
    Drawn,
    InferredShapes,
    OpContext,
    OperatorProperty,
    ParamError,
    ResourceRequest,
    Shape,
    ShapeError,
    operator,
    param,
)

NO_GRADIENT = "what is drawn is a constant, and images get no gradient"


def check_channels(prop: Any, inferred: InferredShapes) -> InferredShapes:
    """Refuse images that are neither gray nor of three colours."""
    data = inferred[0][0]
    if data is not None and data[-1] not in (None, 1, 3):
        raise ShapeError(
            f"{prop.name}: data has shape {data}, whose axis {len(data) - 1}, channels, is {data[-1]}, "
            "expected 1 or 3"
        )
    return inferred


def image_shapes(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """One image, or two, gray or of three colours."""
    batch: Shape = ((), (2,))[choose((0, 1)) % 2]
    return [(*batch, choose((2, 1, 3, 0)), choose((3, 1, 2)), (3, 1)[choose((0, 1)) % 2])]


class Recoloured(OperatorProperty):
    """Images whose colours change; of several images all alike."""

    spec = "data:(*B, H, W, C) -> output:(*B, H, W, C)"
    accepts = "number"
    compute_dtype = "float32"
    element_cost = 5

    def infer_shape(self, in_shapes: Any) -> InferredShapes:
        """Infer shapes from the shape line, of images."""
        return check_channels(self, super().infer_shape(in_shapes))


class _Drawn(Recoloured):
    """The factor is drawn evenly between `min_factor` and `max_factor`."""

    min_factor = param(float, ge=0, doc="Smallest factor.")
    max_factor = param(float, ge=0, doc="Largest factor.")
    resource = ResourceRequest.RANDOM
    change: ClassVar[Any]

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.min_factor > self.max_factor:
            raise ParamError(
                f"{self.name}: min_factor is {self.min_factor}, expected at most max_factor, "
                f"{self.max_factor}"
            )

    def forward(self, op_ctx: OpContext, data: Array, output: Array) -> None:
        """Draw once, and change the colours."""
        share = float(op_ctx.requested[0].generator.random())
        factor = self.min_factor + share * (self.max_factor - self.min_factor)
        write(type(self).change(floats(data), factor), output)


def _contract(pixel: Sequence[float], factor_of: Callable[[Array], Any], top: float) -> Contract:
    """Factors drawn between 0 and `top` are found again in what becomes of one pixel."""
    shape = (1, 1, 3) if len(pixel) == 3 else (1, len(pixel) // 3, 3)

    def image(rng: np.random.Generator, wanted: Shape, prop: Any, shapes: Any) -> Array:
        return np.resize(np.asarray(pixel, float), wanted) if wanted == shape else rng.integers(0, 16, wanted)

    return Contract(
        inputs={"data": Drawn(image)},
        params={"min_factor": (0.0, 0.5), "max_factor": (0.5, 1.0)},
        shapes=image_shapes,
        no_numeric_gradient=NO_GRADIENT,
        distribution=Distribution(
            mean=lambda prop: (prop.min_factor + prop.max_factor) / 2,
            variance=lambda prop: (prop.max_factor - prop.min_factor) ** 2 / 12,
            draws=lambda prop, inputs, outputs: [factor_of(outputs[0].reshape(-1))],
            params=[{"min_factor": 0.0, "max_factor": top}],
            shapes=[shape],
        ),
    )


def _colour(
    name: str,
    what: str,
    change: Callable[[Array, float], Array],
    factor_of: Callable[[Array], Any],
    pixel: Sequence[float],
    shown: str,
    top: float = 1.0,
) -> type[_Drawn]:
    """The operator `_image_random_NAME`; `shown` are the colours that the example makes of (8, 16, 32)."""
    doc = f"""{what}.

    The factor is drawn evenly between `min_factor` and `max_factor`, once for all images. There is no
    gradient.

    Shapes:
        data: (..., H, W, C), of one channel or three.
        output: As data.

    Example:
        >>> import operad as od
        >>> image = od.nd.array([[[8, 16, 32]]])
        >>> od.nd.image.random_{name}(image, min_factor=0.5, max_factor=0.5).asnumpy().ravel().round(2)
        array([{shown}], dtype=float32)

    Source: Random{name.capitalize()}, src/operator/image/image_random-inl.h. Differs: other numbers for a
    seed; integers stop at the ends of their type, whatever it is.
    """
    attributes = {
        "__doc__": doc,
        "__module__": __name__,
        "change": staticmethod(change),
        "contract": _contract(pixel, factor_of, top),
    }
    made: type[_Drawn] = operator(f"_image_random_{name}")(type(f"random_{name}", (_Drawn,), attributes))
    return made


random_brightness = _colour(
    "brightness", "Every pixel times a factor", colours.brighter, lambda found: found[0] / 8, (8, 16, 32),
    " 4.,  8., 16.",
)  # fmt: skip
random_contrast = _colour(
    "contrast", "A factor times the image, and the rest of it times its mean brightness", colours.contrasted,
    lambda found: (found[3] - found[0]) / 16, (0, 0, 0, 16, 16, 16), "11.72, 15.72, 23.72",
)  # fmt: skip
random_saturation = _colour(
    "saturation", "A factor times the image, and the rest of it times its gray", colours.saturated,
    lambda found: (found[0] - found[1]) / 16, (16, 0, 0), "11.72, 15.72, 23.72",
)  # fmt: skip
random_hue = _colour(
    "hue", "Hues turned by a factor of the full circle", colours.turned, lambda found: found[1] / 24 / 6,
    (24, 0, 0), "32., 24.,  8.", 0.125,
)  # fmt: skip


@operator("_image_random_color_jitter")
class random_color_jitter(Recoloured):
    """Brightness, contrast, saturation and hue, in an order that is drawn.

    Each changes by a factor that is drawn evenly from `1 - x` to `1 + x`, not below 0, or is left alone where
    x is 0; the hue from `-x` to `x` of a circle. There is no gradient.

    Shapes:
        data: (..., H, W, C), of one channel or three.
        output: As data.

    Example:
        >>> import operad as od
        >>> image, options = od.nd.ones((2, 2, 3)), {"contrast": 0, "saturation": 0, "hue": 0}
        >>> found = od.nd.image.random_color_jitter(image, brightness=0.5, **options).asnumpy()
        >>> bool(0.5 <= found.min() == found.max() <= 1.5)
        True

    Source: RandomColorJitter, src/operator/image/image_random-inl.h. Differs: other numbers for a seed;
    integers are rounded once, after all changes.
    """

    brightness = param(float, ge=0, doc="Largest change of brightness.")
    contrast = param(float, ge=0, doc="Largest change of contrast.")
    saturation = param(float, ge=0, doc="Largest change of saturation.")
    hue = param(float, ge=0, doc="Largest change of the hue.")
    resource = ResourceRequest.RANDOM
    contract = Contract(
        params=dict.fromkeys(("brightness", "contrast", "saturation", "hue"), (0.0, 0.5)),
        shapes=image_shapes,
        no_numeric_gradient=NO_GRADIENT,
        inputs={"data": Drawn(lambda rng, shape, prop, shapes: 1 + rng.integers(0, 16, shape))},
        distribution=Distribution(
            mean=lambda prop: 1.0,
            variance=lambda prop: prop.brightness**2 / 3,
            draws=lambda prop, inputs, outputs: [(outputs[0] / inputs[0]).reshape(-1)[0]],
            params=[{"brightness": 0.5, "contrast": 0.0, "saturation": 0.0, "hue": 0.0}],
            shapes=[(1, 1, 3)],
        ),
    )

    def forward(self, op_ctx: OpContext, data: Array, output: Array) -> None:
        """Draw the order, then each factor."""
        generator = op_ctx.requested[0].generator
        steps: list[tuple[float, float, Callable[[Array, float], Array]]] = [
            (self.brightness, 1.0, colours.brighter),
            (self.contrast, 1.0, colours.contrasted),
            (self.saturation, 1.0, colours.saturated),
            (self.hue, 0.0, colours.turned),
        ]
        image = floats(data)
        order = sorted(zip(np.asarray(generator.random(len(steps)).tolist()), range(len(steps)), strict=True))
        for _, number in order:
            spread, middle, change = steps[number]
            factor = middle + spread * (2 * float(generator.random()) - 1)
            if spread > 0:
                image = change(image, max(factor, 0.0) if middle else factor)
        write(image, output)
