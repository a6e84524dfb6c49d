"""Rules in vector code give the bits that they give in NumPy, whatever their numbers and arrays are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from importlib.metadata import entry_points
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.together import run_together
from operad import registry
from operad.operator import KernelCall, choose
from operad_optimizer.updates.family import Blockwise
from operad_optimizer.updates.in_vectors import DIVIDED_BYTES, VectorRule
from operad_optimizer.updates.several import Tensorwise
from operad_sdk.vector import form_calls
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

ROUNDS = 60
SIZES = (1, 2, 15, 16, 17, 63, 64, 65, 129, 1000, 4097)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -0.5, 4.0, 0.25, 1e-3, np.inf, -np.inf, np.nan, 1e-310, 1e300)
"""Numbers that rules decide by; products of some are 1 or 0, by chance or because none is smaller."""
ELEMENTS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3e38, -3e38)


def kernels() -> Iterator[tuple[str, Any]]:
    """Update operators, each with the forward function of its kernel in vector code."""
    for entry in entry_points(group="operad.operators"):
        if entry.value.startswith("operad_optimizer.updates"):
            operator = registry.get(entry.name)
            if any(kernel.name == f"{entry.name}.in_vectors" for kernel in operator.kernels):
                yield entry.name, operator._forward_function.function


KERNELS = dict(kernels())
RULES = {name: forward for name, forward in KERNELS.items() if isinstance(forward, Blockwise)}


def test_every_rule_of_elements_has_a_kernel() -> None:
    assert set(RULES) == {
        "sgd_update", "sgd_mom_update", "nag_mom_update", "signsgd_update", "signum_update", "adam_update",
        "rmsprop_update", "rmspropalex_update", "ftrl_update", "ftml_update", "_adamw_update",
        "lamb_update_phase1",
    }  # fmt: skip
    assert set(KERNELS) - set(RULES) == {
        "multi_sgd_update", "multi_sgd_mom_update", "preloaded_multi_sgd_update",
        "preloaded_multi_sgd_mom_update", "_multi_adamw_update",
    }  # fmt: skip
    assert all(isinstance(KERNELS[name], Tensorwise) for name in set(KERNELS) - set(RULES))


def steps_of(name: str) -> VectorRule:
    forward = RULES[name]
    return VectorRule(forward.rule, forward.num_arrays, len(forward.shared))


def number(rng: np.random.Generator, kind: type) -> Any:
    if kind is bool:
        return bool(rng.integers(2))
    if kind is int:
        return int(rng.choice([1, 2, 3, 2000]))
    return float(rng.choice(NUMBERS)) if rng.random() < 0.6 else float(rng.normal())


def values(rng: np.random.Generator, size: int, dtype: Any, special: float) -> Any:
    found = (rng.standard_normal(size) * 10.0 ** rng.integers(-3, 3)).astype(dtype)
    places = rng.random(size) < special
    found[places] = rng.choice(ELEMENTS, places.sum()).astype(dtype)
    return found


def given(name: str, rng: np.random.Generator, size: int, dtype: Any, special: float = 0.2) -> list[Any]:
    """Weight, gradient and states, the output, arrays of one element, and numbers."""
    forward = RULES[name]
    arrays = [values(rng, size, dtype, special) for _ in range(forward.num_arrays)]
    arrays[-1] = arrays[0] if rng.random() < 0.7 else arrays[-1]
    shared = [np.array([rng.choice(NUMBERS)], np.float32) for _ in forward.shared]
    return [*arrays, *shared, *(number(rng, one.type) for one in forward.params.values())]


def copied(call: list[Any]) -> list[Any]:
    """The same arrays once more; one that is given twice is one."""
    made = {id(one): one.copy() for one in call if isinstance(one, np.ndarray)}
    return [made.get(id(one), one) for one in call]


def check_bits(ours: list[Any], theirs: list[Any], *about: Any) -> None:
    """Compare arrays bit by bit, but for what a NaN carries."""
    for position, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if isinstance(one, np.ndarray):
            message = str((position, *about))
            np.testing.assert_array_equal(one, other, err_msg=message, strict=True)
            zeros = [np.signbit(each) & (each == 0) for each in (one, other)]
            np.testing.assert_array_equal(*zeros, err_msg=message)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_are_those_of_numpy(name: str, dtype: str, drawn_seed: int) -> None:
    rng = np.random.default_rng(drawn_seed)
    steps = steps_of(name)
    with np.errstate(all="ignore"):
        for _ in range(ROUNDS):
            ours = given(name, rng, int(rng.choice(SIZES)), dtype)
            theirs = copied(ours)
            steps(*ours)
            RULES[name].rule(*theirs)
            check_bits(ours, theirs, drawn_seed, ours[RULES[name].num_arrays :])


@pytest.mark.parametrize("name", RULES)
def test_a_step_is_what_the_definition_says(name: str, drawn_seed: int) -> None:
    rng = np.random.default_rng(drawn_seed)
    forward, operator, steps = RULES[name], registry.get(name), steps_of(name)
    for _ in range(20):
        arrays = [rng.uniform(0.5, 1, 77).astype("float32") for _ in range(forward.num_arrays)]
        arrays[2] *= 4  # of three states the first less the square of the second is a variance
        shared = [np.array([rng.choice([0.0, 1.0, 0.5])], "float32") for _ in forward.shared]
        params = {
            key: bool(rng.integers(2)) if one.type is bool else int(rng.integers(1, 5)) if one.type is int
            else float(rng.choice([0.0, 0.3, -1.0]) if "clip" in key else rng.choice([0.5, 0.25, 0.3]))
            for key, one in forward.params.items()
        }  # fmt: skip
        wide = [array.astype("float64") for array in arrays[:-1]]
        states = dict(zip(operator(**params).list_auxiliary_states(), wide[2:], strict=True))
        expected = operator.contract.reference(
            *wide[:2], *shared, **states, **without_ignored(operator, params)
        )
        steps(*arrays, *shared, *params.values())
        expected = expected if isinstance(expected, tuple) else (expected,)
        for found, value in zip([arrays[-1], *arrays[2:-1]], expected, strict=True):
            np.testing.assert_allclose(found, value, rtol=2e-4, atol=2e-5, err_msg=str((drawn_seed, params)))


def without_ignored(operator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters that the definition takes: signs know neither scale nor bounds."""
    taken = operator.contract.reference.__code__
    return {key: value for key, value in params.items() if key in taken.co_varnames}


