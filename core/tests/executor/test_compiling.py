"""From a graph to its program, for an executor."""

from __future__ import annotations

import os

import pytest

from core.tests.executor.dense import dense_tanh
from operad import config, registry, sym
from operad.device import cpu
from operad.dtypes import DEFAULT_DTYPE, as_dtype
from operad.errors import ShapeError
from operad.executor import compiling
from operad.executor.compiling import compiled
from operad.graph import Entry, Graph, OpNode, Pass, pass_list, plugin_passes
from operad.op import DEFAULTS, shape_meanings
from operad.symbol import AttrScope

pytestmark = pytest.mark.usefixtures("operators")


def program(grad_req, **options):
    given = {"shapes": {"data": (1, 2)}, "types": {}, "group2ctx": {}, **options}
    return compiled(dense_tanh().graph, cpu(), grad_req, **given)


def test_there_is_a_gradient_for_each_argument_that_one_is_requested_of():
    made = program({"data": "null", "fc1_weight": "write", "fc1_bias": "add"})
    assert list(made.gradients) == ["fc1_weight", "fc1_bias"]


def test_an_argument_without_a_request_has_no_gradient():
    made = program({})
    assert made.gradients == {}
    assert len(made.backward) == 0


def test_what_is_not_given_is_inferred():
    made = program({}, types={"data": DEFAULT_DTYPE})
    assert {name: spec.shape for name, spec in made.specs.items()} == {
        "data": (1, 2), "fc1_weight": (3, 2), "fc1_bias": (3,)
    }  # fmt: skip


def test_shapes_that_do_not_follow_are_an_error():
    with pytest.raises(ShapeError, match="do not follow"):
        program({}, shapes={})


def test_groups_are_placed_on_their_contexts():
    with AttrScope(ctx_group="second"):
        net = sym.tanh(sym.var("x"), name="act")
    made = compiled(net.graph, cpu(), {}, {"x": (2,)}, {}, {"second": cpu(1)})
    assert made.contexts[made.graph.node_ids[made.graph.outputs[0].node]] is cpu(1)


def test_a_graph_that_was_compiled_has_its_program_at_once():
    assert program({"data": "write"}) is program({"data": "write"})


OTHERS = {
    "requests": {"grad_req": {"data": "write"}},
    "kinds of requests": {"grad_req": {"fc1_bias": "add"}},
    "shapes": {"shapes": {"data": (5, 2)}},
    "types": {"types": {"data": as_dtype("float64")}},
    "groups": {"group2ctx": {"second": cpu(1)}},
}


@pytest.mark.parametrize("request_of", OTHERS)
def test_another_request_makes_another_program(request_of):
    before, other = program({"fc1_bias": "write"}), {"grad_req": {"fc1_bias": "write"}, **OTHERS[request_of]}
    assert program(**other) is not before
    assert program(**other) is program(**other)
    assert program({"fc1_bias": "write"}) is before


def test_another_context_makes_another_program():
    made = compiled(dense_tanh().graph, cpu(1), {}, {"data": (1, 2)}, {}, {})
    assert set(made.contexts) == {cpu(1)}
    assert set(program({}).contexts) == {cpu()}


def named(**names):
    """`dense_tanh` with other names or attributes of its nodes."""
    with AttrScope(**names.pop("attrs", {})):
        data = sym.var("data", **names)
        return sym.tanh(sym.Dense(data, num_hidden=3, name="fc1"), name="act")


@pytest.mark.parametrize(
    "other",
    [
        lambda: sym.tanh(sym.Dense(sym.var("data"), num_hidden=4, name="fc1"), name="act"),
        lambda: sym.sin(sym.Dense(sym.var("data"), num_hidden=3, name="fc1"), name="act"),
        lambda: sym.Group([named()] * 2),
        lambda: sym.tanh(named(), name="act2"),
        lambda: named(attrs={"ctx_group": "second"}),
        lambda: named(dtype="float64"),
    ],
    ids=["parameters", "operators", "outputs", "nodes", "attributes", "types"],
)
def test_another_structure_makes_another_program(other):
    before = program({})
    made = compiled(other().graph, cpu(), {}, {"data": (1, 2)}, {}, {})
    assert made is not before
    assert program({}) is before


def test_what_two_nodes_read_is_part_of_the_structure():
    x, y = sym.var("x"), sym.var("y")
    total = sym.elemwise_add(x, y, name="total")
    pairs = [(total, x), (total, y), (total, total), (x, total)]
    graphs = [sym.elemwise_sub(*pair, name="sub").graph for pair in pairs]
    made = [compiled(graph, cpu(), {}, {"x": (2,), "y": (2,)}, {}, {}) for graph in graphs]
    assert len(set(made)) == len(pairs)


def test_an_attribute_that_is_written_later_counts():
    symbol = dense_tanh()
    data = symbol.get_internals()["data"].entries[0].node
    before = compiled(symbol.graph, cpu(), {}, {"data": (1, 2)}, {}, {})
    data.attrs["__dtype__"] = "float64"
    changed = compiled(symbol.graph, cpu(), {}, {"data": (1, 2)}, {}, {})
    assert {spec.dtype for spec in changed.specs.values()} == {as_dtype("float64")}
    again = compiled(before.graph, cpu(), {}, {"data": (1, 2)}, {}, {})  # it has copies of the nodes
    assert {spec.dtype for spec in again.specs.values()} == {DEFAULT_DTYPE}


