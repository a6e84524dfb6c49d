"""Compiled loops of an operator: a module of functions for numba, imported when there is enough to do.

An operator whose work NumPy has no functions for keeps its loops in a module of their own, which only
`CompiledLoops` imports, and has another way for where numba is not installed: the loops are a kernel, whose
condition `when` gives. Which one is taken depends on the environment, the arrays and their sizes, never on
time: a program computes the same bits on every run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, TypeVar, final

import numpy as np

from operad.errors import OperadError
from operad.files import read_bytes
from operad.first_use import import_module
from operad.operator import KernelCall

F = TypeVar("F", bound=Callable[..., Any])
Condition = Callable[[KernelCall], "bool | str"]
FROM_SIZE: Final = 2048
"""Elements from which loops are worth the first one's half a second, where nothing else is said."""


@cache
def has_numba() -> bool:
    """Return whether loops can be compiled here, without importing numba; asked once, on first need."""
    return find_spec("numba") is not None


@final
class CompiledLoops:
    """A module of functions that `loop` declares; each is an attribute.

    Numba's import costs half a second, and a loop that no cache has 0.1 s to 0.5 s. So nothing is
    imported before an attribute is asked for.

    Attributes:
        from_size: Elements from which the loops are worth their compilation.
        module: The module's name.

    Args:
        module: Its full name.
        from_size: See above.
    """

    def __init__(self, module: str, from_size: int = FROM_SIZE) -> None:
        self.from_size = from_size
        self.module = module

    def pay(self, size: int, *arrays: Any) -> bool:
        """Return whether to use the loops for `size` elements, where no kernel is chosen.

        The loops run on the host alone and if numba is installed.

        Args:
            arrays: Some of those that the loops would get; one of each module is enough.
        """
        return self.rejection(all(type(array) is np.ndarray for array in arrays), size) is None

    def when(self, size: Callable[[KernelCall], int], *also: Condition) -> Pays:
        """Condition for a kernel that calls the loops: on the host, and for calls large enough to pay.

        Args:
            size: Gives, for a call, how many elements there are to compute.
            also: Further conditions, asked first.
        """
        return Pays(self, size, also)

    def rejection(self, is_host: bool, size: int | None) -> str | None:
        """Reason why the loops are not used; None if they are.

        Args:
            size: Elements to compute; None: any number will do.
        """
        if not is_host:
            return "its loops run on the host alone"
        if size is not None and size < self.from_size:
            return f"{size} elements, compiled loops pay from {self.from_size}"
        return None if has_numba() else "numba is not installed (pip install operad-sdk[fast])"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # protocols, such as copying, are no reason to import numba
        return getattr(_imported(self.module), name)


@final
class Pays:
    """The condition that compiled loops pay; see `CompiledLoops.when`."""

    def __init__(
        self, loops: CompiledLoops, size: Callable[[KernelCall], int], also: Sequence[Condition]
    ) -> None:
        self._loops = loops
        self._size = size
        self._also = also

    def __call__(self, call: KernelCall) -> bool | str:
        """True, or the reason why the loops are not used."""
        return self._verdict(call, self._size)

    def regardless_of_size(self, call: KernelCall) -> bool | str:
        """Same condition as if every call were large enough: checks try the loops on small arrays."""
        return self._verdict(call, lambda _: None)

    @property
    def is_possible(self) -> bool:
        """True if the loops can be used at all in this environment."""
        return self._loops.rejection(True, None) is None

    def _verdict(self, call: KernelCall, size: Callable[[KernelCall], int | None]) -> bool | str:
        for condition in self._also:
            verdict = condition(call)
            if verdict is not True:
                return verdict
        return self._loops.rejection(call.ctx.xp is np, size(call)) or True


_imported = cache(import_module)


def loop(function: F, *, may_reorder: bool = False) -> F:
    """Compile a function of arrays and numbers on its first call, for the types that it gets.

    It runs without the interpreter's lock, divides by zero as NumPy does, and starts no threads
    (`op_ctx.parallel` divides work). Machine code is kept in the folder of `OPERAD_CACHE_DIR`, for as long as
    the function's file stays as it is.

    Args:
        function: In the part of Python that numba compiles; it may call other loops of its file.
        may_reorder: Whether sums may be vectorized, which changes their order, but not from run to run.
    """
    jit = import_module("operad_sdk.jit").jit  # numba, which modules of loops alone need
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if may_reorder:
        options["fastmath"] = {"reassoc", "nsz", "contract"}
    compiled: F = jit(function, _source(function), **options)
    return compiled


def _source(function: Callable[..., Any]) -> bytes | None:
    """The file of a function; None of one that was typed, or is in an archive."""
    try:
        return read_bytes(inspect.getfile(function), "the source of compiled loops")
    except OperadError:
        return None