@pytest.mark.parametrize("name", RULES)
def test_strided_and_overlapping_arrays_are_left_to_numpy(name: str) -> None:
    rng = np.random.default_rng(3)
    forward = RULES[name]
    numbers = given(name, rng, 1, "float32")[forward.num_arrays :]
    count = forward.num_arrays
    layouts = {
        "apart": lambda memory: [memory[i, 0, ::2] for i in range(count)],
        "all but weight and gradient": lambda memory: [
            memory[i, 0, :10] if i < 2 else memory[i, 0, ::2] for i in range(count)
        ],
        "the gradient": lambda memory: [
            memory[i, 0, ::2] if i == 1 else memory[i, 0, :10] for i in range(count)
        ],
        "backwards": lambda memory: [memory[i, 0, ::-1] for i in range(count)],
        "turned": lambda memory: [memory[i].T for i in range(count)],
        "one state beside another": lambda memory: [memory.reshape(-1)[i : i + 100] for i in range(count)],
        "no element": lambda memory: [memory[i, :0] for i in range(count)],
    }
    for about, of in layouts.items():
        start = rng.uniform(0.5, 1, (count, 10, 20)).astype("float32")
        ours, theirs = start.copy(), start.copy()
        with np.errstate(all="ignore"):
            steps_of(name)(*of(ours), *numbers)
            forward.rule(*of(theirs), *numbers)
        np.testing.assert_array_equal(ours, theirs, err_msg=about)


@pytest.mark.parametrize("name", ["sgd_update", "adam_update", "ftml_update"])
def test_parts_of_several_threads_are_those_of_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    count = RULES[name].num_arrays
    size = DIVIDED_BYTES // 4 // (2 * count - 3) + 1001
    ours = given(name, rng, size, "float32", special=0.01)
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(form_calls, "HERE", SimpleNamespace(num_threads=threads))
        results.append(copied(ours))
        with np.errstate(all="ignore"):
            steps_of(name)(*results[-1])
    check_bits(results[1], results[0])
    check_bits(results[2], results[0])


