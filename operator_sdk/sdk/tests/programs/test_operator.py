"""Programs of declared operators: when they are taken, and what callers may ask of them."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.op.template import filled
from operad.operator import BackwardArrays, ForwardArrays, KernelCall, OpContext, OpReq
from operad_sdk import OperatorProperty, blocked_cumsum, gradient, operator, param
from operad_sdk.differentiate import PROGRAM, Node, Traced, TraceError
from operad_sdk.programs import operator as room
from operad_sdk.programs.operator import ProgramOperator, program_of
from operad_sdk.programs.program import Program
from operad_sdk.vector import reason_against

pytestmark = pytest.mark.skipif(bool(reason_against()), reason="there is no vector code")

SINGLE = np.dtype(np.float32)
TRAINING, PREDICTION = (OpContext(cpu(), is_train=flag) for flag in (True, False))


@operator("program_mix")
class Mix(OperatorProperty):
    """A product of rows' shares."""

    spec = "data:(N, D), weight:(D, D) -> output:(N, D); D >= 1"
    accepts = "floating"

    def forward(data, weight):
        powers = np.exp(data - data.max(axis=1, keepdims=True))
        return np.tanh(powers / powers.sum(axis=1, keepdims=True) @ weight)

    def backward(output_grad, data, weight, output):
        powers = np.exp(data - data.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        slope = output_grad * (1 - output * output)
        by_share = slope @ weight.T
        return shares * (by_share - (by_share * shares).sum(axis=1, keepdims=True)), shares.T @ slope


@operator("program_stacks")
class Stacks(OperatorProperty):
    """A product for each matrix of a stack."""

    spec = "data:(B, N, D), weight:(B, D, D) -> output:(B, N, D)"
    accepts = "floating"

    def forward(data, weight):
        return np.exp(-np.abs(data @ weight)) * 2


@operator("program_modes")
class Modes(OperatorProperty):
    """Rows in another order, and in training twice."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"

    def forward(data, is_train):
        ordered = np.sort(data, axis=1) * 2 + 1
        return ordered * ordered if is_train else ordered


@operator("program_looks")
class Looks(OperatorProperty):
    """Decides by a value."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"

    def forward(data):
        ordered = np.sort(data, axis=1)
        if ordered[0, 0] > 0:
            ordered = ordered + 1
        return ordered


@operator("program_rate")
class Rate(OperatorProperty):
    """Has a number that changes."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"
    rate = param(float, 1.0, run_time=True)

    def forward(data, rate):
        return np.sort(data, axis=1) * rate


@operator("program_gradients")
class Gradients(OperatorProperty):
    """Gradients of which one is a row's, and one sums over rows what the first has summed along them."""

    spec = "data:(N, C, K), gain:(C) -> output:(N, C, K); K >= 1"
    accepts = "floating"

    def forward(data, gain):
        return data * gain[:, None]

    @gradient
    def both(output_grad, data, gain):
        total = (output_grad * data).sum(axis=2, keepdims=True)
        return (output_grad - data * total) * gain[:, None], total.sum(axis=(0, 2))


@operator("program_states")
class States(OperatorProperty):
    """A gradient that reads a state, and one that also counts in it."""

    spec = "data:(N, C), gain:(N, C), state scale:(N, C), state count:(N, C) -> output:(N, C)"
    accepts = "floating"

    def forward(data, gain, scale):
        return data * gain * np.exp(scale)

    def data_grad(output_grad, gain, scale):
        return output_grad * gain * np.exp(scale)

    def gain_grad(output_grad, data, scale, count):
        count += 1
        return output_grad * data * np.exp(scale)


@operator("program_sums")
class Sums(OperatorProperty):
    """Prefix sums as authors write them."""

    spec = "data:(N, C) -> output:(N, C)"
    accepts = "floating"

    def forward(data):
        return np.cumsum(data, axis=1)


@operator("program_own_sums")
class OwnSums(OperatorProperty):
    """Prefix sums that are in vector code already."""

    spec = "data:(N, C) -> output:(N, C)"
    accepts = "floating"

    def forward(data, output):
        blocked_cumsum(data, 1, out=output)


def arrays_of(rows=64, columns=512):
    rng = np.random.default_rng(3)
    return [rng.normal(size=shape).astype(SINGLE) for shape in ((rows, columns), (columns, columns))]


def made(op, parts, arrays):
    shapes, types = [array.shape for array in arrays], [array.dtype for array in arrays]
    return ProgramOperator(parts, op(), cpu(), shapes, types)


def forward(run, arrays, out=None, req=OpReq.WRITE, context=TRAINING):
    out = np.empty_like(arrays[0]) if out is None else out
    run.forward(context, ForwardArrays(arrays, [req], [out]))
    return out


def test_large_calls_are_computed_by_a_program_and_small_ones_are_not():
    kernel = Mix().derived_kernels()[0]
    large = KernelCall(Mix(), cpu(), [(64, 512), (512, 512)], [SINGLE] * 2)
    small = KernelCall(Mix(), cpu(), [(4, 8), (8, 8)], [SINGLE] * 2)

    assert kernel.when(large) is True
    assert isinstance(kernel.factory(Mix(), cpu(), large.in_shapes, large.in_types), ProgramOperator)
    assert "pays from" in kernel.when(small)
    assert kernel.when.regardless_of_size(small) is True
    assert kernel.when.explained(large) == "a program: kernel of 5, numpy.matmul, kernel of 1"


@pytest.mark.parametrize(("op", "is_taken"), [(Sums, True), (OwnSums, False)])
def test_prefix_sums_are_a_program_where_the_author_wrote_numpys(op, is_taken, drawn_seed):
    data = np.random.default_rng(drawn_seed).normal(size=(64, 512)).astype(SINGLE)
    call = KernelCall(op(), cpu(), [data.shape], [SINGLE])
    assert (op().derived_kernels()[0].when(call) is True) == is_taken
    if is_taken:
        found = forward(made(op, ["forward"], [data]), [data])
        np.testing.assert_allclose(found, np.cumsum(data, 1, np.float64), 1e-4, 1e-4)


@operator("program_halves")
class Halves(OperatorProperty):
    """Halves of rows, each made of both; and the gradients."""

    spec = "data:(N, 2*h), angle:(1) -> output:(N, 2*h)"
    accepts = "floating"

    def forward(data, angle):
        first, second = np.split(data, 2, axis=1)
        first, second = np.exp(-first * first), np.tanh(second) + 1
        return np.concatenate([first * angle - second, second * angle + first], axis=1)

    def data_grad(output_grad, data):
        first, second = np.split(output_grad * np.tanh(data), 2, axis=1)
        return np.concatenate([np.exp(-first) * second, np.exp(-second) - first * second], axis=1)


@pytest.mark.parametrize("part", [0, 1])
def test_small_calls_that_kernels_compute_all_of_are_one_call_alone_and_in_graphs(part):
    kernel, shapes = Halves().derived_kernels()[part], [(4, 64), (1,)]
    for is_alone in (True, False):
        assert kernel.when(KernelCall(Halves(), cpu(), shapes, [SINGLE] * 2, is_alone=is_alone)) is True
    assert "pays from" in kernel.when(KernelCall(Halves(), cpu(), [(2, 64), (1,)], [SINGLE] * 2))


def test_lengths_that_change_from_call_to_call_are_traced_a_few_times_and_in_graphs_always():
    kernel = Halves().derived_kernels()[0]

    def reasons(is_alone):
        shapes = [[(rows, 64), (1,)] for rows in range(4, 24)]
        return [
            kernel.when(KernelCall(Halves(), cpu(), one, [SINGLE] * 2, is_alone=is_alone)) for one in shapes
        ]

    assert [reason is True for reason in reasons(True)] == [True] * 16 + [False] * 4
    assert all(reason is True for reason in reasons(False))
    assert kernel.when(KernelCall(Halves(), cpu(), [(4, 64), (1,)], [SINGLE] * 2, is_alone=True)) is True


@pytest.mark.parametrize("how", [OpReq.WRITE, OpReq.ADD, "apart", "strided"])
@pytest.mark.parametrize("part", ["forward", "data_grad"])
def test_small_programs_write_where_results_are_wanted(part, how):
    rng, adds = np.random.default_rng(1), how is OpReq.ADD
    arrays = [rng.normal(size=(4, 64)).astype(SINGLE), np.array([0.3], SINGLE)]
    head = rng.normal(size=(4, 64)).astype(SINGLE)
    given = arrays if part == "forward" else [head, arrays[0]]
    expected = getattr(Halves, part)(*given) + adds
    run = made(Halves, (part,), arrays)
    out = np.ones((4, 128), SINGLE)[:, :: 2 if how == "apart" else 1][:, :64]
    if how == "strided":
        arrays[0] = np.asfortranarray(arrays[0])
    request = how if adds else OpReq.WRITE
    if part == "forward":
        templates = run.forward_templates(TRAINING, [request], 2, 0)
        filled(templates, [*arrays, out])()
    else:
        templates = run.backward_templates(TRAINING, [request, OpReq.NULL], 1, 0)
        filled(templates, [*arrays, None, head, out, None])()
    assert adds or templates[0].function is run._quick
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("rows", "is_program"), [(4, False), (400, True)])
def test_gradients_that_no_kernel_has_together_are_a_program_where_that_reads_less(rows, is_program):
    shapes, types = [(rows, 8, 100), (8,)], [SINGLE] * 2
    kernel = Gradients().derived_kernels()[1]
    call = KernelCall(Gradients(), cpu(), shapes, types)
    made = kernel.factory(Gradients(), cpu(), shapes, types)
    assert kernel.when(call) is True
    assert isinstance(made, ProgramOperator) == is_program
    assert kernel.when.explained(call).startswith("a program") == is_program

    rng = np.random.default_rng(3)
    head, data = (rng.normal(size=shapes[0]).astype(SINGLE) for _ in range(2))
    gain = rng.normal(size=8).astype(SINGLE)
    found = [np.empty_like(data), np.empty_like(gain)]
    made.backward(TRAINING, BackwardArrays([head], [data, gain], [None], [OpReq.WRITE] * 2, found))
    expected = Gradients.both(*(array.astype(np.float64) for array in (head, data, gain)))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("req", [OpReq.WRITE, OpReq.INPLACE, OpReq.ADD])
