"""Networks of one structure are compiled once, and each keeps its own names."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.executor.dense import filled
from core.tests.simple import OGRAD, Gradient, simple
from operad import profiler, registry, sym
from operad.errors import GradientError, ShapeError
from operad.graph import Graph, OpNode, Pass, plugin_passes
from operad.symbol import AttrScope

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture
def operator():
    """Registers an operator until the test ends."""
    names = []

    def register(made):
        registry.register(made)
        names.append(made.name)

    yield register
    for name in names:
        registry.unregister(name)


def network(first="first", second="second", data="data", weight="w"):
    """Two layers, whose second can fail: `explode` refuses values above 0.9."""
    out = sym.Dense(sym.var(data), sym.var(weight), num_hidden=5, name=first)
    return sym.explode(sym.tanh(out, name=f"{first}_act"), limit=0.9, name=second)


def bound(symbol, **options):
    """An executor for data of 4 rows; the data are the first argument."""
    return symbol.simple_bind(**{symbol.list_arguments()[0]: (4, 6)}, **options)


def test_networks_that_differ_in_names_are_compiled_once():
    first, other = bound(network()), bound(network("a", "b", "x", "v"))
    assert first.program.plan is other.program.plan
    assert first.program.compilation is other.program.compilation


def test_each_has_its_own_names():
    bound(network())
    exe = bound(network("a", "b", "x", "v"))
    assert list(exe.arg_dict) == ["x", "v", "a_bias"]
    assert list(exe.program.gradients) == ["x", "v", "a_bias"]
    assert exe.program.labels[:6] == ["x", "v", "a_bias", "a", "a_act", "b"]
    assert [node.name for node in exe.program.graph.nodes] == exe.program.labels
    assert list(exe.output_dict) == ["b_output"]
    assert set(exe.program.read_by_backward.values()) >= {"argument 'x'", "argument 'v'"}


def step(symbol, **options):
    exe = filled(bound(symbol, **options))
    exe.forward(is_train=True)
    exe.backward([exe.outputs[0]])
    return [
        exe.outputs[0].asnumpy(),
        *[grad.asnumpy() for grad in exe.grad_dict.values() if grad is not None],
    ]


def test_names_that_change_places_do():
    """What one network calls its weight is the other's data."""
    expected = [step(network(weight=name), grad_req={name: "write"}) for name in ("w", "v")]
    found = step(network("second", "first", "x", "data"), grad_req={"data": "write"})
    for one in (found, expected[1]):
        assert all(map(np.array_equal, one, expected[0]))


def test_requests_belong_to_arguments_whatever_they_are_called():
    one = bound(network(), grad_req={"data": "write"})
    other = bound(network("a", "b", "w", "data"), grad_req={"data": "write"})
    assert (list(one.program.gradients), list(other.program.gradients)) == (["data"], ["data"])
    assert one.program.compilation is not other.program.compilation


def test_names_that_look_like_numbers_are_names():
    for names in (("<1>", "<0>", "<2>", "<7>"), ("<0>", "<1>", "<3>", "<2>")):
        exe = bound(network(*names))
        assert list(exe.arg_dict) == [names[2], names[3], f"{names[0]}_bias"]
        assert exe.program.labels[:6] == [*exe.arg_dict, names[0], f"{names[0]}_act", names[1]]


def test_an_argument_may_be_called_as_a_head_gradient_is():
    def product(name):
        return sym.elemwise_mul(sym.var(name), sym.var("y"), name="out")

    found = []
    for name in ("x", "out_output_head_grad"):
        exe = filled(product(name).simple_bind(**{name: (3,)}))
        exe.forward(is_train=True)
        exe.backward([exe.outputs[0]])
        found.append([grad.asnumpy() for grad in exe.grad_dict.values()])
    np.testing.assert_array_equal(*found)


def test_shapes_that_clash_name_the_nodes_of_the_network_that_is_bound():
    bound(network())
    with pytest.raises(ShapeError, match=r"Dense 'mine': 'my_w'|Dense 'mine': weight") as caught:
        bound(network("mine", "b", "x", "my_w"), my_w=(5, 7))
    assert caught.value.__context__ is None or "<" not in str(caught.value.__context__)
    assert "<" not in str(caught.value)


def test_shapes_that_do_not_follow_name_the_arguments():
    bound(network())
    with pytest.raises(ShapeError, match=r"\(x: .*, v: "):
        network("a", "b", "x", "v").simple_bind()


