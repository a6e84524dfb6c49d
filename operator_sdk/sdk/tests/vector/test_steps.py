"""Loops over steps: what each part computes, on which arrays, in which order."""

from __future__ import annotations

import threading
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from operad.operator import OpContext
from operad_sdk.differentiate import TraceError, elements_form
from operad_sdk.vector import (
    KeptLoops,
    LoopPhases,
    NoVectorCodeError,
    PackedMatrix,
    StepArray,
    StepLoop,
    form_call,
    kept_loops,
    product_call,
    reason_against,
    run_steps,
    single_call,
    steps,
)
from operad_sdk.vector.settings import is_checked

pytestmark = pytest.mark.skipif(reason_against() is not None, reason="there is no vector code")

UNTOUCHED: Final = 1234.5
"""What stands around the arrays that a loop writes."""


def add(one: Any, other: Any) -> tuple[Any]:
    return (one + other,)


def recurrence(
    data: NDArray[Any], weight: NDArray[Any], first: NDArray[Any], order: NDArray[np.int64]
) -> NDArray[Any]:
    """`tanh(data[t] + state @ weight)`, where the state is what the step before gave."""
    found, state = np.empty_like(data), first
    for t in order:
        found[t] = state = np.tanh(data[t] + state @ weight)
    return found


def loop_of(
    out: NDArray[Any], packed: PackedMatrix, first: NDArray[Any], order: NDArray[np.int64]
) -> StepLoop:
    """The same into `out`, which holds the data."""

    def curve(sums: Any) -> tuple[Any]:
        return (np.tanh(sums),)

    before, into = StepArray.before(first, out, order), StepArray.of(out, order)
    calls = [product_call(before, packed, into, adds=True), form_call(elements_form(curve), [into], [into])]
    return StepLoop(calls)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(12))
