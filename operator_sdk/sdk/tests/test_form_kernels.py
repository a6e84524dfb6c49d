"""Kernels that follow from an author's functions, without a word by the author."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import operad as od
from operad.operator import (
    FORWARD,
    BackwardArrays,
    ForwardArrays,
    KernelCall,
    OpContext,
    OpReq,
    choose,
    choose_among,
)
from operad_sdk import OperatorProperty, gradient, operator
from operad_sdk.form_kernels import ELEMENTS_FROM_SIZE, PASSES_FROM_SIZE
from operator_sdk.sdk.tests.form_kernels import SINGLE, call_of, has_vectors, registered_for_tests

CONTEXT = OpContext(od.cpu(), is_train=True)
slope = 2.0


@operator("AutoGate")
class AutoGate(OperatorProperty):
    """A gated product, whose one function of gradients may write over the head gradient."""

    spec = "gate:(N, D), up:(N, D), bias:(D) -> output:(N, D)"
    accepts = "floating"

    def forward(gate, up, bias):
        return gate / (1 + np.exp(-gate)) * up + bias

    @gradient("gate", "up", "bias", inplace=("output_grad -> gate_grad", "gate -> up_grad"))
    def gradients(output_grad, gate, up):
        share = 1 / (1 + np.exp(-gate))
        slopes = share + gate * share * (1 - share)
        return output_grad * up * slopes, output_grad * gate * share, output_grad.sum(0)


@operator("AutoSlope")
class AutoSlope(OperatorProperty):
    """Reads a global that changes."""

    spec = "data:(...) -> output:(...)"
    accepts = "floating"

    def forward(data):
        return np.exp(data) * slope + data


@operator("AutoWritten")
class AutoWritten(OperatorProperty):
    """The author has it computed as it is written."""

    spec = "data:(...) -> output:(...)"
    accepts = "floating"
    by_numpy = True

    def forward(data):
        return np.exp(data) * 2 + data


@operator("AutoCentred")
class AutoCentred(OperatorProperty):
    """Less the mean of a batch in training, and less a moving one in prediction."""

    spec = "data:(N, D), state moving:(D) -> output:(N, D), hidden mean:(D)"
    accepts = "floating"

    def forward(is_train, data, moving, output, mean):
        if is_train:
            mean[...] = data.mean(0)
            moving += 0.5 * mean
        else:
            mean[...] = moving
        np.subtract(data, mean, out=output)

    @gradient("data", inplace="output_grad -> data_grad")
    def data_grad(is_train, output_grad):
        return output_grad - output_grad.mean(0) if is_train else output_grad * 1


@operator("AutoWatched")
class AutoWatched(OperatorProperty):
    """The data; in training a mean moves."""

    spec = "data:(N, D), state moving:(D) -> output:(N, D)"
    accepts = "floating"

    def forward(is_train, data, moving, output):
        if is_train:
            moving += 0.5 * data.mean(0)
        output[...] = data


@operator("AutoLabelled")
class AutoLabelled(OperatorProperty):
    """What is written at one element of each row."""

    spec = "data:(N, D), label:int32(N) -> output:(N, D)"
    accepts = "floating"

    def forward(data, label, output):
        np.copyto(output, data)
        output[np.arange(len(label)), label] -= 1


@operator("AutoByHand")
class AutoByHand(OperatorProperty):
    """Somebody wrote a kernel."""

    spec = "data:(...) -> output:(...)"
    accepts = "floating"

    def forward(data):
        return np.exp(data) * 2 + data


@AutoByHand.kernel("forward", "cpu", priority=1, name="by_hand")
def by_hand(data):
    return np.exp(data) * 2 + data


registered = registered_for_tests(
    AutoGate, AutoSlope, AutoWritten, AutoCentred, AutoWatched, AutoLabelled, AutoByHand
)


def gate(rows, columns):
    return call_of(AutoGate(), (rows, columns), (rows, columns), (columns,))


def test_each_function_has_one_kernel_of_all_its_targets():
    kernels = AutoGate().derived_kernels()
    assert [kernel.parts(AutoGate()) for kernel in kernels] == [
        (FORWARD,), ("gate_grad", "up_grad", "bias_grad"),
    ]  # fmt: skip
    assert AutoGate().derived_kernels() is kernels
    assert AutoGate.kernels == [AutoGate.kernels[0]]


@has_vectors
@pytest.mark.parametrize("is_train", [True, False])
@pytest.mark.parametrize("shape", [(40, 30), (7, 300)])
def test_training_and_prediction_have_kernels_of_their_own(is_train, shape):
    rng, context = np.random.default_rng(0), OpContext(od.cpu(), is_train=is_train)
    data, head = (rng.standard_normal(shape).astype(SINGLE) for _ in range(2))
    found = []
    for kernel in (*AutoCentred().derived_kernels(), AutoCentred.kernels[0]):
        assert kernel is AutoCentred.kernels[0] or kernel.when(call_of(AutoCentred(), shape)) is True
        made = kernel.factory(AutoCentred(), od.cpu(), [shape], [SINGLE])
        moving, output = np.ones(shape[1], SINGLE), np.empty_like(data)
        mean, grad = np.empty_like(moving), np.empty_like(data)
        parts = [FORWARD, "data_grad"] if kernel.parts is None else kernel.parts(AutoCentred())
        if FORWARD in parts:
            made.forward(context, ForwardArrays([data], [OpReq.WRITE] * 2, [output, mean], [moving]))
            found.append([output, mean, moving])
        if "data_grad" in parts:
            made.backward(
                context, BackwardArrays([head, None], [None], [None, None], [OpReq.WRITE], [grad], [None])
            )
            found[-1].append(grad)
    by_form, as_written = found
    for one, expected in zip(by_form, as_written, strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-5, atol=1e-6)


@has_vectors
def test_a_mode_that_one_call_of_numpys_computes_stays_so():
    kernel, shape = AutoWatched().derived_kernels()[0], (400, 300)
    assert kernel.when(call_of(AutoWatched(), shape)) is True
    made = kernel.factory(AutoWatched(), od.cpu(), [shape], [SINGLE])
    own = AutoWatched.kernels[0].factory(AutoWatched(), od.cpu(), [shape], [SINGLE])
    assert [type(made._makers[is_train]()) is type(own) for is_train in (True, False)] == [False, True]


@has_vectors
@pytest.mark.parametrize(("rows", "has_kernel"), [(64, True), (16, False)])
def test_functions_that_look_up_by_labels_walk_over_rows_and_pay_early(rows, has_kernel):
    call = KernelCall(AutoLabelled(), od.cpu(), [(rows, 10), (rows,)], [SINGLE, np.dtype(np.int32)])
    names = {kernel.name for kernel in choose(call).kernels.values()}
    assert names == {"AutoLabelled.vector_forward" if has_kernel else "AutoLabelled.forward"}


@has_vectors
def test_large_calls_are_computed_by_forms_and_small_ones_as_written():
    large, small = choose(gate(200, 100)), choose(gate(20, 10))
    assert {kernel.name for kernel in large.kernels.values()} == {
        "AutoGate.vector_forward", "AutoGate.vector_gradients",
    }  # fmt: skip
    assert {kernel.name for kernel in small.kernels.values()} == {"AutoGate.forward"}


@has_vectors
def test_kernels_by_hand_rank_before_and_a_word_refuses():
    assert choose(call_of(AutoByHand(), (300, 100))).forward.name == "AutoByHand.by_hand"
    assert choose(call_of(AutoWritten(), (300, 100))).forward.name == "AutoWritten.forward"
    assert AutoWritten().derived_kernels() == ()


@has_vectors
@pytest.mark.parametrize("wanted", [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1)])
@pytest.mark.parametrize("request_of", [OpReq.WRITE, OpReq.ADD, OpReq.INPLACE])
def test_gradients_of_one_function_are_computed_as_if_at_once(wanted, request_of):
    """Each alone and together, written, added, and where the function's pairs in place lie."""
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(shape).astype(SINGLE) for shape in ((40, 30), (40, 30), (30,))]
    head = rng.standard_normal((40, 30)).astype(SINGLE)
    call = gate(40, 30)
    own, derived = AutoGate.kernels[0], AutoGate().derived_kernels()[1]

    def gradients(kernel, shared):
        made = choose_among(call, [kernel, own]).operator()
        given, out_grad = [array.copy() for array in arrays], head.copy()
        targets = [
            np.full_like(array, 3) if want else None for array, want in zip(arrays, wanted, strict=True)
        ]
        req = [OpReq.WRITE if want else OpReq.NULL for want in wanted]
        if request_of is OpReq.ADD:
            req = [OpReq.ADD if want else OpReq.NULL for want in wanted]
        elif request_of is OpReq.INPLACE and shared:
            for position, memory in ((0, out_grad), (1, given[0])):
                if wanted[position]:
                    targets[position], req[position] = memory, OpReq.INPLACE
        context = type("Context", (), {"num_threads": 1, "is_train": True, "xp": np})()
        made.backward(context, BackwardArrays([out_grad], given, [None], req, targets))
        return targets

    expected, found = gradients(own, shared=False), gradients(derived, shared=True)
    for one, other in zip(found, expected, strict=True):
        if other is not None:
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5)


