"""The operator that computes an operator's gradients, and what it is refused for."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.errors import GradientError
from operad.operator import BackwardArrays, ForwardArrays, OpContext, OpReq
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


@pytest.mark.parametrize("contract", [Contract(), Contract(no_numeric_gradient="for the checks alone")])
def test_a_declaration_for_checks_refuses_nothing(contract):
    assert of(cubes(contract=contract, constant_outputs=("slope",)), [(3,)], [True]).list_outputs()


def test_an_output_whose_own_gradient_is_ignored_is_refused():
    with pytest.raises(GradientError, match="reads the output slope, whose own gradient it ignores"):
        of(cubes(spec="data:(N) -> output:(N), slope:(N)"), [(3,)], [True])
