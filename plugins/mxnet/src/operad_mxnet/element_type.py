"""Type of `NDArray.dtype`: a class of numbers, as in MXNet 1.x, with all that NumPy's dtype has.

MXNet gives the class `numpy.float32`; programs ask for its `__name__`, call it, look it up in a dict of
classes, and hand it to `issubclass`. NumPy gives `dtype('float32')`; programs ask for its `name`, `kind` and
`itemsize`. An element type does both: it derives from NumPy's class, and its attributes are the dtype's.
NumPy takes it for the dtype wherever it wants one. Refused: the class alone, which has no `itemsize`, and the
dtype alone, which is not callable and no key of MXNet's tables (docs/decisions/0035).

An element type is neither of the two itself: `x.dtype is np.float32` and `isinstance(x.dtype, np.dtype)` are
False, and it is found in a dict by classes, not by dtypes, since those have another hash.
"""

from __future__ import annotations

import copyreg
from functools import cache
from operator import attrgetter
from typing import Any, final

import numpy as np

from operad.dtypes import DType, as_dtype
from operad.errors import DTypeError


@final
class ElementType(type):
    """The class of such classes; `element_type` makes them."""

    dtype: DType

    def __call__(cls, *values: Any) -> Any:
        """A number of the type, or an array of them, as NumPy's class makes it."""
        return cls.dtype.type(*values)

    def __eq__(cls, other: object) -> bool:
        try:
            return other is not None and bool(cls.dtype == other)
        except TypeError:  # it names no type
            return False

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __repr__(cls) -> str:
        return repr(cls.dtype)

    def __str__(cls) -> str:
        return str(cls.dtype)


for _name in dir(np.dtype):
    if not _name.startswith("_"):  # those of NumPy's class, such as `itemsize`, are for numbers
        setattr(ElementType, _name, property(attrgetter(f"dtype.{_name}")))


@cache
def element_type(dtype: DType) -> ElementType:
    """The element type of a dtype; equal for equal dtypes."""
    base = dtype.type
    # NumPy lets nobody derive from its class of bools.
    bases = () if base is np.bool_ else (base,)
    members = {"dtype": dtype, "__module__": __name__, "__doc__": base.__doc__}
    return ElementType(base.__name__, bases, members)


def __getattr__(name: str) -> Any:
    """Element types by name, as pickle and cloudpickle look for classes."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return element_type(as_dtype(name))
    except DTypeError as error:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from error


copyreg.pickle(ElementType, lambda kind: (element_type, (kind.dtype,)))
