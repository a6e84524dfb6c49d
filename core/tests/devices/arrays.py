"""Arrays of the stand-in for CuPy, and its functions.

An array is a NumPy array that NumPy cannot see: it refuses to be converted, and NumPy's functions come
to CuPy's functions of the same name, with CuPy's arguments, or are refused, by the rules of CuPy's own
`__array_ufunc__` and `__array_function__` (cupy/_core/core.pyx). An array of the host among the
arguments is refused. Nothing warns of overflow, as nothing does on a device.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial, reduce
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import numpy as np

from core.tests.devices.functions import FUNCTIONS, METHODS, UFUNCS
from core.tests.devices.streams import Device, Stream, current_device, get_current_stream

_VIEWS: Final = ["diagonal", "ravel", "reshape", "squeeze", "swapaxes", "transpose", "view"]
_METHODS: Final = """
all any argmax argmin argpartition argsort astype choose clip compress conj copy cumprod cumsum dot fill
flatten max mean min nonzero partition prod put repeat round searchsorted sort std sum take trace var
"""
_TO_HOST: Final = ["item", "tobytes", "tolist"]
_PROPERTIES: Final = """
T dtype flags imag itemsize nbytes ndim real shape size strides
"""
_SCATTERED: Final = frozenset(("add", "subtract", "maximum", "minimum"))  # ufuncs of CuPy that have `at`
_INDEXED: Final = frozenset(("take", "put", "take_along_axis"))  # CuPy converts indices of the host
_IN_PLACE: Final = frozenset(
    (np.copyto, np.put, np.ndarray.fill, np.ndarray.partition, np.ndarray.put, np.ndarray.sort)
)
_UNSET: Final = frozenset(("empty", "empty_like"))  # whatever was there
_SHAPED_BY_VALUES: Final = frozenset((
    "argwhere", "bincount", "compress", "delete", "extract", "flatnonzero", "intersect1d", "masked",
    "nonzero", "repeat",
))  # fmt: skip
_STALE: Final = {"f": np.nan, "c": np.nan}
"""What stands in an array that is to be computed late, by kind of type."""


class Array:
    """`cupy.ndarray`.

    Attributes:
        base: The array whose memory it shows; None where it has its own.
        device: Where it lies.
    """

    __slots__ = ("__weakref__", "_host", "base", "device")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, host: np.ndarray[Any, Any], base: Array | None = None) -> None:
        self._host = host
        self.base = base
        self.device = Device() if base is None else base.device

    @property
    def data(self) -> SimpleNamespace:
        """Where the memory is: `data.ptr`."""
        return SimpleNamespace(ptr=self._host.ctypes.data, device=self.device)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._host.__array_interface__

    def get(self, stream: object = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        """A copy on the host, made after all that the stream was told."""
        if blocking:
            get_current_stream().synchronize()
        if out is None:
            out = np.empty_like(self._host, order=order)
        if out.dtype != self.dtype or out.shape != self.shape:
            raise TypeError(f"get: out is {out.dtype}{out.shape}, expected {self.dtype}{self.shape}")
        if blocking:
            out[...] = self._host
        else:
            get_current_stream().work(lambda: out.__setitem__(..., self._host))
        return out

    def set(self, arr: Any, stream: object = None) -> None:
        """Take values from an array of the host, of the same type and shape."""
        if not isinstance(arr, np.ndarray) or (arr.dtype, arr.shape) != (self.dtype, self.shape):
            raise TypeError(f"set: {arr!r} is no array of the host of {self.dtype}{self.shape}")
        if not self._host.flags.c_contiguous:
            raise RuntimeError("set: the array is not contiguous")
        get_current_stream().work(lambda: self._host.__setitem__(..., arr))

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "implicit conversion to a NumPy array is not allowed; a function of an operator takes the "
            "array module from op_ctx.xp, or gives like=array"
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        name = ufunc.__name__
        if method != "__call__":
            raise TypeError(f"np.{name}.{method} does not come to arrays of a device; use op_ctx.xp")
        if name not in UFUNCS and name != "matmul":
            raise TypeError(f"np.{name} has no counterpart in CuPy")
        if "out" in keywords:
            (keywords["out"],) = keywords["out"]
        return getattr(functions, name)(*inputs, **keywords)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, keywords: Any) -> Any:
        path = [*func.__module__.split(".")[1:], func.__name__]
        try:
            found = reduce(getattr, path, functions)
        except AttributeError:
            raise TypeError(f"np.{'.'.join(path)} has no counterpart in CuPy") from None
        if not {Array, np.ndarray}.issuperset(types):
            return NotImplemented
        return found(*args, **keywords)

    def __getitem__(self, key: Any) -> Any:
        index = host_of(key, allows_host=True)
        return computed("masked" if _has_mask(index) else "indexed", lambda: self._host[index], (self,))

    def __setitem__(self, key: Any, value: Any) -> None:
        _refuse_lists("assignment", (value,))
        index, values = host_of(key, allows_host=True), host_of(value, "assignment")
        get_current_stream().work(lambda: self._host.__setitem__(index, values))

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Any:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"{self._host!r} on a device"


def host_of(value: Any, what: str = "", allows_host: bool = False) -> Any:
    """An argument as NumPy has it; an array of the host is refused."""
    if isinstance(value, Array):
        return value._host
    if isinstance(value, np.ndarray) and not allows_host:
        raise TypeError(f"{what}: unsupported type {type(value)}, an array of the host")
    if isinstance(value, (tuple, list)):
        return type(value)(host_of(item, what, allows_host) for item in value)
    return value


def adopted(value: Any, sources: tuple[Any, ...] = ()) -> Any:
    """A result as the device has it; memory is that of one of `sources`, or new."""
    if isinstance(value, list):
        return [adopted(item, sources) for item in value]
    if isinstance(value, tuple):  # also the named results of linear algebra
        return tuple(adopted(item, sources) for item in value)
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    host = np.asarray(value)
    for source in sources:
        if isinstance(source, Array) and _owner(host) is _owner(source._host):
            return Array(host, source if source.base is None else source.base)
    return Array(host)


def _has_mask(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(getattr(part, "dtype", None) == np.bool_ for part in parts)


def computed(name: str, function: Callable[[], Any], sources: tuple[Any, ...]) -> Any:
    """The result of `function`, which reads `sources` and writes to nothing.

    Late, shapes are found from whatever the sources hold, and values come when the stream comes to them;
    sources of which nothing can be computed are waited for. A view of a source has nothing to compute, and
    where a shape depends on values CuPy itself waits.
    """
    stream = get_current_stream()
    is_late = Stream.is_late and name not in _UNSET | _SHAPED_BY_VALUES
    if Stream.is_late and name in _SHAPED_BY_VALUES:
        stream.synchronize()
    try:
        value = function()
    except Exception:
        if not is_late:
            raise
        stream.synchronize()  # what the sources hold is no index, say
        value, is_late = function(), False
    for source in sources:
        if isinstance(source, Array) and source._host is value:
            return source
    result = adopted(value, sources)
    if is_late:
        made = [x if isinstance(x, Array) and x.base is None else None for x in _leaves(result)]
        for array in made:
            if array is not None:
                array._host[...] = _STALE.get(array.dtype.kind, 1)
        if any(array is not None for array in made):
            stream.work(lambda: _fill(made, _leaves(function())))
    return result


def _fill(arrays: list[Array | None], values: list[Any]) -> None:
    for array, value in zip(arrays, values, strict=True):
        if array is not None:
            array._host[...] = value


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, (list, tuple)) else [value]


def _owner(host: np.ndarray[Any, Any]) -> object:
    while isinstance(host.base, np.ndarray):
        host = host.base
    return host


def _call(
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    out_at: int | None = None,
) -> Any:
    """`function` of the values; what is given as `out` is the result.

    Args:
        out_at: Position of `out` among the arguments.
    """
    everything = (*args, *keywords.values())
    for given in everything:
        if isinstance(given, Array) and given.device.id != current_device():
            raise RuntimeError(f"{name}: an array of {given.device}, expected {Device()}, the current one")
    allows = name.rpartition(".")[2] in _INDEXED
    values = [host_of(arg, name, allows) for arg in args]
    named = {key: host_of(value, name, allows) for key, value in keywords.items()}

    def run() -> Any:
        with np.errstate(all="ignore"):
            return function(*values, **named)

    out = keywords.get("out", args[out_at] if out_at is not None and len(args) > out_at else None)
    if out is not None or function in _IN_PLACE:
        get_current_stream().work(run)
        return out
    return computed(name, run, everything)


def refuse(name: str, args: Any, keywords: Any, allowed: tuple[str, ...]) -> None:
    """Raise where CuPy's function takes none of these keywords, or not so many arguments.

    Args:
        allowed: The names of its arguments, as `functions` has them.
    """
    if not any(parameter.startswith("**") for parameter in allowed):
        for key in keywords:
            if key not in allowed:
                raise TypeError(f"CuPy's {name} has no argument {key!r}; it has {', '.join(allowed)}")
    if len(args) > len(allowed) and not any(parameter.startswith("*") for parameter in allowed):
        raise TypeError(f"CuPy's {name} takes at most {len(allowed)} arguments, got {len(args)}")


def _refuse_lists(name: str, values: tuple[Any, ...]) -> None:
    for value in values:
        if isinstance(value, (list, tuple)):
            raise TypeError(f"{name}: unsupported type {type(value)}")


def _ufunc(name: str) -> Callable[..., Any]:
    def call(*args: Any, **keywords: Any) -> Any:
        refuse(name, (), keywords, ("out", "dtype", "casting"))
        _refuse_lists(name, args)
        function = getattr(np, name)
        return _call(name, function, args, keywords, function.nin)

    call.__name__ = name
    if name in _SCATTERED:
        call.at = partial(_at, getattr(np, name))  # type: ignore[attr-defined]
    return call


def _at(ufunc: np.ufunc, a: Array, indices: Any, b: Any = None) -> None:
    values = host_of(a), host_of(indices, allows_host=True), host_of(b, ufunc.__name__)
    get_current_stream().work(lambda: ufunc.at(*values))


def _function(name: str) -> Callable[..., Any]:
    function, parameters = operator.attrgetter(name)(np), FUNCTIONS[name]
    out_at = parameters.index("out") if "out" in parameters else None

    def call(*args: Any, **keywords: Any) -> Any:
        refuse(name, args, keywords, parameters)
        return _call(name, function, args, keywords, out_at)

    return call


def _method(name: str) -> Callable[..., Any]:
    out_at = 1 + METHODS[name].index("out") if "out" in METHODS[name] else None

    def call(self: Array, *args: Any, **keywords: Any) -> Any:
        refuse(f"ndarray.{name}", args, keywords, METHODS[name])
        return _call(name, getattr(np.ndarray, name), (self, *args), keywords, out_at)

    return call


def _view(name: str) -> Callable[..., Any]:
    def call(self: Array, *args: Any, **keywords: Any) -> Any:
        refuse(f"ndarray.{name}", args, keywords, METHODS[name])
        return computed(name, lambda: getattr(self._host, name)(*args, **keywords), (self,))

    return call


def _to_host(name: str) -> Callable[..., Any]:
    def call(self: Array, *args: Any, **keywords: Any) -> Any:
        refuse(f"ndarray.{name}", args, keywords, METHODS[name])
        return getattr(self.get(), name)(*args, **keywords)

    return call


def _property(name: str) -> property:
    return property(lambda self: adopted(getattr(self._host, name), (self,)))


def _operator(name: str, ufunc: str, form: str) -> Callable[..., Any]:
    function = _ufunc(ufunc)
    if form == "r":
        return lambda self, other: function(other, self)
    if form == "i":
        return lambda self, other: function(self, other, out=self)
    return lambda self, *other: function(self, *other)


_BINARY: Final = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "pow": "power",
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul",
}  # fmt: skip
_OTHERS: Final = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal", "neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert",
}  # fmt: skip

for _name in _METHODS.split():
    setattr(Array, _name, _method(_name))
for _name in _VIEWS:
    setattr(Array, _name, _view(_name))
for _name in _TO_HOST:
    setattr(Array, _name, _to_host(_name))
for _name in _PROPERTIES.split():
    setattr(Array, _name, _property(_name))
for _name, _ufunc_name in _BINARY.items():
    for _form in ("", "r", "i"):
        setattr(Array, f"__{_form}{_name}__", _operator(_name, _ufunc_name, _form))
for _name, _ufunc_name in _OTHERS.items():
    setattr(Array, f"__{_name}__", _operator(_name, _ufunc_name, ""))
for _name in ("bool", "int", "float", "complex", "index"):
    setattr(Array, f"__{_name}__", lambda self, _convert=f"__{_name}__": getattr(self.get(), _convert)())

functions: Final = SimpleNamespace(
    fft=SimpleNamespace(), linalg=SimpleNamespace(), lib=SimpleNamespace(stride_tricks=SimpleNamespace())
)
"""CuPy's functions by name."""

for _name in (*UFUNCS, "matmul"):
    setattr(functions, _name, _ufunc(_name))
for _name in FUNCTIONS:
    _folder, _, _own = _name.rpartition(".")
    setattr(operator.attrgetter(_folder)(functions) if _folder else functions, _own, _function(_name))
