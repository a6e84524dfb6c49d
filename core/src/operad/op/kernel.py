"""Several implementations of one operator, and the choice between them.

An operator's meaning is its property; how it is computed is a *kernel*: a factory of `Operator` objects
with a statement of which *parts* it computes (`forward`, the gradients of some arguments, or all) and where
it applies. The property's own kernels and those that other distributions add (`operad.kernels` entry points)
stand in one list. Each part gets the best applicable kernel that computes it: of highest priority, then of
lowest declared cost, then the earlier registered one. Kernels derived from the operator's own functions rank
directly before these, and so behind whatever someone wrote to be taken instead. A part that a kernel does not
compute is computed by the next one; none is ever taken for zero.

A kernel may *keep* arrays of its own in forward for a gradient, *prepare* arrays from arguments that rarely
change, and have pairs in place and resources of its own; see `operad.operator.chosen`.

The choice depends on what a `KernelCall` knows and on the constants of costs, never on timing, so a program
computes the same bits on every run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, final

from operad.config import settings
from operad.device import Context
from operad.dtypes import DType
from operad.errors import ArgumentError, OperadError, suggestion
from operad.op.cost import Cost, as_cost, own_cost
from operad.op.rates import rates
from operad.op.shapes import Shape
from operad.resource import ResourceRequest

if TYPE_CHECKING:
    from operad.op.entry import BackwardEntry
    from operad.op.operator import Operator
    from operad.op.property import OperatorProperty

R = TypeVar("R")

Shapes = Sequence[tuple[int, ...]]
Types = Sequence[DType]

FORWARD: Final = "forward"
"""The part that computes the outputs; the others are `<argument>_grad`."""

KernelFactory = Callable[[Any, Context, Shapes, Types], "Operator"]
"""`factory(prop, ctx, in_shapes, in_types)` makes an `Operator`; an `Operator` class will do."""

KernelPredicate = Callable[["KernelCall"], "bool | str"]
"""`when(call)`: True to accept, False or a reason to reject."""


@final
class KernelCall:
    """A call before there are arrays, which conditions and costs of kernels look at.

    Attributes:
        prop: The operator's property; parameters are its attributes.
        ctx: Where it runs.
        in_shapes: Shapes of the arguments; `in_types` likewise.
        is_train: Whether gradients may follow: in a bound graph, whether it computes any.
        threads: How many threads an operation may use at most.
        is_bare: Whether who asks knows the operator alone, and so gives a kernel no resources and no memory
            but what the operator declares.
        is_alone: Whether it is made by itself. What a graph computes may depend on no call before it.
        memo: Kernels that were asked, and why each does not apply, by id, and what conditions share, by name.
    """

    __slots__ = (
        "_known", "ctx", "in_shapes", "in_types", "is_alone", "is_bare", "is_train", "memo", "prop",
        "threads",
    )  # fmt: skip

    def __init__(
        self,
        prop: Any,
        ctx: Context,
        in_shapes: Shapes,
        in_types: Types,
        is_train: bool = True,
        threads: int | None = None,
        is_bare: bool = False,
        is_alone: bool = False,
    ) -> None:
        self.prop = prop
        self.ctx = ctx
        self.in_shapes = in_shapes
        self.in_types = in_types
        self.is_train = is_train
        self.threads = settings().num_threads if threads is None else threads
        self.is_bare = is_bare
        self.is_alone = is_alone
        self._known: tuple[list[Any], dict[str, tuple[Any, Any]]] | None = None
        self.memo: dict[Any, Any] = {}

    def has(self, name: str) -> bool:
        """Return whether there is an argument or an output of this name for these parameters.

        Raises:
            ArgumentError: There is none for any.
        """
        known = [*self.prop.list_arguments(), *self.prop.list_outputs()]
        if name in known:
            return True
        if name in (self.prop.optional_inputs or ()):
            return False
        advice = suggestion(name, known)
        raise ArgumentError(
            f"{self.prop.name}: a kernel asks for {name!r}, which is no array of it; {advice}"
        )

    def shape(self, name: str) -> Shape:
        """The shape of an argument or output that is there."""
        found: Shape = self._of(name)[0]
        return found

    def dtype(self, name: str) -> DType:
        """The element type of an argument or output that is there."""
        found: DType = self._of(name)[1]
        return found

    def size(self, name: str) -> int:
        """Number of elements of an argument or output; 0 where it is absent."""
        return prod(self.shape(name)) if self.has(name) else 0

    def _of(self, name: str) -> tuple[Any, Any]:
        arguments = self.prop.list_arguments()
        if name in arguments:  # which may be asked for before shapes are known to agree
            position = arguments.index(name)
            return self.in_shapes[position], self.in_types[position]
        found = self._inferred()[1].get(name)
        if found is None and not self.has(name):
            raise ArgumentError(
                f"{self.prop.name}: {name!r} is absent for these parameters; ask has(...) before"
            )
        return found  # type: ignore[return-value]

    def _inferred(self) -> tuple[list[Any], dict[str, tuple[Any, Any]]]:
        """Shapes of the outputs, and shape and type of each by name."""
        if self._known is None:
            prop = self.prop
            shapes, types = prop.infer_shape(list(self.in_shapes))[1], prop.infer_type(list(self.in_types))[1]
            self._known = shapes, dict(zip(prop.list_outputs(), zip(shapes, types, strict=True), strict=True))
        return self._known

    @property
    def out_shapes(self) -> list[Any]:
        """Shapes of the outputs."""
        return self._inferred()[0]


ArrayRule = Callable[[KernelCall], "tuple[Shape, DType]"]
"""Shape and element type of an array of a kernel's own."""

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@final
class Prepared(NamedTuple):
    """An array that a kernel makes of arguments which rarely change, such as packed weights.

    A bound graph makes it once for each version of these arguments, if all of them are variables. Anywhere
    else the kernel gets None, and makes for itself what it needs.

    Attributes:
        arguments: The names of the arguments.
        parts: The parts that read the array.
        array: Gives its shape and type.
        maker: `maker(call)` gives a function of the arguments and the array, which fills that. What is there
            must depend on nothing but their values.
    """

    arguments: tuple[str, ...]
    parts: tuple[str, ...]
    array: ArrayRule
    maker: Callable[[KernelCall], Callable[..., object]]


