"""`_image_to_tensor` and `_image_normalize`: images as networks want them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array, Contract, InferredShapes, OperatorProperty, ShapeError, operator, param


def _to_tensor(data: Array) -> Array:
    channels = [data[..., number] / 255 for number in range(data.shape[-1])]
    empty = np.empty((*data.shape[:-3], 0, *data.shape[-3:-1]))
    return np.stack(channels, axis=-3) if channels else empty


@operator("_image_to_tensor")
class to_tensor(OperatorProperty):
    """Images with channels first, in float32, from 0 to 1 where pixels are bytes: `x / 255`.

    Shapes:
        data: (..., H, W, C), of any type.
        output: (..., C, H, W).

    Example:
        >>> import operad as od
        >>> image = od.nd.array([[[0, 255], [51, 102]]], dtype="uint8")
        >>> od.nd.image.to_tensor(image).asnumpy()
        array([[[0. , 0.2]],
        <BLANKLINE>
               [[1. , 0.4]]], dtype=float32)

    Source: ToTensor, src/operator/image/image_random-inl.h.
    """

    spec = "data:any(*B, H, W, C) -> output:float32(*B, C, H, W)"
    contract = Contract(
        reference=_to_tensor,
        no_numeric_gradient="a difference of outputs in float32 says little, and there are no others",
    )

    def forward(data: Array, output: Array) -> None:
        """Move the channels, and divide."""
        np.divide(np.moveaxis(data, -1, -3), np.float32(255), out=output, casting="unsafe", dtype=np.float32)

    def data_grad(output_grad: Array, data_grad: Array) -> None:
        """`d/dx = 1 / 255`, with channels last."""
        slope = np.moveaxis(output_grad, -3, -1) * np.float32(1 / 255)
        np.copyto(data_grad, slope, casting="unsafe")


_ZEROS: Final = (0.0,) * 4
_ONES: Final = (1.0,) * 4


def _given(values: tuple[float, ...]) -> tuple[float, ...]:
    """The numbers of a call; MXNet's defaults, which have four, stand for one."""
    return values[:1] if values in (_ZEROS, _ONES) else values


def _vector(values: tuple[float, ...], data: Array) -> Array:
    return np.asarray(_given(values), data.dtype, like=data)[:, None, None]


def _normalized(data: Array, mean: tuple[float, ...], std: tuple[float, ...]) -> Array:
    """Channel by channel."""
    output = np.empty_like(data)
    for number in range(data.shape[-3]):
        own = [values[number % len(values)] for values in (mean, std)]
        output[..., number, :, :] = (data[..., number, :, :] - own[0]) / own[1]
    return output


@operator("_image_normalize")
class normalize(OperatorProperty):
    """`(x - mean) / std` of each channel.

    Shapes:
        data: (..., C, H, W), such as `_image_to_tensor` gives.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.image.normalize(od.nd.ones((2, 1, 1)), mean=(0, 0.5), std=(1, 0.25)).asnumpy().ravel()
        array([1., 2.], dtype=float32)

    Source: NormalizeParam, src/operator/image/image_random-inl.h.
    """

    mean = param("floats", _ZEROS, doc="One number, or one for each channel; left out: 0.")
    std = param("floats", _ONES, doc="Likewise, none of them 0; left out: 1.")
    spec = "data:(*B, C, H, W) -> output:(*B, C, H, W)"
    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    contract = Contract(
        params={"mean": (_ZEROS, (0.5,), (0.5, -1.0)), "std": (_ONES, (0.25,), (0.25, 2.0))},
        reference=_normalized,
    )

    def infer_shape(self, in_shapes: Any) -> InferredShapes:
        """Infer shapes from the shape line; there is one number, or one for each channel."""
        inferred = super().infer_shape(in_shapes)
        data = inferred[0][0]
        for name in ("mean", "std"):
            count = len(_given(getattr(self, name)))
            if data is not None and data[-3] is not None and count not in (1, data[-3]):
                raise ShapeError(
                    f"{self.name}: data has shape {data}, whose axis {len(data) - 3}, channels, is "
                    f"{data[-3]}, but {name} has {count} numbers, expected one or as many"
                )
        return inferred

    def forward(self, data: Array, output: Array) -> None:
        """Subtract, and divide."""
        np.subtract(data, _vector(self.mean, data), out=output)
        np.divide(output, _vector(self.std, data), out=output)

    def data_grad(self, output_grad: Array, data_grad: Array) -> None:
        """`d/dx = 1 / std`."""
        np.divide(output_grad, _vector(self.std, output_grad), out=data_grad)
