"""Faults of declarations: names, parameters, documentation, in-place pairs."""

from __future__ import annotations

import numpy as np

from operad.operator import BackwardEntry, Operator, assign, unify_shapes
from operad.operator import OperatorProperty as CoreProperty
from operad.operator import param as core_param
from operad_sdk import (
    Contract,
    OperatorProperty,
    Tolerance,
    binary,
    gradient,
    operator,
    param,
    unary,
)
from operad_sdk.domains import Integers
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import Product


@unary("zoo_relu_6", accepts="number", inplace="data")
def capped(x):
    """The smaller of 6 and the larger of 0 and every element."""
    return np.minimum(np.maximum(x, 0), 6)


@unary("tanh", accepts="floating")
def not_tanh(x):
    """Half of every element, under the name of another operator."""
    return x * 0.5


class Scaled(CoreProperty):
    """Data times a scale, which is an argument and a parameter."""

    name = "zoo_scaled"
    has_gradient = False
    scale = core_param(float, 1.0, doc="Factor.")

    def list_arguments(self):
        return ["data", "scale"]

    def infer_shape(self, in_shapes):
        shape = unify_shapes(*in_shapes, f"{self.name}: data and scale: shape of axes")
        return [shape, shape], [shape], []

    def create_operator(self, ctx, in_shapes, in_types):
        return _Scaled()


class _Scaled(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] * arrays.in_data[1])


class SumAndDifference(CoreProperty):
    """Sum and difference, under one name."""

    name = "zoo_sum_and_difference"
    has_gradient = False

    def list_arguments(self):
        return ["lhs", "rhs"]

    def list_outputs(self):
        return ["output", "output"]

    def infer_shape(self, in_shapes):
        shape = unify_shapes(*in_shapes, f"{self.name}: lhs and rhs: shape of axes")
        return [shape, shape], [shape, shape], []

    def create_operator(self, ctx, in_shapes, in_types):
        return _SumAndDifference()


class _SumAndDifference(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] + arrays.in_data[1])
        assign(arrays.out_data[1], arrays.req[1], arrays.in_data[0] - arrays.in_data[1])


class Factor(OperatorProperty):
    """Data times a factor."""

    factor = param(float, 1.0, doc="Factor.")
    spec = "data:(N) -> output:(N)"
    accepts = "floating"

    def forward(data, factor):
        return data * factor

    def data_grad(output_grad, factor):
        return output_grad * factor


@operator("zoo_one_flag")
class OneFlag(Product):
    """A product that says of one argument whether a gradient flows to it, and has two."""

    def differentiable_inputs(self):
        """One flag."""
        return [False]


@operator("zoo_leaky")
class Leaky(Floating):
    """Leaky rectifier whose slope is saved with two digits."""

    alpha = param(float, 0.25, ge=0, doc="Slope below 0.")
    spec = "data:(*S) -> output:(*S)"

    def get_params(self):
        """Rounded."""
        return {"alpha": f"{self.alpha:.2f}"}

    def forward(data, alpha):
        """Either branch."""
        return np.where(data < 0, alpha * data, data)


@operator("zoo_doubled_scale")
class DoubledScale(Floating):
    """A multiple, with a factor that doubles each time the graph is saved and loaded."""

    scale = param(float, 1.0, doc="Half the factor.")
    spec = "data:(*S) -> output:(*S)"

    def __init__(self, **params):
        super().__init__(**params)
        self.scale = 2 * self.scale

    def forward(data, scale):
        """The product."""
        return data * scale


@operator("zoo_no_strings")
class NoStrings(Floating):
    """A shift whose parameter is no string where strings are wanted."""

    offset = param(int, 1, doc="Added.")
    spec = "data:(*S) -> output:(*S)"

    def get_params(self):
        """Not as strings."""
        return {"offset": self.offset}

    def forward(data, offset):
        """The sum."""
        return data + offset


@operator("zoo_tolerant")
class Tolerant(Floating):
    """A multiple that takes any parameter, known or not."""

    scale = param(float, 1.0, doc="Factor.")
    spec = "data:(*S) -> output:(*S)"

    def __init__(self, **params):
        super().__init__(**{name: value for name, value in params.items() if name == "scale"})

    def forward(data, scale):
        """The product."""
        return data * scale


@operator("zoo_asserting")
class Asserting(Floating):
    """A root whose order is refused by an assertion."""

    order = param(int, 1, ge=1, doc="Of the root.")
    spec = "data:(*S) -> output:(*S)"

    def __init__(self, order=1, **params):
        assert int(order) >= 1, "bad order"
        super().__init__(order=order, **params)

    def forward(data, order):
        """The root of the magnitude."""
        return np.abs(data) ** (1 / order)


@operator("zoo_clamping")
class Clamping(Floating):
    """A multiple that takes factors out of bounds for the nearest within."""

    scale = param(float, 1.0, ge=0, le=4, doc="Factor.")
    spec = "data:(*S) -> output:(*S)"

    def __init__(self, scale=1.0, **params):
        inside = min(max(scale, 0.0), 4.0) if isinstance(scale, (int, float)) else scale
        super().__init__(scale=inside, **params)

    def forward(data, scale):
        """The product."""
        return data * scale


@operator("zoo_groups")
class Groups(OperatorProperty):
    """The data, in at least one of no groups."""

    num_group = param(int, 0, ge=1, doc="Groups.")
    spec = "data:(*S) -> output:(*S)"

    def forward(data):
        """The data."""
        return data


@unary("zoo_power")
def power(x, kind: str = param(str, "cubic", choices=("linear", "square"), doc="Which power.")):
    """A power of every element."""
    return x if kind == "linear" else x * x


