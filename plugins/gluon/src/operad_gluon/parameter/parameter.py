"""One parameter of a block, and its initialization.

Source: python/mxnet/gluon/parameter.py. Differs: values are dense.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

import operad as od
from operad import Context, NDArray, Symbol, autograd
from operad_gluon.errors import ParameterError
from operad_gluon.parameter.held_arrays import HeldArrays
from operad_gluon.parameter.shapes import completes, contexts, shape_is_known

tensor_types: Final = (Symbol, NDArray)
"""Classes of what blocks compute with."""

_STYPES: Final = ("default", "row_sparse", "csr")
_REQUESTS: Final = ("write", "add", "null")


class Parameter(HeldArrays):
    """Values that a block learns, on one context or several.

    >>> import operad as od
    >>> weight = od.gluon.Parameter("weight", shape=(2, 3))
    >>> weight.initialize(od.init.One(), ctx=[od.cpu(0), od.cpu(1)])
    >>> weight.data(od.cpu(1)).shape
    (2, 3)

    Args:
        name: Its name, in files and in symbols.
        grad_req: What backward does with its gradient: "write", "add", or "null".
        shape: Its shape; an axis of length 0 is told by the first batch.
        dtype: Type of its elements.
        lr_mult: Factor of the learning rate.
        wd_mult: Factor of the weight decay.
        init: Its own initializer, or the name of one.
        allow_deferred_init: Whether it may be initialized when its shape is told.
        differentiable: Whether it can have a gradient at all.
        stype: Storage of the values, which is "default" here.
        grad_stype: Storage of gradients: "row_sparse" is taken, and gradients are dense.
    """

    def __init__(
        self,
        name: str,
        grad_req: str = "write",
        shape: int | Sequence[int] | None = None,
        dtype: Any = np.float32,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        for what, given in (("stype", stype), ("grad_stype", grad_stype)):
            if given not in _STYPES:
                raise ParameterError(f"parameter {name!r}: {what} is {given!r}, expected one of {_STYPES}")
        if stype != "default":
            raise ParameterError(f"parameter {name!r}: stype {stype!r} is not supported; use 'default'")
        self.name, self.lr_mult, self.wd_mult, self.init = name, lr_mult, wd_mult, init
        self._dtype = dtype
        self._shape = (shape,) if isinstance(shape, int) else None if shape is None else tuple(shape)
        self._allow_deferred_init, self._differentiable = allow_deferred_init, differentiable
        self._stype, self._grad_stype = stype, grad_stype
        self._var: Symbol | None = None
        super().__init__()
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    @property
    def grad_req(self) -> str:
        """Request of the gradient: "write", "add", or "null"."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in _REQUESTS:
            raise ParameterError(f"parameter {self.name!r}: grad_req is {req!r}, expected one of {_REQUESTS}")
        req = req if self._differentiable else "null"
        if req == self._grad_req:
            return
        self._grad_req = req
        if self._data is not None:
            self._hold([array.detach() for array in self._data])

    @property
    def dtype(self) -> Any:
        """Type of the elements; setting it casts them."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape; an axis of length 0 is not known yet. Setting it fills in those axes.

        Raises:
            ParameterError: An axis that is known has another length.
        """
        return self._shape

    @shape.setter
    def shape(self, new_shape: Sequence[int]) -> None:
        new, old = tuple(new_shape), self._shape
        if old is not None and not completes(new, old):
            raise ParameterError(f"parameter {self.name!r} has shape {old}, which {new} is incompatible with")
        self._shape = new

    def initialize(
        self,
        init: Any = None,
        ctx: Any = None,
        default_init: Any = od.init.Uniform(),
        force_reinit: bool = False,
    ) -> None:
        """Give it values, or note how, until its shape is known.

        Args:
            init: Initializer to use in place of its own.
            ctx: Context or contexts of the values; the current one where it is None.
            default_init: Initializer where neither `init` nor its own is given; `init.Uniform()` is.
            force_reinit: Whether values that it has are replaced.
        Raises:
            ValueError: The shape is not known, and may not be told later.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter '{self.name}' is already initialized, ignoring. Set force_reinit=True to "
                "re-initialize.",
                stacklevel=2,
            )
            return
        self._data = self._grad = None
        chosen = init if init is not None else default_init if self.init is None else self.init
        self._deferred_init = (chosen, contexts(ctx), default_init, None)
        if shape_is_known(self._shape):
            self._finish_deferred_init()
        elif not self._allow_deferred_init:
            self._deferred_init = ()
            raise ValueError(
                f"Cannot initialize Parameter '{self.name}' because it has invalid shape: {self.shape}."
            )

    def _finish_deferred_init(self) -> None:
        """Make the values, now that the shape is known."""
        if not self._deferred_init:
            return
        init, ctx, default_init, data = self._deferred_init
        if not shape_is_known(self._shape):
            raise ParameterError(
                f"parameter {self.name!r} has shape {self._shape}, which no batch has completed; give the "
                "layer "
                "its sizes (in_units, in_channels, ...)"
            )
        self._deferred_init = ()
        with autograd.pause():
            if data is None:
                data = od.nd.zeros(self._shape, dtype=self._dtype, ctx=od.cpu())
                described = od.init.InitDesc(self.name, {"__init__": init})
                od.initializer.create(default_init)(described, data)
            self._init_impl(data, ctx)

    def _init_impl(self, data: NDArray, ctx: Sequence[Context]) -> None:
        self._hold([data.copyto(one) for one in ctx])

    def _load_init(
        self, data: NDArray, ctx: Any, cast_dtype: bool = False, dtype_source: str = "current"
    ) -> None:
        """Take values out of a file."""
        if self._shape is not None and not completes(data.shape, self._shape):
            raise ParameterError(
                f"parameter {self.name!r} has shape {self._shape}, and the file's values have "
                f"{data.shape}; load "
                "the file of this network, or build the network that the file is of"
            )
        if dtype_source not in ("current", "saved"):
            raise ParameterError(f"dtype_source is {dtype_source!r}, expected 'current' or 'saved'")
        own = np.dtype(self._dtype)
        if own != data.dtype:
            if not cast_dtype:
                raise ParameterError(
                    f"parameter {self.name!r} has type {own}, and the file's values have {data.dtype}; pass "
                    "cast_dtype=True to convert them"
                )
            if dtype_source == "current":
                data = data.astype(own)
            else:
                self.cast(data.dtype)
        self._shape = tuple(data.shape)
        if self._data is not None:
            self._check_contexts(ctx, self.list_ctx())
            self.set_data(data)
            return
        if self._deferred_init:
            self._check_contexts(ctx, self._deferred_init[1])
            ctx = self._deferred_init[1]
        self._deferred_init = ()
        self._init_impl(data, [od.cpu()] if ctx is None else contexts(ctx))

    def _check_contexts(self, ctx: Any, own: Sequence[Context]) -> None:
        if ctx is not None and set(contexts(ctx)) != set(own):
            raise ParameterError(
                f"parameter {self.name!r} was initialized on {own}, and is loaded on {contexts(ctx)}; pass "
                "no ctx, "
                "or reset_ctx first"
            )

    def set_data(self, data: Any) -> None:
        """Write values into all its arrays."""
        self.shape = data.shape
        if self._data is None:
            if not self._deferred_init:
                raise self._absence()
            self._deferred_init = (*self._deferred_init[:3], data)
            return
        for array in self._data:
            array[:] = data

    def reset_ctx(self, ctx: Any) -> None:
        """Move the values to other contexts."""
        places = contexts(ctx)
        if self._data is not None:
            with autograd.pause():
                self._init_impl(self._mean(), places)
        elif self._deferred_init:
            self._deferred_init = (self._deferred_init[0], places, *self._deferred_init[2:])
        else:
            raise ValueError(
                f"Cannot reset context for Parameter '{self.name}' because it has not been initialized."
            )

    def cast(self, dtype: Any) -> None:
        """Convert values and gradients to another type."""
        self._dtype = dtype
        if self._data is not None:
            with autograd.pause():
                self._hold([array.astype(dtype) for array in self._data])

    def var(self) -> Symbol:
        """The variable that stands for it in symbols."""
        if self._var is None:
            self._var = od.sym.var(
                self.name,
                shape=self.shape,
                dtype=self.dtype,
                lr_mult=self.lr_mult,
                wd_mult=self.wd_mult,
                init=self.init,
                attr={"__storage_type__": "0"},
            )
        return self._var
