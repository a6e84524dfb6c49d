"""`mx.util`: what lengths of 0 in shapes mean, and settings of the environment.

MXNet 1.x's NumPy arrays (`mx.np`) have no counterpart, so `np_array`, `use_np` and `set_np` refuse to switch
to them; what lengths mean (`np_shape`) can be chosen.

Source: python/mxnet/util.py.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator
from typing import Any, TypeVar, final

from operad import Context, gpu, num_gpus, operator
from operad.context import check_gpu
from operad.errors import ContextError, UnsupportedError
from operad.scopes import Exit

F = TypeVar("F", bound=Callable[..., Any])


def is_np_shape() -> bool:
    """Return whether 0 in a shape is a length and -1 unknown; by default 0 is unknown, as in MXNet 1.x."""
    return operator.is_np_shape()


def set_np_shape(active: bool) -> bool:
    """Choose what lengths mean in shapes that this thread gives to symbols; gives what was chosen before."""
    before, around = operator.shape_meanings.top
    operator.shape_meanings.top = bool(active), around
    return before


@final
class np_shape(ContextDecorator):
    """A scope or decorator that chooses what lengths mean inside, see `is_np_shape`.

    Source: np_shape, python/mxnet/util.py.
    """

    def __init__(self, active: bool = True) -> None:
        self._active = bool(active)

    def __enter__(self) -> None:
        operator.shape_meanings.top = self._active, operator.shape_meanings.top

    __exit__ = Exit(lambda _: operator.shape_meanings.ending)


def use_np_shape(func: F) -> F:
    """A decorator: 0 in a shape is a length inside the function, or inside all methods of the class."""
    if inspect.isclass(func):
        for name, method in vars(func).copy().items():
            if inspect.isfunction(method):
                setattr(func, name, use_np_shape(method))
        return func

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        with np_shape():
            return func(*args, **kwargs)

    return call  # type: ignore[return-value]  # of the same signature


def is_np_array() -> bool:
    """Return whether arrays are MXNet's NumPy arrays: never."""
    return False


def np_array(active: bool = True) -> AbstractContextManager[None]:
    """The scope of MXNet's NumPy arrays, which can only be off.

    Raises:
        UnsupportedError: It would be on.
    """
    if active:
        raise _no_np("np_array")
    return np_shape(is_np_shape())


def use_np_array(func: F) -> F:
    """Raises UnsupportedError: there are no NumPy arrays of MXNet's."""
    raise _no_np("use_np_array")


def use_np(func: F) -> F:
    """Raises UnsupportedError: there are no NumPy arrays of MXNet's."""
    raise _no_np("use_np")


def set_np(shape: bool = True, array: bool = True) -> None:
    """`set_np_shape(shape)`.

    Raises:
        UnsupportedError: For `array`: there are no NumPy arrays of MXNet's.
    """
    if array:
        raise _no_np("set_np(array=True)")
    set_np_shape(shape)


def reset_np() -> None:
    """`set_np(shape=False, array=False)`."""
    set_np(shape=False, array=False)


def _no_np(call: str) -> UnsupportedError:
    return UnsupportedError(
        f"{call}: there are no mx.np arrays here; NumPy's own functions take NDArrays (numpy.tanh(x)), "
        "and np_shape() alone says what lengths of 0 mean"
    )


def set_module(module: str | None) -> Callable[[F], F]:
    """A decorator that says which module documentation shows for a function or class; None: its own."""

    def decorate(func: F) -> F:
        if module is not None:
            func.__module__ = module
        return func

    return decorate


def getenv(name: str) -> str | None:
    """A variable of the environment; None if it is not set."""
    return os.environ.get(name)


def setenv(name: str, value: str | None) -> None:
    """Set a variable of the environment, or remove it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def get_gpu_count() -> int:
    """Number of GPUs."""
    return num_gpus()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Free and total memory of a GPU, in bytes.

    Raises:
        ContextError: There is no such GPU.
    """
    check_gpu(ctx := gpu(gpu_dev_id))
    free, total = ctx.xp.cuda.Device(gpu_dev_id).mem_info
    return int(free), int(total)


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """`get_gpu_memory`, as `mx.context` has it."""
    return get_gpu_memory(device_id)


def get_cuda_compute_capability(ctx: Context) -> int:
    """The compute capability of a GPU as a number: 90 for 9.0.

    Raises:
        ContextError: `ctx` is no GPU's, or there is no such GPU.
    """
    if not ctx.is_gpu:
        raise ContextError(f"get_cuda_compute_capability: got {ctx}, expected the context of a GPU")
    check_gpu(ctx)
    return int(ctx.xp.cuda.Device(ctx.device_id).compute_capability)
