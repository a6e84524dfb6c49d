"""`Pooling`: one number for each window of an image."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from operad_pooling.examples import PARAMS, pooled_shapes
from operad_pooling.fold import divisor, fold_max, fold_sum, spread, spread_to_first
from operad_pooling.places import pool_with_places, spread_places
from operad_pooling.vector_places import IN_VECTORS, pool_in_vectors, spread_in_vectors
from operad_pooling.windows import Axis
from operad_sdk import (
    Array,
    Contract,
    Cost,
    InferredShapes,
    OpContext,
    OperatorProperty,
    ParamError,
    PartialShape,
    Real,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
)

_MOST_PLACES: Final = 49
"""Elements of a window up to which its maximum has a place: windows of 7 x 7."""
_LAYOUTS: Final = ("NCW", "NCHW", "NCDHW", "NWC", "NHWC", "NDHWC")
_SIZES: Final = {
    "valid": "(S + 2*pad - kernel)//stride + 1",
    "full": "ceil_div(S + 2*pad - kernel, stride) + 1",
    "same": "ceil_div(S, stride)",
}


def _is_max(prop: Any) -> bool:
    return bool(prop.pool_type == "max")


def _is_power(prop: Any) -> bool:
    return bool(prop.pool_type == "lp" and prop.p_value > 1)


@operator("Pooling")
class Pooling(OperatorProperty):
    """The maximum, mean, sum or Lp norm of each window, in one to three dimensions.

    Windows start `stride` apart, the first `pad` before the data, and end with it: padding is never
    the maximum. The mean divides by the window's length with padding, or without it if
    `count_include_pad=False`. The gradient of a maximum goes to the first of equal elements.

    Shapes:
        data: (N, C, ...) with as many further axes as kernel has elements; (N, ..., C) if `layout` says so.
        output: (N, C, ...), along each axis (size + 2 pad - kernel) / stride + 1, rounded down (`valid`)
            or up (`full`), or size / stride rounded up (`same`); 1 with `global_pool`.
        workspace (hidden): As output, for maxima of windows of up to 49 elements along one or two axes,
            channels first: in a byte which element of a window is its maximum.

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[[1, 2, 4, 8]]])
        >>> od.nd.Pooling(data, kernel=(2,), stride=(2,), pool_type="avg").asnumpy()
        array([[[1.5, 6. ]]], dtype=float32)

    Source: PoolingParam, src/operator/nn/pooling-inl.h. Differs: `same` is there in one to three
    dimensions; the Lp gradient is 0, not NaN, where the norm is 0.
    """

    kernel = param("shape", (), ge=1, doc="Size of the windows: (w,), (h, w) or (d, h, w).")
    pool_type = param(str, "max", choices=("max", "avg", "sum", "lp"), doc="Reduction of each window.")
    global_pool = param(
        bool, False, doc="One window, as large as the data; kernel, stride and pad are unused."
    )
    cudnn_off = param(bool, False, ignored="Accepted for MXNet's files; there is no cuDNN here.")
    pooling_convention = param(
        str, "valid", choices=("valid", "full", "same"), doc="Treatment of windows at the end of an axis."
    )
    stride = param("shape", (), ge=1, doc="Distance of neighbouring windows; left out: 1.")
    pad = param("shape", (), ge=0, doc="Positions on either side that windows may cover; left out: none.")
    p_value = param(int, None, ge=1, le=3, doc="The norm's exponent, for lp.")
    count_include_pad = param(bool, None, doc="Count padding in means; None: True.")
    layout = param(str, None, choices=_LAYOUTS, doc="Order of the axes; left out: channels first.")

    # The norm of a window of zeros has no derivative, and with p=3 a slope along each line all the same.
    accepts = "floating"
    compute_dtype = "float32"
    constant_outputs = ("workspace",)
    contract = Contract(inputs={"data": Real(nonzero=True)}, params=PARAMS, shapes=pooled_shapes)

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.pool_type == "lp" and self.p_value is None:
            raise ParamError("Pooling: pool_type is 'lp' and there is no p_value; give one of 1, 2, 3")
        if self.global_pool or not self.kernel:
            return
        if self.layout is not None and len(self.layout) != len(self.kernel) + 2:
            raise ParamError(
                f"Pooling: layout is {self.layout!r}, but kernel {self.kernel} has {len(self.kernel)} axes"
            )
        if self.pooling_convention == "same" and any(self.pad):
            raise ParamError(f"Pooling: pad is {self.pad}, expected none with pooling_convention 'same'")
        self._fill_in("stride", 1)
        self._fill_in("pad", 0)

    def _fill_in(self, name: str, missing: int) -> None:
        """Give a parameter that was left out one element for each axis; more than these are not read."""
        count = len(self.kernel)
        given = getattr(self, name) or (missing,) * count
        if len(given) < count:
            raise ParamError(
                f"Pooling: {name} is {given}, expected {count} elements as in kernel {self.kernel}"
            )
        setattr(self, name, given[:count])

    @property
    def is_channels_last(self) -> bool:
        """Return whether `layout` says so."""
        return self.layout is not None and self.layout.endswith("C")

    @property
    def has_places(self) -> bool:
        """Return whether it gives maxima of windows of few elements, along one or two axes."""
        is_plain = not (self.global_pool or self.is_channels_last) and 1 <= len(self.kernel) <= 2
        return self.pool_type == "max" and is_plain and prod(self.kernel) <= _MOST_PLACES

    def spec(self) -> str:
        """One line of the shape language, which depends on the convention and the layout."""
        size = "S*0 + 1" if self.global_pool else _SIZES[self.pooling_convention]
        lead, tail = ("N", ", C") if self.is_channels_last else ("N, C", "")
        windows = f"({lead}, *({size}){tail})"
        return f"data:({lead}, *S{tail}) -> output:{windows}, hidden workspace:uint8{windows} if has_places"

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Shapes that follow from `spec`; windows must fit."""
        data = in_shapes[0]
        if data is not None:
            self._check_data(data)
        return super().infer_shape(in_shapes)

    def _check_data(self, shape: tuple[int | None, ...]) -> None:
        if not (self.global_pool or 1 <= len(self.kernel) <= 3):
            raise ParamError(f"Pooling: kernel is {self.kernel}, expected one to three sizes, or global_pool")
        axes = len(self.layout) - 2 if self.layout else 0 if self.global_pool else len(self.kernel)
        if len(shape) != axes + 2 if axes else not 3 <= len(shape) <= 5:
            raise ShapeError(
                f"Pooling: data has shape {shape}, expected {axes + 2 if axes else '3 to 5'} axes: "
                "batch, channels and those that are pooled"
            )
        if self.global_pool or self.pooling_convention == "same":
            return
        for size, kernel, pad in zip(self._pooled(shape), self.kernel, self.pad, strict=True):
            if size is not None and kernel > size + 2 * pad:
                raise ShapeError(
                    f"Pooling: kernel {self.kernel} exceeds data {shape} with pad {self.pad}; "
                    "expected a smaller kernel or more padding"
                )

    def _pooled(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        return shape[1:-1] if self.is_channels_last else shape[2:]

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float | Cost:
        """About two operations for each element and each tap along one axis."""
        taps = 1 if self.global_pool else sum(self.kernel)
        return super().cost(in_shapes, out_shapes) * taps

    def forward(self, op_ctx: OpContext, data: Array, output: Array, workspace: Array | None) -> None:
        """Fold all windows."""
        xp, axes = op_ctx.xp, self.axes(data.shape, output.shape)
        if workspace is not None:
            pool_with_places(xp, data, axes, output, workspace)
            return
        if _is_max(self):
            fold_max(xp, data, axes, output)
            return
        fold_sum(xp, data**self.p_value if _is_power(self) else data, axes, output)
        if self.pool_type == "avg":
            xp.divide(output, self._divisor(xp, axes, output), out=output)
        elif _is_power(self):
            (xp.sqrt if self.p_value == 2 else xp.cbrt)(output, out=output)

    @gradient("data", when=lambda prop: bool(prop.has_places))
    def places_gradient(
        self, op_ctx: OpContext, output_grad: Array, workspace: Array, data_grad: Array
    ) -> None:
        """`dy/dx = 1` for the first largest element of each window, else 0."""
        axes = self.axes(data_grad.shape, output_grad.shape)
        spread_places(op_ctx.xp, output_grad, workspace, axes, data_grad)

    @gradient("data", when=lambda prop: _is_max(prop) and not prop.has_places)
    def max_gradient(
        self, op_ctx: OpContext, output_grad: Array, data: Array, output: Array, data_grad: Array
    ) -> None:
        """`dy/dx = 1` for the first largest element of each window, else 0."""
        axes = self.axes(data.shape, output.shape)
        spread_to_first(op_ctx.xp, output_grad, data, output, axes, data_grad)

    @gradient("data", when=lambda prop: not (_is_max(prop) or _is_power(prop)))
    def linear_gradient(self, op_ctx: OpContext, output_grad: Array, data_grad: Array) -> None:
        """`dy/dx = 1`, for a mean `1 / divisor`, in each window; needs the gradient of the output alone."""
        xp, axes = op_ctx.xp, self.axes(data_grad.shape, output_grad.shape)
        is_mean = self.pool_type == "avg"
        share = output_grad / self._divisor(xp, axes, output_grad) if is_mean else output_grad
        spread(xp, share, axes, data_grad)

    @gradient("data", when=_is_power)
    def power_gradient(
        self, op_ctx: OpContext, output_grad: Array, data: Array, output: Array, data_grad: Array
    ) -> None:
        """`dy/dx = (x / y)^(p - 1)`, summed over windows."""
        xp, axes = op_ctx.xp, self.axes(data.shape, output.shape)
        norm = output ** (self.p_value - 1)
        spread(xp, output_grad / xp.where(norm == 0, norm.dtype.type(1), norm), axes, data_grad)
        xp.multiply(data_grad, data ** (self.p_value - 1), out=data_grad)

    def axes(self, data: Shape, out: Shape) -> list[Axis]:
        """The windows along each pooled axis."""
        first = 1 if self.is_channels_last else 2
        sizes, counts = self._pooled(data), self._pooled(out)
        if self.global_pool:
            return [Axis(first + i, size, 1, max(1, size), max(1, size), 0) for i, size in enumerate(sizes)]
        described = zip(sizes, counts, self.kernel, self.stride, self.pad, strict=True)
        return [Axis(first + i, *values) for i, values in enumerate(described)]

    def _divisor(self, xp: Any, axes: Sequence[Axis], like: Array) -> Any:
        return divisor(xp, axes, self.count_include_pad is not False, like.ndim, like.dtype)


Pooling.kernel("forward", name="max_in_vectors", **IN_VECTORS)(pool_in_vectors)
Pooling.kernel("data_grad", name="max_gradient_in_vectors", **IN_VECTORS)(spread_in_vectors)


@operator("Pooling_v1")
class PoolingV1(Pooling):
    """`Pooling` under its name before MXNet 0.9, which old files have.

    Shapes:
        data: (N, C, ...) with as many further axes as kernel has elements; (N, ..., C) if `layout` says so.
        output: (N, C, ...), along each axis (size + 2 pad - kernel) / stride + 1, rounded down (`valid`)
            or up (`full`), or size / stride rounded up (`same`); 1 with `global_pool`.
        workspace (hidden): As of `Pooling`.

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[[[1, 2, 4, 8]]]])
        >>> od.nd.Pooling_v1(data, kernel=(1, 2), stride=(1, 2), pool_type="avg").asnumpy()
        array([[[[1.5, 6. ]]]], dtype=float32)

    Source: PoolingV1Param, src/operator/pooling_v1-inl.h.
    """
