"""Random networks that are trained: by one program, and by forward, backward and updates."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import sym
from operad.executor import TrainingProgram
from operator_sdk.sdk.tests.vector_code import require_vector_code
from plugins.fusion.tests.networks import Network

require_vector_code()

FEW, MANY = 30, 1000
NUMBERS = [pytest.param(number, marks=() if number < 12 else pytest.mark.more) for number in range(FEW)]
OPTIMIZERS = {
    "sgd": ({"momentum": 0.9, "wd": 0.01}, {"clip_gradient": 0.1}, {}),
    "adam": ({"wd": 0.01}, {}),
    "rmsprop": ({"centered": True}, {}),
    "signum": ({"momentum": 0.5, "wd_lh": 0.01},),
}


def losses(network):
    return sym.Group([sym.MakeLoss(output, name=f"loss{i}") for i, output in enumerate(network.symbol)])


def bound(network, seed, request):
    """An executor of the losses; `request` is that of what is trained."""
    rng = np.random.default_rng(seed)
    asked = {name: request if req != "null" else "null" for name, req in network.requests.items()}
    executor = losses(network).simple_bind(od.cpu(), grad_req=asked, **network.shapes)
    for name, array in executor.arg_dict.items():
        array[:] = rng.standard_normal(network.shapes[name])
    return executor


def trained(network, seed, request, whole):
    """Every array after three steps, why these were no programs, and the kernel of each node."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(list(OPTIMIZERS)))
    arguments = OPTIMIZERS[name][int(rng.integers(len(OPTIMIZERS[name])))]
    names = [each for each, req in network.requests.items() if req != "null"]
    executor = bound(network, seed, request)
    update = od.optimizer.get_updater(od.optimizer.create(name, learning_rate=0.01, **arguments))
    program = TrainingProgram(executor, update, {each: each for each in names})
    for number in range(3):
        update.optimizer.lr = 0.01 * (number + 1)
        if whole:
            program.step()
            continue
        executor.forward(is_train=True)
        executor.backward()
        update(
            names, [executor.grad_dict[each] for each in names], [executor.arg_dict[each] for each in names]
        )
    found = {**executor.arg_dict, **executor.output_dict}
    if request == "write":
        found |= {f"gradient of {each}": executor.grad_dict[each] for each in names}
    kernels = {(row.node, row.part, row.kernel) for row in program.why().rows}
    return {key: array.asnumpy() for key, array in found.items()}, program.why_apart, kernels


def compare(seed, monkeypatch):
    network = Network(seed)
    if all(req == "null" for req in network.requests.values()):
        return 0
    count = 0
    for mode in ("on", "off"):
        monkeypatch.setenv("OPERAD_FUSION", mode)
        right, _, kernels = trained(network, seed, "write", whole=False)
        for request in ("write", "null"):
            found, why, own_kernels = trained(network, seed, request, whole=True)
            assert not why, seed
            assert kernels < own_kernels, seed
            for name, value in found.items():
                np.testing.assert_array_equal(value, right[name], err_msg=str((seed, mode, request, name)))
            count += 1
    return count


@pytest.mark.parametrize("number", NUMBERS)
def test_a_step_is_what_it_stands_for(number, drawn_seed, monkeypatch):
    compare(drawn_seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_steps_are_what_they_stand_for(drawn_seed, monkeypatch):
    assert sum(compare(drawn_seed + number, monkeypatch) for number in range(MANY)) > MANY
