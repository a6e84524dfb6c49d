from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from operad.gluon import nn

import operad as od
from core.tests.together import run_together
from operad import autograd, gluon, nd, sym


class Two(gluon.HybridBlock):
    """Two inputs, the second in a list, and nested outputs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = nn.Dense(3)
            self.scale = self.params.get("scale", shape=(1,), init="ones")

    def hybrid_forward(self, F: Any, x: Any, more: Any, scale: Any) -> Any:
        (y,) = more
        return [self.dense(x), F.broadcast_mul(y, scale)], x


def gradients(net: gluon.HybridBlock, *inputs: Any) -> list[Any]:
    """Results and gradients of parameters, of a recorded call."""
    with autograd.record():
        outputs = net(*inputs)
    flat = outputs if isinstance(outputs, list) else [outputs]
    autograd.backward(flat)
    return [x.asnumpy() for x in (*flat, *[p.grad() for p in net.collect_params().values()])]


def layers() -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Dense(2))
    net.initialize(od.init.Xavier())
    return net


def test_compiled_and_eager_blocks_compute_the_same() -> None:
    net, x = layers(), nd.random.uniform(shape=(2, 3, 6, 6))
    net(x)
    state = net[1].running_mean.data()
    plain = gradients(net[:1], x)
    before = state.asnumpy()
    net.hybridize()
    np.testing.assert_allclose(gradients(net[:1], x)[0], plain[0], rtol=1e-5)
    trained = gradients_of_all(net, x)
    assert not np.array_equal(state.asnumpy(), before)
    state[:] = nd.array(before)
    net.hybridize(False)
    for ours, theirs in zip(gradients_of_all(net, x), trained, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    predicted = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), predicted, rtol=1e-4, atol=1e-6)


def gradients_of_all(net: gluon.HybridBlock, x: Any) -> list[Any]:
    with autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    found = [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]
    return [loss.asnumpy(), *found]


@pytest.mark.parametrize("is_hybrid", [False, True])
def test_arguments_and_results_may_be_nested(is_hybrid: bool) -> None:
    net = Two()
    net.initialize()
    net.hybridize(is_hybrid)
    x, y = nd.ones((2, 4)), nd.full((1, 2), 3)
    (first, second), third = net(x, [y])
    assert first.shape == (2, 3)
    assert second.asnumpy().tolist() == [[3, 3]]
    assert third.asnumpy().tolist() == x.asnumpy().tolist()


def test_another_structure_of_arguments_is_refused() -> None:
    net = Two()
    net.initialize()
    net.hybridize()
    net(nd.ones((2, 4)), [nd.ones((1, 2))])
    with pytest.raises(ValueError, match=r"Stored format = \[0, \[0\]\], input format = \[0, 0\]"):
        net(nd.ones((2, 4)), nd.ones((1, 2)))
    with pytest.raises(ValueError, match=r"must be .* lists or tuples of NDArrays or Symbols, but got 3"):
        net(nd.ones((2, 4)), 3)
    with pytest.raises(ValueError, match="arrays and symbols together"):
        net(nd.ones((2, 4)), [sym.var("y")])


def test_an_argument_may_be_none() -> None:
    class Masked(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, mask: Any = None) -> Any:
            return x if mask is None else x * mask

    for is_hybrid in (False, True):
        net = Masked()
        net.hybridize(is_hybrid)
        assert net(nd.ones(2), None).asnumpy().tolist() == [1, 1]
        net.hybridize(is_hybrid)
        assert net(nd.ones(2), nd.zeros(2)).asnumpy().tolist() == [0, 0]


def test_shapes_that_do_not_fit_name_the_block() -> None:
    net = nn.Dense(3, in_units=4, prefix="out_")
    net.initialize()
    with pytest.raises(od.errors.ShapeError, match="weight has shape"):
        net(nd.ones((2, 5)))
    net.hybridize()
    with pytest.raises(od.errors.ShapeError, match=r"out_.*\(3, 4\)"):
        net(nd.ones((2, 5)))
    other = nn.Conv2D(3, 2, prefix="other_")
    other.initialize()
    with pytest.raises(ValueError, match=r"shape cannot be inferred.*block 'other', inputs of \(2, 5\)"):
        other(nd.ones((2, 5)))


def test_inputs_of_several_contexts_are_refused_and_each_alone_runs() -> None:
    net = nn.HybridLambda(lambda F, x, y: x + y)
    net.hybridize()
    for place in (od.cpu(0), od.cpu(1)):
        assert net(nd.ones(2, ctx=place), nd.ones(2, ctx=place)).context == place
    with pytest.raises(ValueError, match="several contexts"):
        net(nd.ones(2), nd.ones(2, ctx=od.cpu(1)))


def test_arrays_that_are_replaced_are_seen_by_compiled_blocks() -> None:
    net, x = nn.Dense(1, in_units=2, use_bias=False), nd.ones((1, 2))
    net.initialize(od.init.One())
    net.hybridize()
    assert net(x).asscalar() == 2
    net.weight.set_data(nd.full((1, 2), 3))
    assert net(x).asscalar() == 6
    net.initialize(od.init.Constant(5), force_reinit=True)
    assert net(x).asscalar() == 10
    with autograd.record():
        net(x).backward()
    net.cast("float64")
    assert net(x.astype("float64")).dtype == np.float64
    net.cast("float32")
    net.collect_params().reset_ctx(od.cpu(1))
    assert net(x.copyto(od.cpu(1))).context == od.cpu(1)
    net.weight.grad_req = "null"
    with autograd.record():
        assert net(x.copyto(od.cpu(1))).asscalar() == 10
    net.weight.grad_req = "add"
    for _ in range(2):
        with autograd.record():
            y = net(x.copyto(od.cpu(1)))
        y.backward()
    assert net.weight.grad().asnumpy().tolist() == [[2, 2]]


def test_threads_that_predict_together_get_their_own_results() -> None:
    net = nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(od.init.One())
    net.hybridize()
    net(nd.ones((1, 1)))
    found: dict[int, list[float]] = {}
    barrier = threading.Barrier(4)

    def predict(number: int) -> None:
        barrier.wait()
        found[number] = [net(nd.full((1, 1), number)).asscalar() for _ in range(50)]

    run_together(predict, range(4))
    assert found == {number: [number] * 50 for number in range(4)}


def test_a_prediction_is_not_overwritten_by_the_next() -> None:
    net = nn.HybridLambda(lambda F, x: x * 2)
    net.hybridize()
    first = net(nd.ones(2))
    net(nd.zeros(2))
    assert first.asnumpy().tolist() == [2, 2]


def test_a_compiled_block_is_part_of_a_compiled_function() -> None:
    net = nn.Dense(2, in_units=2)
    net.initialize()
    net.hybridize()
    x = nd.ones((1, 2))
    compiled = od.compile(lambda x: net(x) * 2)
    np.testing.assert_allclose(compiled(x).asnumpy(), net(x).asnumpy() * 2)


def test_what_is_not_used_is_warned_of() -> None:
    class Idle(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__(prefix="idle_")
            self.weight = self.params.get("weight", shape=(1,))

        def hybrid_forward(self, F: Any, x: Any, y: Any, weight: Any) -> Any:
            return x * 2

    net = Idle()
    net.initialize()
    net.hybridize()
    with pytest.warns(UserWarning, match="is not used by any computation") as told:
        net(nd.ones(1), nd.ones(1))
    texts = [str(one.message) for one in told]
    assert texts == [
        "The 1-th input to HybridBlock is not used by any computation. Is this intended?",
        "Parameter idle_weight is not used by any computation. Is this intended?",
    ]


def test_symbols_give_symbols_with_names_of_the_block() -> None:
    net = nn.Dense(2, activation="relu", prefix="fc_")
    assert net(sym.var("data")).list_arguments() == ["data", "fc_weight", "fc_bias"]
    assert net(sym.var("data")).name == "fc_relu_fwd"


def test_types_are_told_by_inputs() -> None:
    net = nn.Embedding(3, 2)
    net.infer_type(nd.ones((1,), dtype="int32"))
    assert np.dtype(net.weight.dtype) == np.float32


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda net: net.export("x"), RuntimeError, "has no graph yet.*hybridize"),
        (lambda net: net.hybridize(backend="MKLDNN"), NotImplementedError, "no backend 'MKLDNN'"),
        (lambda net: net.optimize_for(nd.ones(1)), ValueError, 'specify "backend"'),
        (lambda net: net.register_child(gluon.Block()), ValueError, "must also be HybridBlock"),
        (lambda net: gluon.HybridBlock()(nd.ones(1)), NotImplementedError, "no hybrid_forward"),
        (lambda net: net(3), ValueError, "but got 3 of type int"),
        (
            lambda net: object.__new__(nn.Dense).__setattr__("a", net),
            RuntimeError,
            r"Dense.a .*super\(\).__init__",
        ),
    ],
)
def test_what_cannot_be_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(nn.Dense(1))


@pytest.mark.parametrize("is_early", [True, False])
def test_a_hook_of_operators_shows_values_inside_and_changes_none(is_early: bool) -> None:
    net = nn.HybridSequential(prefix="n_")
    with net.name_scope():
        net.add(nn.Dense(2, activation="relu"), nn.BatchNorm())
    net.initialize()
    net.hybridize()
    x, seen = nd.array([[1.0, -2.0], [0.5, 3.0]]), []
    expected = None if is_early else net(x).asnumpy()
    net.register_op_hook(lambda *shown: seen.append(shown))
    found = net(x)
    names = ["n_dense0_fwd_output", "n_dense0_relu_fwd_output", "n_batchnorm0_fwd_output"]
    assert [(name, op) for name, op, _ in seen] == [
        *zip(names, ("FullyConnected", "Activation", "BatchNorm"), strict=True)
    ]
    np.testing.assert_array_equal(seen[-1][2].asnumpy(), found.asnumpy())
    with autograd.record(train_mode=False):
        net(x)
    assert len(seen) == 6
    net.register_op_hook(None)
    np.testing.assert_array_equal(net(x).asnumpy() if expected is None else expected, found.asnumpy())
    assert len(seen) == 6


def test_a_hook_shows_what_operators_read_too() -> None:
    net = nn.Dense(1, use_bias=False, prefix="fc_")
    net.initialize()
    net.hybridize()
    seen: list[str] = []
    net.register_op_hook(lambda name, *_: seen.append(name), monitor_all=True)
    net(nd.ones((1, 1)))
    assert seen == ["fc_fwd_data", "fc_fwd_weight", "fc_fwd_output"]


def test_uses_that_come_too_early_name_the_parameter() -> None:
    net = nn.Dense(2, prefix="fc_")
    with pytest.raises(RuntimeError, match=r"'fc_weight' has not been initialized; call initialize\(\)"):
        net(nd.ones((1, 2)))
    net.hybridize()
    with pytest.raises(RuntimeError, match="'fc_weight' has not been initialized"):
        net(nd.ones((1, 2)))
    net.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match=r"'fc_weight' of shape \(2, 0\)"):
        net.weight.data()
