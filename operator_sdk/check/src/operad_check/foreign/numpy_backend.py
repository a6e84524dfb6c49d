"""NumPy: functions with a gradient that is written beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from operad.errors import ArgumentError
from operad_check.foreign.backend import Array, Backend, Function, Pull
from operad_check.foreign.definition import definition_of
from operad_check.foreign.programs import NumpyLike, Syntax
from operad_check.trials.cause import call_of_author
from operad_check.trials.reference import listed


@final
class NumpySyntax(NumpyLike):
    """NumPy's own words.

    Args:
        place: Line by which a program has the gradient, as `f_grad`; "": there is none.
    """

    head = ("import numpy as np",)
    copy = "{}.copy()"
    views = ("{0}.T.copy().T", "np.stack(({0}, {0} + 7), -1)[..., 0]", "{0}[..., ::-1].copy()[..., ::-1]")
    repeats = (
        "np.broadcast_to({0}[(slice(1),) * {0}.ndim], {0}.shape)",
        "np.broadcast_to({0}[:1], {0}.shape)",
        "np.broadcast_to({0}[..., :1], {0}.shape)",
    )

    def __init__(self, place: str) -> None:
        self._place = place

    def gradient(self, floating: Sequence[bool]) -> list[str]:
        """The gradient beside the function, `f_grad`, as a tuple."""
        if not self._place:
            return []
        names = ", ".join(f"x{i}" for i, _ in enumerate(floating))
        comma = "," if len(floating) == 1 else ""
        return [self._place, f"grad = lambda {names}, head: (f_grad(head, {names}){comma})"]


@final
class NumpyBackend(Backend):
    """Functions of NumPy arrays.

    Args:
        gradient: Takes the gradients of the outputs and then the arguments, and returns one gradient per
            argument, of which None stands for zeros; None: functions have no gradient.
    """

    name = "numpy"
    imports = {"np": "import numpy as np", "math": "import math"}

    def __init__(self, gradient: Callable[..., Any] | None = None) -> None:
        self._gradient = gradient

    @property
    def has_gradient(self) -> bool:
        """Return whether one was given."""
        return self._gradient is not None

    @property
    def version(self) -> str:
        """NumPy's version."""
        return np.__version__

    @property
    def syntax(self) -> Syntax:
        """NumPy's words."""
        if self._gradient is None:
            return NumpySyntax("")
        lines = definition_of(self._gradient, "f_grad")
        return NumpySyntax("\n".join(lines) or "# f_grad is the gradient that was checked")

    @property
    def scope(self) -> Mapping[str, Any]:
        """The gradient."""
        return {"f_grad": self._gradient}

    def array(self, value: Array, dtype: str = "") -> Array:
        """The array itself."""
        return value

    def numpy(self, value: Any) -> Array:
        """The value as an array."""
        return np.asarray(value)

    def call(self, function: Function, arrays: Sequence[Array]) -> Any:
        """Call the function."""
        return function(*arrays)

    def vjp(self, function: Function, arrays: Sequence[Array], wanted: Sequence[int]) -> tuple[Any, Pull]:
        """Call the function, and later its gradient."""
        result = function(*arrays)

        def pull(heads: Sequence[Array | None]) -> list[Any]:
            assert self._gradient is not None, "no gradient is asked for where there is none"
            found = call_of_author(self._gradient, *heads, *arrays)
            several = listed(found)
            if len(several) != len(arrays):
                raise ArgumentError(
                    f"the gradient gives {len(several)} arrays, expected one for each of the {len(arrays)} "
                    "arguments, or None"
                )
            return [several[place] for place in wanted]

        return result, pull
