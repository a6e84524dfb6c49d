"""The process around a test: its devices, environment, error stream, and luck.

Source: python/mxnet/test_utils.py.
"""

from __future__ import annotations

import functools
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from typing import Any, TypeVar

from operad import Context, NDArray, current_context, num_gpus
from operad.errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])

_chosen: list[Context] = []


def default_context() -> Context:
    """Device of arrays whose device is not given."""
    return current_context()


def set_default_context(ctx: Context) -> None:
    """Make a device this thread's default, until the next call; outside of `with ctx:`."""
    if _chosen and current_context() is _chosen[-1]:
        _chosen.pop().__exit__()
    _chosen.append(ctx)
    ctx.__enter__()


def list_gpus() -> range:
    """Numbers of the GPUs."""
    return range(num_gpus())


def is_op_runnable() -> bool:
    """Return whether operators run on the default device: always."""
    return True


def has_tvm_ops() -> bool:
    """Return whether there are operators made by TVM: never."""
    return False


def is_aarch64_run() -> bool:
    """Return whether this machine has an aarch64 processor."""
    return platform.machine() == "aarch64"


def same_array(array1: NDArray, array2: NDArray) -> bool:
    """Return whether two arrays of one shape are the same memory, by writing to the first."""
    if array1.shape != array2.shape or array1.context is not array2.context or not array1.size:
        return False
    kept = array1.copy()
    try:
        for value in (0, 1):
            array1[...] = value
            if not (array2.asnumpy() == value).all():
                return False
        return True
    finally:
        array1[...] = kept


def retry(n: int) -> Callable[[F], F]:
    """Let a test that depends on luck fail fewer than `n` times in a row.

    Raises:
        ArgumentError: `n` is no positive number.
    """
    if n < 1:
        raise ArgumentError(f"retry: n is {n!r}, expected a positive integer")

    def decorate(test: F) -> F:
        @functools.wraps(test)
        def tried(*args: Any, **kwargs: Any) -> Any:
            for left in reversed(range(n)):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    if not left:
                        raise
            return None

        return tried  # type: ignore[return-value]  # it has the test's signature

    return decorate


@contextmanager
def environment(*args: Any) -> Iterator[None]:
    """Variables of the environment, for the body of a `with`; None removes one.

    Args:
        args: A name and a value, or a dictionary of values by name.

    Raises:
        ArgumentError: They are something else.
    """
    if len(args) == 1 and isinstance(args[0], Mapping):
        wanted = dict(args[0])
    elif len(args) == 2 and isinstance(args[0], str):
        wanted = {args[0]: args[1]}
    else:
        raise ArgumentError(f"environment: got {args!r}, expected a name and a value, or a dictionary")
    before = {name: os.environ.get(name) for name in wanted}
    try:
        _set(wanted)
        yield
    finally:
        _set(before)


@contextmanager
def discard_stderr() -> Iterator[None]:
    """Throw away what the process writes to its error stream, in the body of a `with`."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            with redirect_stderr(nowhere):
                yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
