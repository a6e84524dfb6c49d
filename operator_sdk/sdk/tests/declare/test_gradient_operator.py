"""The operator that computes an operator's gradients, and what it is refused for."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.errors import GradientError
from operad.operator import BackwardArrays, ForwardArrays, OpContext, OpReq
from operad.resource import ResourceRequest
from operad_sdk import Contract, DeclarationError, Distribution, OperatorProperty, gradient, operator
from operad_sdk.differentiate import TraceError

WRITE = [OpReq.WRITE, OpReq.WRITE]
ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@operator("test_look_up")
class LookUp(OperatorProperty):
    """Rows of a table; the numbers of the rows are floating, as MXNet's are."""

    spec = "data:(N, D), index:(M) -> output:(M, D)"

    def forward(data, index):
        """Take."""
        return data[index.astype(int)]

    def data_grad(output_grad, op_ctx, index, data_grad):
        """Add."""
        xp = op_ctx.xp
        table = xp.ascontiguousarray(data_grad)
        table[...] = 0
        xp.add.at(table, index.astype(int), xp.asarray(output_grad, data_grad.dtype) ** 2)


def of(cls, shapes, wanted, dtype="float64", **params):
    types = [np.dtype(dtype)] * len(shapes)
    return cls(**params).gradient_operator(cpu(), shapes, types, wanted)


def test_arguments_without_a_gradient_are_plain_arrays_in_its_trace():
    made = of(LookUp, [(3, 2), (4,)], [True, False])
    assert made.list_arguments() == ["output_grad", "index"]
    assert made.list_outputs() == ["data_grad"]
    assert made.differentiable_inputs() == [True, False]
    computes = made.create_operator(cpu(), [(4, 2), (4,)], [np.dtype("float64")] * 2)
    head, index = np.arange(8.0).reshape(4, 2), np.array([2.0, 0.0, 2.0, 1.0])
    grads = [np.zeros((4, 2)), np.ones(4)]
    computes.backward(OpContext(cpu(), True), BackwardArrays([ROWS], [head, index], [None], WRITE, grads))
    np.testing.assert_array_equal(grads[0], 2 * head * ROWS[[2, 0, 2, 1]])
    np.testing.assert_array_equal(grads[1], np.zeros(4))


def test_it_computes_with_the_kernel_of_the_operator():
    made = of(LookUp, [(3, 2), (4,)], [True, False])
    computes = made.create_operator(cpu(), [(4, 2), (4,)], [np.dtype("float64")] * 2)
    out = [np.full((3, 2), 10.0)]
    values = [np.ones((4, 2)), np.array([0.0, 0.0, 1.0, 1.0])]
    computes.forward(OpContext(cpu(), True), ForwardArrays(values, [OpReq.ADD], out))
    np.testing.assert_array_equal(out[0], [[12.0, 12.0], [12.0, 12.0], [10.0, 10.0]])


def declared(data_grad, spec="data:(*S) -> output:(*S)", **options):
    body = {"spec": spec, "forward": lambda data: data, "data_grad": data_grad, **options}
    return operator("test_declared")(type("Declared", (OperatorProperty,), body))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: declared(lambda data: data), "does not read the gradient of the output"),
        (
            lambda: declared(
                lambda output_grad, kept: output_grad * kept,
                spec="data:(*S) -> output:(*S), hidden kept:(*S)",
                forward=lambda data: (data, data),
            ),
            "reads the hidden output kept",
        ),
        (
            lambda: declared(
                lambda output_grad, output: output_grad * output,
                gradient_is_derivative=False,
            ),
            "declared not to be the derivative",
        ),
        (lambda: declared(lambda output_grad: np.fft.fft(output_grad).real), "no rule for numpy.fft"),
        (lambda: declared(lambda output_grad: {}[output_grad.shape]), r"cannot be traced \(KeyError"),
    ],
    ids=["loss", "hidden", "chosen", "no rule", "raises"],
)
def test_why_a_gradient_has_none(made, message):
    with pytest.raises((GradientError, TraceError), match=message):
        of(made(), [(2, 3)], [True])


