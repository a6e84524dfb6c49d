"""Asynchronous arrays.

An `NDArray` is a view (a plain NumPy or CuPy array) of a chunk of memory that carries an engine
variable. Operations return at once; reading values out waits for the operations that produce them
and raises what went wrong in them.

Source: NDArray, include/mxnet/ndarray.h and python/mxnet/ndarray/ndarray.py. Differs: every basic
index gives a view, not only slices of the first axis; zero-dimensional arrays exist.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from operator import index
from typing import Any, Final, cast

import numpy as np

from operad import autograd, engine, registry
from operad.boundary import boundary
from operad.device import Context, as_context
from operad.dtypes import DEFAULT_DTYPE, DType, as_dtype
from operad.errors import ArgumentError, BindError, ShapeError
from operad.imperative import (
    EXPORTED,
    RECORDING,
    TRACING,
    Array,
    Export,
    Marked,
    Provenance,
    cast_fast,
    copy_into,
    local,
    note_written,
    refuse_lost,
    refuse_traced,
    spec_of,
)
from operad.ndarray.arguments import by_name, check_dense
from operad.ndarray.arithmetic import Arithmetic, converted, invoke
from operad.ndarray.function import operator_function
from operad.ndarray.indexing import get_item, set_item
from operad.ndarray.numpy_protocol import array_function, array_ufunc
from operad.op import Shape

_MADE: Final = Provenance.MADE  # a look-up of 70 ns


class NDArray(Arithmetic, Array, registry.OperatorMethods):
    """An array on a device. Make one with `array`, `empty`, `zeros` or an operator."""

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        """Element type: a class of numbers, as in MXNet, with the attributes of NumPy's dtype."""
        return cast("DType", registry.shown_dtype(self._spec.dtype))

    @property
    def stype(self) -> str:
        """Storage type; always `default`, since sparse arrays are not supported."""
        return "default"

    @property
    def T(self) -> NDArray:  # noqa: N802 - NumPy's name
        """The array with its axes reversed; a view unless it is being recorded."""
        return self.transpose()

    @property
    def grad(self) -> NDArray | None:
        """The gradient buffer that `attach_grad` made, or None."""
        node = self._autograd and self._autograd[0]
        return cast("NDArray", node.grad) if isinstance(node, Marked) else None

    @boundary
    def asnumpy(self) -> np.ndarray[Any, Any]:
        """A NumPy copy of the values, after waiting for them.

        Raises:
            Exception: What an operation that this array depends on raised. The array has no value then,
                and every read of it raises until it is overwritten.
        """
        refuse_traced("asnumpy() of an array", "return the array")
        engine.get().wait_for_var(self._chunk.var)
        engine.blas_limits.restore()  # the program may compute with the values
        return self._to_host()

    def _to_host(self) -> np.ndarray[Any, Any]:
        data = self._data
        host: np.ndarray[Any, Any] = np.array(data) if isinstance(data, np.ndarray) else data.get()
        return host

    def asscalar(self) -> Any:
        """The one value of an array of size 1, as a NumPy scalar of its type.

        Raises:
            ShapeError: The array has another size.
        """
        if self.size != 1:
            raise ShapeError(f"asscalar needs an array of one element, got shape {self.shape}")
        return self.asnumpy().reshape(())[()]

    def item(self) -> Any:
        """`asscalar` as a Python number."""
        return self.asscalar().item()

    def tolist(self) -> Any:
        """The values as Python numbers in nested lists; one number for an array without axes."""
        return self.asnumpy().tolist()

    @boundary
    def wait_to_read(self) -> None:
        """Wait until every operation that writes this array is done, and raise what they raised."""
        engine.get().wait_for_var(self._chunk.var)

    @boundary
    def wait_to_write(self) -> None:
        """Wait until every operation that reads or writes this array is done."""
        engine.get().wait_to_write(self._chunk.var)

    def copy(self) -> NDArray:
        """A new array of the same values on the same device."""
        return self.copyto(self.context)

    def copyto(self, other: NDArray | Context) -> NDArray:
        """Copy the values into `other`, casting to its type, or into a new array on a context.

        Gradients flow through a copy that is recorded.

        Raises:
            ArgumentError: `other` is neither an array nor a context.
            BindError: `other` has another shape, is being recorded, or is a part of an array that would
                lose the gradient.
        """
        recorded = RECORDING <= local.state.mode < TRACING
        if isinstance(other, Context):
            other = empty(self.shape, other, self._spec.dtype)
        elif not isinstance(other, NDArray):
            raise ArgumentError(f"copyto: expected an NDArray or a Context, got {other!r}")
        elif other is self:
            raise BindError("copyto: source and target are the same array")
        elif other.shape != self.shape:
            raise BindError(f"copyto: target has shape {other.shape}, expected {self.shape}")
        elif recorded and other._autograd is not None:
            raise BindError("copyto: the target is part of what is being recorded; copy to a new array")
        if recorded:
            refuse_lost("copyto", [self], [other])
        copy_into(other, self)
        if recorded and self._autograd is not None:
            autograd.record_copy(self, other)
            note_written(other)
        return other

    def as_in_context(self, context: Context) -> NDArray:
        """This array if it lives on `context`, else a copy there."""
        return self if context is self.context else self.copyto(as_context(context, "as_in_context"))

    as_in_ctx = as_in_context

    def astype(self, dtype: object, copy: bool = True) -> NDArray:
        """The values as `dtype`; the array itself if it has that type and `copy` is False."""
        target = as_dtype(dtype)
        spec = self._spec
        if target == spec.dtype and not copy:
            return self
        if local.state.mode >= RECORDING and self._is_recorded:
            return invoke("Cast", (self,), {"dtype": target.name})
        made: NDArray | None = cast_fast(self, spec_of(spec.shape, target, spec.ctx))
        if made is None:
            return self.copyto(empty(spec.shape, spec.ctx, target))
        made._provenance = _MADE
        return made

    def reshape(self, *shape: Any, **params: Any) -> NDArray:
        """A view with another shape; one length may be -1. A copy where memory order forbids a view.

        While recording, and for MXNet's special codes, the `Reshape` operator does it.

        Raises:
            ShapeError: The sizes differ.
        """
        target = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        target = tuple(params.pop("shape", target))
        if self._is_recorded or params or any(axis < -1 or axis == 0 for axis in target):
            return invoke("Reshape", (self,), {"shape": target, **params})
        if target.count(-1) > 1 or not _fits(self.size, target):
            raise ShapeError(
                f"cannot reshape an array of shape {self.shape} to {target}: {self.size} elements"
            )
        if self._data.flags.c_contiguous:
            return self._view(self._data.reshape(target))
        return self.copy().reshape(target)

    def transpose(self, *axes: Any, **named: Any) -> NDArray:
        """The array with its axes permuted (reversed by default); a view unless it is being recorded.

        `axes` may be named, too.

        Raises:
            ShapeError: `axes` is no permutation of the axes.
        """
        if named:
            axes = (by_name("transpose", ("axes",), axes, named)["axes"] or (),)
        order = tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        if self._is_recorded:
            return invoke("transpose", (self,), {"axes": order})
        try:
            return self._view(self._data.transpose(order or None))
        except ValueError as error:
            raise ShapeError(f"transpose: axes {order} do not permute those of {self.shape}") from error

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Make a gradient buffer, to be filled by `backward`; see `operad.autograd.mark_variables`."""
        check_dense("attach_grad", stype)
        autograd.mark_variables([self], [self._new(self._spec)._set(0)], grad_req)

    def backward(
        self, out_grad: NDArray | None = None, retain_graph: bool = False, train_mode: bool = True
    ) -> None:
        """Compute the gradients of what this array depends on; see `operad.autograd.backward`."""
        head_grads = None if out_grad is None else [out_grad]
        autograd.backward([self], head_grads, retain_graph, train_mode)

    def __getitem__(self, key: Any) -> NDArray:
        return get_item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        set_item(self, key, value)

    @classmethod
    def _function_of(cls, operator: str) -> Callable[..., Any]:
        return operator_function(operator, cls)

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentError("a 0-d array has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[NDArray]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ShapeError(
                f"the truth value of an array of shape {self.shape} is ambiguous; use x.any() or x.all()"
            )
        return bool(self.size and self.asscalar())

    def __float__(self) -> float:
        return float(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise ArgumentError(f"an array of {self.dtype.name} cannot be used as an index")
        return int(self.asscalar())

    def __matmul__(self, other: Any) -> Any:
        matmul: Any = registry.entry("operad.attributes", "NDArray.__matmul__")
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return converted(self, other) @ self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return array_ufunc(self, ufunc, method, inputs, options)

    def __array_function__(self, function: Any, _: Any, args: Any, named: Any) -> Any:
        return array_function(self, function, args, named)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise BindError("an NDArray cannot become a NumPy array without a copy; use numpy.from_dlpack")
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        refuse_traced("__dlpack__() of an array", "return the array")
        self.wait_to_write()
        engine.blas_limits.restore()  # as in `asnumpy`
        data = self._data
        # From now on it may be written without an operation of the engine.
        if self._chunk.owner is None:
            self._chunk.owner = EXPORTED
        if isinstance(data, np.ndarray):
            data = np.asarray(Export(self._chunk, data))
        return data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._data.__dlpack_device__()
        return device

    def __reduce__(self) -> tuple[Any, ...]:
        return array, (self.asnumpy(), self.context, self._spec.dtype)

    __copy__ = copy

    def __deepcopy__(self, _: Any) -> NDArray:
        return self.copy()

    def __format__(self, spec: str) -> str:
        if spec and self.size != 1:
            raise ArgumentError(
                f"format {spec!r} of an array of shape {self.shape}: it needs one element; format x.asnumpy()"
            )
        return format(self.asscalar(), spec) if spec else str(self)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"\n{self.asnumpy()}\n<NDArray {shape} @{self.context}>"

    @property
    def _is_recorded(self) -> bool:
        """Return whether calls on this array are recorded now."""
        return local.state.mode >= RECORDING and (self._autograd is not None or local.state.mode >= TRACING)

    def _like(self, value: Any, dtype: DType | None = None) -> NDArray:
        return array(value, self.context, dtype or self._spec.dtype)


def _fits(size: int, target: tuple[int, ...]) -> bool:
    known = math.prod(axis for axis in target if axis != -1)
    return known == size if -1 not in target else (known > 0 and size % known == 0)


@boundary
def empty(
    shape: int | Shape, ctx: Context | None = None, dtype: object = None, stype: str | None = None
) -> NDArray:
    """A new array with undefined contents.

    Args:
        shape: Length of every axis; an int makes a vector.
        ctx: Device; the thread's default context if None.
        dtype: Element type; float32 if None.
        stype: Storage type: "default".
    Raises:
        ShapeError: An axis is negative or no integer.
        UnsupportedError: The storage type is another.
    """
    check_dense("empty", stype)
    try:
        lengths = tuple(map(index, shape if isinstance(shape, Iterable) else (shape,)))
    except TypeError as error:
        raise ShapeError(f"empty: shape is {shape!r}, expected integers") from error
    if any(axis < 0 for axis in lengths):
        raise ShapeError(f"empty: shape {lengths} has a negative axis")
    spec = spec_of(lengths, DEFAULT_DTYPE if dtype is None else as_dtype(dtype), as_context(ctx, "empty"))
    made = NDArray._new(spec) if local.state.mode < TRACING else local.state.trace.empty(spec)
    return made._with_provenance(_MADE)


@boundary
def array(source_array: Any, ctx: Context | None = None, dtype: object = None) -> NDArray:
    """A new array with the values of `source_array`: nested sequences, a NumPy array or an NDArray.

    Args:
        source_array: The values; copied.
        ctx: Device; its own if it is an NDArray, else the thread's default context.
        dtype: Element type; its own if it is an NDArray, else float32, as in MXNet 1.x.
    """
    if isinstance(source_array, NDArray):
        place = source_array.context if ctx is None else as_context(ctx, "array")
        target = empty(source_array.shape, place, source_array.dtype if dtype is None else dtype)
        copy_into(target, source_array)
        return target
    try:
        values = np.asarray(source_array)
        if values.dtype.kind in "US":
            values = values.astype(DEFAULT_DTYPE if dtype is None else as_dtype(dtype))
    except ValueError as error:  # rows of different lengths, or text that is no number
        raise ArgumentError(
            f"array: cannot make an array from {type(source_array).__name__}: {error}"
        ) from error
    if values.dtype.kind not in "fiub":
        raise ArgumentError(
            f"array: cannot make an array of {values.dtype} from {type(source_array).__name__}"
        )
    place = as_context(ctx, "array")
    spec = spec_of(values.shape, DEFAULT_DTYPE if dtype is None else as_dtype(dtype), place)
    made = NDArray._new(spec)._with_provenance(_MADE)._set(values)
    return made if local.state.mode < TRACING else local.state.trace.constant(made)


@boundary
def waitall() -> None:
    """Wait for every pushed operation, and raise what was not raised yet."""
    engine.get().wait_for_all()


def __getattr__(name: str) -> Any:
    """The names of `operad.nd`: MXNet's module of this name defines functions, too."""
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(sys.modules["operad.ndarray"], name)
