"""Contexts: the devices that data lives on and operations run on. Users import them as `operad.context`.

A `Context` is a device type and number. It says nothing of streams or threads: those belong to the
engine, which makes a `RunContext` from it when an operation runs. Array code that must work on
every device takes its array module from `Context.xp`.
"""

from __future__ import annotations

from operator import index
from types import ModuleType
from typing import ClassVar, Final, final

import numpy as np

from operad.errors import ContextError
from operad.first_use import import_module
from operad.scopes import Exit, Levels


class _Defaulting(type):
    """Gives `Context` the thread's default as an attribute of the class."""

    @property
    def default_ctx(cls) -> Context:
        """The thread's default context; setting it replaces the innermost one."""
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, ctx: Context) -> None:
        _defaults.top = as_context(ctx, "Context.default_ctx"), _defaults.top[1]


@final
class Context(metaclass=_Defaulting):
    """A device: `Context("cpu", 0)`. Instances are interned, so `is` compares them.

    A context is only a name; making one for a device that this machine lacks is legal (programs and files
    name devices of other machines). Allocation checks that the device is there.

    Used as a context manager it becomes the thread's default context.

    Source: Context, python/mxnet/context.py and include/mxnet/base.h. Differs: interned, immutable.
    """

    __slots__ = ("device_id", "device_type")

    devstr2type: ClassVar = {"cpu": 1, "gpu": 2, "cpu_pinned": 3, "cpu_shared": 5}
    """MXNet's numbers for the device types, as written in `.params` files."""

    devtype2str: ClassVar = {number: name for name, number in devstr2type.items()}

    _interned: ClassVar[dict[tuple[str, int], Context]] = {}

    device_type: str
    device_id: int

    def __new__(cls, device_type: str | Context, device_id: int = 0) -> Context:  # noqa: D102 - the class's
        if isinstance(device_type, Context):
            return device_type
        if device_type not in cls.devstr2type:
            known = ", ".join(cls.devstr2type)
            raise ContextError(f"unknown device type {device_type!r}; expected one of {known}")
        try:
            key = (device_type, index(device_id))
        except TypeError:
            key = (device_type, -1)
        found = cls._interned.get(key)
        if found is not None:
            return found
        if key[1] < 0:
            raise ContextError(f"device_id of {device_type!r} is {device_id!r}, expected an integer >= 0")
        context = super().__new__(cls)
        context.device_type, context.device_id = key
        return cls._interned.setdefault(key, context)

    @property
    def device_typeid(self) -> int:
        """MXNet's number for the device type."""
        return self.devstr2type[self.device_type]

    @property
    def is_gpu(self) -> bool:
        """Return whether arrays of this context live in GPU memory."""
        return self.device_type == "gpu"

    @property
    def xp(self) -> ModuleType:
        """The array module of this device: `numpy`, or `cupy` on a GPU.

        Raises:
            ContextError: CuPy is not installed.
        """
        return _cupy() if self.is_gpu else np

    def __reduce__(self) -> tuple[type[Context], tuple[str, int]]:
        return (Context, (self.device_type, self.device_id))

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def __enter__(self) -> Context:
        _defaults.top = self, _defaults.top
        return self

    __exit__ = Exit(lambda _: _defaults.ending)


_defaults: Final[Levels[Context]] = Levels(lambda: Context("cpu"))


def current_context() -> Context:
    """The thread's default context: the innermost `with ctx:`, else `cpu(0)`."""
    return _defaults.top[0]


def as_context(given: object, call: str) -> Context:
    """`given`, the argument `ctx` of `call`, where it is a context; the thread's default for None.

    Raises:
        ContextError: It is something else, such as the name of a device.
    """
    if given is None:
        return current_context()
    if not isinstance(given, Context):
        raise ContextError(
            f"{call}: ctx is {given!r}, expected a Context; give ctx=operad.cpu() or ctx=operad.gpu(0), "
            "and several lengths as one shape: (2, 3)"
        )
    return given


def cpu(device_id: int = 0) -> Context:
    """The host processor. Numbers name separate queues over the same memory."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Host memory that a GPU can copy from asynchronously; without a GPU, plain host memory."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """CUDA device `device_id`; whether it is there shows when memory is asked for, and `num_gpus` says it."""
    return Context("gpu", device_id)


def check_gpu(ctx: Context) -> None:
    """Check that this process can use a CUDA device.

    Raises:
        ContextError: CuPy is not installed, or this machine has no such device; the message says
            what to install.
    """
    found = num_gpus()
    if found == 0:
        _cupy()
        raise ContextError(
            f"{ctx}: CuPy is installed but found no CUDA device; "
            "check the driver with nvidia-smi, or use operad.cpu()"
        )
    if ctx.device_id >= found:
        raise ContextError(f"{ctx}: this machine has {found} CUDA device(s), numbered from 0")


def num_gpus() -> int:
    """Number of CUDA devices that this process can use; 0 without CuPy or a driver."""
    try:
        cupy = _cupy()
    except ContextError:
        return 0
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


def _cupy() -> ModuleType:
    try:
        cupy = import_module("cupy")  # heavy and optional: imported when a GPU is first asked for
    except ImportError as error:
        raise ContextError(
            "GPU contexts need CuPy, which is not installed: pip install cupy-cuda12x "
            "(or cupy-cuda13x, to match the driver)"
        ) from error
    module: ModuleType = cupy
    return module
