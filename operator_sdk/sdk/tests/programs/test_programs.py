"""Random functions, traced into programs: the same numbers, and no memory written beside or too early."""

from __future__ import annotations

import numpy as np
import pytest

from operad import storage
from operad.context import cpu
from operad.operator import OpContext
from operad_sdk.differentiate import PROGRAM, Node, Traced, TraceError
from operad_sdk.programs import program as room
from operad_sdk.programs.plan import CallStep, KernelStep
from operad_sdk.programs.program import Program
from operad_sdk.vector import reason_against
from operad_sdk.vector.cost_rule import Estimates
from operator_sdk.sdk.tests.programs.random_programs import RandomFunction
from operator_sdk.sdk.tests.vector.guarded import guarded

pytestmark = pytest.mark.skipif(bool(reason_against()), reason="there is no vector code")

CONTEXT = OpContext(cpu(), is_train=True)
BATCHES = 40
FAST_BATCHES = 8
OF_A_BATCH = 25


def traced(function, shapes, dtype, *, always=True):
    """The program of a function for some shapes."""
    inputs = [Traced(Node(PROGRAM, np.zeros(shape, dtype), is_input=True)) for shape in shapes]
    given = [cell.node for cell in inputs]
    results = [one.node if isinstance(one, Traced) else Node(PROGRAM, one) for one in function(*inputs)]
    return Program(given, results, always=always)


def compared(function, monkeypatch, *, by_lot=False):
    """The number of kernels of a function's program, which agrees with the function.

    Args:
        by_lot: Whether a coin says what kernels compute and what NumPy's calls do.
    """
    expected = [np.asarray(one) for one in function(*function.arrays())]
    with monkeypatch.context() as patch:
        coin = np.random.default_rng(function.seed)
        patch.setattr(Estimates, "favour_vectors", property(lambda _: bool(coin.integers(2))))
        made = traced(function, function.shapes, function.dtype, always=not by_lot)
    arrays = []
    for array in function.arrays():
        arrays.append(guarded(array.shape, array.dtype))
        arrays[-1][...] = array
    wanted = tuple(range(len(expected)))
    for some in {wanted, wanted[:1], wanted[-1:]}:
        targets = [guarded(expected[i].shape, expected[i].dtype, at_end=i % 2) for i in some]
        with monkeypatch.context() as patch:
            poison_what_is_over(patch, made.plan(some))
            made.run(CONTEXT, arrays, some, targets)
        for number, target in zip(some, targets, strict=True):
            assert made.specs[number] == (expected[number].shape, expected[number].dtype)
            np.testing.assert_array_equal(target, expected[number], str((function.seed, number)))
    if (call := made.call()) is not None:
        targets = [guarded(*spec) for spec in made.specs]
        call(*arrays, *targets)
        for target, one in zip(targets, expected, strict=True):
            np.testing.assert_array_equal(target, one, str(function.seed))
    for array, before in zip(arrays, function.arrays(), strict=True):
        np.testing.assert_array_equal(array, before)
    return made.num_kernels


def slots_of(step):
    """Slots that a step touches."""
    if isinstance(step, KernelStep):
        return set(step.slots)
    given = [step.slot, *(step.args if isinstance(step, CallStep) else (step.index, step.value))]
    found, left = set(), list(given)
    while left:
        one = left.pop()
        if isinstance(one, room.Slot):
            found.add(one.number)
        elif isinstance(one, (list, tuple)):
            left += one
        elif isinstance(one, int) and one is step.slot:
            found.add(one)
    return found


def poison_what_is_over(patch, plan):
    """After each step fill the memory that no later one touches, nor a view in one, with other numbers."""
    run, number = room._run, iter(range(len(plan.steps)))

    def watched(step, op_ctx, slots):
        run(step, op_ctx, slots)
        here = next(number)
        later = {slot for after in plan.steps[here + 1 :] for slot in slots_of(after)}
        later |= {slot for _, slot in plan.copied}
        later |= {slot for _, slot, _ in plan.direct}
        later |= {part.whole for part in plan.parts if part.slot in later}
        alive = [slots[slot] for slot in later if isinstance(slots[slot], np.ndarray)]
        for place in plan.places:
            memory = slots[place.slot]
            if not any(np.may_share_memory(memory, one) for one in alive):
                memory.view(np.uint8 if memory.ndim else memory.dtype)[...] = 0xFF if memory.ndim else 77

    patch.setattr(room, "_run", watched)


@pytest.mark.parametrize(
    "batch", [pytest.param(i, marks=pytest.mark.more if i >= FAST_BATCHES else ()) for i in range(BATCHES)]
)
def test_a_program_computes_what_the_function_does(batch, drawn_seed, monkeypatch):
    num_kernels = 0
    for number in range(OF_A_BATCH):
        function = RandomFunction(drawn_seed * 1000 + batch * OF_A_BATCH + number)
        num_kernels += compared(function, monkeypatch, by_lot=number % 2 == 1)
    assert num_kernels


