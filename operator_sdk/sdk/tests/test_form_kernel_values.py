"""Kernels that follow from an author's functions of numbers that change from call to call."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.operator import BackwardArrays, KernelCall, OpContext, OpReq, choose
from operad_sdk import OperatorProperty, gradient, operator, param
from operad_sdk.vector import machine
from operator_sdk.sdk.tests.form_kernels import SINGLE, call_of, has_vectors, registered_for_tests

CONTEXT = OpContext(od.cpu(), is_train=True)


@operator("AutoClip")
class AutoClip(OperatorProperty):
    """A number that may be another one in every call."""

    spec = "data:(...) -> output:(...)"
    accepts = "floating"
    limit = param(float, 1.0, doc="Largest value.")

    def forward(data, limit):
        return np.minimum(np.maximum(data, -limit), limit) * 2 + data


@operator("AutoShift")
class AutoShift(OperatorProperty):
    """Run-time parameters, by one of which it decides; of a negative one nothing can be traced."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"
    shift = param(float, 0.0, run_time=True, doc="Added.")
    limit = param(float, 0.0, run_time=True, doc="Bound, if not 0.")

    def forward(data, shift, limit):
        found = np.exp(data) * 2 + shift
        if limit < 0:
            return found + float(limit)
        return np.minimum(found, limit) if limit else found

    @gradient("data", inplace="output_grad -> data_grad")
    def slope(output_grad, data, shift):
        return output_grad * np.exp(data) * 2 + shift


@operator("AutoStepped")
class AutoStepped(OperatorProperty):
    """A state that is moved, as updates of optimizers move it."""

    spec = "weight:(N, D), grad:(N, D), state mean:(N, D) -> output:(N, D)"
    accepts = "floating"
    inplace = "weight -> output"
    rate = param(float, run_time=True, doc="Of the step.")

    def forward(weight, grad, mean, rate, output):
        mean *= 1 - rate
        mean += rate * np.tanh(grad)
        np.subtract(weight, rate * mean, out=output)


registered = registered_for_tests(AutoClip, AutoShift, AutoStepped)


@has_vectors
def test_numbers_that_change_from_call_to_call_are_not_compiled_again_and_again():
    def chosen(limit, is_alone):
        call = KernelCall(AutoClip(limit=limit), od.cpu(), [(300, 100)], [SINGLE], is_alone=is_alone)
        return choose(call).forward.name

    names = [chosen(i / 8, is_alone=True) for i in range(1, 40)]
    assert names[:8] == ["AutoClip.vector_forward"] * 8
    assert names[-8:] == ["AutoClip.forward"] * 8
    assert chosen(1 / 8, is_alone=True) == "AutoClip.vector_forward"
    # What a graph computes depends on no call before it.
    assert chosen(77, is_alone=False) == "AutoClip.vector_forward"


VALUES = [0.0, -0.0, 1.5, 1e38, 1e300, 1e-40, float("inf"), float("-inf"), float("nan")]
VALUES += [i / 7 for i in range(-50, 50)]


def kernels_made():
    return machine.statistics.compiled + machine.statistics.loaded


def expect_same(found, expected):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)


@has_vectors
def test_a_hundred_values_of_a_run_time_parameter_are_one_kernel():
    data = np.random.default_rng(2).standard_normal((300, 100)).astype(SINGLE)
    x = od.nd.array(data)
    assert choose(call_of(AutoShift(), data.shape)).forward.name == "AutoShift.vector_forward"
    od.nd.AutoShift(x, shift=0.5).wait_to_read()
    before = kernels_made()
    for value in VALUES:
        with np.errstate(all="ignore"):
            expect_same(od.nd.AutoShift(x, shift=value).asnumpy(), AutoShift.forward(data, value, 0))
    assert kernels_made() == before


@has_vectors
def test_values_by_which_a_function_goes_another_way_have_another_kernel_or_the_function():
    data = np.random.default_rng(3).standard_normal((300, 100)).astype(SINGLE)
    x, counts = od.nd.array(data), []
    for limit in (0.0, 1.0, 5.0, -1.0, -3.0, float("nan"), -0.0, 0.25) * 2:
        expect_same(od.nd.AutoShift(x, shift=1.0, limit=limit).asnumpy(), AutoShift.forward(data, 1.0, limit))
        counts.append(kernels_made())
    assert len(set(counts[1:])) == 1


@has_vectors
def test_gradients_follow_values_without_a_kernel_more():
    data = np.random.default_rng(4).standard_normal((300, 100)).astype(SINGLE)
    x = od.nd.array(data)
    x.attach_grad()
    before = None
    for value in VALUES[:40]:
        with od.autograd.record():
            y = od.nd.AutoShift(x, shift=value)
        y.backward()
        with np.errstate(all="ignore"):
            expect_same(y.asnumpy(), AutoShift.forward(data, value, 0))
            expect_same(x.grad.asnumpy(), AutoShift.slope(np.ones_like(data), data, value))
        before = before or kernels_made()
    assert kernels_made() == before


