"""Elements where a mask is true, in traces that know no values and so not how many there are.

What a function computes of them, element by element, is computed of all, and taken where the mask is true.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn, final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from operad_sdk.differentiate.dispatch import Masked
from operad_sdk.differentiate.errors import refusal
from operad_sdk.differentiate.tracing import FORM, Traced, plain

_OVER_ALL: Final = frozenset(("sum", "mean", "prod", "var", "std", "any", "all"))


def is_mask(x: Any, index: Any) -> bool:
    """Return whether an index says of each element of a traced array whether it is meant."""
    if not isinstance(index, Traced) or not isinstance(x, Traced) or index.level > FORM:
        return False
    return bool(index.dtype == bool and plain(index).shape == plain(x).shape)


@final
class MaskedElements(Masked, NDArrayOperatorsMixin):
    """`whole[mask]`.

    Args:
        whole: All elements.
        mask: Of the same shape.
    """

    def __init__(self, whole: Traced, mask: Traced) -> None:
        self._whole, self._mask = Traced(whole.node), Traced(mask.node)  # as they are now

    def put(self, x: Traced, index: Any) -> None:
        """Write the elements where they belong in an array."""
        if not is_mask(x, index) or not _same(index, self._mask):
            _refuse()
        x.write(np.where(index, self._whole.astype(x.dtype, copy=False), x))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        (out,) = options.pop("out", (None,))
        masks = [x._mask for x in inputs if isinstance(x, MaskedElements)]
        others = [x for x in inputs if not isinstance(x, MaskedElements)]
        is_each = method == "__call__" and not options and not any(np.ndim(plain(x)) for x in others)
        if not is_each or not all(_same(mask, self._mask) for mask in masks):
            _refuse()
        found = ufunc(*[x._whole if isinstance(x, MaskedElements) else x for x in inputs])
        if out is not None:
            out._whole = found.astype(out._whole.dtype, copy=False)
        return MaskedElements(found, self._mask) if out is None else out

    def __array_function__(self, *args: Any) -> NoReturn:
        _refuse()

    def __getattr__(self, name: str) -> Any:
        if name not in _OVER_ALL:
            _refuse()
        return lambda: getattr(self._whole, name)(where=self._mask)


def _same(one: Traced, other: Traced) -> bool:
    """Return whether two masks are one, or were computed alike from the same arrays."""
    a, b = one.node.step, other.node.step
    if one.node is other.node or a is None or b is None or a.options or b.options:
        return one.node is other.node
    is_alike = a.primitive.function is b.primitive.function and len(a.args) == len(b.args)
    return is_alike and all(x is y for x, y in zip(a.args, b.args, strict=True))


def _refuse() -> NoReturn:
    raise refusal("how many elements a result has depends on values")
