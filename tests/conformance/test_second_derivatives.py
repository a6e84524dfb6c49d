"""Second derivatives against PyTorch's double backward, recorded, of arrays and of symbols."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import autograd
from tests.conformance.recorded.second_derivatives import CASES, recorded, values

RECORDED = recorded()


def in_double(array):
    return od.nd.array(array, dtype="float64")


def arrays_of(case):
    return {
        name: in_double(values(shape, number)) for number, (name, shape) in enumerate(case.arrays.items())
    }


def constants_of(case):
    return {name: in_double(array) for name, array in case.constants.items()}


def weights(shape, number):
    return in_double(values(shape, number))


def evaluated(case, functions, known):
    return eval(case.call, {"F": functions, **known})  # noqa: S307 - an expression of the table


def by_tape(case):
    arrays = arrays_of(case)
    for array in arrays.values():
        array.attach_grad()
    with autograd.record(train_mode=case.is_train):
        output = evaluated(case, od.nd, arrays | constants_of(case))
        head = weights(output.shape, 50)
        gradients = autograd.grad(
            output, list(arrays.values()), head, create_graph=True, train_mode=case.is_train
        )
        total = sum((g * weights(g.shape, 60 + number)).sum() for number, g in enumerate(gradients))
    total.backward(train_mode=case.is_train)
    return {name: array.grad.asnumpy() for name, array in arrays.items()}


def by_symbol(case):
    arrays, constants = arrays_of(case), constants_of(case)
    names = list(arrays)
    output = evaluated(case, od.sym, {name: od.sym.var(name) for name in (*arrays, *constants)})
    shape = output.infer_shape(**{name: array.shape for name, array in (arrays | constants).items()})[1][0]
    gradient = (output * od.sym.var("head")).gradient(names)
    factors = {
        f"factor{number}": weights(array.shape, 60 + number) for number, array in enumerate(arrays.values())
    }
    factors["head"] = weights(shape, 50)
    total = sum(od.sym.sum(g * od.sym.var(f"factor{number}")) for number, g in enumerate(gradient))
    given = arrays | constants | factors
    states = {name: given.pop(name) for name in total.list_auxiliary_states()}
    given = {name: given[name] for name in total.list_arguments()}
    grads = {name: od.nd.zeros(arrays[name].shape, dtype="float64") for name in names if name in given}
    executor = total.bind(None, given, grads, "write", states)
    executor.forward(is_train=case.is_train)
    executor.backward(in_double([1.0]), is_train=case.is_train)
    zeros = {name: np.zeros(array.shape) for name, array in arrays.items()}
    return zeros | {name: grad.asnumpy() for name, grad in grads.items()}


@pytest.mark.parametrize("name", CASES)
def test_of_arrays_are_pytorchs(name):
    expect_recorded(name, by_tape(CASES[name]))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.is_bound])
def test_of_symbols_are_pytorchs(name):
    expect_recorded(name, by_symbol(CASES[name]))


def expect_recorded(name, found):
    expected = {key: np.array(array) for key, array in RECORDED[name].items()}
    largest = max(np.abs(array).max() for array in expected.values())
    assert found.keys() == expected.keys()
    for key, array in expected.items():
        error = np.abs(found[key].ravel() - array).max()
        assert error <= 1e-11 * max(largest, 1), f"{name}: {key} is off by {error} of {largest}"


def test_the_record_has_every_case_and_no_other():
    assert RECORDED.keys() == CASES.keys()
