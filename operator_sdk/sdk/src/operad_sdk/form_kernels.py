"""Kernels that nobody asks for: parts of declared operators by their scalar forms, in vector code.

Each function that an author wrote, `forward` or a gradient, has a kernel beside it that computes all targets
of the function, so that pairs in place hold for both alike. It ranks directly before the author's functions,
and so behind every kernel written to be taken instead. It applies where each target has a form, the arrays
are large enough, and the rule of `operad_sdk.vector.cost_rule` has vector code faster than NumPy's own calls.

Nothing of what traces, writes and compiles is imported before a call is large enough. What tells large from
small are shapes, and whether the function names a reduction at all: a walk over rows pays from a few hundred
elements, where several calls of NumPy cost more than they compute; one of elements does from many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from operad.first_use import import_module
from operad.operator import FORWARD, Kernel, KernelCall, Shape, is_known

if TYPE_CHECKING:
    from operad_sdk.declare.function import Bound
    from operad_sdk.declare.property import OperatorProperty

PASSES_FROM_SIZE: Final = 256
"""Elements from which what takes several passes over arrays is worth its compilation, 0.03 to 0.06 s where no
process did it before: forms that reduce rows, and what saves `SAVED_US`."""
ELEMENTS_FROM_SIZE: Final = 1 << 14
"""The same for functions of elements, which may be one or two of NumPy's."""
SAVED_US: Final = 1.5
"""Estimated time of a small call whose saving is worth compilation."""
_MOST_VALUES: Final = 16
"""Values of an operator's parameters for which kernels are compiled, and small shapes for which programs are
traced: from there on it is taken for one whose numbers, or lengths, change from call to call."""
OF_GRAPH: Final = "the shapes of its outputs follow from the graph"
EXACT: Final = frozenset(
    [
        "input", "constant", "length", "cast", "add", "subtract", "multiply", "divide", "negative", "abs",
        "sqrt", "floor", "ceil", "trunc", "rint", "sign", "copysign", "maximum", "minimum", "smaller",
        "larger", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and",
        "logical_or", "logical_not", "select", "isnan", "isinf", "isfinite",
    ]
)  # fmt: skip
"""Instructions of which vector code gives the bits that NumPy gives."""


class View(NamedTuple):
    """A part of a contiguous array, or its elements in another order.

    Attributes:
        offset: Bytes to its first element.
        shape: Its shape.
        strides: Its steps in bytes.
    """

    offset: int
    shape: Shape
    strides: tuple[int, ...]

    def of(self, array: Any) -> Any:
        """The view of an array; of a copy, if that is not contiguous."""
        array = np.ascontiguousarray(array)
        return np.ndarray(self.shape, array.dtype, array, self.offset, self.strides)


def kernels_of(prop: OperatorProperty) -> list[Kernel]:
    """A kernel beside each function of an operator."""
    names = prop.list_arguments()
    functions: list[tuple[Bound, tuple[str, ...]]] = [(prop.binding.forward, (FORWARD,))]
    functions += [(one, tuple(f"{names[i]}_grad" for i in one.targets)) for one in prop.binding.gradients]
    return [_kernel(prop, bound, parts) for bound, parts in functions]


def _kernel(prop: OperatorProperty, bound: Bound, parts: tuple[str, ...]) -> Kernel:
    return Kernel(
        f"{prop.name}.vector_{parts[0] if len(parts) == 1 else bound.what.rpartition('.')[2]}",
        partial(_computed, "operator_of", parts),
        "cpu",
        when=_PaysInVectors(parts, bound),
        parts=lambda _: parts,
        cost=partial(_computed, "cost_of", parts),
        scratch_bytes=partial(_computed, "scratch_bytes_of", parts),
    )


