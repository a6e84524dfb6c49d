"""Kernels that come from scalar forms, beside the operator's own functions."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.operator import BackwardArrays, ForwardArrays, KernelCall, OpReq, choose
from operad_sdk import OperatorProperty, operator, param
from operad_sdk.vector.form_kernels import FormOperator
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

SINGLE = np.dtype(np.float32)


@operator("VectorRows")
class VectorRows(OperatorProperty):
    """Rows over their largest element, times a factor, with what they were divided by and a counter."""

    spec = "data:(N, D), factor:(D), state count:(N) -> output:(N, D), top:(N)"
    accepts = "floating"
    inplace = "data -> output"
    power = param(float, 2.0, doc="Of the quotient.")

    def forward(data, factor, count, power, output, top):
        largest = data.max(axis=1, keepdims=True)
        top[...] = largest[:, 0]
        count[...] = count + 1
        output[...] = (data / largest) * factor * power

    def data_grad(output_grad, data, factor, power):
        return output_grad * factor * power / data.max(axis=1, keepdims=True)


"""Not a gradient of anything; parts are compared, and nothing is trained."""


@operator("VectorLabels")
class VectorLabels(OperatorProperty):
    """Cross entropy of rows and their labels, as one writes it."""

    spec = "data:(N, D), label:(N) -> output:(N)"
    accepts = "floating"

    def forward(data, label, output):
        largest = data.max(axis=1, keepdims=True)
        sums = np.log(np.exp(data - largest).sum(axis=1)) + largest[:, 0]
        output[...] = sums - data[np.arange(len(label)), label.astype(np.int64)]

    def data_grad(output_grad, data, label):
        powers = np.exp(data - data.max(axis=1, keepdims=True))
        slopes = powers / powers.sum(axis=1, keepdims=True)
        slopes[np.arange(len(label)), label.astype(np.int64)] -= 1
        return slopes * output_grad[:, None]


def context():
    class Threads:
        num_threads = 3

        def parallel(self, function, count, width):
            for number in reversed(range(count)):
                function(number, number % width)

    return Threads()


def arrays(rows, columns, dtype=SINGLE):
    rng = np.random.default_rng(rows)
    data = rng.uniform(1, 2, (rows, columns)).astype(dtype)
    return data, rng.uniform(1, 2, columns).astype(dtype), np.full(rows, 5, dtype)


def expected(data, factor, count):
    wide, factor = data.astype(np.float64), factor.astype(np.float64)
    return wide / wide.max(axis=1, keepdims=True) * factor * 2, wide.max(axis=1), count + 1


def chosen(rows, columns, dtype=SINGLE):
    call = KernelCall(VectorRows(), od.cpu(), [(rows, columns), (columns,)], [np.dtype(dtype)] * 2)
    return choose(call)


def test_large_calls_of_floating_types_are_computed_by_the_form():
    assert chosen(100, 90).forward.name == "VectorRows.vector_forward"
    assert chosen(100, 90, np.float64).kernels["data_grad"].name == "VectorRows.vector_data_grad"
    assert chosen(4, 4).forward.name == "VectorRows.forward"
    assert chosen(100, 90, np.float16).forward.name == "VectorRows.vector_forward"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 17), (700, 130)])
def test_outputs_and_states_under_every_request(rows, columns, dtype):
    data, factor, count = arrays(rows, columns, dtype)
    made = FormOperator("forward", VectorRows(), od.cpu(), [data.shape, factor.shape], [data.dtype] * 2)
    tolerance = {"rtol": 8 * np.finfo(dtype).eps}
    for requests in ((OpReq.WRITE, OpReq.WRITE), (OpReq.ADD, OpReq.NULL), (OpReq.NULL, OpReq.ADD)):
        outs, state = [np.full(data.shape, 3, dtype), np.full(rows, 3, dtype)], count.copy()
        made.forward(context(), ForwardArrays([data, factor], requests, outs, [state]))
        output, top, after = expected(data, factor, count)
        for out, request, value in zip(outs, requests, (output, top), strict=True):
            wanted = {OpReq.WRITE: value, OpReq.ADD: value + 3, OpReq.NULL: np.full(out.shape, 3)}[request]
            np.testing.assert_allclose(out, wanted, **tolerance)
        np.testing.assert_array_equal(state, after)


def test_arrays_that_overlap_or_have_gaps_are_right():
    data, factor, count = arrays(40, 60)
    made = FormOperator("forward", VectorRows(), od.cpu(), [data.shape, factor.shape], [SINGLE] * 2)
    output, _, _ = expected(data, factor, count)
    memory = np.zeros(41 * 60, SINGLE)
    ways = {
        "in place": lambda: [memory[: 40 * 60].reshape(40, 60)] * 2,
        "a row further on": lambda: [memory[: 40 * 60].reshape(40, 60), memory[60:].reshape(40, 60)],
        "transposed": lambda: [np.zeros((60, 40), SINGLE).T, np.zeros((60, 40), SINGLE).T],
        "backwards": lambda: [np.zeros((40, 60), SINGLE)[::-1, ::-1], np.zeros((40, 60), SINGLE)],
    }
    for name, make in ways.items():
        given, out = make()
        given[...] = data
        made.forward(
            context(),
            ForwardArrays([given, factor], [OpReq.WRITE] * 2, [out, np.empty(40, SINGLE)], [count.copy()]),
        )
        np.testing.assert_allclose(out, output, rtol=1e-6, err_msg=name)


def test_gradients():
    data, factor, _ = arrays(50, 70)
    made = FormOperator("data_grad", VectorRows(), od.cpu(), [data.shape, factor.shape], [SINGLE] * 2)
    head = np.ones_like(data)
    out = np.full_like(data, 2)
    made.backward(
        context(),
        BackwardArrays(
            [head, None], [data, factor], [None, None], [OpReq.ADD, OpReq.NULL], [out, None], [None]
        ),
    )
    np.testing.assert_allclose(out, 2 + factor * 2 / data.max(axis=1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 2), (37, 10), (64, 1000)])
def test_one_element_of_each_row_by_its_label(shape):
    rng = np.random.default_rng(0)
    data, label = (
        rng.standard_normal(shape).astype(SINGLE),
        rng.integers(0, shape[1], shape[0]).astype(SINGLE),
    )
    specs = [data.shape, label.shape], [SINGLE] * 2
    given, out, slopes = [data.astype(np.float64), label], np.empty(shape[0], SINGLE), np.empty_like(data)
    FormOperator("forward", VectorLabels(), od.cpu(), *specs).forward(
        context(), ForwardArrays([data, label], [OpReq.WRITE], [out])
    )
    expected = np.empty(shape[0])
    VectorLabels.forward(*given, expected)
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-6)
    head = rng.standard_normal(shape[0]).astype(SINGLE)
    FormOperator("data_grad", VectorLabels(), od.cpu(), *specs).backward(
        context(), BackwardArrays([head], [data, label], [None], [OpReq.WRITE, OpReq.NULL], [slopes, None])
    )
    np.testing.assert_allclose(slopes, VectorLabels.data_grad(head, *given), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin", "SoftmaxActivation"])
def test_first_party_rows_are_computed_so(name):
    prop = od.registry.get(name)()
    call = KernelCall(prop, od.cpu(), [(64, 100)], [SINGLE])
    assert [kernel.name for kernel in choose(call).of(prop.list_parts())] == [
        f"{name}.vector_forward",
        f"{name}.vector_data_grad",
    ]
    x = np.random.default_rng(0).standard_normal((64, 100)).astype(SINGLE)
    found = getattr(od.nd, name)(od.nd.array(x)).asnumpy()
    powers = np.exp((-1 if name == "softmin" else 1) * x.astype(np.float64))
    shares = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, np.log(shares) if name == "log_softmax" else shares, rtol=1e-5)