def test_random_recurrences_in_parts_have_the_values_of_numpy_and_write_nothing_else(
    seed: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    count, batch, units = (int(n) for n in rng.integers(1, [9, 12, 70]))
    weight = rng.standard_normal((units, units)).astype(dtype) / units
    first = rng.standard_normal((2 * batch, units)).astype(dtype)[::2]
    data = rng.standard_normal((count, batch, units)).astype(dtype)
    order = np.arange(count)[:: rng.choice([1, -1])]
    expected = recurrence(data, weight, first, order)
    packed = PackedMatrix.of(weight)
    found = []
    for parts, has_team in ((1, True), (1, False), (2, True), (min(3, batch), False)):
        monkeypatch.setattr(steps, "has_team", lambda has_team=has_team: has_team)
        memory = np.full((count, batch + 2, units + 3), UNTOUCHED, dtype)
        out = memory[:, 1:-1, 1:-2]
        out[...] = data
        rows = [slice(batch * i // parts, batch * (i + 1) // parts) for i in range(parts)]
        loops = [loop_of(out[:, some], packed, first[some], order) for some in rows if out[:, some].size]
        run_steps(loops, Inside(parts) if parts > 1 else None)  # type: ignore[arg-type]
        np.testing.assert_allclose(out, expected, rtol=3e-5 if dtype == "float32" else 1e-12, atol=1e-6)
        found.append(out.tobytes())
        out[...] = UNTOUCHED
        assert (memory == UNTOUCHED).all()
    assert len(set(found)) == 1


class Inside:
    """As much of an `OpContext` as loops want."""

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads

    parallel = OpContext.parallel


def kept_recurrence(loops: KeptLoops, arrays: list[NDArray[Any]], order: NDArray[np.int64]) -> list[int]:
    """Run the recurrence in two parts of the batch; returns a number for each time that loops are made."""
    out, weight, first = arrays
    made = list[int]()

    def make() -> LoopPhases:
        """The matrix is packed before the steps, into memory of the loops' own."""
        made.append(len(out))
        packed = PackedMatrix.empty(weight.shape, weight.dtype)
        pack = StepLoop([single_call(packed.packing(weight), weight, packed.memory)])
        parts = [loop_of(out[:, rows], packed, first[rows], order) for rows in (slice(0, 2), slice(2, None))]
        return LoopPhases([[pack], parts], [packed.memory])

    loops.run("tanh", [out, first, weight], make, None)
    return made


@pytest.mark.parametrize("seed", range(4))
def test_kept_loops_give_the_bits_of_new_ones_on_any_arrays_that_lie_alike(seed: int) -> None:
    rng, loops = np.random.default_rng(seed), KeptLoops()
    steps_, batch, units = rng.integers(1, 5), rng.integers(3, 6), rng.integers(1, 20)
    made, alive = [], []
    for _ in range(4):
        data, weight = rng.normal(size=(steps_, batch, units)), rng.normal(size=(units, units))
        first = rng.normal(size=(batch, units))
        order = np.arange(steps_)
        fresh, kept = data.copy(), data.copy()
        alive += [data, kept]  # so that none has the address of another one
        kept_recurrence(KeptLoops(), [fresh, weight, first], order)
        made += kept_recurrence(loops, [kept, weight, first], order)
        np.testing.assert_array_equal(kept, fresh)
    assert len(made) == (4 if is_checked() else 1)


def test_loops_over_arrays_that_share_memory_are_not_kept() -> None:
    loops, order, made = KeptLoops(), np.arange(2), list[int]()
    for _ in range(2):
        memory, weight = np.ones((3, 3, 4)), np.eye(4)
        made += kept_recurrence(loops, [memory[1:], weight, memory[1]], order)
    assert len(made) == 2


def test_loops_with_much_memory_of_their_own_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_loops, "_MOST_KEPT_BYTES", 0)
    loops, order, made = KeptLoops(), np.arange(2), list[int]()
    for _ in range(2):
        made += kept_recurrence(loops, [np.ones((2, 3, 4)), np.eye(4), np.ones((3, 4))], order)
    assert len(made) == 2


def test_sets_of_arrays_that_alternate_have_loops_each_and_values_count_as_they_are() -> None:
    rng, loops, order, made = np.random.default_rng(3), KeptLoops(), np.arange(3), list[int]()
    sets = [[rng.normal(size=shape) for shape in ((3, 4, 8), (8, 8), (4, 8))] for _ in range(2)]
    for number in range(8):
        given = sets[number % 2]
        given[0][...] = rng.normal(size=(3, 4, 8))
        fresh = given[0].copy()
        kept_recurrence(KeptLoops(), [fresh, *given[1:]], order)
        made += kept_recurrence(loops, given, order)
        np.testing.assert_array_equal(given[0], fresh)
    assert len(made) == (8 if is_checked() else 2)
    sets[0][1] = rng.normal(size=(8, 8))  # where another matrix was
    fresh = sets[0][0].copy()
    kept_recurrence(KeptLoops(), [fresh, *sets[0][1:]], order)
    kept_recurrence(loops, sets[0], order)
    np.testing.assert_array_equal(sets[0][0], fresh)


def test_threads_at_one_time_have_loops_of_their_own() -> None:
    loops, order, errors = KeptLoops(), np.arange(3), list[BaseException]()

    def run(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            for _ in range(20):
                data, weight, first = (rng.normal(size=shape) for shape in ((3, 4, 8), (8, 8), (4, 8)))
                fresh, kept = data.copy(), data.copy()
                kept_recurrence(KeptLoops(), [fresh, weight, first], order)
                kept_recurrence(loops, [kept, weight, first], order)
                np.testing.assert_array_equal(kept, fresh)
        except BaseException as error:  # noqa: BLE001 - for the thread that looks
            errors.append(error)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_what_one_array_holds_goes_from_step_to_step() -> None:
    terms, total = np.arange(12, dtype=np.float32).reshape(4, 1, 3), np.zeros((1, 3), np.float32)
    order = np.arange(4)
    sums = StepArray.same(total, order)
    run_steps([StepLoop([form_call(elements_form(add), [sums, StepArray.of(terms, order)], [sums])])])
    assert total.tolist() == [[18, 22, 26]]


def test_columns_are_split_and_steps_are_reversed() -> None:
    data = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    out = np.empty((2, 3, 2))
    order = np.arange(2)
    left, right = StepArray.of(data, order).split(2)
    backwards = StepArray.of(out, order).backwards()
    run_steps([StepLoop([form_call(elements_form(add), [left, right], [backwards])])])
    assert (out == (data[..., :2] + data[..., 2:])[::-1]).all()


def test_nothing_runs_without_steps() -> None:
    out = np.full((0, 2, 3), UNTOUCHED, np.float32)
    order = np.arange(0)
    sample = StepArray(np.empty((2, 3), np.float32), StepArray.of(np.empty((1, 2, 3), np.float32), order)[1])
    run_steps([StepLoop([form_call(elements_form(add), [sample, sample], [sample])])])
    assert out.size == 0


def test_truth_values_choose() -> None:
    def keep(runs: Any, new: Any, old: Any) -> tuple[Any]:
        return (np.where(runs, new, old),)

    order = np.arange(3)
    runs = np.array([[[True], [False]], [[False], [False]], [[True], [True]]])
    new, old = np.ones((3, 2, 5), np.float32), np.zeros((3, 2, 5), np.float32)
    arrays = [StepArray.of(array, order) for array in (runs, new, old)]
    run_steps([StepLoop([form_call(elements_form(keep, runs="bool"), arrays, [arrays[1]])])])
    assert (new == runs).all()


def test_a_result_where_the_form_still_reads_is_refused() -> None:
    def far(one: Any, other: Any) -> tuple[Any, Any]:
        return one * 2, other - one.sum(axis=-1, keepdims=True)

    order = np.arange(1)
    one, other, out = (StepArray.same(np.ones((2, 300), np.float32), order) for _ in range(3))
    with pytest.raises(AssertionError, match="still reads"):
        form_call(elements_form(far), [one, other], [other, out])


def test_other_types_have_no_call_and_other_functions_no_form() -> None:
    array = StepArray.same(np.ones((2, 3), np.longdouble), np.arange(1))
    with pytest.raises(NoVectorCodeError, match="not in"):
        form_call(elements_form(add), [array, array], [array])
    with pytest.raises(TraceError):
        elements_form(lambda one: (np.sort(one),))


def test_calls_keep_their_arrays_alive() -> None:
    order = np.arange(2)
    array = StepArray.same(np.ones((1, 3), np.float32), order)
    other = StepArray.same(np.ones((1, 3), np.float32), order)
    call = form_call(elements_form(add), [array, other], [array])
    loop = StepLoop([call])
    del call, other
    run_steps([loop])
    assert (array.sample == 3).all()


@pytest.mark.parametrize(("batch", "units"), [(1, 1), (5, 1), (40, 1), (1, 3), (3, 3)])
def test_what_lies_apart_is_moved_in_place(batch: int, units: int) -> None:
    rng = np.random.default_rng(0)
    memory, terms = rng.standard_normal((4, batch, 7)), rng.standard_normal((4, batch, units))
    expected = memory.copy()
    expected[..., 1 : 1 + 2 * units : 2] += terms
    order = np.arange(4)
    array, other = StepArray.of(memory[..., 1 : 1 + 2 * units : 2], order), StepArray.of(terms, order)
    run_steps([StepLoop([form_call(elements_form(add), [array, other], [array])])])
    np.testing.assert_array_equal(memory, expected)
