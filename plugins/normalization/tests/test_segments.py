"""Vector code and NumPy's functions compute the same."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import pytest

import operad as od
from operad_normalization import segments
from operad_normalization.gradients import BY_BLOCKS, standardize_gradients
from operad_normalization.groups import Groups
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

RNG = np.random.default_rng(17)


def step(name: str, shape: tuple[int, ...], length: int, mean: float, **params: Any) -> list[Any]:
    """Output and gradients of a layer, in single precision."""
    rng = np.random.default_rng(3)
    inputs = [mean + rng.normal(size=shape), rng.normal(size=length), rng.normal(size=length)]
    arrays = [od.nd.array(values) for values in inputs]
    for array in arrays:
        array.attach_grad()
    with od.autograd.record():
        output = getattr(od.nd, name)(*arrays, **params)
    output.backward(od.nd.array(rng.normal(size=shape)))
    return [found.asnumpy() for found in (output, *(array.grad for array in arrays))]


@pytest.mark.parametrize("mean", [0.0, 100.0])
@pytest.mark.parametrize(
    ("name", "shape", "length", "params"),
    [
        ("LayerNorm", (40, 70), 70, {}),
        ("LayerNorm", (64, 10), 10, {}),
        ("GroupNorm", (5, 6, 90), 3, {"num_groups": 3}),
        ("InstanceNorm", (5, 6, 90), 6, {}),
    ],
)
def test_both_kinds_of_loops_agree(
    monkeypatch: pytest.MonkeyPatch, name: str, shape: Any, length: int, params: Any, mean: float
) -> None:
    taken: list[Any] = []
    choose: Callable[..., Any] = segments._segments

    def noted(*arguments: Any) -> Any:
        taken.append(choose(*arguments))
        return taken[-1]

    monkeypatch.setattr(segments, "_segments", noted)
    compiled = step(name, shape, length, mean, **params)
    is_by_form = name == "LayerNorm"  # its outputs
    assert len(taken) == 2 - is_by_form
    assert None not in taken
    monkeypatch.setattr(segments, "_segments", lambda *_: None)
    for found, expected in zip(compiled, step(name, shape, length, mean, **params), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * max(1, np.abs(expected).max()))


class Run:
    """A run that divides work as if it had so many threads, and takes the parts in any order."""

    xp = np

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads

    def parallel(self, function: Callable[[int, int], object], count: int, width: int) -> None:
        assert width <= self.num_threads
        for part in RNG.permutation(count):
            function(int(part), 0)


class Case:
    """Arrays of groups at random, each within memory whose rest must stay as it is."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.dtype = str(rng.choice(["float32", "float64"]))
        n, g, k = (int(rng.integers(1, high)) for high in (6, 9, 300))
        shape, axes = [((g, max(8, k)), (1,)), ((n, g, 4, 8), (2, 3))][int(rng.integers(2))]
        self.is_by_element = bool(len(shape) == 2 and rng.integers(2))
        self.groups = Groups(shape, axes, 1 if self.is_by_element else (0 if len(shape) == 2 else 1))
        self.memory: list[Any] = []
        self._rng = rng
        self.data = self.array(shape, 3.0)
        self.head = self.array(shape)
        self.gamma = self.array(self.groups.vector)
        self.beta = self.array(self.groups.vector)

    def array(self, shape: Any, mean: float = 0.0) -> Any:
        memory = np.full(int(np.prod(shape)) + 64, 7777, self.dtype)
        self.memory.append(memory)
        found = memory[32:-32].reshape(shape)
        found[...] = mean + self._rng.standard_normal(shape)
        return found

    def widened(self) -> Case:
        """The same numbers in double precision."""
        found = copy(self)
        found.dtype = "float64"
        for name in ("data", "head", "gamma", "beta"):
            setattr(found, name, getattr(self, name).astype(found.dtype))
        return found

    def results(self, way: Any, num_threads: int = 1) -> list[Any]:
        """Output, statistics and gradients, by one way."""
        ctx, groups = Run(num_threads), self.groups
        output, grad = (self.array(groups.shape) for _ in range(2))
        mean, spread = (self.array(groups.statistics) for _ in range(2))
        given = (ctx, groups, self.data, self.gamma, self.beta)
        way.standardize(*given, 1e-3, output, mean, spread)
        np.divide(1, spread, out=spread)
        gains = [self.array((groups.shape[groups.gain_axis],)) for _ in range(2)]
        find = way.sums_of_gradients
        standardize_gradients(find, ctx, groups, self.head, self.data, self.gamma, mean, spread, grad, *gains)
        for memory in self.memory:
            assert (memory[:32] == 7777).all()
            assert (memory[-32:] == 7777).all()
        return [output, mean, spread, grad, *gains]


