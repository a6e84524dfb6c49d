"""Arrays that kernels have prepared, with everything else that writes weights or changes graphs.

Random programs write a frozen weight by every public way between runs, and are compared bit by bit with an
executor whose kernels prepare nothing.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

import operad as od
from operad.graph import Entry, OpNode, Variable
from operad.symbol import Symbol
from operad_sdk import Prepared
from operad_sdk.vector import reason_against
from operator_sdk.sdk.tests.scaled_rows import scaled_rows

ROWS, WIDTH = 3, 4
SEEDS = range(6)
MANY = range(6, 150)


def _scaled(name, is_prepared):
    scaled = scaled_rows(name)
    if is_prepared:
        rule = Prepared(
            ("weight",),
            ("forward", "data_grad"),
            lambda call: (call.shape("weight"), call.dtype("weight")),
            lambda call: lambda weight, copied: np.copyto(copied, weight),
        )

        @scaled.kernel("forward", priority=2, prepares={"copied": rule})
        def forward(data, weight, output, copied):
            np.multiply(data, weight if copied is None else copied, out=output)

        @scaled.kernel("data_grad", priority=2, prepares={"copied": rule})
        def gradient(output_grad, weight, data_grad, copied):
            np.multiply(output_grad, weight if copied is None else copied, out=data_grad)

    return scaled


SCALED = {kind: _scaled(f"scaled_with_arrays_{kind}", kind) for kind in (False, True)}


# Prepared weights.


def two_layers(kind):
    """`x * v * w`, of which `w` may have a gradient; a Symbol."""
    inner = OpNode(SCALED[kind](), "inner", [Entry(Variable("x")), Entry(Variable("v"))])
    return Symbol([Entry(OpNode(SCALED[kind](), "outer", [Entry(inner), Entry(Variable("w"))]))])


class World:
    """Executors over weights of their own, and all that may be done to them."""

    def __init__(self, kind, seed):
        self.symbol = two_layers(kind)
        self.rng = np.random.default_rng(seed)
        self.req = {"x": "write", "w": random.Random(seed).choice(["null", "null", "write", "add"])}
        first = self.symbol.simple_bind(od.cpu(), grad_req=self.req, x=(ROWS, WIDTH), v=(WIDTH,), w=(WIDTH,))
        self.executors = [first]
        for name in "xvw":
            first.arg_dict[name][:] = self.drawn(first.arg_dict[name].shape)
        self.found = []
        self.lent = None

    def drawn(self, shape):
        return self.rng.integers(-8, 8, shape).astype("float32") / 4

    def weight(self):
        return self.executors[0].arg_dict[("v", "w")[self.rng.integers(2)]]

    def assign(self):
        self.weight()[:] = self.drawn(WIDTH)

    def assign_part(self):
        self.weight()[1:3] = self.drawn(2)

    def through_a_view(self):
        self.weight().reshape((2, 2))[1] = self.drawn(2)

    def in_place(self):
        weight = self.weight()
        weight *= 0.5
        weight += od.nd.array(self.drawn(WIDTH))

    def as_output(self):
        weight = self.weight()
        od.nd.sgd_update(weight, od.nd.array(self.drawn(WIDTH)), lr=0.5, out=weight)

    def through_lent_memory(self):
        weight = self.weight()
        weight.wait_to_read()
        np.from_dlpack(weight)[...] = self.drawn(WIDTH)

    def copy_params(self):
        self.executors[-1].copy_params_from({name: od.nd.array(self.drawn(WIDTH)) for name in "vw"})

    def rebind(self):
        shape = (int(self.rng.integers(1, 5)), WIDTH)
        self.executors.append(self.executors[0].reshape(allow_up_sizing=True, x=shape))
        self.executors[-1].arg_dict["x"][:] = self.drawn(shape)

    def share(self):
        self.executors.append(
            self.symbol.simple_bind(
                od.cpu(), grad_req=self.req, shared_exec=self.executors[-1],
                x=(ROWS, WIDTH), v=(WIDTH,), w=(WIDTH,),
            )
        )  # fmt: skip

    def bind_others(self):
        arrays = {**self.executors[0].arg_dict, "x": od.nd.array(self.drawn((2, WIDTH)))}
        self.executors.append(self.symbol.bind(od.cpu(), arrays))

    def forget(self):
        if len(self.executors) > 1:
            del self.executors[self.rng.integers(len(self.executors))]

    def run(self):
        exe = self.executors[self.rng.integers(len(self.executors))]
        is_train = bool(self.rng.integers(2))
        (out,) = exe.forward(is_train=is_train)
        self.found.append(out.copy())
        if is_train and exe.grad_dict.get("x") is not None:
            exe.backward([od.nd.array(self.drawn(out.shape))])
            self.found += [grad.copy() for grad in exe.grad_dict.values() if grad is not None]


WRITES = (
    World.assign, World.assign_part, World.through_a_view, World.in_place, World.as_output,
    World.through_lent_memory, World.copy_params, World.rebind, World.share, World.bind_others, World.forget,
)  # fmt: skip


def played(kind, seed):
    """All that a random program computes."""
    world, rng = World(kind, seed), random.Random(seed)
    prepared = world.executors[0].memory_plan.prepared_bytes
    assert bool(prepared) is kind
    for _ in range(40):
        step = World.run if rng.random() < 0.5 else rng.choice(WRITES)
        step(world)
    return [array.asnumpy().tobytes() for array in world.found]


@pytest.mark.parametrize("engine", ["threaded", "naive"])
@pytest.mark.parametrize("seeds", [SEEDS, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_every_way_to_write_a_weight_is_seen_by_what_was_prepared_of_it(seeds, engine):
    od.engine.set(engine)
    try:
        for seed in seeds:
            assert played(True, seed) == played(False, seed), f"seed {seed}"
    finally:
        od.engine.set("threaded")


def trained(kind, path):
    """What a module predicts behind every way to set its parameters; `v` is fixed."""
    data = OpNode(SCALED[kind](), "inner", [Entry(Variable("data")), Entry(Variable("v"))])
    net = Symbol([Entry(OpNode(SCALED[kind](), "outer", [Entry(data), Entry(Variable("w"))]))])
    net = od.sym.LinearRegressionOutput(net, od.sym.var("label"))
    module = od.mod.Module(net, label_names=("label",), context=od.cpu(), fixed_param_names=["v"])
    module.bind([("data", (ROWS, WIDTH))], [("label", (ROWS, WIDTH))])
    rng = np.random.default_rng(0)
    drawn = lambda *shape: od.nd.array(rng.standard_normal(shape))  # noqa: E731
    module.init_params(arg_params={"v": drawn(WIDTH), "w": drawn(WIDTH)})
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    found = []

    def predict():
        batch = od.io.DataBatch([drawn(ROWS, WIDTH)], [drawn(ROWS, WIDTH)])
        module.forward(batch, is_train=False)
        found.append(module.get_outputs()[0].copy())
        module.forward_backward(batch)
        module.update()
        found.append(module.get_outputs()[0].copy())

    for _ in range(3):
        predict()
    module.save_params(path)
    module.set_params({"v": drawn(WIDTH), "w": drawn(WIDTH)}, {})
    predict()
    module.load_params(path)
    predict()
    module.reshape([("data", (ROWS + 2, WIDTH))], [("label", (ROWS + 2, WIDTH))])
    batch = od.io.DataBatch([drawn(ROWS + 2, WIDTH)], [drawn(ROWS + 2, WIDTH)])
    module.forward_backward(batch)
    module.update()
    found.append(module.get_outputs()[0].copy())
    module.set_params({"v": drawn(WIDTH)}, {}, allow_missing=True)
    module.reshape([("data", (ROWS, WIDTH))], [("label", (ROWS, WIDTH))])
    predict()
    return [array.asnumpy().tobytes() for array in found]


def test_parameters_of_a_module_are_seen_by_what_was_prepared_of_them(tmp_path):
    assert trained(True, str(tmp_path / "a.params")) == trained(False, str(tmp_path / "b.params"))


def bucketed(kind):
    """Buckets share executors' memory and weights; the fixed weight is set now and then."""

    def symbol_of(rows):
        inner = OpNode(SCALED[kind](), "inner", [Entry(Variable("data")), Entry(Variable("v"))])
        net = Symbol([Entry(OpNode(SCALED[kind](), "outer", [Entry(inner), Entry(Variable("w"))]))])
        return od.sym.LinearRegressionOutput(net, od.sym.var("label")), ("data",), ("label",)

    module = od.mod.BucketingModule(symbol_of, default_bucket_key=5, fixed_param_names=["v"])
    module.bind([("data", (5, WIDTH))], [("label", (5, WIDTH))])
    rng = np.random.default_rng(1)
    drawn = lambda *shape: od.nd.array(rng.standard_normal(shape))  # noqa: E731
    module.init_params(arg_params={"v": drawn(WIDTH), "w": drawn(WIDTH)})
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    found = []
    for step, rows in enumerate((5, 2, 4, 2, 5, 3, 2)):
        batch = od.io.DataBatch(
            [drawn(rows, WIDTH)], [drawn(rows, WIDTH)], bucket_key=rows,
            provide_data=[("data", (rows, WIDTH))], provide_label=[("label", (rows, WIDTH))],
        )  # fmt: skip
        module.forward_backward(batch)
        module.update()
        found.append(module.get_outputs()[0].copy())
        if step % 2:
            module.set_params({"v": drawn(WIDTH)}, {}, allow_missing=True)
    return [array.asnumpy().tobytes() for array in found]