def test_integers_have_none():
    cls = declared(lambda output_grad: output_grad * 2)
    with pytest.raises(GradientError, match="integers are rounded"):
        of(cls, [(2, 3)], [True], dtype="int32")


def test_a_traced_form_must_read_and_compute_the_same():
    cls = declared(gradient(traced=lambda output_grad, output: output)(lambda output_grad: output_grad))
    with pytest.raises(DeclarationError, match="no array more to read"):
        of(cls, [(2, 3)], [True])


def cubes(**members):
    """`data ** 3`, whose gradient reads an output `3 data ** 2`, and not the data."""

    class Cubes(OperatorProperty):
        spec = "data:(N) -> output:(N), hidden slope:(N)"
        accepts = "floating"

        def forward(data):
            return data**3, 3 * data**2

        def data_grad(output_grad, slope):
            return output_grad * slope

    return operator("test_cubes")(type("Cubes", (Cubes,), members))


DRAWN = Distribution(mean=lambda prop: 0, variance=lambda prop: 1)


@pytest.mark.parametrize("contract", [Contract(), Contract(distribution=DRAWN)])
def test_a_hidden_output_is_refused_whatever_is_declared_for_checks(contract):
    with pytest.raises(GradientError, match=r"reads the hidden output slope.*constant_outputs"):
        of(cubes(contract=contract), [(3,)], [True])


def test_a_hidden_output_is_refused_in_the_words_of_its_author():
    with pytest.raises(GradientError, match=r"it is a sum over all pairs$"):
        of(cubes(contract=Contract(), unknown_slopes="it is a sum over all pairs"), [(3,)], [True])


@pytest.mark.parametrize("contract", [Contract(), Contract(no_numeric_gradient="for the checks alone")])
def test_a_declaration_for_checks_refuses_nothing(contract):
    assert of(cubes(contract=contract, constant_outputs=("slope",)), [(3,)], [True]).list_outputs()


def test_an_output_whose_own_gradient_is_ignored_is_refused():
    with pytest.raises(GradientError, match="reads the output slope, whose own gradient it ignores"):
        of(cubes(spec="data:(N) -> output:(N), slope:(N)"), [(3,)], [True])


def normalized(**members):
    """`data / sqrt(sum(data ** 2) + 1)`, whose gradient reads the data and the root, a hidden output."""

    class Normalized(OperatorProperty):
        spec = "data:(N), offset:(N) -> output:(N), hidden root:(1)"
        accepts = "floating"

        def forward(data, offset, output, root):
            root[...] = np.sqrt(np.sum(data * data) + 1)
            output[...] = data / root + offset

        def data_grad(output_grad, data, root):
            return output_grad / root - data * (output_grad * data).sum() / root**3

        def offset_grad(output_grad):
            return output_grad

    return operator("test_normalized")(type("Normalized", (Normalized,), members))


POINT, HEAD = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.25, -0.5])


def slope_of(made, ins, wanted, head):
    """Gradients of the sum of what an operator computes, each element times one of the head."""
    shapes, types = made.infer_shape([])[0], made.infer_type([])[0]
    computes = made.create_operator(cpu(), shapes, types)
    grads = [np.zeros_like(array) for array in ins]
    requests = [OpReq.WRITE if flag else OpReq.NULL for flag in wanted]
    computes.backward(OpContext(cpu(), True), BackwardArrays([head], ins, [None], requests, grads))
    return grads