@pytest.mark.parametrize("seed", range(60))
def test_kernels_give_at_random_sizes_what_numpy_gives_in_double_precision(seed: int) -> None:
    case = Case(seed)
    allowed = 2e-5 if case.dtype == "float32" else 1e-11
    pairs = zip(case.results(segments.BY_VECTORS), case.widened().results(BY_BLOCKS), strict=True)
    for number, (found, expected) in enumerate(pairs):
        scale = max(1, np.abs(expected).max())
        np.testing.assert_allclose(found, expected, rtol=allowed, atol=allowed * scale, err_msg=str(number))


@pytest.mark.parametrize("seed", range(20))
def test_neither_threads_nor_the_order_of_parts_change_a_bit(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_BLOCK", 500)
    segments._prepared.cache_clear()
    case = Case(seed)
    one, two = (case.results(segments.BY_VECTORS, count) for count in (1, 2))
    assert [each.tobytes() for each in one] == [each.tobytes() for each in two]
    monkeypatch.undo()
    segments._prepared.cache_clear()


def test_results_may_lie_where_what_they_are_made_of_lies() -> None:
    for way in (BY_BLOCKS, segments.BY_VECTORS):
        rng = np.random.default_rng(5)
        groups = Groups((3, 4, 50), (2,), 1)
        data, head = (rng.standard_normal(groups.shape).astype("float32") for _ in range(2))
        gain, offset = (rng.standard_normal(groups.vector).astype("float32") for _ in range(2))
        found = []
        for is_apart in (True, False):
            x, g = data.copy(), head.copy()
            output, grad = (np.empty_like(x), np.empty_like(x)) if is_apart else (x, g)
            mean, spread = np.empty(groups.statistics, "f4"), np.empty(groups.statistics, "f4")
            way.standardize(Run(1), groups, x, gain, offset, 1e-3, output, mean, spread)
            way.sums_of_gradients(Run(1), groups, g, data, gain, mean, spread, grad)
            found.append(output.tobytes() + grad.tobytes())
        assert found[0] == found[1]


@pytest.mark.parametrize(
    ("shape", "axes", "place", "expected"),
    [
        ((4, 3, 10, 2), (0, 2, 3), 1, None),  # channels, which are no rows
        ((3, 100), (1,), 0, (3, 100)),  # gains of rows
        ((4, 3, 50), (2,), 2, (12, 50)),  # LayerNorm
        ((4, 3, 10, 2), (2, 3), 1, (12, 20)),  # InstanceNorm
        ((4, 3, 50), (2,), 0, None),  # gains that groups do not take in turn
        ((100, 3), (0,), 1, None),  # channels last: the elements of a group do not lie together
        ((100, 30), (0,), 0, None),  # LayerNorm of axis 0, likewise
        ((4, 3, 2), (2,), 1, None),  # segments too short to pay
    ],
)
def test_segments_are_found_where_groups_lie_in_memory(
    shape: Any, axes: Any, place: int, expected: Any
) -> None:
    found = Groups(shape, axes, place).segments
    assert (found and found.shape) == expected


def test_views_are_left_to_numpy() -> None:
    groups = Groups((64, 64), (1,), 1)
    data = RNG.normal(size=(64, 128))[:, ::2]
    assert segments._segments(groups, data) is None
    assert segments._segments(groups, np.ascontiguousarray(data)) is not None
