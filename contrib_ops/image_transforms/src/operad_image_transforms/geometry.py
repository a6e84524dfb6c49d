"""`_image_crop` and mirror images."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Distinct,
    Distribution,
    InferredShapes,
    OpContext,
    OperatorProperty,
    ResourceRequest,
    ShapeError,
    operator,
    param,
)

_IMAGES = "data:(*B, H, W, C) -> output:(*B, H, W, C)"


@operator("_image_crop")
class crop(OperatorProperty):
    """A part of an image.

    Shapes:
        data: (..., H, W, C).
        output: (..., height, width, C).

    Example:
        >>> import operad as od
        >>> image = od.nd.arange(12).reshape((3, 4, 1))
        >>> od.nd.image.crop(image, x=1, y=1, width=2, height=2).asnumpy()[:, :, 0]
        array([[ 5.,  6.],
               [ 9., 10.]], dtype=float32)

    Source: CropParam, src/operator/image/crop-inl.h.
    """

    x = param(int, ge=0, doc="First column.")
    y = param(int, ge=0, doc="First row.")
    width = param(int, ge=1, doc="Number of columns.")
    height = param(int, ge=1, doc="Number of rows.")
    spec = "data:(*B, H, W, C) -> output:(*B, height, width, C)"
    contract = Contract(
        params={"x": (0, 1), "y": (0, 2), "width": (1, 2), "height": (1, 2)},
        shapes=lambda prop, choose: [
            (
                *((), (2,))[choose((0, 1)) % 2],
                prop.y + prop.height + choose((0, 1)),
                prop.x + prop.width + choose((0, 2)),
                choose((1, 3, 0)),
            )
        ],
        reference=lambda data, x, y, width, height: data.take(range(y, y + height), -3).take(
            range(x, x + width), -2
        ),
    )

    def infer_shape(self, in_shapes: Any) -> InferredShapes:
        """Infer shapes from the shape line; the part must lie in the image."""
        inferred = super().infer_shape(in_shapes)
        data = inferred[0][0]
        if data is None:
            return inferred
        for axis, end in ((-3, self.y + self.height), (-2, self.x + self.width)):
            if data[axis] is not None and data[axis] < end:
                raise ShapeError(
                    f"{self.name}: data has shape {data}, expected at least {end} pixels along axis "
                    f"{len(data) + axis} for x={self.x}, y={self.y}, width={self.width}, height={self.height}"
                )
        return inferred

    @property
    def part(self) -> tuple[Any, ...]:
        """The index of the part."""
        return ..., slice(self.y, self.y + self.height), slice(self.x, self.x + self.width), slice(None)

    def forward(self, data: Array, output: Array) -> None:
        """Copy the part."""
        output[...] = data[self.part]

    def data_grad(self, output_grad: Array, data_grad: Array) -> None:
        """`d/dx = 1` in the part, else 0."""
        data_grad[...] = 0
        data_grad[self.part] = output_grad


class _Mirror(OperatorProperty):
    """A mirror image; its gradient is that of the output, mirrored again."""

    turned: ClassVar[int]
    spec = _IMAGES

    def forward(self, data: Array, output: Array) -> None:
        """Copy the pixels in the other order."""
        np.copyto(output, np.flip(data, self.turned))

    def data_grad(self, output_grad: Array, data_grad: Array) -> None:
        """`d output[i] / d data[n - 1 - i] = 1`."""
        np.copyto(data_grad, np.flip(output_grad, self.turned))


class _RandomMirror(OperatorProperty):
    """A mirror image with probability `p`, else the image; of several images all alike."""

    p = param(float, 0.5, ge=0, le=1, doc="Probability of the mirror image.")
    turned: ClassVar[int]
    spec = "data:(*B, H, W, C) -> output:(*B, H, W, C), hidden turned_over:(1)"
    resource = ResourceRequest.RANDOM
    constant_outputs = ("turned_over",)

    def forward(self, op_ctx: OpContext, data: Array, output: Array, turned_over: Array) -> None:
        """Draw once."""
        # mutant: <=: equivalent, because one number of 2^53 is equal
        is_turned = bool(op_ctx.requested[0].generator.random() < self.p)
        turned_over[...] = is_turned
        np.copyto(output, np.flip(data, self.turned) if is_turned else data)

    def data_grad(self, output_grad: Array, turned_over: Array, data_grad: Array) -> None:
        """Gradient of the image that was drawn."""
        np.copyto(data_grad, np.flip(output_grad, self.turned) if turned_over[0] else output_grad)


def _mirror_contract(axis: int) -> Contract:
    """Two unlike pixels along the axis, which say whether they changed places."""
    shape = (1, 2, 1) if axis == -2 else (2, 1, 1)
    return Contract(
        inputs={"data": Distinct()},
        params={"p": (0.5, 0.0, 1.0)},
        distribution=Distribution(
            mean=lambda prop: prop.p,
            variance=lambda prop: prop.p * (1 - prop.p),
            draws=lambda prop, inputs, outputs: [outputs[0].reshape(-1)[0] != inputs[0].reshape(-1)[0]],
            params=[{"p": 0.25}],
            shapes=[shape],
        ),
    )


def _flip(name: str, base: type[OperatorProperty], title: str, axis: int, contract: Contract) -> Any:
    """The operator `_image_NAME`, the mirror image along an axis; `title` says what it is."""
    is_random = base is _RandomMirror
    rows = ("[2., 1.]", "[4., 3.]") if axis == -2 else ("[3., 4.]", "[1., 2.]")
    doc = f"""The mirror image, {title}.

    Shapes:
        data: (..., H, W, C).
        output: As data.

    Example:
        >>> import operad as od
        >>> image = od.nd.array([[[1], [2]], [[3], [4]]])
        >>> od.nd.image.{name}(image{", p=1" if is_random else ""}).asnumpy()[:, :, 0]
        array([{rows[0]},
               {rows[1]}], dtype=float32)

    Source: {name.title().replace("_", "")}, src/operator/image/image_random-inl.h.
    """
    members = {"__doc__": doc, "__module__": __name__, "turned": axis, "contract": contract}
    return operator(f"_image_{name}")(type(name, (base,), members))


flip_left_right = _flip(
    "flip_left_right", _Mirror, "left for right", -2,
    Contract(reference=lambda data: data[..., :, ::-1, :]),
)  # fmt: skip
flip_top_bottom = _flip(
    "flip_top_bottom", _Mirror, "top for bottom", -3,
    Contract(reference=lambda data: data[..., ::-1, :, :]),
)  # fmt: skip
random_flip_left_right = _flip(
    "random_flip_left_right", _RandomMirror,
    "left for right, with probability `p`, else the image; once for all images", -2,
    _mirror_contract(-2),
)  # fmt: skip
random_flip_top_bottom = _flip(
    "random_flip_top_bottom", _RandomMirror,
    "top for bottom, with probability `p`, else the image; once for all images", -3,
    _mirror_contract(-3),
)  # fmt: skip