@pytest.mark.parametrize("name", RULES)
def test_new_numbers_make_no_new_form(name: str) -> None:
    rng = np.random.default_rng(5)
    steps, forward = steps_of(name), RULES[name]
    for _ in range(20):
        arrays = [rng.uniform(0.5, 1, 40).astype("float32") for _ in range(forward.num_arrays)]
        shared = [np.array([0.5], "float32") for _ in forward.shared]
        steps(*arrays, *shared, *(
            {bool: True, int: int(rng.integers(1, 9)), float: rng.uniform(0.1, 0.9)}[one.type]
            for one in forward.params.values()
        ))  # fmt: skip
    assert len(steps._kernels) == 1


def test_a_product_that_is_1_by_chance_decides_for_its_own_call_alone() -> None:
    steps = steps_of("sgd_update")
    for lr in (0.5, 0.25, 0.5):
        weight, grad = np.ones(20, "float32"), np.full(20, 3, "float32")
        steps(weight, grad, weight, lr, 0.0, 2.0, -1.0)
        np.testing.assert_array_equal(weight, np.float32(1 - lr * 2 * 3))


def test_a_weight_that_is_not_finite_stays_so_where_nothing_decays() -> None:
    steps = steps_of("sgd_mom_update")
    weight, grad, mom = np.array([np.inf, np.nan, 1], "f"), np.ones(3, "f"), np.zeros(3, "f")
    steps(weight, grad, mom, weight, 0.5, 0.5, 0.0, 1.0, -1.0)
    np.testing.assert_array_equal(weight, [np.inf, np.nan, 0.5])
    np.testing.assert_array_equal(mom, [-0.5] * 3)  # a product of 0 and infinity would be in it


def test_threads_may_meet_at_a_first_call() -> None:
    steps, barrier = steps_of("adam_update"), threading.Barrier(8)
    results: list[Any] = [None] * 8

    def move(position: int) -> None:
        arrays = [np.full(50, 0.5, "float32") for _ in range(4)]
        barrier.wait()
        for wd in (0.0, 0.5):
            steps(*arrays, arrays[0], 0.1, 0.9, 0.99, 1e-8, wd, 1.0, -1.0)
        results[position] = arrays

    run_together(move, range(8))
    for arrays in results:
        check_bits(arrays, results[0])
    assert len(steps._kernels) == 2


@pytest.mark.parametrize("name", KERNELS)
def test_large_weights_have_the_kernel_and_small_ones_the_rule(name: str) -> None:
    operator = registry.get(name)
    forward = KERNELS[name]
    params = {key: (0.5,) if one.type == "floats" else 1 for key, one in operator.params.items()
              if one.is_required or one.type == "floats"}  # fmt: skip
    prop = operator(**params)
    for size, expected in (((4,), "forward"), ((70, 70), "in_vectors")):
        shapes = [size if n.startswith(("weight", "grad")) else (1,) for n in prop.list_arguments()]
        call = KernelCall(prop, od.cpu(), shapes, [np.dtype("float32")] * len(shapes))
        assert choose(call).forward.name == f"{name}.{expected}", forward


def test_several_tensors_move_by_the_bits_of_single_ones() -> None:
    rng = np.random.default_rng(6)
    shapes = [(70, 70), (3,), (5000,)]
    tensors = [
        [od.nd.array(values(rng, int(np.prod(s)), "f", 0.1).reshape(s)) for _ in range(3)] for s in shapes
    ]
    single = [[array.copy() for array in tensor] for tensor in tensors]
    lrs, wds = (0.1, 0.2, 0.3), (0.0, 0.1, 0.2)
    od.nd.multi_sgd_mom_update(
        *(array for tensor in tensors for array in tensor), lrs=lrs, wds=wds, momentum=0.9, num_weights=3,
        out=[tensor[0] for tensor in tensors],
    )  # fmt: skip
    for tensor, lr, wd in zip(single, lrs, wds, strict=True):
        od.nd.sgd_mom_update(*tensor, lr=lr, wd=wd, momentum=0.9, out=tensor[0])
    for ours, theirs in zip(tensors, single, strict=True):
        check_bits([one.asnumpy() for one in ours], [one.asnumpy() for one in theirs])