def test_a_function_that_reads_what_changes_is_never_frozen(monkeypatch):
    data = np.random.default_rng(0).standard_normal((300, 100)).astype(SINGLE)
    for value in (2.0, 5.0):
        monkeypatch.setattr(sys.modules[__name__], "slope", value)
        found = od.nd.AutoSlope(od.nd.array(data)).asnumpy()
        np.testing.assert_allclose(found, np.exp(data) * value + data, rtol=1e-6)


@has_vectors
def test_a_function_that_reads_what_changes_is_said_to():
    (kernel,) = AutoSlope().derived_kernels()
    assert "slope" in kernel.rejection(call_of(AutoSlope(), (300, 100)))


@has_vectors
def test_bits_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(1)
    for name, shapes in (
        ("softmax", [(900, 700)]),
        ("exp", [(900, 700)]),
        ("elemwise_add", [(900, 700)] * 2),
    ):
        prop = od.registry.get(name)()
        arrays = [rng.standard_normal(shape).astype(SINGLE) for shape in shapes]
        found = set()
        for threads in (1, 2, 3):
            made = choose(call_of(prop, *shapes, threads=threads)).operator()
            out = np.empty(shapes[0], SINGLE)
            context = type("Context", (), {"num_threads": 1, "is_train": False, "xp": np, "requested": ()})()
            made.forward(context, ForwardArrays(arrays, [OpReq.WRITE], [out]))
            found.add(out.tobytes())
        assert len(found) == 1, name


@pytest.mark.parametrize(
    ("name", "size"), [("tanh", ELEMENTS_FROM_SIZE - 1), ("softmax", PASSES_FROM_SIZE - 1)]
)
def test_calls_below_the_size_import_nothing_that_compiles(name, size):
    code = (
        f"import operad as od, sys; od.nd.{name}(od.nd.ones(({size},))).wait_to_read()\n"
        "heavy = ('llvmlite', 'operad_sdk.vector', 'operad_sdk.differentiate')\n"
        "print(*[name for name in sys.modules if name in heavy])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