@final
class Kernel(NamedTuple):
    """One way to compute an operator, or parts of it.

    Attributes:
        name: What `operad why` calls it.
        factory: Makes the `Operator`.
        device: `"cpu"`, `"gpu"`, or `"any"` for code that uses only the array module.
        priority: Larger is preferred.
        when: Further condition; None accepts all. One with a true attribute `ignores_values` looks at no
            run-time parameter.
        distribution: Who provides it; None: the operator's own distribution.
        parts: Gives, for a property, the parts that it computes; None: all.
        cost: Gives, for a call, what its parts compute together: operations of loops, or a `Cost`; None: what
            the operator says.
        scratch_bytes: Gives, for a call, how much memory it takes for itself while it runs; None: nothing to
            speak of.
        prepares: Arrays made of arguments that rarely change, by name. Its operator gets them behind the
            arguments, and None where there are none.
        reads: `reads(prop, part)` gives what a gradient reads besides; None: what the operator declares.
        inplace: `inplace(prop, part)` gives the pairs (what is read, index of a target) that may share memory
            in a part; None: those of the operator.
        resources: `resources(call, part)` gives what it asks the resource manager for; None: what the
            operator asks for.
    """

    name: str
    factory: KernelFactory
    device: str = "any"
    priority: int = 0
    when: KernelPredicate | None = None
    distribution: str | None = None
    parts: Callable[[Any], Collection[str]] | None = None
    cost: Callable[[KernelCall], float | Cost] | None = None
    scratch_bytes: Callable[[KernelCall], int] | None = None
    prepares: Mapping[str, Prepared] = _NOTHING
    reads: Callable[[Any, str], Collection[BackwardEntry]] | None = None
    inplace: Callable[[Any, str], Collection[tuple[BackwardEntry, int]]] | None = None
    resources: Callable[[KernelCall, str], Sequence[ResourceRequest]] | None = None

    @property
    def has_demands(self) -> bool:
        """Return whether its pairs in place or its resources are others than the operator's."""
        return self.inplace is not None or self.resources is not None

    @property
    def ignores_values(self) -> bool:
        """Return whether its condition looks at no run-time parameter."""
        return self.when is None or getattr(self.when, "ignores_values", False)

    def computes(self, prop: OperatorProperty, part: str) -> bool:
        """Return whether it computes a part."""
        return self.parts is None or part in self.parts(prop)

    def rejection(self, call: KernelCall, part: str | None = None) -> str | None:
        """Why this kernel does not apply to a call, or to a part of it; None when it does."""
        known: tuple[Kernel, str | None] | None = call.memo.get(id(self))
        if known is None:
            known = call.memo[id(self)] = self, self._rejection(call)
        # Asked last: names of a kernel's function need not mean anything where it does not apply.
        if part is None or known[1] is not None:
            return known[1]
        return None if self.computes(call.prop, part) else f"computes no {part}"

    def _rejection(self, call: KernelCall) -> str | None:
        device = "gpu" if call.ctx.is_gpu else "cpu"
        if self.device not in ("any", device):
            return f"runs on {self.device}, not on {device}"
        if call.is_bare and self.has_demands:
            return "has pairs in place or resources of its own, which are not given here"
        if self.when is not None:
            verdict = self.ask("when", self.when, call)
            if isinstance(verdict, str):
                return verdict
            if not verdict:
                return "its `when` condition is false"
        return None

    def ask(self, name: str, function: Callable[..., R], *args: Any) -> R:
        """Result of a function of the kernel's, its own exceptions with a note that names both."""
        try:
            return function(*args)
        except OperadError:
            raise
        except Exception as error:
            whose = f" of {self.distribution}" if self.distribution else ""
            error.add_note(
                f"in `{name}` of kernel {self.name!r}{whose}: a fault of the kernel, not of the call"
            )
            raise

    def estimate(self, call: KernelCall) -> Cost:
        """Cost of the kernel: what it says, or else the operator; as measurements have it."""
        if self.cost is None:
            own = own_cost(call.prop, call.in_shapes, call.out_shapes, call.in_types)
        else:
            own = as_cost(self.ask("cost", self.cost, call))
        return own.corrected(rates().kernels.get(self.name))