def test_results_go_where_they_are_wanted(req):
    arrays = arrays_of()
    expected = Mix.forward(*arrays)
    out = arrays[0] if req is OpReq.INPLACE else np.ones_like(expected)
    forward(made(Mix, ("forward",), arrays), arrays, out, req)
    np.testing.assert_allclose(out, expected + (req is OpReq.ADD), rtol=1e-5, atol=1e-6)


def test_an_output_that_lies_apart_is_written():
    arrays = arrays_of()
    out = np.zeros((64, 1024), SINGLE)[:, ::2]
    forward(made(Mix, ("forward",), arrays), arrays, out)
    np.testing.assert_allclose(out, Mix.forward(*arrays), rtol=1e-5, atol=1e-6)


def test_bits_of_a_gradient_do_not_depend_on_which_are_wanted():
    arrays, grad = arrays_of(), arrays_of()[0][::-1].copy()
    output = Mix.forward(*arrays)
    run = made(Mix, ("data_grad", "weight_grad"), arrays)

    def backward(*wanted):
        req = [OpReq.WRITE if flag else OpReq.NULL for flag in wanted]
        targets = [np.empty_like(a) if flag else None for a, flag in zip(arrays, wanted, strict=True)]
        run.backward(TRAINING, BackwardArrays([grad], arrays, [output], req, targets))
        return targets

    both = backward(True, True)
    for array, expected in zip(both, Mix.backward(grad, *arrays, output), strict=True):
        np.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(backward(True, False)[0], both[0])
    np.testing.assert_array_equal(backward(False, True)[1], both[1])


