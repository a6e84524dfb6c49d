"""`Crop`: a window of images, of a given size or that of other images."""

from __future__ import annotations

from typing import Any, ClassVar

from operad_sdk import Array, Contract, OperatorProperty, ParamError, Shape, ShapeError, operator, param
from operad_shape.rearrange import Arrays


def _corner(shape: Shape, size: Shape, offset: Shape, center_crop: bool) -> Shape:
    """First row and column of the window."""
    return tuple((n - own) // 2 for n, own in zip(shape[2:], size, strict=True)) if center_crop else offset


def _cropped(shapes: tuple[Shape, ...], offset: Shape, h_w: Shape, center_crop: bool) -> Shape:
    for number, shape in enumerate(shapes):
        if len(shape) != 4:
            raise ShapeError(
                f"arg{number} has shape {shape}, expected four axes (N, C, H, W): axis {len(shape)}"
            )
    size = shapes[1][2:] if len(shapes) > 1 else h_w
    corner = _corner(shapes[0], size, offset, center_crop)
    if any(one < 0 or one + own > n for one, own, n in zip(corner, size, shapes[0][2:], strict=True)):
        raise ShapeError(
            f"a window of {size} at {corner} does not fit arg0 of shape {shapes[0]}: "
            "its axes 2 and 3 are shorter"
        )
    return (*shapes[0][:2], *size)


def _window(images: Array, size: Shape, offset: Shape, center_crop: bool) -> Array:
    rows, columns = (
        slice(first, first + own)
        for first, own in zip(_corner(images.shape, size, offset, center_crop), size, strict=True)
    )
    return images[:, :, rows, columns]


@operator("Crop")
class Crop(OperatorProperty):
    """A window of the images: of size `h_w`, or of the size of the second argument's images.

    `d output / d arg0` is 1 inside the window, else 0; the second argument's values do not count.

    Shapes:
        arg0: (N, C, H, W)
        arg1: With `num_args=2`, (..., h, w) of four axes.
        output: (N, C, h, w)

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[[[1, 2, 3], [4, 5, 6]]]])
        >>> od.nd.Crop(data, h_w=(1, 2), offset=(1, 1)).asnumpy()
        array([[[[5., 6.]]]], dtype=float32)

    Source: CropParam, src/operator/crop-inl.h.
    """

    num_args = param(int, ge=1, le=2, doc="A second argument gives the size; filled in by calls.")
    offset = param("shape", (0, 0), doc="First row and column of the window.")
    h_w = param("shape", (0, 0), doc="Height and width, with one argument.")
    center_crop = param(bool, False, doc="Crop the centre, and ignore the offset.")
    key_var_num_args = "num_args"
    spec = "arg[num_args]:(*S[i]) -> output:(*cropped(S, offset, h_w, center_crop))"
    functions: ClassVar = {"cropped": _cropped}
    contract = Contract(
        params={"offset": [(0, 0), (1, 0)], "h_w": [(1, 2), (2, 1)]},
        shapes=lambda prop, choose: [
            (choose((1, 2)), choose((1, 2)), 4, choose((3, 5))),
            *[(1, 1, choose((1, 2)), 2)] * (prop.num_args - 1),
        ],
        reference=lambda *arrays, offset, h_w, center_crop: _window(
            arrays[0], arrays[1].shape[2:] if len(arrays) > 1 else h_w, offset, center_crop
        ),
        nan_policy="pixels outside the window do not count, nor the second argument's",
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        for name in ("offset", "h_w"):
            if len(getattr(self, name)) != 2:
                raise ParamError(f"Crop: {name} is {getattr(self, name)}, expected two numbers")

    def forward(arg: Arrays, offset: Shape, center_crop: bool, output: Array) -> None:
        """Copy the window."""
        output[...] = _window(arg[0], output.shape[2:], offset, center_crop)

    def backward(
        output_grad: Array, offset: Shape, center_crop: bool, arg_grad: Arrays, wanted: frozenset[str]
    ) -> None:
        """The gradient inside the window, 0 around it."""
        for number, target in enumerate(arg_grad):
            if f"arg{number}_grad" in wanted:
                target[...] = 0
                if not number:
                    _window(target, output_grad.shape[2:], offset, center_crop)[...] = output_grad
