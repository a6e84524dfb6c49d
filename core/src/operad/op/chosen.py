"""An operator as certain kernels compute it, where these ask for more than the operator declares.

A kernel may have arrays prepared, or have pairs in place and resources of its own.
Only the kernels know of that: the operator's contract stays what it is. So once kernels are chosen,
such an operator is replaced by one whose contract is theirs. What is prepared are arguments, behind the
operator's own. Plans of memory, schedules, programs and tapes then need not know of kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from operad.device import Context
from operad.dtypes import DType
from operad.op.choice import Choice
from operad.op.cost import Cost
from operad.op.entry import BackwardEntry
from operad.op.form import ScalarForm
from operad.op.kernel import FORWARD, Kernel, KernelCall
from operad.op.operator import Operator, TemplateOperator
from operad.op.property import InferredShapes, InferredTypes, OperatorProperty
from operad.op.shapes import PartialShape, Shape
from operad.resource import ResourceRequest


@final
class Chosen(OperatorProperty):
    """An operator by a choice of kernels, for the shapes and types of its call alone.

    Args:
        choice: The kernels, with what they have prepared.
    """

    name = "_chosen"

    def __init__(self, choice: Choice) -> None:
        super().__init__()
        of = choice.call.prop
        self.name = of.name  # type: ignore[misc]  # each instance has that of its operator
        self.has_gradient = of.has_gradient  # type: ignore[misc]
        self.is_stateful = of.is_stateful  # type: ignore[misc]
        self.states_move = of.states_move
        self.multiplies = of.multiplies  # type: ignore[misc]
        self.of: OperatorProperty = of
        self.choice = choice
        self.num_args = len(of.list_arguments())

    def get_params(self) -> dict[str, str]:
        """The operator's."""
        return self.of.get_params()

    def list_arguments(self) -> list[str]:
        """The operator's, and what is prepared."""
        return [*self.of.list_arguments(), *[name for _, name in self.choice.prepared]]

    def list_outputs(self) -> list[str]:
        """The operator's."""
        return self.of.list_outputs()

    def list_auxiliary_states(self) -> list[str]:
        """The operator's."""
        return self.of.list_auxiliary_states()

    def fixed_arguments(self) -> Mapping[str, float]:
        """The operator's."""
        return self.of.fixed_arguments()

    def input_positions(self) -> list[int] | None:
        """The operator's; nothing is prepared for imperative calls."""
        return self.of.input_positions()

    @property
    def num_visible_outputs(self) -> int:
        """The operator's."""
        return self.of.num_visible_outputs

    @property
    def train_only_outputs(self) -> frozenset[int]:
        """The operator's."""
        return self.of.train_only_outputs

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The operator's, and the shapes of the call."""
        args, outs, states = self.of.infer_shape(in_shapes[: self.num_args])
        prepared = [shape for shape, _ in self.choice.prepared_arrays()]
        return [*args, *prepared], outs, states

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The operator's, and the types of the call."""
        args, outs, states = self.of.infer_type(in_types[: self.num_args])
        prepared = [dtype for _, dtype in self.choice.prepared_arrays()]
        return [*args, *prepared], outs, states

    def backward_dependency(self, wanted: Sequence[bool]) -> list[BackwardEntry]:
        """Arrays that the kernels of these gradients read."""
        names = self.of.list_arguments()
        found: set[BackwardEntry] = set()
        for position, name in enumerate(names):
            if wanted[position]:
                found.update(self._reads(f"{name}_grad"))
        return sorted(found, key=lambda entry: (_KINDS.index(entry.kind), entry.index))

    def _reads(self, part: str) -> list[BackwardEntry]:
        choice = self.choice
        found = choice.reads(part)
        for one in choice.preparations([part]):
            if one in choice.prepared:
                found.append(BackwardEntry("in_data", self.num_args + choice.prepared.index(one)))
        return found

    def differentiable_inputs(self) -> list[bool]:
        """The operator's; no gradient flows to what is prepared, but to what that is made of."""
        return [*self.of.differentiable_inputs(), *[False] * len(self.choice.prepared)]

    def gradient_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType], wanted: Sequence[bool]
    ) -> OperatorProperty:
        """The operator's, which knows nothing of kernels."""
        count = self.num_args
        return self.of.gradient_operator(ctx, in_shapes[:count], in_types[:count], wanted[:count])

    def list_parts(self) -> list[str]:
        """The operator's."""
        return self.of.list_parts()

    def scalar_form(
        self, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> ScalarForm | str:
        """The operator's, where its arrays are all there are."""
        if self.choice.prepared:
            return "its kernel prepares arrays"
        return self.of.scalar_form(part, in_shapes, in_types)

    def recomputation(self) -> tuple[OperatorProperty, list[BackwardEntry]] | None:
        """The operator's."""
        return self.of.recomputation()

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The pairs of the kernel of the outputs."""
        kernel = self.choice.forward
        if kernel.inplace is None:
            return self.of.forward_inplace_option(in_data[: self.num_args], out_data)
        pairs = kernel.ask("inplace", kernel.inplace, self.of, FORWARD)
        return [(in_data[entry.index], out_data[out]) for entry, out in pairs]

    def backward_inplace_option(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any], in_grad: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The pairs of the kernels of the gradients, where no later kernel reads the array."""
        groups = {"out_grad": out_grad, "in_data": in_data, "out_data": out_data}
        found = []
        read_later: set[BackwardEntry] = set()
        for kernel in reversed(self.choice.gradient_kernels()):
            found += [
                (groups[entry.kind][entry.index], in_grad[target])
                for entry, target in self.choice.inplace_pairs(kernel)
                if entry not in read_later and entry.index < len(groups[entry.kind])
            ]
            for part in self.choice.parts_of(kernel):
                read_later.update(self._reads(part))
        return found

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Resources that the kernel of the outputs asks for."""
        return self.choice.forward_resources()

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Resources that the kernels of the gradients ask for."""
        return self.choice.backward_resources()

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float | Cost:
        """The operator's."""
        return self.of.cost(in_shapes[: self.num_args], out_shapes)

    def create_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        """Cost of the choice."""
        return self.choice.operator()


_KINDS = ("out_grad", "in_data", "out_data")


@final
class Preparation(OperatorProperty):
    """Fills an array that a kernel has prepared.

    Args:
        call: The call of the operator that the kernel computes.
        kernel: The kernel.
        prepared: The name of the array.
    """

    name = "_prepare"
    has_gradient = False

    def __init__(self, call: KernelCall, kernel: Kernel, prepared: str) -> None:
        super().__init__()
        self.call = call
        self.prepared = prepared
        self._rule = kernel.prepares[prepared]

    def list_arguments(self) -> list[str]:
        """The arguments that the array is made of."""
        return list(self._rule.arguments)

    def list_outputs(self) -> list[str]:
        """The array."""
        return [self.prepared]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The shapes of the call."""
        return [self.call.shape(name) for name in self._rule.arguments], [self._array[0]], []

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The types of the call."""
        return [self.call.dtype(name) for name in self._rule.arguments], [self._array[1]], []

    @property
    def _array(self) -> tuple[Shape, DType]:
        return self._rule.array(self.call)

    def create_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        """The kernel's function."""
        return _Preparing(self._rule.maker(self.call))


@final
class _Preparing(TemplateOperator):
    """A function that fills an array, as an operator."""

    def __init__(self, function: Any) -> None:
        self.direct = function
