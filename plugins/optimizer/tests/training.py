"""A network that is trained, by a program or by separate calls, and all that comes of it."""

from __future__ import annotations

import numpy as np

import operad as od
from operad import sym
from operad_optimizer.training import TrainingProgram


def network():
    """Products, a normalization, a mask that is drawn, and a loss; shared weights, too."""
    data, shared = sym.var("data"), sym.var("shared_weight", shape=(16, 16))
    x = sym.FullyConnected(data, num_hidden=16, name="fc1")
    x = sym.BatchNorm(sym.Activation(x, act_type="relu"), fix_gamma=True, name="bn")
    for number in range(2):
        x = sym.tanh(sym.FullyConnected(x, weight=shared, num_hidden=16, name=f"twice{number}"))
    x = sym.Dropout(x, p=0.25)
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=4, name="fc2"), name="softmax")


def bound(symbol=None, grad_req="write", seed=0, **shapes):
    symbol = network() if symbol is None else symbol
    executor = symbol.simple_bind(od.cpu(), grad_req=grad_req, **(shapes or {"data": (8, 12)}))
    rng = np.random.default_rng(seed)
    for name, array in executor.arg_dict.items():
        array[:] = rng.integers(0, 4, array.shape) if "label" in name else rng.standard_normal(array.shape)
    return executor


def trained(executor):
    return {
        name: i
        for i, name in enumerate(executor.arg_dict)
        if name.endswith(("weight", "bias", "gamma", "beta"))
    }


def updater(name, **arguments):
    return od.optimizer.get_updater(od.optimizer.create(name.split()[0], **arguments))


def separate(executor, update, names):
    executor.forward(is_train=True)
    executor.backward()
    update(
        list(names.values()), [executor.grad_dict[n] for n in names], [executor.arg_dict[n] for n in names]
    )


def values(executor, with_gradients=True):
    found = {**executor.arg_dict, **executor.aux_dict, **executor.output_dict}
    if with_gradients:
        found |= {f"gradient of {n}": grad for n, grad in executor.grad_dict.items() if grad is not None}
    return {name: array.asnumpy() for name, array in found.items()}


def check_equal(ours, theirs, *more):
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        np.testing.assert_array_equal(ours[name], value, err_msg=str((name, *more)), strict=True)


def states_of(update):
    return {
        f"{index} {number}": state.asnumpy()
        for index, own in update.states.items()
        for number, state in enumerate(own if isinstance(own, tuple) else (own,))
        if state is not None
    }


def run(name, arguments, steps=4, grad_req="write", symbol=None, seed=0, expect="", **shapes):
    """Steps of a program and of separate calls, pushed without a wait between them."""
    results = []
    for whole in (True, False):
        od.random.seed(7)
        executor = bound(symbol, "write" if not whole else grad_req, seed, **shapes)
        update, names = updater(name, **arguments), trained(executor)
        program = TrainingProgram(executor, update, names)
        for number in range(steps):
            update.optimizer.lr = 0.1 / (number + 1)  # that of the moment, though steps may run later
            if whole:
                program.step()
                assert expect in program.why_apart
                assert bool(expect) == bool(program.why_apart)
            else:
                separate(executor, update, names)
        results.append((values(executor, grad_req == "write"), states_of(update)))
        assert update.optimizer.num_update == steps
    for ours, theirs in zip(*results, strict=True):
        check_equal(ours, theirs, name)