@final
class _PaysInVectors:
    """Condition: the call is large enough, and vector code computes all parts at least as fast as NumPy.

    Attributes:
        ignores_values: Kernels take run-time parameters of any value; where functions have no form for one,
            they are called.
    """

    ignores_values: Final = True

    def __init__(self, parts: tuple[str, ...], bound: Bound) -> None:
        self._parts = parts
        self._bound = bound
        self._values: set[tuple[Any, ...]] = set()
        self._shapes: set[tuple[Shape, ...]] = set()

    def __call__(self, call: KernelCall) -> bool | str:
        """True, or the reason why the kernel is not used."""
        size: int | None = call.memo.get("size")
        if size is None:
            size = max(map(prod, call.in_shapes), default=0)
            if size < ELEMENTS_FROM_SIZE:
                if not all(map(is_known, call.out_shapes)):
                    return OF_GRAPH
                size = max(size, *map(prod, call.out_shapes))
            call.memo["size"] = size
        if size < PASSES_FROM_SIZE:
            return f"{size} elements, vector code pays from {PASSES_FROM_SIZE}"
        if size < ELEMENTS_FROM_SIZE and not _surroundings().takes_passes(self._bound.function):
            return f"{size} elements, of one pass vector code pays from {ELEMENTS_FROM_SIZE}"
        values: tuple[Any, ...] = ()
        if call.is_alone:
            fixed = [name for name, declared in type(call.prop).params.items() if not declared.run_time]
            values = tuple([getattr(call.prop, name) for name in fixed])
            if len(self._values) >= _MOST_VALUES and values not in self._values:
                return f"its parameters had {_MOST_VALUES} values already, and each is compiled apart"
        is_large, returned = size >= ELEMENTS_FROM_SIZE, bool(self._bound.returned)
        reason: str | None = _heavy().reason_for(self._parts, call, is_large, returned)
        if reason is None and call.is_alone:
            self._values.add(values)
            if not is_large and _heavy().is_program(self._parts, call):
                shapes = tuple(call.in_shapes)
                if len(self._shapes) >= _MOST_VALUES and shapes not in self._shapes:
                    return f"{_MOST_VALUES} small shapes have programs already, and each is traced apart"
                self._shapes.add(shapes)
        return reason or True

    def regardless_of_size(self, call: KernelCall) -> bool | str:
        """Same condition but for size and speed: checks try kernels on small arrays."""
        return _heavy().reason_for(self._parts, call) or True

    def explained(self, call: KernelCall) -> str:
        """The kernel in words, where it is a program."""
        found: str = _heavy().explained(self._parts, call)
        return found

    @property
    def is_possible(self) -> bool:
        """True if the kernel can be used at all in this environment."""
        return reason_against() is None


def _surroundings() -> Any:
    return import_module("operad_sdk.declare.surroundings")


def _heavy() -> Any:
    return import_module("operad_sdk.vector.derived_kernels")


def _computed(name: str, parts: tuple[str, ...], *call: Any) -> Any:
    """Result of a function of the heavy module."""
    return getattr(_heavy(), name)(parts, *call)


def reason_against() -> str | None:
    """Reason why there is no vector code in this process; None if there is."""
    reason: str | None = import_module("operad_sdk.vector.machine").reason_against()
    return reason


@final
class InVectorCode:
    """Condition of a kernel in vector code: the process can compile it, and no reason speaks against it.

    Args:
        refusal: `refusal(call, is_large)` says why a call is computed otherwise, or gives None; with
            `is_large`, as if the call were large enough to be worth a compilation.
    """

    def __init__(self, refusal: Callable[[KernelCall, bool], str | None]) -> None:
        self._refusal = refusal

    def __call__(self, call: KernelCall) -> bool | str:
        """True, or the reason why the kernel is not used."""
        reason = self._refusal(call, False)
        if reason is None:
            if "vector" not in call.memo:
                call.memo["vector"] = reason_against()
            reason = call.memo["vector"]
        return reason or True

    def regardless_of_size(self, call: KernelCall) -> bool | str:
        """Same condition as if every call were large enough: checks try kernels on small arrays."""
        return self._refusal(call, True) or reason_against() or True

    @property
    def is_possible(self) -> bool:
        """True if the kernel can be used at all in this environment."""
        return reason_against() is None