def test_a_failing_operator_is_named_as_in_its_own_network():
    bound(network())
    exe = bound(network("mine", "fuse", "x", "v"))
    exe.arg_dict["mine_bias"][:] = 100.0
    with pytest.raises(ZeroDivisionError) as caught:
        exe.forward()[0].wait_to_read()
    notes = "\n".join(caught.value.__notes__)
    assert "in forward of explode 'fuse'" in notes
    assert "second" not in notes


def test_a_gradient_that_fails_is_named_so_too(operator):
    def fail(grad):
        raise ZeroDivisionError

    operator(simple("failing", ["x"], np.negative, [Gradient(fail, [OGRAD])]))
    for name in ("one", "mine"):
        exe = sym.failing(sym.var(f"x_{name}"), name=name).simple_bind(**{f"x_{name}": (2,)})
        exe.forward(is_train=True)
        exe.backward([exe.outputs[0]])
        with pytest.raises(ZeroDivisionError) as caught:
            exe.grad_arrays[0].wait_to_read()
        assert f"in backward of failing {name!r}" in "\n".join(caught.value.__notes__)


def test_segments_are_labelled_with_the_networks_names():
    bound(network())
    seen = []
    profiler.observe(
        lambda *_: None, lambda program, node_ids, _: seen.extend(program.labels[i] for i in node_ids)
    )
    try:
        exe = bound(network("mine", "b", "x", "v"))
        exe.forward()
        exe.outputs[0].wait_to_read()
    finally:
        profiler.observe(None)
    assert seen == ["mine", "mine_act", "b"]


class Looking:
    """A pass that notes the names it sees."""

    def __init__(self):
        self.seen = []

    def __call__(self, graph, _):
        self.seen.append([node.name for node in graph.nodes])
        return graph, {}


@pytest.mark.parametrize("reads_names", [True, False])
def test_a_pass_sees_names_where_it_reads_them(reads_names, monkeypatch):
    looking = Looking()
    pass_ = Pass("looking", looking, stage="forward", distribution="acme", reads_names=reads_names)
    monkeypatch.setattr(plugin_passes, "installed_passes", lambda: {"looking": pass_})
    programs = [bound(network(*names)).program for names in (("a", "b"), ("c", "d"), ("a", "b"), ("c", "d"))]
    own = [["data", "w", f"{first}_bias", first, f"{first}_act", last] for first, last in ("ab", "cd")]
    assert looking.seen == (own if reads_names else [[f"<{i}>" for i in range(6)]])
    assert len({id(program.compilation) for program in programs}) == 1 + reads_names
    assert [program.labels[3] for program in programs] == ["a", "c", "a", "c"]


def test_a_pass_that_reads_names_may_choose_by_them(monkeypatch):
    def only_a(graph, _):
        if graph.outputs[0].name != "a_output":
            return graph, {}
        return Graph([OpNode(registry.get("_mul_scalar")(scalar=2.0), "twice", graph.outputs).entries[0]]), {}

    pass_ = Pass("only_a", only_a, stage="forward", distribution="acme")
    monkeypatch.setattr(plugin_passes, "installed_passes", lambda: {"only_a": pass_})
    found = []
    for name in "bab":
        exe = sym.negative(sym.var("x"), name=name).simple_bind(x=(1,))
        exe.arg_dict["x"][:] = 1.0
        found.append(exe.forward()[0].asscalar())
    assert found == [-1.0, -2.0, -1.0]


def test_a_pass_that_fails_names_the_node(monkeypatch):
    def fail(graph, _):
        raise ValueError(f"not {graph.nodes[-1].name}")

    bound(network())
    pass_ = Pass("failing", fail, stage="forward", distribution="acme", reads_names=False)
    monkeypatch.setattr(plugin_passes, "installed_passes", lambda: {"failing": pass_})
    with pytest.raises(ValueError, match="not mine") as caught:
        bound(network("a", "mine"))
    assert "<" not in str(caught.value)


def test_attributes_are_part_of_the_structure_and_names_are_not():
    def made(name, group):
        with AttrScope(ctx_group=group):
            return sym.tanh(sym.var("x"), name=name).simple_bind(x=(2,)).program.compilation

    assert made("a", "one") is made("b", "one")
    assert made("a", "one") is not made("a", "two")


def test_an_operator_that_cannot_be_made_is_named_at_the_first_run(operator):
    made = simple("unmade", ["x"], np.negative)

    def create_operator(*_):
        raise GradientError("it cannot be made")

    made.create_operator = create_operator
    operator(made)
    for name in ("one", "mine"):
        exe = sym.unmade(sym.var("x"), name=name).simple_bind(x=(2,), grad_req="null")
        with pytest.raises(GradientError, match=f"bind: {name!r}: it cannot be made"):
            exe.forward()