def turned(x, offset):
    angles = (np.arange(3) + offset)[:, None] * np.arange(1, 5)
    first, second = x[..., :4] + angles, x[..., 4:] - angles
    return [np.concatenate([first * 2 - second, np.abs(second) + first], axis=-1)]


def in_other_orders(x, offset):
    return [np.concatenate([np.abs(x[:, ::-1] + offset), x * 2]), x.transpose(2, 0, 1).max(axis=-1) * 2]


@pytest.mark.parametrize("function", [turned, in_other_orders])
def test_programs_of_kernels_alone_are_one_call(function, drawn_seed):
    shapes, rng = [(2, 3, 8), (1,)], np.random.default_rng(drawn_seed)
    made = traced(function, shapes, np.float32)
    call = made.call()
    for _ in range(3):
        arrays = [guarded(shape, np.float32) for shape in shapes]
        for array in arrays:
            array[...] = rng.integers(-8, 9, array.shape)
        targets = [guarded(*spec) for spec in made.specs]
        call(*arrays, *targets)
        for found, expected in zip(targets, function(*arrays), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("function", [lambda x: [np.sort(x)], lambda x: [x], lambda x: [np.round(x, 1) + x]])
def test_other_steps_have_no_call(function):
    assert traced(function, [(4, 5)], np.float32).call() is None


def test_memory_is_given_back(monkeypatch):
    made = traced(lambda x: [np.sort(np.abs(x) + 1, axis=-1) * 2], [(8, 64)], np.float32)
    before = storage.get().stats(cpu()).in_use_bytes

    def broken(*_):
        raise ValueError("a step")

    array, target = np.ones((8, 64), np.float32), np.empty((8, 64), np.float32)
    made.run(CONTEXT, [array], (0,), [target])
    monkeypatch.setattr(room, "_run", broken)
    with pytest.raises(ValueError, match="a step"):
        made.run(CONTEXT, [array], (0,), [target])
    assert storage.get().stats(cpu()).in_use_bytes == before


def test_views_do_not_count_among_the_steps_of_a_kernel():
    def function(x):
        for _ in range(30):
            x = (x + 1).T.T
        return [x]

    assert traced(function, [(8, 64)], np.float32).num_kernels == 1


def test_what_two_stages_read_is_computed_again_where_that_is_cheap():
    def function(x):
        shifted = x - x.max(axis=1, keepdims=True)
        return [(shifted * np.abs(shifted).sum(axis=1, keepdims=True)).sum(axis=0)]

    steps = traced(function, [(64, 512)], np.float32).plan((0,)).steps
    assert len(steps) == 2
    assert {node.value.shape for node in steps[0].cluster.makes} == {(64, 1)}


def test_the_view_of_a_result_that_is_computed_where_it_is_wanted_is_no_step():
    def function(x):
        sums = np.sort(x, axis=1).sum(axis=1, keepdims=True).reshape(64)
        return [sums, np.sort(sums)]

    made = traced(function, [(64, 512)], np.float32)
    assert [type(step) for step in made.plan((0,)).steps] == [CallStep, KernelStep]
    assert [type(step) for step in made.whole.steps] == [CallStep, KernelStep, CallStep, CallStep]


def test_a_step_without_a_form_stands_between_kernels():
    def function(x):
        before = np.abs(x) + 1
        return [before * np.round(before, 1)]

    steps = traced(function, [(64, 512)], np.float32).plan((0,)).steps
    assert [type(step) for step in steps] == [KernelStep, CallStep, KernelStep]


def test_prefix_sums_are_in_vector_code_and_keep_their_type(drawn_seed):
    def of_both(x):
        return [
            np.cumsum(x * 2, 0),
            np.flip(np.cumsum(np.flip(x, 1), 1), 1),
            np.cumsum((x > 0).astype("int8")),
        ]

    made = traced(of_both, [(90, 110)], "float32", always=False)
    assert made.explained().count("prefix sums") == 3
    x = np.random.default_rng(drawn_seed).standard_normal((90, 110)).astype("float32")
    expected = of_both(x)
    targets = [np.empty(shape, dtype) for shape, dtype in made.specs]
    made.run(CONTEXT, [x], (0, 1, 2), targets)
    for target, want in zip(targets, expected, strict=True):
        assert target.dtype == want.dtype
        np.testing.assert_allclose(target, want, atol=1e-4)


def test_an_array_is_copied_for_the_one_write_behind_which_it_is_needed():
    def function(x):
        made = np.abs(x) + 1
        for i in range(1, 4):
            made[i] += made[i - 1]
        before = made.copy()
        made[0] = 3
        return [before * made]

    plan = traced(function, [(64, 512)], np.float32).plan((0,))
    assert plan.copied_bytes == 64 * 512 * 4


def test_a_write_to_a_whole_array_leaves_out_the_parts_before():
    def function(x):
        made = x.copy()
        made[2:4] = np.abs(x[2:4]) - 1
        whole = np.sort(made, axis=0)
        whole[:, 0:8] = 3
        return [np.abs(whole) + x, made]

    x, target = np.ones((12, 8), np.float32), np.empty((12, 8), np.float32)
    traced(function, [x.shape], x.dtype).run(CONTEXT, [x], (0,), [target])
    np.testing.assert_array_equal(target, 4)


def test_what_lies_where_an_argument_did_stays_there():
    def function(x):
        first = np.abs(np.matmul(x, x)) + 1  # over the product
        second = np.abs(np.matmul(first, x)) + 2
        third = np.abs(np.matmul(second, x)) + 3
        return [first + third]

    x = np.random.default_rng(1).integers(-2, 3, (16, 16)).astype(np.float32)
    made, target = traced(function, [x.shape], x.dtype), np.empty_like(x)
    made.run(CONTEXT, [x], (0,), [target])
    np.testing.assert_array_equal(target, function(x)[0])
    assert made.whole.size_bytes == 3 * x.nbytes  # of six


def test_a_loop_is_no_program():
    def function(x):
        for _ in range(2500):
            x = x + 1
        return [x]

    with pytest.raises(TraceError, match="2500 steps"):
        traced(function, [(4, 4)], np.float32)


def transposed_in_place(x):
    made = x.copy()
    for begin in (0, 4):
        made[begin : begin + 8] = np.abs(made[begin : begin + 8].T) + 1
    return [made]


def in_place_of_what_its_kernel_also_makes(x):
    part = np.abs(x[:4]) + 1
    made = np.sort(np.concatenate([part * 2, part * 2, part * 2]), axis=0)
    made[:4] = part
    made[2:6] = 3
    return [made]


def product_in_place(x):
    made = x.copy()
    for begin in (0, 4):
        made[begin : begin + 8] = made[begin : begin + 8] @ made[begin : begin + 8]
    return [made]


def of_its_neighbours(x):
    made = x.copy()
    for i in range(1, 12):
        made[i] = np.round(made[i] + made[i - 1], 1)
        made[i - 1 : i + 1] += made[i : i + 2]
    return [made]


@pytest.mark.parametrize(
    "function",
    [transposed_in_place, in_place_of_what_its_kernel_also_makes, product_in_place, of_its_neighbours],
)
@pytest.mark.parametrize("always", [True, False])
def test_what_is_written_into_an_array_may_be_made_of_it(function, always):
    x = np.random.default_rng(2).integers(-2, 3, (12, 8)).astype(np.float32)
    (expected,) = function(x)
    made = traced(function, [x.shape], x.dtype, always=always)
    target = guarded(expected.shape, expected.dtype)
    made.run(CONTEXT, [x], (0,), [target])
    np.testing.assert_array_equal(target, expected)


def rows_and_columns_of_truth(x):
    return (x > 1).any(1), np.all(x < 3, 0) * x, np.any(x > 2, 1, keepdims=True) * x


def extrema_beside_wider_means(x):
    return ((x - x.mean(axis=1, keepdims=True)) * (1 + np.abs(x.max(axis=0))),)


def beside_a_copy(x):
    found = x @ x.T
    turned = found.T
    turned *= 2
    turned.reshape(-1)[...] = 1  # no view: the axes lie in the other order
    return (found,)


def through_a_view(x):
    turned = np.where(x.T > 0, x.T.astype(np.float64) + 1, 2)  # laid out as what it is made of
    turned.T.reshape(-1)[...] = 1
    kept = np.tanh(x.T) * 2
    kept.T.ravel()[1:4] = 3
    return turned, kept


@pytest.mark.parametrize("always", [True, False])
@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (beside_a_copy, np.float32),
        (through_a_view, np.float32),
        (rows_and_columns_of_truth, np.float32),
        (extrema_beside_wider_means, np.float16),
    ],
    ids=lambda one: one.__name__,
)
def test_steps_give_what_numpy_gives(function, dtype, always):
    made = traced(function, [(9, 12)], dtype, always=always)
    array = np.random.default_rng(0).normal(size=(9, 12)).astype(dtype)
    expected = [np.asarray(one) for one in function(array)]
    assert list(made.specs) == [(one.shape, one.dtype) for one in expected]
    targets = [np.empty_like(one) for one in expected]
    made.run(CONTEXT, [array], range(len(expected)), targets)
    for target, one in zip(targets, expected, strict=True):
        np.testing.assert_allclose(target, one, rtol=2e-2, atol=1e-3)


def test_halves_that_are_computed_from_the_same_arrays_are_one_kernel():
    def turned(x, cos, sin):
        first, second = x[:, :4], x[:, 4:]
        return [np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=1)]

    made = traced(turned, [(6, 8), (6, 4), (6, 4)], np.dtype(np.float32))
    steps = [step for step in made.whole.steps if isinstance(step, KernelStep)]
    assert [len(step.cluster.makes) for step in steps] == [2]