@has_vectors
@pytest.mark.parametrize("shape", [(300, 100), (200, 200), (1200, 900)])
def test_other_values_make_no_operator_anew(shape, monkeypatch):
    """Of lengths that differ, that are equal, and where threads divide the rows."""
    from operad_sdk.vector import derived_kernels

    data = np.random.default_rng(8).standard_normal(shape).astype(SINGLE)
    x = od.nd.array(data)
    x.attach_grad()
    made, inner = [], derived_kernels.operator_of

    def counted(parts, *call):
        made.append(parts)
        return inner(parts, *call)

    def calls(value):
        expect_same(od.nd.AutoShift(x, shift=value).asnumpy(), AutoShift.forward(data, value, 0))
        with od.autograd.record():
            y = od.nd.AutoShift(x, shift=value)
        y.backward()
        expect_same(x.grad.asnumpy(), AutoShift.slope(np.ones_like(data), data, value))

    monkeypatch.setattr(derived_kernels, "operator_of", counted)
    calls(0.5)
    count = len(made)
    for value in (1.5, -2.0, 0.25):
        calls(value)
    assert len(made) == count


@has_vectors
@pytest.mark.parametrize("request_of", [OpReq.WRITE, OpReq.ADD, OpReq.INPLACE])
def test_gradients_in_place_and_added_have_the_numbers_too(request_of):
    data, head = np.random.default_rng(5).standard_normal((2, 40, 30)).astype(SINGLE)
    derived = AutoShift().derived_kernels()[1]
    for shift in (0.5, -2.0):
        made = derived.factory(AutoShift(shift=shift), od.cpu(), [data.shape], [SINGLE])
        out_grad = head.copy()
        target = out_grad if request_of is OpReq.INPLACE else np.full_like(data, 3)
        made.prepare_backward(CONTEXT, BackwardArrays([out_grad], [data], [None], [request_of], [target]))()
        expected = AutoShift.slope(head, data, shift) + (3 if request_of is OpReq.ADD else 0)
        np.testing.assert_allclose(target, expected, rtol=1e-6, atol=1e-6)


@has_vectors
def test_in_a_graph_a_value_is_that_of_its_node_and_the_kernel_that_of_all():
    data = np.random.default_rng(6).standard_normal((300, 100)).astype(SINGLE)
    counts = []
    for value in (0.5, 1.5, -7.0):
        node = od.sym.AutoShift(od.sym.var("x"), shift=value)
        bound = node.bind(od.cpu(), {"x": od.nd.array(data)})
        expect_same(bound.forward()[0].asnumpy(), AutoShift.forward(data, value, 0))
        counts.append(kernels_made())
    assert counts[1:] == counts[:1] * 2


@has_vectors
def test_states_move_by_the_rate_of_each_call():
    rng = np.random.default_rng(7)
    weight, grad, mean = rng.standard_normal((3, 300, 100)).astype(SINGLE)
    arrays = [od.nd.array(one) for one in (weight, grad, mean)]
    assert (
        choose(call_of(AutoStepped(rate=1.0), *[weight.shape] * 2)).forward.name
        == "AutoStepped.vector_forward"
    )
    for rate in (0.1, 0.5, -0.25, 0.1):
        od.nd.AutoStepped(*arrays, rate=rate, out=arrays[0])
        AutoStepped.forward(weight, grad, mean, rate, weight)
        np.testing.assert_allclose(arrays[0].asnumpy(), weight, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(arrays[2].asnumpy(), mean, rtol=1e-6, atol=1e-6)


@has_vectors
@pytest.mark.parametrize("shape", [(40, 30), (1200, 900)])
@pytest.mark.parametrize("order", "CF")
def test_states_and_what_is_written_may_lie_anywhere_in_a_call_with_values(shape, order):
    arrays = np.random.default_rng(9).standard_normal((3, *shape)).astype(SINGLE)
    weight, grad, mean = (np.array(one, order=order) for one in arrays)
    (kernel,) = AutoStepped(rate=1.0).derived_kernels()
    made = kernel.factory(AutoStepped(rate=1.0), od.cpu(), [shape] * 2, [SINGLE] * 2)
    assert made.direct is not None
    for rate, out in ((0.1, np.empty_like(weight)), (0.5, weight)):
        expected = [one.copy() for one in (weight, grad, mean)]
        made.direct_with_values(weight, grad, out, mean, *made.run_time_values((rate,)))
        AutoStepped.forward(*expected, rate, expected[0])
        np.testing.assert_allclose(out, expected[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(mean, expected[2], rtol=1e-5, atol=1e-6)
