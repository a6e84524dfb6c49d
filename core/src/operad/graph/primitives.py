"""The operators that the graph itself inserts; every other operator is a plugin's.

They are written like any operator and have the names of no MXNet operator. Passes recognise them
by `GraphPrimitive`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, final

from operad.device import Context
from operad.dtypes import DType, as_dtype
from operad.op import (
    Array,
    BackwardArrays,
    ForwardArrays,
    InferredShapes,
    InferredTypes,
    Instruction,
    Kernel,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    PartialShape,
    Result,
    ScalarForm,
    Shape,
    assign,
    param,
    transfer,
    unify_shapes,
)


@final
class _Primitive(Operator):
    """Computes one output; a request to add computes beside it first, so that every request rounds alike."""

    def __init__(
        self, prop: GraphPrimitive, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self._xp = ctx.xp
        self.direct: Callable[..., object] = prop.function(ctx.xp)

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """Obey the request."""
        if arrays.req[0] is OpReq.ADD:
            added = self._xp.empty_like(arrays.out_data[0])
            self.direct(*arrays.in_data, added)
            arrays.out_data[0][...] += added
        elif arrays.req[0] is not OpReq.NULL:
            self.direct(*arrays.in_data, arrays.out_data[0])

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradient of the output, for every argument."""
        for request, target in zip(arrays.req, arrays.in_grad, strict=True):
            assign(target, request, arrays.out_grad[0])


class GraphPrimitive(OperatorProperty):
    """An operator of the graph's own, with one shape throughout and, but for copies, one type."""

    kernels: ClassVar = [Kernel("array", _Primitive)]

    def scalar_form(
        self, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> ScalarForm | str:
        """Function of the arguments; the gradient of each is that of the output."""
        names = self.list_arguments() if part == "forward" else ["output_grad"]
        kinds = ["real" if dtype.kind == "f" else dtype.name for dtype in in_types]
        instructions = [
            Instruction("input", (), kind, name) for kind, name in zip(kinds, names, strict=False)
        ]
        if part == "forward":
            instructions += self.instructions(instructions)
        result = "output" if part == "forward" else part
        return ScalarForm(
            f"{self.name}.{part}", tuple(names), tuple(instructions), (Result(len(instructions) - 1, result),)
        )

    def instructions(self, inputs: Sequence[Instruction]) -> list[Instruction]:
        """Those behind the inputs, of which the last gives the output; none: it is the first input."""
        return []

    @abstractmethod
    def function(self, xp: Any) -> Callable[..., object]:
        """Function that computes its last argument, a plain array of the module `xp`, from the others."""

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """All shapes are alike."""
        shape = self._common(in_shapes)
        return [shape] * len(in_shapes), [shape], []

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """The output's shape is the arguments'."""
        return [self._common([*in_shapes, *out_shapes])] * len(in_shapes)

    def _common(self, shapes: Sequence[PartialShape]) -> PartialShape:
        common: PartialShape = None
        for shape in shapes:
            common = unify_shapes(shape, common, f"{self.name}: an array")
        return common

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """The gradient of the output, which is that of every argument."""
        return list(out_grad)


@final
class GradAdd(GraphPrimitive):
    """The sum of gradients that meet; of one gradient, a copy."""

    name = "_grad_add"
    kernels = GraphPrimitive.kernels
    num_args: int = param(int, ge=1, doc="How many arrays are summed.")
    key_var_num_args = "num_args"

    def list_arguments(self) -> list[str]:
        """`arg0`, `arg1`, and so on."""
        return [f"arg{i}" for i in range(self.num_args)]

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The first argument may become the sum."""
        return [(in_data[0], out_data[0])]

    def instructions(self, inputs: Sequence[Instruction]) -> list[Instruction]:
        """Sums from left to right."""
        count, kind = len(inputs), inputs[0].kind
        pairs = [(0, 1), *((count + i, i + 2) for i in range(count - 2))] if count > 1 else []
        return [Instruction("add", pair, kind) for pair in pairs]

    def function(self, xp: Any) -> Callable[..., object]:
        """Sums from left to right."""
        add: Callable[..., object] = xp.add
        return add if self.num_args == 2 else partial(_sum, add)


def _sum(add: Callable[..., object], *arrays: Array) -> None:
    first, *rest, out = arrays
    if not rest and first is not out:
        out[...] = first
    for array in rest:
        add(first, array, out)
        first = out


class _Filled(GraphPrimitive):
    """One number of its argument's shape and type, whose memory may already serve others when it runs."""

    kernels = GraphPrimitive.kernels
    has_gradient = False
    num_unread = 1
    _number: ClassVar[int]

    def instructions(self, inputs: Sequence[Instruction]) -> list[Instruction]:
        """The number."""
        return [Instruction("constant", (), inputs[0].kind, float(self._number))]

    def function(self, xp: Any) -> Callable[..., object]:
        """Writes the number."""
        return partial(_fill, self._number)


def _fill(number: int, *arrays: Array) -> None:
    arrays[-1][...] = number


@final
class ZerosLike(_Filled):
    """Zeros like an entry."""

    name = "_zeros_like_entry"
    kernels = GraphPrimitive.kernels
    _number = 0


@final
class OnesLike(_Filled):
    """Ones like an entry: the gradient of an output with respect to itself."""

    name = "_ones_like_entry"
    kernels = GraphPrimitive.kernels
    _number = 1


@final
class CrossDeviceCopy(GraphPrimitive):
    """A copy of an array of another context, or as another type."""

    name = "_cross_device_copy"
    kernels = GraphPrimitive.kernels
    device_type: str = param(str, default="", doc="Where the copy is; empty: where the array is.")
    device_id: int = param(int, default=0, ge=0, doc="Which of them.")
    dtype: str = param(str, default="", doc="Its element type; empty: that of the array.")

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The type that was asked for, if any."""
        return list(in_types), [as_dtype(self.dtype) if self.dtype else in_types[0]], []

    def scalar_form(
        self, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> ScalarForm | str:
        """None: what one device computes cannot be computed together with what another does."""
        return "it copies between devices"

    def function(self, xp: Any) -> Callable[..., object]:
        """Copies, across the bus if need be."""
        return partial(transfer, xp)
