"""Layers that pool windows of sequences, pictures and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from operad_gluon.block import HybridBlock
from operad_gluon.errors import ParameterError


def per_axis(name: str, value: int | Sequence[int], rank: int) -> tuple[int, ...]:
    """A number for each of `rank` axes, of one number or of as many.

    Raises:
        ParameterError: There are others.
    """
    if isinstance(value, int):
        return (value,) * rank
    if len(value) != rank:
        raise ParameterError(f"{name} is {value!r}, expected a number or {rank} of them")
    return tuple(value)


def check_layout(title: str, layout: str, known: tuple[str, str]) -> None:
    """Refuse an order of axes that the layer does not know."""
    if layout not in known:
        raise ParameterError(f"{title}: layout is {layout!r}, expected {known[0]!r} or {known[1]!r}")


class _Pooling(HybridBlock):
    """A pooling over as many axes as `_layouts` says, of the type `_type`."""

    _layouts: ClassVar[tuple[str, str]]
    _type: ClassVar[str]

    def __init__(
        self,
        pool_size: int | Sequence[int],
        strides: int | Sequence[int] | None,
        padding: int | Sequence[int],
        ceil_mode: bool,
        layout: str,
        global_pool: bool = False,
        count_include_pad: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_layout(type(self).__name__, layout, self._layouts)
        rank = len(layout) - 2
        kernel = per_axis("pool_size", pool_size, rank)
        self._kwargs = {
            "kernel": kernel,
            "stride": kernel if strides is None else per_axis("strides", strides, rank),
            "pad": per_axis("padding", padding, rank),
            "global_pool": global_pool,
            "pool_type": self._type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """The pooled `x`."""
        return F.Pooling(x, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        found = self._kwargs
        return (
            f"{type(self).__name__}(size={found['kernel']}, stride={found['stride']}, padding={found['pad']}, "
            f"ceil_mode={found['pooling_convention'] == 'full'}, global_pool={found['global_pool']}, "
            f"pool_type={found['pool_type']}, layout={found['layout']})"
        )


class MaxPool1D(_Pooling):
    """The maximum of each window of sequences.

    Args:
        pool_size: Length of the window, along each axis or all.
        strides: Step of the window; its length by default.
        padding: Zeros on each side.
        layout: Order of the axes, "NCW" or "NWC".
        ceil_mode: Whether a window that is cut off at the end counts.
    """

    _layouts, _type = ("NCW", "NWC"), "max"

    def __init__(
        self,
        pool_size: int | Sequence[int] = 2,
        strides: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout, **kwargs)


class MaxPool2D(_Pooling):
    """The maximum of each window of pictures.

    Args:
        pool_size: Length of the window, along each axis or all.
        strides: Step of the window; its length by default.
        padding: Zeros on each side.
        layout: Order of the axes, "NCHW" or "NHWC".
        ceil_mode: Whether a window that is cut off at the end counts.
    """

    _layouts, _type = ("NCHW", "NHWC"), "max"

    def __init__(
        self,
        pool_size: int | Sequence[int] = (2, 2),
        strides: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        layout: str = "NCHW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout, **kwargs)


class MaxPool3D(_Pooling):
    """The maximum of each window of volumes.

    Args:
        pool_size: Length of the window, along each axis or all.
        strides: Step of the window; its length by default.
        padding: Zeros on each side.
        layout: Order of the axes, "NCDHW" or "NDHWC".
        ceil_mode: Whether a window that is cut off at the end counts.
    """

    _layouts, _type = ("NCDHW", "NDHWC"), "max"

    def __init__(
        self,
        pool_size: int | Sequence[int] = (2, 2, 2),
        strides: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout, **kwargs)


class AvgPool1D(_Pooling):
    """The mean of each window of sequences.

    Args:
        pool_size: Length of the window, along each axis or all.
        strides: Step of the window; its length by default.
        padding: Zeros on each side.
        layout: Order of the axes, "NCW" or "NWC".
        ceil_mode: Whether a window that is cut off at the end counts.
        count_include_pad: Whether means count the zeros of the padding.
    """

    _layouts, _type = ("NCW", "NWC"), "avg"

    def __init__(
        self,
        pool_size: int | Sequence[int] = 2,
        strides: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout, False, count_include_pad, **kwargs)


class AvgPool2D(_Pooling):
    """The mean of each window of pictures.

    Args:
        pool_size: Length of the window, along each axis or all.
        strides: Step of the window; its length by default.
        padding: Zeros on each side.
        layout: Order of the axes, "NCHW" or "NHWC".
        ceil_mode: Whether a window that is cut off at the end counts.
        count_include_pad: Whether means count the zeros of the padding.
    """

    _layouts, _type = ("NCHW", "NHWC"), "avg"

    def __init__(
        self,
        pool_size: int | Sequence[int] = (2, 2),
        strides: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        layout: str = "NCHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout, False, count_include_pad, **kwargs)


class AvgPool3D(_Pooling):
    """The mean of each window of volumes.

    Args:
        pool_size: Length of the window, along each axis or all.
        strides: Step of the window; its length by default.
        padding: Zeros on each side.
        layout: Order of the axes, "NCDHW" or "NDHWC".
        ceil_mode: Whether a window that is cut off at the end counts.
        count_include_pad: Whether means count the zeros of the padding.
    """

    _layouts, _type = ("NCDHW", "NDHWC"), "avg"

    def __init__(
        self,
        pool_size: int | Sequence[int] = (2, 2, 2),
        strides: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout, False, count_include_pad, **kwargs)


class GlobalMaxPool1D(_Pooling):
    """The maximum of each channel of sequences.

    Args:
        layout: Order of the axes, "NCW" or "NWC".
    """

    _layouts, _type = ("NCW", "NWC"), "max"

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__(1, None, 0, True, layout, True, **kwargs)


class GlobalMaxPool2D(_Pooling):
    """The maximum of each channel of pictures.

    Args:
        layout: Order of the axes, "NCHW" or "NHWC".
    """

    _layouts, _type = ("NCHW", "NHWC"), "max"

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__(1, None, 0, True, layout, True, **kwargs)


class GlobalMaxPool3D(_Pooling):
    """The maximum of each channel of volumes.

    Args:
        layout: Order of the axes, "NCDHW" or "NDHWC".
    """

    _layouts, _type = ("NCDHW", "NDHWC"), "max"

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__(1, None, 0, True, layout, True, **kwargs)


class GlobalAvgPool1D(_Pooling):
    """The mean of each channel of sequences.

    Args:
        layout: Order of the axes, "NCW" or "NWC".
    """

    _layouts, _type = ("NCW", "NWC"), "avg"

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__(1, None, 0, True, layout, True, **kwargs)


class GlobalAvgPool2D(_Pooling):
    """The mean of each channel of pictures.

    Args:
        layout: Order of the axes, "NCHW" or "NHWC".
    """

    _layouts, _type = ("NCHW", "NHWC"), "avg"

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__(1, None, 0, True, layout, True, **kwargs)


class GlobalAvgPool3D(_Pooling):
    """The mean of each channel of volumes.

    Args:
        layout: Order of the axes, "NCDHW" or "NDHWC".
    """

    _layouts, _type = ("NCDHW", "NDHWC"), "avg"

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__(1, None, 0, True, layout, True, **kwargs)