def test_a_hidden_output_has_the_slope_that_forward_gives_it():
    made = of(normalized(), [(3,), (3,)], [True, False])
    assert made.list_arguments() == ["output_grad", "data", "root"]
    assert made.differentiable_inputs() == [True, True, False]
    weights = np.array([0.5, 2.0, -1.0])

    def total(data):
        root = np.sqrt(data @ data + 1)
        return weights @ (HEAD / root - data * (HEAD @ data) / root**3)

    root = np.sqrt(POINT @ POINT + 1).reshape(1)
    found = slope_of(made, [HEAD, POINT, root], [False, True, False], weights)[1]
    steps = 1e-6 * np.eye(3)
    expected = [(total(POINT + step) - total(POINT - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_its_value_is_what_forward_left():
    made = of(normalized(), [(3,), (3,)], [True, False])
    of_head = slope_of(made, [HEAD, POINT, np.array([2.0])], [True, False, False], np.ones(3))[0]
    np.testing.assert_allclose(of_head, 1 / 2 - POINT * POINT.sum() / 8, rtol=1e-14)


def test_a_hidden_output_of_an_argument_that_the_gradient_does_not_read_is_refused():
    def forward(data, offset, output, root):
        root[...] = np.sqrt(np.sum((data + offset) ** 2) + 1)
        output[...] = data / root

    with pytest.raises(GradientError, match=r"hidden output root.* computes them from offset too"):
        of(normalized(forward=forward), [(3,), (3,)], [True, False])


def with_state(forward):
    def data_grad(output_grad, data, root):
        return output_grad / root + data * 0

    spec = "data:(N), offset:(N), state moved:(1) -> output:(N), hidden root:(1)"
    return normalized(spec=spec, forward=forward, data_grad=data_grad)


def test_a_hidden_output_of_states_alone_is_a_constant():
    def forward(data, offset, moved, output, root):
        root[...] = np.sqrt(moved + 1)
        output[...] = data / root + offset

    made = of(with_state(forward), [(3,), (3,)], [True, False])
    found = slope_of(made, [HEAD, POINT, np.array([2.0])], [True, True, False], np.ones(3))
    np.testing.assert_array_equal(found[:2], [np.full(3, 0.5), np.zeros(3)])


def test_a_hidden_output_of_states_and_arguments_is_refused():
    def forward(data, offset, moved, output, root):
        root[...] = np.sqrt(np.sum(data * data) + moved)
        output[...] = data / root + offset

    with pytest.raises(GradientError, match=r"hidden output root.* computes them from moved too"):
        of(with_state(forward), [(3,), (3,)], [True, False])


def test_a_gradient_that_reads_states_is_refused():
    cls = declared(
        lambda output_grad, moved: output_grad * moved,
        spec="data:(N), state moved:(1) -> output:(N)",
        forward=lambda data, moved: data * moved,
    )
    with pytest.raises(GradientError, match="reads auxiliary states"):
        of(cls, [(3,)], [True])


def test_what_forward_draws_is_not_drawn_again():
    def forward(op_ctx, data, offset, output, root):
        root[...] = op_ctx.requested[0].generator.random()
        output[...] = data / root + offset

    cls = normalized(
        forward=forward, resource=ResourceRequest.RANDOM, offset_grad=lambda output_grad, offset: output_grad
    )
    with pytest.raises(GradientError, match=r"hidden output root.*random numbers"):
        of(cls, [(3,), (3,)], [True, True])


def test_a_trace_has_scratch_memory():
    def data_grad(op_ctx, output_grad, data, data_grad):
        space = op_ctx.requested[0].get_space((3,), data.dtype)
        np.multiply(data, data, out=space)
        np.multiply(space, output_grad, out=data_grad)

    cls = declared(
        data_grad,
        spec="data:(N) -> output:(N)",
        backward_resource=lambda self, in_shapes: [ResourceRequest.TEMP_SPACE],
    )
    made = of(cls, [(3,)], [True])
    assert made.forward_resource([]) == [ResourceRequest.TEMP_SPACE]
    np.testing.assert_array_equal(
        slope_of(made, [HEAD, POINT], [True, True], np.ones(3)), [POINT**2, 2 * POINT * HEAD]
    )


def test_a_gradient_of_no_real_number_is_recorded_and_flat():
    cls = declared(lambda output_grad: output_grad, spec="data:(*S) -> output:int32(*S)")
    made = of(cls, [(2,)], [True])
    assert made.differentiable_inputs() == [False]


class Filter(OperatorProperty):
    """A correlation in loops, into which no trace can look."""

    spec = "data:(N), weight:(K), bias:(1) -> output:(N - K + 1)"
    accepts = "floating"
    linear_in = ("data", "weight")

    def forward(data, weight, bias, output):
        """Multiply and add."""
        for i in range(len(output)):
            output[i] = float(bias[0]) + sum(float(data[i + k]) * float(w) for k, w in enumerate(weight))

    def data_grad(output_grad, weight, data_grad):
        """Spread."""
        data_grad[...] = 0
        for i, head in enumerate(output_grad):
            for k, w in enumerate(weight):
                data_grad[i + k] += float(head) * float(w)

    def weight_grad(output_grad, data, weight_grad):
        """Collect."""
        for k in range(len(weight_grad)):
            weight_grad[k] = sum(float(head) * float(data[i + k]) for i, head in enumerate(output_grad))

    def bias_grad(output_grad):
        """Sum."""
        return output_grad.sum().reshape(1)


def filtered(**members):
    return operator("test_filter")(type("Filter", (Filter,), members))


LONG, TAPS, OUT = np.array([1.0, -2.0, 0.5, 3.0, 1.5]), np.array([2.0, -1.0]), np.array([1.0, 0.5, -1.0, 2.0])


def test_gradients_of_a_linear_operator_are_the_operator_and_each_other():
    made = of(filtered(), [(5,), (2,), (1,)], [True, True, True])
    assert made.list_arguments() == ["output_grad", "data", "weight"]
    shapes, types = made.infer_shape([])[0], made.infer_type([])[0]
    computes = made.create_operator(cpu(), shapes, types)
    heads = [np.array([0.5, 1.0, -1.0, 0.0, 2.0]), np.array([3.0, -0.5]), np.array([0.25])]
    grads = [np.zeros(4), np.zeros(5), np.zeros(2)]
    computes.backward(
        OpContext(cpu(), True),
        BackwardArrays(heads, [OUT, LONG, TAPS], [None] * 3, [OpReq.WRITE] * 3, grads),
    )

    def correlated(data, weight):
        return np.correlate(data, weight, "valid")

    np.testing.assert_allclose(grads[0], correlated(heads[0], TAPS) + correlated(LONG, heads[1]) + 0.25)
    np.testing.assert_allclose(grads[1], np.convolve(OUT, heads[1]))
    np.testing.assert_allclose(grads[2], correlated(heads[0], OUT))


def test_a_linear_operator_has_derivatives_of_third_order():
    made = of(filtered(), [(5,), (2,), (1,)], [True, True, False])
    types = made.infer_type([])[0]
    second = made.gradient_operator(cpu(), made.infer_shape([])[0], types, [True, True, True])
    assert second.list_outputs() == ["output_grad_grad", "data_grad", "weight_grad"]
    shapes, types = second.infer_shape([])[0], second.infer_type([])[0]
    computes = second.create_operator(cpu(), shapes, types)
    ins = [np.arange(5.0), np.ones(2), OUT, LONG, TAPS]
    heads, grads = [np.ones(4), np.zeros(5), np.zeros(2)], [np.zeros_like(array) for array in ins]
    computes.backward(
        OpContext(cpu(), True), BackwardArrays(heads, ins, [None] * 3, [OpReq.WRITE] * 5, grads)
    )
    np.testing.assert_allclose(grads[0], np.convolve(np.ones(4), TAPS))
    np.testing.assert_allclose(grads[4], np.correlate(np.arange(5.0), np.ones(4), "valid"))


def test_what_is_called_linear_must_not_read_more():
    cls = filtered(data_grad=lambda output_grad, data, weight, bias, data_grad: None)
    with pytest.raises(DeclarationError, match=r"linear_in is \('data', 'weight'\), and a gradient of these"):
        of(cls, [(5,), (2,), (1,)], [True, True, True])
