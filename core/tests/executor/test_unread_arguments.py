"""Arguments and states that a plugin's pass leaves without a reader: they are bound like all others."""

from __future__ import annotations

import numpy as np
import pytest

from operad import nd, sym
from operad.device import cpu
from operad.errors import BindError, GraphError
from operad.graph import Entry, OpNode, Pass, Variable, plugin_passes, rewrite
from operad.symbol import AttrScope

pytestmark = pytest.mark.usefixtures("operators")

SHAPES = {"x": (4, 3), "label": (4, 3)}


@pytest.fixture
def dropping(monkeypatch):
    """Install a pass that lets the first input stand for nodes of some operators; gives how often it did."""

    def install(*operators, stage="training"):
        dropped = []

        def visit(old, new):
            if new.op.name not in operators:
                return None
            dropped.append(new.name)
            return [new.inputs[0]] * new.num_outputs

        run = lambda graph, facts: (rewrite(graph, visit), {})  # noqa: E731
        step = Pass("drop", run, stage=stage)._replace(distribution="acme-passes 1.0")
        monkeypatch.setattr(plugin_passes, "installed_passes", lambda: {"drop": step})
        return dropped

    return install


def loss():
    return sym.SquareLoss(sym.tanh(sym.var("x")), sym.var("label"), name="loss")


def centred():
    return sym.Centre(sym.tanh(sym.var("x")), name="centre")


def ways():
    """Executors of the loss, bound in all ways; the last argument of each maker is what it is given."""
    arrays = {name: nd.array(np.full(shape, 0.5)) for name, shape in SHAPES.items()}
    simple = lambda **options: loss().simple_bind(grad_req="null", **{**SHAPES, **options})  # noqa: E731
    return {
        "bind": lambda: loss().bind(cpu(), arrays, grad_req="null"),
        "bind with gradients": lambda: loss().bind(cpu(), arrays, {"label": nd.empty((4, 3))}, "null"),
        "simple_bind": simple,
        "simple_bind, label inferred": lambda: loss().simple_bind(grad_req="null", x=(4, 3)),
        "shared": lambda: simple(shared_exec=simple()),
    }


@pytest.mark.parametrize("stage", ["forward", "training"])
@pytest.mark.parametrize("way", ways())
def test_every_way_to_bind_has_arrays_for_them(dropping, way, stage):
    dropped = dropping("SquareLoss", stage=stage)
    executor = ways()[way]()
    assert {name: array.shape for name, array in executor.arg_dict.items()} == SHAPES
    executor.arg_dict["x"][:] = 0.5
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), np.tanh(np.full((4, 3), 0.5, "float32")))
    assert dropped


def test_their_shapes_and_types_are_those_of_the_graph_as_it_was_given(dropping):
    """Here the dropped node alone says what they are."""
    dropping("SquareLoss", stage="forward")
    executor = loss().simple_bind(grad_req="null", label=(4, 3), type_dict={"x": "float64"})
    assert executor.arg_dict["x"].shape == (4, 3)
    assert executor.arg_dict["label"].dtype.name == "float64"


@pytest.mark.parametrize("request_", ["write", "add"])
def test_their_gradient_is_zero(dropping, request_):
    dropping("elemwise_add", stage="forward")
    executor = sym.square(sym.var("x") + sym.var("y")).simple_bind(grad_req=request_, x=(2,), y=(2,))
    for grad in executor.grad_arrays:
        grad[:] = 7
    executor.forward(is_train=True, x=[1, 2])
    executor.backward(nd.array([1, 1]))
    found = {name: grad.asnumpy().tolist() for name, grad in executor.grad_dict.items()}
    before = 7 if request_ == "add" else 0
    assert found == {"x": [before + 2, before + 4], "y": [before, before]}


@pytest.mark.parametrize("first", ["dropped", "kept"])
def test_they_are_where_the_graph_as_it_was_given_puts_them(dropping, first):
    x = sym.var("x")
    with AttrScope(ctx_group="dropped"):
        dropped = sym.BlockGrad(sym.var("u"), name="block")
        read = sym.tanh(x)
    with AttrScope(ctx_group="kept"):
        net = (read + dropped) if first == "dropped" else sym.tanh(dropped) + x
    for operators in ((), ("BlockGrad",), ("BlockGrad", "elemwise_add")):
        dropping(*operators)
        for ctx in (cpu(1), cpu(2)):
            group2ctx = {"dropped": ctx, "kept": cpu(3)}
            where = dict.fromkeys(("u", "x"), ctx)
            if first == "kept":
                where["x"] = cpu(3)
            arrays = {name: nd.array([0.5], ctx=where[name]) for name in where}
            executor = net.bind(cpu(), arrays, grad_req="null", group2ctx=group2ctx)
            executor.forward()[0].wait_to_read()


def test_a_state_is_bound_and_keeps_its_values(dropping):
    dropping("Centre")
    executor = centred().simple_bind(grad_req="null", x=(4, 3))
    executor.aux_dict["centre_mean"][:] = 3
    executor.forward(is_train=True)
    assert [array.asnumpy().tolist() for array in executor.aux_arrays] == [[3, 3, 3]]


def test_an_output_that_became_an_argument_or_another_output_has_an_array_of_its_own(dropping):
    x = sym.var("x")
    y = sym.tanh(x)
    for stage in ("forward", "training"):
        dropped = dropping("BlockGrad", stage=stage)
        net = sym.Group([sym.BlockGrad(x), sym.BlockGrad(y), y, sym.BlockGrad(y), y])
        executor = net.simple_bind(x=(2,))
        first, *others = executor.forward(is_train=True, x=[0.5, 1])
        assert len(dropped) == 3
        assert len({id(array) for array in (first, *others)}) == 4  # as given: `y` is there twice
        first[:] = 9
        assert executor.arg_dict["x"].asnumpy().tolist() == [0.5, 1]
        for other in others:
            np.testing.assert_array_equal(other.asnumpy(), np.tanh(np.float32([0.5, 1])))
        executor.backward([nd.array([1, 1])] * 5)
        assert np.isfinite(executor.grad_dict["x"].asnumpy()).all()


def test_a_pass_that_brings_a_variable_of_its_own_is_named(monkeypatch):
    def run(graph, facts):
        return rewrite(graph, lambda _, new: OpNode(new.op, new.name, [Entry(Variable("mine"))]).entries), {}

    step = Pass("own", run, stage="forward")._replace(distribution="acme-passes 1.0")
    monkeypatch.setattr(plugin_passes, "installed_passes", lambda: {"own": step})
    with pytest.raises(GraphError, match=r"pass 'own' of acme-passes 1.0 reads 'mine', which is no argument"):
        sym.tanh(sym.var("x")).simple_bind(x=(2,))


def test_a_missing_array_is_an_error_although_nothing_reads_it(dropping):
    dropping("SquareLoss")
    with pytest.raises(BindError, match="args lacks 'label'; it needs x, label"):
        loss().bind(cpu(), {"x": nd.empty((4, 3))}, grad_req="null")


def test_a_graph_without_nodes_left_gives_its_arguments(dropping):
    dropping("BlockGrad")
    executor = sym.BlockGrad(sym.var("x")).simple_bind(grad_req="null", x=(2,))
    assert executor.forward(x=[1, 2])[0].asnumpy().tolist() == [1, 2]
