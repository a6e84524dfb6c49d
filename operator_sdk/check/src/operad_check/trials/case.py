"""One example: parameters and values, apart from any run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy.typing as npt

Array = npt.NDArray[Any]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Parameters, arrays and mode of one run of an operator.

    Attributes:
        params: The parameters that are not left at their defaults.
        inputs: By argument.
        aux: Auxiliary states before the run.
        out_grads: One per visible output; none: made from the seed.
        is_train: The mode.
        seed: Of random resources, and of everything else that a check chooses.
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Array] = field(default_factory=dict)
    aux: Mapping[str, Array] = field(default_factory=dict)
    out_grads: tuple[Array, ...] = ()
    is_train: bool = True
    seed: int = 0

    @property
    def size(self) -> tuple[int, int, int]:
        """Sort key by which one case is smaller than another: elements and axes, parameters given, seed."""
        elements = sum(array.size + array.ndim for array in [*self.inputs.values(), *self.aux.values()])
        return elements, len(self.params), self.seed

    def describe(self) -> str:
        """The case in one line: `data=float64(2, 3), axis=1, is_train=False`."""
        arrays = {**self.inputs, **self.aux}
        words = [f"{name}={array.dtype.name}{array.shape}" for name, array in arrays.items()]
        words += [f"{name}={value!r}" for name, value in self.params.items()]
        return ", ".join([*words, f"is_train={self.is_train}"])
