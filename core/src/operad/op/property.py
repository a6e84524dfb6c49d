"""The contract between the system and an operator.

`OperatorProperty` says what an operator means: its parameters, its arguments and outputs, how
shapes and types follow from one another, what its gradient reads, and where buffers may be shared.
It is consulted while graphs are built, inferred, planned and bound. `Operator` computes: it sees
plain NumPy or CuPy arrays and writes what it is asked for.

Source: OperatorProperty, include/mxnet/operator.h. Differs: kernels are separate from the property;
gradients that are not requested release the buffers only they need.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Self

from operad.device import Context
from operad.dtypes import DType
from operad.errors import DTypeError, GradientError, ParamError
from operad.op.choice import choose
from operad.op.cost import Cost
from operad.op.counts import check_counts
from operad.op.entry import BackwardEntry
from operad.op.form import ScalarForm
from operad.op.kernel import Kernel, KernelCall
from operad.op.operator import Arrays, Operator
from operad.op.params import Param, ParamSet
from operad.op.shapes import PartialShape, Shape
from operad.resource import ResourceRequest

InferredShapes = tuple[list[PartialShape], list[PartialShape], list[PartialShape]]
InferredTypes = tuple[list[DType | None], list[DType | None], list[DType | None]]


class OperatorProperty(ABC):
    """Meaning of an operator. Subclasses declare parameters with `param(...)` class attributes.

    Attributes:
        name: MXNet 1.x's name of the operator; defaults to the class's name.
        params: The declared parameters.
        kernels: The ways to compute it, in the order they were registered.
        has_gradient: False: asking for a gradient through it gives zeros, as for `sign`.
        is_stateful: True: every node gets an operator of its own.
        states_move: When a call writes auxiliary states: "always", "training" (running means, which a
            prediction and gradients only read), or "never". What a call writes has no value where it fails.
        epoch: Counts how often what stands behind the parameters has changed, as when a program registers
            another operator under a name; what was found for them before is found again.
        optional_inputs: Names of all tensors that a call may give, in order, where some of them depend on
            parameters; a call may then give None for one that is absent. None: there are no such tensors.
        initializers: Attribute `__init__` that a variable gets which stands for a tensor and has none, by
            the tensor's name.
        takes_more_params: True: a call or file may give parameters that are not declared, as `Custom` takes.
        is_shaped_by_values: True: shapes of the outputs depend on values of the arguments, and follow for
            what `for_values` gives.
        multiplies: The arguments whose product the operator is, if the `flops` of its `cost` are exactly the
            multiplications and additions of that product, and the gradient of each of these takes as many.
            Profilers show floating-point operations per second for such operators only.
        num_subgraphs: Number of graphs that it runs, such as the body of a loop; they are given as
            `subgraphs`.
        backward_cost: Estimate of `backward` for the arguments it has; None: it follows from `cost`.
        subgraphs: These graphs (`operad.graph.Graph`), in the order of a file, which carries them.
        key_var_num_args: Name of the parameter that counts the arguments, for operators that take
            any number (`Concat`); front ends fill it in.
    """

    name: ClassVar[str] = ""
    params: ClassVar[ParamSet] = ParamSet({})
    kernels: ClassVar[list[Kernel]] = []
    has_gradient: ClassVar[bool] = True
    is_stateful: ClassVar[bool] = False
    states_move: str = "always"
    epoch: ClassVar[int] = 0
    takes_more_params: ClassVar[bool] = False
    is_shaped_by_values: bool = False
    num_subgraphs: ClassVar[int] = 0
    subgraphs: Sequence[Any] = ()
    key_var_num_args: ClassVar[str | None] = None
    initializers: ClassVar[Mapping[str, str]] = {}
    optional_inputs: ClassVar[tuple[str, ...] | None] = None
    multiplies: ClassVar[tuple[str, ...]] = ()
    backward_cost: Cost | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared: dict[str, Param] = {}
        for base in reversed(cls.__mro__):
            # The order of a call is that of writing: what is declared again moves to its new place.
            for name, value in (_own_params(base) if base is cls else _params_of(base)).items():
                declared.pop(name, None)
                declared[name] = value
        cls.params = ParamSet(declared)
        if "name" not in vars(cls):
            cls.name = cls.__name__
        if "kernels" not in vars(cls):
            cls.kernels = []

    def __init__(self, **params: Any) -> None:
        """Validate `params`, given as Python values or in MXNet's string form.

        Raises:
            ParamError: A parameter is unknown, missing, of the wrong type or out of bounds, or asks
                for an absurd number of tensors.
        """
        for name, value in type(self).params.parse(self.name, params).items():
            setattr(self, name, value)
        check_counts(self)

    def rebound(self, values: Mapping[str, Any]) -> Self:
        """The same operator with other values of run-time parameters, which change no name, shape or type.

        Raises:
            ParamError: A value does not fit.
        """
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        declared = type(self).params
        for name, value in values.items():
            try:
                setattr(made, name, declared[name].parse(value))
            except ParamError as error:
                raise ParamError(f"{self.name}: {error}") from error.__cause__
        return made

    def get_params(self) -> dict[str, str]:
        """The parameters in MXNet's string form; `type(self)(**get_params())` is an equal property."""
        return {name: declared.format(getattr(self, name)) for name, declared in type(self).params.items()}

    def list_arguments(self) -> list[str]:
        """Names of the input tensors, in call order."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Names of the outputs, hidden ones last."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the states that `forward` updates, such as moving averages."""
        return []

    def fixed_arguments(self) -> Mapping[str, float]:
        """Arguments that hold a number whatever is bound, by name; none.

        The forward pass of an executor writes the numbers into the bound arrays, so that optimizers and files
        find them there.
        """
        return {}

    def list_inputs(self) -> list[str]:
        """Names of all tensors in the order of a call, and of a node's inputs in a file.

        The default is the arguments and then the states; MXNet has operators whose states stand among
        the arguments.
        """
        return [*self.list_arguments(), *self.list_auxiliary_states()]

    def input_positions(self) -> list[int] | None:
        """Positions in `list_inputs` of the arguments, and then the states; None where nothing moves.

        Nodes and plans keep arguments before states; calls and files keep the order of `list_inputs`.
        """
        states = self.list_auxiliary_states()
        if not states:
            return None
        inputs = self.list_inputs()
        positions = [inputs.index(name) for name in (*self.list_arguments(), *states)]
        return None if positions == list(range(len(inputs))) else positions

    @property
    def num_visible_outputs(self) -> int:
        """Number of leading outputs that composition and imperative calls show."""
        return len(self.list_outputs())

    @property
    def train_only_outputs(self) -> frozenset[int]:
        """Positions of the hidden outputs that may stay unwritten in prediction; none."""
        return frozenset()

    @property
    def num_unread(self) -> int:
        """Number of the last arguments that only give a shape and a type; nodes pass none of them on."""
        return 0

    @abstractmethod
    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Complete shapes from what is known of the arguments' shapes.

        Never guesses: what does not follow stays None.

        Returns:
            Shapes of the arguments (completed), the outputs and the auxiliary states.
        Raises:
            ShapeError: The shapes contradict each other; the message names argument and axis.
        """

    def for_values(self, in_data: Arrays) -> OperatorProperty:
        """The same operator for arguments of these values, whose shapes follow, if it `is_shaped_by_values`.

        An imperative call waits for its arguments and asks for this. In a graph, which is planned before
        there are values, no solver does.

        Args:
            in_data: One array per argument, to be read during the call.
        """
        return self

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """The arguments' shapes, completed from known output shapes as well.

        The default learns nothing from the outputs.
        """
        return list(in_shapes)

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Complete element types; the default wants one type throughout.

        Raises:
            DTypeError: The types contradict each other.
        """
        known = {dtype for dtype in in_types if dtype is not None}
        if len(known) > 1:
            pairs = ", ".join(f"{n}: {t}" for n, t in zip(self.list_arguments(), in_types, strict=False) if t)
            raise DTypeError(
                f"{self.name}: arguments must have one element type, got {pairs}; cast with astype"
            )
        dtype = known.pop() if known else None
        outputs, aux = len(self.list_outputs()), len(self.list_auxiliary_states())
        return [dtype] * len(in_types), [dtype] * outputs, [dtype] * aux

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """Return which of the given arrays `backward` reads; the others may be recycled before it runs."""
        return [*out_grad, *in_data, *out_data]

    def backward_dependency(self, wanted: Sequence[bool]) -> list[BackwardEntry]:
        """Entries that `backward` reads when only the gradients marked in `wanted` are requested.

        The default asks `declare_backward_dependency`, which knows nothing of `wanted`.
        """
        grads = [BackwardEntry("out_grad", i) for i in range(self.num_visible_outputs)]
        data = [BackwardEntry("in_data", i) for i in range(len(self.list_arguments()))]
        outs = [BackwardEntry("out_data", i) for i in range(len(self.list_outputs()))]
        return self.declare_backward_dependency(grads, data, outs)

    def differentiable_inputs(self) -> list[bool]:
        """One flag per argument: whether a gradient can flow to it (indices and labels: no)."""
        return [self.has_gradient] * len(self.list_arguments())

    def gradient_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType], wanted: Sequence[bool]
    ) -> OperatorProperty:
        """The operator that computes this one's gradients, and has gradients itself.

        Its arguments are what `backward_dependency(wanted)` names, its outputs the gradients of the arguments
        marked in `wanted`, in order. `autograd.grad(create_graph=True)` records calls of it.

        Args:
            ctx: The context of the arrays.
            in_shapes: Shapes of the arguments of this operator; `in_types` likewise.
            wanted: One flag for each argument.
        Raises:
            GradientError: There is none; the message says why.
        """
        raise GradientError("the operator does not say how its gradient is differentiated")

    def list_parts(self) -> list[str]:
        """Parts that can be computed apart: `forward`, and `<argument>_grad` where a gradient can flow."""
        flags = zip(self.list_arguments(), self.differentiable_inputs(), strict=True)
        return ["forward", *(f"{name}_grad" for name, flows in flags if flows)]

    def derived_kernels(self) -> Sequence[Kernel]:
        """Kernels that follow from the operator's own functions; they rank directly before these.

        Each object stays the same for these parameters, as kernels that a class lists do.
        """
        return ()

    def scalar_form(
        self, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> ScalarForm | str:
        """Scalar form of a part; or, as text, the reason why there is none.

        It holds for all lengths of axes other than 1, for training and for prediction, and for these
        parameters. The inputs of `forward` are the arguments and then the states, its results the outputs and
        then the states that it changes; the inputs of a gradient are what `backward_dependency` names for it.

        Args:
            part: One of `list_parts`.
            in_shapes: Shapes of the arguments of the operator; `in_types` likewise.
        """
        return "the operator does not say what it computes for each element"

    def recomputation(self) -> tuple[OperatorProperty, list[BackwardEntry]] | None:
        """Operator that computes the first outputs of a training run again: same bits, no state or draws.

        Asked before memory is planned, for values that the backward pass may compute again instead of reading
        what was kept.

        Returns:
            An operator, whose outputs are the first ones of this, and what it reads: `in_data` and other
            `out_data` of this. None: `forward` gives the same again, if it has no states, keeps none and
            requests no random numbers; and else nothing does.
        """
        return None

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """Pairs (input, output) that may share memory during `forward`."""
        return []

    def backward_inplace_option(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any], in_grad: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """Pairs (array read, in_grad) that may share memory during `backward`."""
        return []

    def moves_states(self, is_train: bool) -> bool:
        """Return whether a call in this mode writes auxiliary states."""
        return self.states_move == "always" or (is_train and self.states_move == "training")

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Resources `forward` needs."""
        return []

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Resources `backward` needs."""
        return []

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float | Cost:
        """Roughly what one `forward` computes; decides where and how it is run.

        Returns:
            The number of scalar operations of loops over elements, or a `Cost` that counts products apart.
        """
        return float(sum(map(prod, in_shapes)) + sum(map(prod, out_shapes)))

    def create_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        """The operator to run on `ctx` for these argument shapes and types.

        Raises:
            OperadError: No kernel applies; the message lists them all and why.
        """
        return choose(KernelCall(self, ctx, in_shapes, in_types, is_bare=True)).operator()

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).params)
        return f"{self.name}({shown})"


def is_computed_by_kernels(prop: OperatorProperty) -> bool:
    """Return whether kernels compute an operator; else its class makes what does."""
    return type(prop).create_operator is OperatorProperty.create_operator


def _own_params(cls: type) -> dict[str, Param]:
    return {name: value for name, value in vars(cls).items() if isinstance(value, Param)}


def _params_of(base: type) -> Mapping[str, Param]:
    """Declarations of a base class: all of a property's parameters, or a mixin's own."""
    known: ParamSet | None = vars(base).get("params")
    return known if isinstance(known, ParamSet) else _own_params(base)
