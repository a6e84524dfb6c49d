"""Variables: the arguments of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad.boundary import boundary
from operad.dtypes import as_dtype, type_flag
from operad.errors import ArgumentError
from operad.graph import Entry, Variable, hidden_key
from operad.ndarray import check_dense
from operad.op import PartialShape, is_np_shape, known_shape
from operad.symbol import attribute
from operad.symbol.symbol import Symbol


@boundary
def var(
    name: str,
    attr: dict[str, str] | None = None,
    shape: Sequence[int] | None = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
    dtype: object = None,
    init: Any = None,
    stype: str | None = None,
    **attrs: object,
) -> Symbol:
    """A variable: an argument of the graph.

    Args:
        name: Its name, unique in the graph.
        attr: Attributes, strings; `attrs` whose names begin and end with `__` likewise, of any type.
        shape: Its shape, where known beforehand; 0 for an unknown axis, -1 with NumPy's shapes.
        lr_mult: Factor on its learning rate; `wd_mult` on its weight decay.
        dtype: Its element type.
        init: Its initializer: a name, or an object with `dumps()`.
        stype: Its storage type: "default", for arrays are dense.
    """
    check_dense(f"var {name!r}", stype)
    if not isinstance(name, str):
        raise ArgumentError(f"var: the name is {name!r}, expected a string")
    for key in attrs:
        if not (key.startswith("__") and key.endswith("__")):
            raise ArgumentError(
                f"var {name!r}: unknown argument {key!r}; extra attributes are named like __my_attr__"
            )
    given: dict[str, Any] = {
        "__shape__": None if shape is None else _written(known_shape(shape)),
        "__lr_mult__": lr_mult,
        "__wd_mult__": wd_mult,
        "__dtype__": None if dtype is None else type_flag(as_dtype(dtype)),
        "__init__": init.dumps() if hasattr(init, "dumps") else init,
    }
    own = {hidden_key(key): value for key, value in (attr or {}).items()}
    attribute.check(f"var {name!r}", own)
    own.update({key: str(value) for key, value in attrs.items()})
    own.update({key: str(value) for key, value in given.items() if value is not None})
    return Symbol([Entry(Variable(name, attrs=attribute.AttrScope.current.get(own)))])


def _written(shape: PartialShape) -> str:
    unknown = -1 if is_np_shape() else 0
    return str(tuple(unknown if axis is None else axis for axis in shape or ()))