class Candidate(NamedTuple):
    """A kernel and the verdict on it, as `operad why` shows it."""

    kernel: Kernel
    rejection: str | None


def ranked(call: KernelCall) -> list[Kernel]:
    """The kernels of an operator, best first, whether they apply or not."""
    kernels: list[Kernel] = type(call.prop).kernels
    derived = call.prop.derived_kernels()
    found = kernels if len(kernels) == 1 else _in_order(call, kernels)
    own = next((i for i, kernel in enumerate(found) if kernel is kernels[0]), 0)
    return [*found[:own], *derived, *found[own:]]


def _in_order(call: KernelCall, kernels: list[Kernel]) -> list[Kernel]:
    applying = [kernel for kernel in kernels if kernel.rejection(call) is None]
    rivals = Counter([kernel.priority for kernel in applying])
    # What applies nowhere need not be able to say what it costs, and what has no rival is not asked.
    costs = {id(each): each.estimate(call).us for each in applying if rivals[each.priority] > 1}
    order = [(-each.priority, costs.get(id(each), math.inf), i) for i, each in enumerate(kernels)]
    return [kernels[i] for _, _, i in sorted(order)]


def candidates(
    prop: OperatorProperty, ctx: Context, in_shapes: Shapes, in_types: Types, part: str = FORWARD
) -> list[Candidate]:
    """Every kernel of `prop`, best first, each with the reason it was rejected for a part, or None."""
    call = KernelCall(prop, ctx, in_shapes, in_types)
    return [Candidate(kernel, kernel.rejection(call, part)) for kernel in ranked(call)]


def no_kernel(call: KernelCall, part: str, tried: Sequence[Candidate]) -> OperadError:
    """The error for a part that no kernel computes."""
    reasons = "; ".join(f"{kernel.name}: {rejection}" for kernel, rejection in tried) or "it has no kernels"
    types = ", ".join(dtype.name for dtype in call.in_types)
    what = "no kernel" if part == FORWARD else f"no kernel computes {part}"
    return OperadError(
        f"{call.prop.name}: {what} for shapes {list(call.in_shapes)} of types [{types}] on {call.ctx} "
        f"({reasons}); install a plugin that provides one, or change the context or dtype"
    )
