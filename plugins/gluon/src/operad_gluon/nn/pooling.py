"""Layers that pool windows of sequences, pictures and volumes."""

from __future__ import annotations

import inspect
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


def known_layout(title: str, layout: str, known: tuple[str, str]) -> str:
    """The order of axes that is asked for; the first one where none is.

    Raises:
        ParameterError: The layer does not know it.
    """
    if layout and layout not in known:
        raise ParameterError(f"{title}: layout is {layout!r}, expected {known[0]!r} or {known[1]!r}")
    return layout or known[0]


def show_defaults(cls: type, **defaults: Any) -> None:
    """Have the signature of a class show what its arguments are by default, for its number of axes."""
    _, *params = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
    if params[-2].kind is inspect.Parameter.VAR_POSITIONAL:  # a base's, behind those that it knows
        base = super(cls.__mro__[1], cls).__init__  # type: ignore[arg-type]  # a class, not known before
        names = {"self", *[param.name for param in params]}
        more = [param for name, param in inspect.signature(base).parameters.items() if name not in names]
        params = [*params[:-2], *more, params[-1]]
    own = [p.replace(default=defaults[p.name]) if p.name in defaults else p for p in params]
    cls.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]


class _Pooling(HybridBlock):
    """A pooling of windows over the axes of a layout."""

    _layouts: ClassVar[tuple[str, str]]
    _type: ClassVar[str] = ""

    def __init_subclass__(cls, layouts: tuple[str, str] | None = None, kind: str = "") -> None:
        cls._type = kind or cls._type
        if layouts is not None:
            rank = len(layouts[0]) - 2
            cls._layouts = layouts
            show_defaults(cls, pool_size=(2,) * rank if rank > 1 else 2, layout=layouts[0])

    def _set_up(
        self, pool_size: Any, strides: Any, padding: Any, ceil_mode: bool, layout: str, **further: Any
    ) -> None:
        layout = known_layout(type(self).__name__, layout, self._layouts)
        rank = len(layout) - 2
        kernel = per_axis("pool_size", pool_size, rank)
        self._kwargs = {
            "kernel": kernel,
            "stride": kernel if strides is None else per_axis("strides", strides, rank),
            "pad": per_axis("padding", padding, rank),
            "global_pool": False,
            "pool_type": self._type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
            **further,
        }

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The pooled `x`."""
        return F.Pooling(x, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        found = self._kwargs
        return (
            f"{type(self).__name__}(size={found['kernel']}, stride={found['stride']}, "
            f"padding={found['pad']}, ceil_mode={found['pooling_convention'] == 'full'}, "
            f"global_pool={found['global_pool']}, pool_type={found['pool_type']}, layout={found['layout']})"
        )


class _MaxPooling(_Pooling, kind="max"):
    def __init__(
        self,
        pool_size: int | Sequence[int] = 2,
        strides: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        layout: str = "",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(pool_size, strides, padding, ceil_mode, layout)


class _AvgPooling(_Pooling, kind="avg"):
    def __init__(
        self,
        pool_size: int | Sequence[int] = 2,
        strides: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        layout: str = "",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(pool_size, strides, padding, ceil_mode, layout, count_include_pad=count_include_pad)


class _GlobalPooling(_Pooling):
    def __init__(self, layout: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._set_up(1, None, 0, True, layout, global_pool=True)


class MaxPool1D(_MaxPooling, layouts=("NCW", "NWC")):
    """The maximum of each window of sequences.

    Args:
        pool_size: Length of the window, along each axis or all.
        strides: Step of the window; its length by default.
        padding: Zeros on each side.
        layout: Order of the axes, "NCW" or "NWC".
        ceil_mode: Whether a window that is cut off at the end counts.
    """


class MaxPool2D(_MaxPooling, layouts=("NCHW", "NHWC")):
    """The maximum of each window of pictures. Its arguments are those of `MaxPool1D`."""


class MaxPool3D(_MaxPooling, layouts=("NCDHW", "NDHWC")):
    """The maximum of each window of volumes. Its arguments are those of `MaxPool1D`, in another order."""

    def __init__(
        self,
        pool_size: int | Sequence[int] = (2, 2, 2),
        strides: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, layout, ceil_mode, **kwargs)


class AvgPool1D(_AvgPooling, layouts=("NCW", "NWC")):
    """The mean of each window of sequences.

    Its arguments are those of `MaxPool1D`, and `count_include_pad`: whether means count the padding's zeros.
    """

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
        super().__init__(pool_size, strides, padding, ceil_mode, layout, count_include_pad, **kwargs)


class AvgPool2D(_AvgPooling, layouts=("NCHW", "NHWC")):
    """The mean of each window of pictures. Its arguments are those of `AvgPool1D`, in another order."""


class AvgPool3D(_AvgPooling, layouts=("NCDHW", "NDHWC")):
    """The mean of each window of volumes. Its arguments are those of `AvgPool1D`, in another order."""


class GlobalMaxPool1D(_GlobalPooling, layouts=("NCW", "NWC"), kind="max"):
    """The maximum of each channel of sequences, whose axes have the order `layout`: "NCW" or "NWC"."""


class GlobalMaxPool2D(_GlobalPooling, layouts=("NCHW", "NHWC"), kind="max"):
    """The maximum of each channel of pictures, whose axes have the order `layout`: "NCHW" or "NHWC"."""


class GlobalMaxPool3D(_GlobalPooling, layouts=("NCDHW", "NDHWC"), kind="max"):
    """The maximum of each channel of volumes, whose axes have the order `layout`: "NCDHW" or "NDHWC"."""


class GlobalAvgPool1D(_GlobalPooling, layouts=("NCW", "NWC"), kind="avg"):
    """The mean of each channel of sequences, whose axes have the order `layout`: "NCW" or "NWC"."""


class GlobalAvgPool2D(_GlobalPooling, layouts=("NCHW", "NHWC"), kind="avg"):
    """The mean of each channel of pictures, whose axes have the order `layout`: "NCHW" or "NHWC"."""


class GlobalAvgPool3D(_GlobalPooling, layouts=("NCDHW", "NDHWC"), kind="avg"):
    """The mean of each channel of volumes, whose axes have the order `layout`: "NCDHW" or "NDHWC"."""