class Threads:
    """The context of an operation with three threads, whose parts come in another order."""

    is_train, num_threads, requested = True, 3, ()

    def __init__(self):
        self.parts = 0

    def parallel(self, function, count, width):
        self.parts += count
        for number in reversed(range(count)):
            function(number, 0)


def test_bits_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("operad_sdk.vector.form_calls.has_team", lambda: False)
    arrays, threads = arrays_of(2048, 256), Threads()
    stacks = [np.stack([array] * 4) for array in arrays]
    for op, given in ((Mix, arrays), (Stacks, stacks)):
        run = made(op, ("forward",), given)
        np.testing.assert_array_equal(forward(run, given, context=threads), forward(run, given))
    assert threads.parts > 8


def test_training_and_prediction_have_a_program_each():
    data = arrays_of()[:1]
    run = made(Modes, ("forward",), data)
    ordered = np.sort(data[0], axis=1) * 2 + 1
    np.testing.assert_allclose(forward(run, data), ordered * ordered, rtol=1e-6)
    np.testing.assert_allclose(forward(run, data, context=PREDICTION), ordered, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gradients_read_the_states_of_the_call(dtype):
    data, gain, scale, head = np.random.default_rng(5).uniform(0.5, 2, (4, 2048, 16)).astype(dtype)
    run, found = made(States, ("data_grad",), [data, gain]), np.empty_like(data)
    for scale_now in (scale, scale / 2):
        states, req = [scale_now, np.zeros_like(data)], [OpReq.WRITE, OpReq.NULL]
        run.backward(TRAINING, BackwardArrays([head], [None, gain], [None], req, [found, None], states))
        expected = head * gain * np.exp(scale_now)
        np.testing.assert_allclose(found, expected, rtol=1e-2 if dtype is np.float16 else 1e-5)


def test_a_gradient_that_changes_a_state_is_no_program():
    call = KernelCall(States(), cpu(), [(2048, 16)] * 2, [SINGLE] * 2)
    assert "a gradient changes a state" in program_of(call, ("gain_grad",), is_train=True)


def test_what_a_program_is_not_given_ends_it():
    given, other = (
        Traced(Node(PROGRAM, np.broadcast_to(np.float32(0), (64, 512)), is_input=True)) for _ in "ab"
    )
    with pytest.raises(TraceError, match="reads an array that is no argument"):
        Program([given.node], [np.sort(given + other).node])


def test_what_ends_a_trace_is_said_with_its_line():
    found = program_of(KernelCall(Looks(), cpu(), [(64, 512)], [SINGLE]), ("forward",), is_train=True)
    assert "asked whether it is true" in found
    assert found.line.endswith("if ordered[0, 0] > 0:")
    assert "run-time parameters" in program_of(
        KernelCall(Rate(), cpu(), [(64, 512)], [SINGLE]), ("forward",), is_train=True
    )


@operator("program_loops")
class Loops(OperatorProperty):
    """Goes through the rows one by one."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"

    def forward(data, output):
        for number in range(len(data)):
            output[number] = np.sort(data[number] * 2)


def test_a_long_loop_is_not_traced_to_its_end():
    rows = 100_000
    call = KernelCall(Loops(), cpu(), [(rows, 4)], [SINGLE])
    before = Node(PROGRAM, 0.0).number
    assert "more steps than a program has" in program_of(call, ("forward",), is_train=True)
    assert Node(PROGRAM, 0.0).number - before < rows


@operator("program_catches")
class Catches(OperatorProperty):
    """Falls back where NumPy refuses a matrix, or where a value cannot be asked for."""

    spec = "data:(N, K, K) -> output:(N, K, K)"
    accepts = ("float32", "float64")

    def forward(data):
        try:
            return np.linalg.inv(data)
        except np.linalg.LinAlgError:
            return np.full_like(data, np.nan)

    def data_grad(output_grad, output):
        try:
            is_flat = not output_grad.any()
        except Exception:  # noqa: BLE001 - as authors do that fall back
            is_flat = True
        if is_flat:
            return np.zeros_like(output)
        return -np.matmul(np.matmul(output.swapaxes(1, 2), output_grad), output.swapaxes(1, 2))


@pytest.mark.parametrize(
    ("part", "reason"), [("forward", "inv refuses arrays of zeros"), ("data_grad", "whether it is true")]
)
def test_what_a_function_catches_ends_its_trace_too(part, reason):
    call = KernelCall(Catches(), cpu(), [(64, 32, 32)], [SINGLE])
    assert reason in program_of(call, (part,), is_train=True)


@operator("program_wide")
class Wide(OperatorProperty):
    """Divided by a number of NumPy's, which makes float64 of float32."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"

    def forward(data):
        ordered = np.sort(data, axis=1)
        return (ordered / np.sqrt(data.shape[1])).astype(data.dtype)


def test_wider_numbers_within_are_told():
    call = KernelCall(Wide(), cpu(), [(512, 1024)], [SINGLE])
    told = Wide().derived_kernels()[0].when.explained(call)
    assert told == "a program: numpy.sort, kernel of 2 that computes in float64, too"


def test_few_programs_are_kept():
    kept = Mix._forms.setdefault("programs", {})
    for rows in range(2 * room._MOST):
        program_of(
            KernelCall(Mix(), cpu(), [(rows + 1, 8), (8, 8)], [SINGLE] * 2),
            ("forward",),
            is_train=True,
            always=True,
        )
    assert 0 < len(kept) <= room._MOST