@operator("zoo_row_sum")
class RowSum(OperatorProperty):
    """Sums of rows, in the place of the data."""

    accepts = "number"
    spec = "data:(N, D) -> output:(N)"
    inplace = "data -> output"

    def forward(data):
        """The sums."""
        return data.sum(axis=1)


@operator("zoo_projection")
class Projection(OperatorProperty):
    """A matrix product whose gradient is to share memory with an array of another shape."""

    spec = "data:(N, D, 3), weight:(D) -> output:(N, 3)"

    def forward(data, weight):
        """Weighted sums."""
        return np.einsum("ndk,d->nk", data, weight)

    @gradient(inplace="output_grad -> data_grad")
    def backward(output_grad, data, weight, data_grad, weight_grad):
        """Both gradients."""
        weight = weight.copy()
        weight_grad[...] = np.einsum("ndk,nk->d", data, output_grad)
        data_grad[...] = output_grad[:, None, :] * weight[:, None]


@operator("zoo_pair_of_nothing")
class PairOfNothing(Floating):
    """The negative, in the place of an argument that no parameters give."""

    num_args = param(int, 1, ge=1, le=2, doc="How many arguments.")
    spec = "data:(*S), other:(*S) if num_args > 2 -> output:(*S)"
    inplace = "other -> output"

    def forward(data):
        """The negative."""
        return -data


class HiddenHead(CoreProperty):
    """A square root with a hidden output, whose gradient it wants to read."""

    name = "zoo_hidden_head"

    def list_outputs(self):
        return ["output", "mask"]

    @property
    def num_visible_outputs(self):
        return 1

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]] * 2, []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[1], out_data[1]]

    def create_operator(self, ctx, in_shapes, in_types):
        return _HiddenHead()


class _HiddenHead(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], np.maximum(arrays.in_data[0], 0))
        assign(arrays.out_data[1], arrays.req[1], (arrays.in_data[0] > 0).astype(arrays.in_data[0].dtype))

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] * arrays.out_data[1])


@operator("zoo_greedy_alone")
class GreedyAlone(OperatorProperty):
    """A sum that reads more for one gradient than for both."""

    spec = "lhs:(N), rhs:(N) -> output:(N)"

    def backward_dependency(self, wanted):
        """More, if only one is wanted."""
        found = super().backward_dependency(wanted)
        return found if all(wanted) else [*found, BackwardEntry("in_data", 0)]

    def forward(lhs, rhs):
        """The sum."""
        return lhs + rhs

    def backward(output_grad, lhs_grad, rhs_grad):
        """The head gradient."""
        lhs_grad[...] = output_grad
        rhs_grad[...] = output_grad


@binary("zoo_misspelt_input", contract=Contract(inputs={"lable": Integers(0, 9)}))
def misspelt_input(lhs, rhs):
    """The sum."""
    return lhs + rhs


@operator("zoo_misspelt_check")
class MisspeltCheck(OperatorProperty):
    """The data, with an exemption from a check that does not exist."""

    contract = Contract(expected_failures={"F999": "no such check"})
    spec = "data:(*S) -> output:(*S)"

    def forward(data):
        """The data."""
        return data


@unary("zoo_unreasoned_tolerance", contract=Contract(tolerances={"float16": Tolerance(0.5, 0.5, reason=" ")}))
def unreasoned(x):
    """The square."""
    return x * x


@operator("zoo_two_offsets")
class TwoOffsets(Floating):
    """Matrices rolled along both axes."""

    offset = param("indices", (0, 0), doc="How far.")
    spec = "data:(N, D) -> output:(N, D)"

    def forward(data, offset):
        """Rolled."""
        down, right = offset
        return np.roll(data, (down, right), (0, 1))


@operator("zoo_zeros_before")
class ZerosBefore(Floating):
    """Rows with zeros in front, cut to their length."""

    count = param(int, 1, doc="How many zeros.")
    spec = "data:(N, D) -> output:(N, D)"

    def forward(data, count):
        """Cut."""
        return np.concatenate([np.zeros((len(data), count), data.dtype), data], 1)[:, : data.shape[1]]


ZOO = without_gradients(
    [
        Fault("S101", capped, "the entry point has another name than the code", registered_as="zoo_relu6"),
        Fault("S101", not_tanh, "its own name is that of another operator", registered_as="zoo_half"),
        Fault("S102", Scaled, "an argument and a parameter have one name"),
        Fault("S102 D601", SumAndDifference, "two outputs have one name"),
        Fault("S102 F210 B306 X801", OneFlag, "one flag in differentiable_inputs for two arguments"),
        Fault("S103", Leaky, "get_params rounds"),
        Fault("S103", DoubledScale, "the constructor changes a parameter each time"),
        Fault("S103", NoStrings, "get_params gives numbers"),
        Fault("S104", Tolerant, "unknown parameters are taken"),
        Fault("S104 S112", Asserting, "a wrong parameter fails an assertion"),
        Fault("S104", Clamping, "parameters out of bounds are taken"),
        Fault("S105", Groups, "a default out of bounds"),
        Fault("S105", power, "a default that is no choice"),
        Fault("S106", RowSum, "a forward pair that never fits"),
        Fault("S106", Projection, "a backward pair that never fits"),
        Fault("S106", PairOfNothing, "a pair with an argument that there never is"),
        Fault("S112 F201", TwoOffsets, "a list of another length breaks in forward"),
        Fault("S112 F201", ZerosBefore, "a negative number breaks in forward"),
        Fault("S109 R503", HiddenHead, "backward wants the gradient of a hidden output"),
        Fault("S109", GreedyAlone, "one gradient reads more than both"),
        Fault("S110", misspelt_input, "a contract for an argument that there is not"),
        Fault("S110", MisspeltCheck, "an exemption from a check that there is not"),
        Fault("S110", unreasoned, "a tolerance without a reason"),
    ]
)
