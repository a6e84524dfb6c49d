"""The protocol by which the checks reach a library: arrays, calls, gradients, refusals."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from operad_check.foreign.programs import Syntax
from operad_check.register import Check

Array = npt.NDArray[Any]
Function = Callable[..., Any]
Pull = Callable[[Sequence[Any]], list[Any]]
"""Function from the gradients of the outputs to those of the wanted arguments; None: it is zero."""


class Backend(ABC):
    """A library of arrays.

    Everything that a method takes or gives is the library's own, but for `array` and `numpy`, which lead
    there and back.

    Attributes:
        name: As in `operad check --NAME FUNCTION`.
        imports: Names that expressions may use without an import of their own, such as `torch`, by
            the import that brings them.
        skips: Ids of checks that mean nothing here, such as those of strides in a library that has none.
        narrow_types: Floating types that NumPy lacks, with the distance from 1 to the next number.
    """

    name: ClassVar[str]
    imports: ClassVar[Mapping[str, str]] = {}
    skips: ClassVar[frozenset[str]] = frozenset()
    narrow_types: ClassVar[Mapping[str, float]] = {}

    @property
    def has_gradient(self) -> bool:
        """Return whether functions have a gradient; where they have none, none is checked."""
        return True

    @property
    def scope(self) -> Mapping[str, Any]:
        """Names of the backend's own in programs."""
        return {}

    @property
    @abstractmethod
    def version(self) -> str:
        """The library's own version."""

    @property
    @abstractmethod
    def syntax(self) -> Syntax:
        """Words of programs that show a finding."""

    @property
    def checks(self) -> Sequence[Check]:
        """Checks of what only this library can be asked.

        They stand in the module `checks` of the adapter's package, where `operad explain` finds them.
        """
        return ()

    @abstractmethod
    def array(self, value: Array, dtype: str = "") -> Any:
        """The array as the library's, of the same elements and strides where it has such, in the same memory.

        Args:
            dtype: One of `narrow_types`, to which the elements are rounded; "": the array's own.
        """

    @abstractmethod
    def numpy(self, value: Any) -> Array:
        """The library's array, or a number, as NumPy's; of a type that NumPy lacks, as float32."""

    @abstractmethod
    def call(self, function: Function, arrays: Sequence[Any]) -> Any:
        """Call a function where no gradient is wanted."""

    @abstractmethod
    def vjp(self, function: Function, arrays: Sequence[Any], wanted: Sequence[int]) -> tuple[Any, Pull]:
        """Result of a call, and the function that gives gradients of the arguments at the places `wanted`."""

    def gradient(self, function: Function, wanted: Sequence[int], count: int) -> Function | None:
        """Function of `count` gradients of outputs and then the arguments, which has a gradient itself.

        It gives the gradients of the arguments at the places `wanted`, as a tuple. None: there is none.
        """
        return None

    def forget(self) -> None:  # noqa: B027 - most libraries have none
        """Empty the library's own caches, which grow up to some size: they are no leak of a function.

        By default there are none.
        """

    def is_refusal(self, error: BaseException) -> bool:
        """Return whether an exception refuses the arguments, rather than report a fault of the library."""
        return isinstance(error, Exception)


class TransformingBackend(Backend):
    """A library that transforms functions: checks of `operad_check.foreign.transforms` ask for this."""

    @abstractmethod
    def compiled(self, function: Function) -> Function:
        """The function, compiled again."""

    @abstractmethod
    def mapped(self, function: Function) -> Function:
        """The function over the first axis of each argument."""

    @abstractmethod
    def jvp(self, function: Function, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Result, and its derivative along `tangents`, of which there is one for each argument."""


@contextmanager
def quiet() -> Iterator[None]:
    """Run without warnings, of which libraries give many about arrays that are made for a check."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
