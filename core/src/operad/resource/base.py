"""Resources that an operator can ask for besides arrays."""

from __future__ import annotations

import enum
from abc import ABC

from operad.device import Context
from operad.engine import Engine, Var


class ResourceRequest(enum.Enum):
    """A kind of resource, as operators list it in `forward_resource` and `backward_resource`.

    Source: ResourceRequest::Type, include/mxnet/resource.h.
    """

    RANDOM = "random"
    """A random generator, `RandomStream`."""
    TEMP_SPACE = "temp_space"
    """Scratch memory for one run, `TempSpace`."""
    PARALLEL_RANDOM = "parallel_random"
    """Independent random generators for parallel parts of one operator, `ParallelRandom`."""


class Resource(ABC):  # noqa: B024 - what the kinds share is data; only the kinds are made
    """Something that operators of one device take turns at.

    An operation that uses the resource names `var` among its mutable variables, which makes the
    turns push order.

    Attributes:
        ctx: Device the resource serves.
        var: The engine variable that orders its users.

    Source: Resource, include/mxnet/resource.h. Differs: a class for each kind.
    """

    __slots__ = ("ctx", "var")

    def __init__(self, ctx: Context, engine: Engine, name: str) -> None:
        self.ctx = ctx
        self.var: Var = engine.new_variable(name=f"{name} of {ctx!r}")
