"""What is computed together, what is not, and that it is the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

import operad as od

FEW, MANY = 12, 200


def together(executor):
    """Names of the nodes that compute gradients of several others."""
    return [row.node for row in executor.why().rows if row.node.endswith("_together")]


class Recurrent:
    """A random network that uses weights at many steps."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.steps, self.rows, self.width = (
            rng.randint(3, 12),
            rng.choice((1, 3, 17, 64, 130)),
            rng.choice((1, 5, 16)),
        )
        self.kinds = [rng.choice(("step", "state", "both", "deep", "flat")) for _ in range(self.steps)]
        self.uses_bias = rng.random() < 0.7
        self.requests = {}
        self.symbol = self._symbol()
        for name in self.symbol.list_arguments():
            self.requests[name] = rng.choice(("write", "write", "write", "add", "null"))

    def _symbol(self):
        rng, width = self.rng, self.width
        weights = [od.sym.var(f"w{i}") for i in range(2)]
        biases = [od.sym.var(f"b{i}") for i in range(2)]

        def affine(data, which, step):
            kept = rng.random() < 0.9  # else another node of the same operator, with parameters of its own
            own = [] if not self.uses_bias else [biases[which if kept else 1 - which]]
            flatten = rng.random() < 0.9
            return od.sym.FullyConnected(
                data,
                weights[which],
                *own,
                num_hidden=width,
                no_bias=not own,
                flatten=flatten,
                name=f"fc{which}_{step}",
            )

        state, outputs, shared = od.sym.var("state"), [], od.sym.var("x")
        for step, kind in enumerate(self.kinds):
            given = shared if rng.random() < 0.2 else od.sym.var(f"x{step}")
            parts = []
            if kind != "state":
                parts.append(affine(given, 0, step))
            if kind != "step":
                parts.append(affine(state, 1, step))
            if kind == "deep":
                parts.append(affine(od.sym.tanh(parts[-1]), 1, f"{step}_deep"))
            if kind == "flat":
                parts.append(
                    od.sym.Reshape(
                        affine(od.sym.Reshape(given, shape=(-1, 1, width)), 0, f"{step}_flat"),
                        shape=(-1, width),
                    )
                )
            state = od.sym.tanh(od.sym.add_n(*parts) if len(parts) > 1 else parts[0])
            if rng.random() < 0.3:
                outputs.append(state * 0.5)
        return od.sym.Group([*outputs, state])

    def run(self, dtype):
        shapes = dict.fromkeys(self.symbol.list_arguments(), (self.rows, self.width))
        shapes |= {name: (self.width, self.width) for name in shapes if name[0] == "w"}
        shapes |= {name: (self.width,) for name in shapes if name[0] == "b"}
        executor = self.symbol.simple_bind(
            grad_req=self.requests, type_dict=dict.fromkeys(shapes, dtype), **shapes
        )
        values = np.random.default_rng(self.steps)
        for name, array in executor.arg_dict.items():
            array[:] = values.standard_normal(array.shape) / (3 if name[0] == "w" else 1)
        for array in executor.grad_dict.values():
            if array is not None:
                array[:] = 0.25
        heads = []
        for _ in range(2):
            outputs = executor.forward(is_train=True)
            heads = heads or [od.nd.array(values.standard_normal(o.shape), dtype=dtype) for o in outputs]
            executor.backward(heads)
        found = {f"output {i}": output.asnumpy() for i, output in enumerate(outputs)}
        found |= {name: array.asnumpy() for name, array in executor.grad_dict.items() if array is not None}
        return found, executor


def compare(seed, monkeypatch):
    network = Recurrent(seed)
    monkeypatch.setenv("OPERAD_HOISTING", "off")
    plain, before = network.run("float32")
    wide, _ = network.run("float64")
    assert not together(before)
    monkeypatch.setenv("OPERAD_HOISTING", "on")
    found, executor = network.run("float32")
    double, _ = network.run("float64")
    for name, right in wide.items():
        scale = 1 + np.abs(right).max(initial=0)
        allowed = 4 * np.abs(plain[name] - right).max(initial=0) + 1e-6 * scale
        assert np.abs(found[name] - right).max(initial=0) <= allowed, (seed, name)
        assert np.abs(double[name] - right).max(initial=0) <= 1e-12 * scale, (seed, name)
    return len(together(executor))


@pytest.mark.parametrize("number", range(FEW))
def test_a_recurrent_network_computes_the_same(number, drawn_seed, monkeypatch):
    compare(drawn_seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_recurrent_networks_compute_the_same(drawn_seed, monkeypatch):
    found = [compare(drawn_seed + number, monkeypatch) for number in range(MANY)]
    assert sum(each > 0 for each in found) > MANY / 3


def unrolled(steps, weight, **parameters):
    state = od.sym.var("state")
    for step in range(steps):
        state = od.sym.tanh(
            od.sym.FullyConnected(state, weight, num_hidden=8, no_bias=True, name=f"step{step}", **parameters)
        )
    return state


def test_as_many_nodes_go_together_as_give_256_rows():
    executor = unrolled(20, od.sym.var("weight")).simple_bind(state=(64, 8), weight=(8, 8))
    assert together(executor) == [f"step{step}_backward_together" for step in (16, 12, 8, 4, 0)]


def test_nodes_with_many_rows_stay_alone():
    assert not together(unrolled(20, od.sym.var("weight")).simple_bind(state=(129, 8), weight=(8, 8)))


def test_a_weight_with_a_reader_that_is_no_product_is_summed_with_it():
    weight = od.sym.var("weight")
    network = od.sym.Group([unrolled(6, weight), od.sym.square(weight)])
    executor = network.simple_bind(state=(4, 8), weight=(8, 8))
    assert together(executor)
    values = np.random.default_rng(0)
    for array in executor.arg_dict.values():
        array[:] = values.standard_normal(array.shape) / 3
    found = []
    for factor in (0, 1):
        executor.forward(is_train=True)
        executor.backward([od.nd.ones((4, 8)), factor * od.nd.ones((8, 8))])
        found.append(executor.grad_dict["weight"].asnumpy())
    weight = executor.arg_dict["weight"].asnumpy()
    np.testing.assert_allclose(found[1] - found[0], 2 * weight, rtol=1e-4, atol=1e-5)


def test_a_recorded_network_is_hoisted_too(monkeypatch):
    values = np.random.default_rng(0).standard_normal((9, 6, 8)) / 3

    def gradient():
        weight = od.nd.array(values[0, :, :].T @ values[1, :, :])
        weight.attach_grad()
        with od.autograd.record():
            state = od.nd.array(values[2])
            for step in range(6):
                state = od.nd.tanh(
                    od.nd.FullyConnected(
                        state + od.nd.array(values[step]), weight, num_hidden=8, no_bias=True
                    )
                )
        state.backward()
        return weight.grad.asnumpy()

    hoisted = gradient()
    monkeypatch.setenv("OPERAD_HOISTING", "off")
    np.testing.assert_allclose(hoisted, gradient(), rtol=1e-4, atol=1e-6)