def test_an_attribute_that_is_written_later_is_none_of_other_graphs():
    symbol = dense_tanh()
    compiled(symbol.graph, cpu(), {}, {"data": (1, 2)}, {}, {})
    symbol.get_internals()["data"].entries[0].node.attrs.update(__dtype__="float64", __ctx_group__="second")
    for shape in ((1, 2), (3, 2)):
        found = program({}, shapes={"data": shape}, group2ctx={"second": cpu(1)}).specs
        assert {(spec.dtype, spec.ctx) for spec in found.values()} == {(DEFAULT_DTYPE, cpu())}


def test_a_kernel_that_comes_later_is_chosen_and_one_that_goes_is_not(monkeypatch):
    kernels = registry.get("tanh").kernels

    def chosen():
        made = program({})
        return made.kernels[made.graph.node_ids[made.graph.outputs[0].node]].forward.name

    own = chosen()
    monkeypatch.setattr(
        registry.get("tanh"), "kernels", [*kernels, kernels[0]._replace(name="new", priority=1)]
    )
    assert chosen() == "new"
    monkeypatch.undo()
    assert chosen() == own


def test_what_stands_behind_parameters_may_change(monkeypatch):
    before = program({})
    monkeypatch.setattr(registry.get("tanh"), "epoch", 1)
    assert program({}) is not before


def doubling(graph, _):
    """Have every output twice as large."""
    outputs = [Entry(OpNode(registry.get("_mul_scalar")(scalar=2.0), "twice", [e])) for e in graph.outputs]
    return Graph(outputs), {}


SURROUNDINGS = {
    "a variable of the environment": lambda patch: patch.setenv("OTHER_SETTING_OF_A_PASS", "1"),
    "settings": lambda patch: config.reload(),
    "rates": lambda patch: patch.setattr(compiling, "rates", lambda: DEFAULTS._replace(loop_us=1.0)),
    "passes": lambda patch: patch.setattr(
        plugin_passes, "installed_passes", lambda: {"doubling": Pass("doubling", doubling, stage="forward")}
    ),
    "operators": lambda patch: registry.register(registry.get("tanh"), "another name"),
}


@pytest.mark.parametrize("what", SURROUNDINGS)
def test_nothing_is_kept_where_the_surroundings_change(what, monkeypatch):
    before = program({})
    SURROUNDINGS[what](monkeypatch)
    try:
        made = program({})
        assert made is not before
        assert len(made.graph.nodes) - len(before.graph.nodes) == (what == "passes")
    finally:
        if what == "operators":
            registry.unregister("another name")


def test_a_graph_with_an_operator_that_keeps_state_is_compiled_each_time(monkeypatch):
    monkeypatch.setattr(registry.get("tanh"), "is_stateful", True)
    assert program({}) is not program({})


def test_lengths_mean_what_the_thread_says():
    """In NumPy's manner a length of 0 is a length."""
    found = []
    for is_np in (False, True, False):
        before, shape_meanings.top = shape_meanings.top, (is_np, shape_meanings.top)
        try:
            symbol = sym.elemwise_add(sym.var("a", attr={"__shape__": "(0, 2)"}), sym.var("b"), name="sum")
            found.append(compiled(symbol.graph, cpu(), {}, {"b": (None, 2)}, {}, {}).specs["b"].shape)
        except ShapeError:
            found.append(None)
        finally:
            shape_meanings.top = before
    assert found == [None, (0, 2), None]


def test_a_program_behind_a_pass_of_the_callers_is_not_kept():
    last = Pass("last", lambda graph, facts: (graph, {}))
    plain = program({})
    first, other = [
        compiled(dense_tanh().graph, cpu(), {}, {"data": (1, 2)}, {}, {}, pass_list(last)) for _ in range(2)
    ]
    assert len({plain, first, other}) == 3
    assert program({}) is plain


def test_a_graph_that_cannot_be_compiled_fails_each_time():
    for _ in range(2):
        with pytest.raises(ShapeError, match="do not follow"):
            program({}, shapes={})


def test_the_oldest_graphs_are_forgotten_first(monkeypatch):
    monkeypatch.setattr(compiling, "_MOST", 100)
    monkeypatch.setattr(compiling, "_room", [0])
    first = program({})
    for number in range(40):
        made = sym.tanh(sym.var("x", attr={"number": str(number)}))
        last = compiled(made.graph, cpu(), {}, {"x": (2,)}, {}, {})
    assert 1 < len(compiling._graphs) < 20
    assert compiled(made.graph, cpu(), {}, {"x": (2,)}, {}, {}) is last
    assert program({}) is not first


def test_kept_graphs_are_counted_where_room_is_used_up_and_not_at_each_bind(monkeypatch):
    counted = []
    monkeypatch.setattr(compiling, "_size", lambda known: counted.append(known) or 1)
    monkeypatch.setattr(compiling, "_room", [compiling._MOST])
    for number in range(20):
        compiled(sym.tanh(sym.var("x", attr={"number": str(number)})).graph, cpu(), {}, {"x": (2,)}, {}, {})
    assert not counted
    monkeypatch.setattr(compiling, "_room", [0])
    compiled(sym.tanh(sym.var("x"), name="room").graph, cpu(), {}, {"x": (2,)}, {}, {})
    assert len(counted) >= 20


def test_a_child_binds_as_its_parent():
    before, (reading, writing) = program({"data": "write"}), os.pipe()
    child = os.fork()
    if not child:
        found = program({"data": "write"}), program({"data": "write"}, shapes={"data": (7, 2)})
        os.write(writing, bytes([found[0] is before, found[1].specs["data"].shape == (7, 2)]))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 2) == b"\x01\x01"