def test_buckets_see_the_weights_that_others_were_given():
    assert bucketed(True) == bucketed(False)


# Recomputation.


def num_repeated(exe):
    """How many nodes run twice."""
    return sum(node.name.endswith("_mirror") for node in exe.memory_plan.schedule.graph.nodes)


@pytest.mark.skipif(reason_against() is not None, reason="no vector code here")
@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_places_of_maxima_and_packed_weights_go_with_recomputation(monkeypatch, eager_to_recompute, grad_req):
    """A frozen convolution with packed weights, and poolings whose places of maxima are a hidden output."""
    net = od.sym.var("data")
    for name in ("one", "two"):
        net = od.sym.Convolution(
            net, kernel=(3, 3), pad=(1, 1), num_filter=16, no_bias=name == "one", name=name
        )
        net = od.sym.Activation(od.sym.BatchNorm(net, fix_gamma=False), act_type="relu")
        net = od.sym.Pooling(od.sym.tanh(net), kernel=(2, 2), stride=(2, 2), pool_type="max")
    names = net.list_arguments()
    requests = {name: "null" if name.startswith("two") else grad_req for name in names}

    def found(mode):
        monkeypatch.setenv("OPERAD_RECOMPUTE", mode)
        exe = net.simple_bind(od.cpu(), grad_req=requests, data=(2, 16, 32, 32))
        rng = np.random.default_rng(0)
        for name in names:
            exe.arg_dict[name][:] = rng.uniform(-1, 1, exe.arg_dict[name].shape)
        values = []
        for _ in range(2):
            exe.arg_dict["two_weight"][:] = rng.uniform(-1, 1, exe.arg_dict["two_weight"].shape)
            (out,) = exe.forward(is_train=True)
            exe.backward([od.nd.array(rng.uniform(-1, 1, out.shape))])
            values += [out.asnumpy().tobytes()]
            values += [grad.asnumpy().tobytes() for grad in exe.grad_arrays if grad is not None]
        return values, num_repeated(exe), "forward_weight prepared" in str(exe.why())

    plain, repeated, has_arrays = found("off")
    assert has_arrays
    assert not repeated
    for mode in ("free", "memory"):
        values, repeated, has_arrays = found(mode)
        assert values == plain, mode
        assert repeated
        assert has_arrays
