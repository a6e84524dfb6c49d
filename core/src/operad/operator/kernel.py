"""Several implementations of one operator, and the choice between them.

An operator's meaning is its property; how it is computed is a *kernel*: a factory of `Operator`
objects with a statement of where it applies. The property's own kernels and those that other
distributions add (`operad.kernels` entry points) stand in one list; the applicable one of highest
priority wins, and the earlier registered one among equals. The choice depends on device, shapes
and types only, never on timing, so a program computes the same bits on every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

from operad.context import Context
from operad.dtypes import DType
from operad.errors import OperadError

if TYPE_CHECKING:
    from operad.operator.operator import Operator
    from operad.operator.property import OperatorProperty

Shapes = Sequence[tuple[int, ...]]
Types = Sequence[DType]

KernelFactory = Callable[[Any, Context, Shapes, Types], "Operator"]
"""`factory(prop, ctx, in_shapes, in_types)` makes an `Operator`; an `Operator` class will do."""

KernelPredicate = Callable[[Any, Shapes, Types], "bool | str"]
"""`when(prop, in_shapes, in_types)`: True to accept, False or a reason to reject."""


@final
class Kernel(NamedTuple):
    """One way to compute an operator.

    Attributes:
        name: What `operad why` calls it.
        factory: Makes the `Operator`.
        device: `"cpu"`, `"gpu"`, or `"any"` for code that uses only the array module.
        priority: Larger is preferred.
        when: Further condition on shapes and types; None accepts all.
        distribution: Who provides it; None: the operator's own distribution.
    """

    name: str
    factory: KernelFactory
    device: str = "any"
    priority: int = 0
    when: KernelPredicate | None = None
    distribution: str | None = None

    def rejection(
        self, prop: OperatorProperty, ctx: Context, in_shapes: Shapes, in_types: Types
    ) -> str | None:
        """Why this kernel does not apply here; None when it does."""
        device = "gpu" if ctx.is_gpu else "cpu"
        if self.device not in ("any", device):
            return f"runs on {self.device}, not on {device}"
        if self.when is None:
            return None
        verdict = self.when(prop, in_shapes, in_types)
        if isinstance(verdict, str):
            return verdict
        return None if verdict else "its `when` condition is false"


class Candidate(NamedTuple):
    """A kernel and the verdict on it, as `operad why` shows it."""

    kernel: Kernel
    rejection: str | None


def candidates(prop: OperatorProperty, ctx: Context, in_shapes: Shapes, in_types: Types) -> list[Candidate]:
    """Every kernel of `prop`, best first, each with the reason it was rejected, or None."""
    ranked = sorted(type(prop).kernels, key=lambda kernel: -kernel.priority)
    return [Candidate(kernel, kernel.rejection(prop, ctx, in_shapes, in_types)) for kernel in ranked]


def select_kernel(prop: OperatorProperty, ctx: Context, in_shapes: Shapes, in_types: Types) -> Kernel:
    """The applicable kernel of highest priority.

    Raises:
        OperadError: None applies; the message lists every candidate and its reason.
    """
    tried = candidates(prop, ctx, in_shapes, in_types)
    for kernel, rejection in tried:
        if rejection is None:
            return kernel
    reasons = "; ".join(f"{kernel.name}: {rejection}" for kernel, rejection in tried) or "it has no kernels"
    types = ", ".join(dtype.name for dtype in in_types)
    raise OperadError(
        f"{prop.name}: no kernel for shapes {list(in_shapes)} of types [{types}] on {ctx} ({reasons}); "
        "install a plugin that provides one, or change the context or dtype"
    )
