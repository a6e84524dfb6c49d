"""A case: an operator, the recipe of its arrays, its parameters. Needs NumPy alone, of any version.

Arrays come from `numpy.random.RandomState`, whose streams are frozen for good, seeded by the case's own
name. So the recorder, under another NumPy, and the test make the same arrays, and only results are stored.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Recipe = Callable[[np.random.RandomState], Array]

SHAPES: dict[str, Any] = {
    "vector": (3,),
    "matrix": (2, 3),
    "4d": (2, 1, 3, 2),
    "axes_of_one": (1, 1),
    "one_number": 4,
}
"""Values of a parameter `shape`, by name; the last is that of a vector, as users write it too."""


@dataclass(frozen=True)
class Case:
    """One computation that is recorded under MXNet and repeated here.

    Attributes:
        op: Canonical name of the operator in MXNet 1.x.
        name: What is special about the case; unique for the operator, in lower_snake_case.
        inputs: A recipe per tensor, arguments first and then auxiliary states, in MXNet's order.
        params: Parameters by name, as a user writes them.
        grad: Which inputs get a gradient, by position; None means every floating-point argument.
        compare: `values`, or `shapes` where values are random or undefined (shape and dtype still count).
        rtol: Relative tolerance; None means the default of the dtype.
        atol: Absolute tolerance, likewise.
        is_train: Whether the call runs in training mode.
    """

    op: str
    name: str
    inputs: Sequence[Recipe] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    grad: Sequence[int] | None = None
    compare: str = "values"
    rtol: float | None = None
    atol: float | None = None
    is_train: bool = True

    @property
    def id(self) -> str:
        """The operator and the case."""
        return f"{self.op}/{self.name}"

    def random_state(self, purpose: str = "inputs") -> np.random.RandomState:
        """The case's own stream for one purpose (`inputs`, `head_grads`, `prefill`)."""
        return np.random.RandomState(zlib.crc32(f"{self.id}/{purpose}".encode()))

    def arrays(self) -> list[Array]:
        """Fresh inputs."""
        stream = self.random_state()
        with np.errstate(all="ignore"):  # values too large for a type are meant
            return [recipe(stream) for recipe in self.inputs]


def normal(*shape: int, mean: float = 0.0, scale: float = 1.0, dtype: str = "float32") -> Recipe:
    """Normally distributed values."""
    return lambda stream: (mean + scale * stream.standard_normal(shape)).astype(dtype)


def uniform(*shape: int, low: float = -1.0, high: float = 1.0, dtype: str = "float32") -> Recipe:
    """Values spread evenly over an interval."""
    return lambda stream: stream.uniform(low, high, shape).astype(dtype)


def integers(*shape: int, low: int = -5, high: int = 6, dtype: str = "float32") -> Recipe:
    """Integers from `low` up to, but without, `high`."""
    return lambda stream: stream.randint(low, high, shape).astype(dtype)


def permutation(*shape: int, dtype: str = "float32") -> Recipe:
    """Distinct integers in random order: no ties."""
    return lambda stream: stream.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)


def exactly(values: Any, dtype: str = "float32") -> Recipe:
    """These values."""
    return lambda _: np.array(values, dtype=dtype)


def digest(case: Case) -> str:
    """Eight hexadecimal digits that change with the inputs and parameters, but not in their last bits."""
    told = (sorted(case.params.items()), case.grad, case.compare, case.is_train)
    crc = zlib.crc32(repr(told).encode())
    for values in case.arrays():
        mantissa, exponent = np.frexp(values.astype(np.float64))
        rounded = np.nan_to_num(np.round(mantissa * 256), nan=1e3, posinf=2e3, neginf=-2e3)
        crc = zlib.crc32(f"{values.dtype.name} {values.shape}".encode(), crc)
        crc = zlib.crc32(rounded.astype("<i2").tobytes() + exponent.astype("<i2").tobytes(), crc)
    return f"{crc:08x}"
