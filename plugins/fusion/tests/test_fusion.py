"""What becomes one node, and what users see of it."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import sym
from operad.graph import Composite, OpNode, infer_shapes, infer_types
from operad_fusion.candidates import FROM_SIZE
from operad_fusion.clustering import MOST_INSTRUCTIONS
from operad_fusion.fusion import fusion
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

SHAPE = (24, 20)


@pytest.fixture(autouse=True)
def fused(monkeypatch):
    monkeypatch.setenv("OPERAD_FUSION", "on")


def clusters(executor):
    """Names of the members of each cluster."""
    nodes, named = executor.program.graph.op_nodes, executor.program.named
    return [
        [named(node.name) for node in each.op.members] for each in nodes if isinstance(each.op, Composite)
    ]


def bound(symbol, shape=SHAPE, **options):
    shapes = dict.fromkeys(symbol.list_arguments(), shape)
    return symbol.simple_bind(od.cpu(), **{**shapes, **options})


def chain(count):
    x = sym.var("x")
    for number in range(count):
        x = sym.tanh(x, name=f"t{number}")
    return x


def test_a_chain_is_two_clusters_forward_and_backward():
    found = clusters(bound(chain(5)))
    assert sorted(map(len, found)) == [5, 5] or sorted(map(len, found)) == [5, 6]
    assert found[0] == ["t0", "t1", "t2", "t3", "t4"]


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.delenv("OPERAD_FUSION")
    assert clusters(bound(chain(5))) != []
    monkeypatch.setenv("OPERAD_FUSION", "off")
    assert clusters(bound(chain(5))) == []


def test_small_graphs_and_single_nodes_stay_as_they_are():
    assert clusters(bound(chain(5), (1, FROM_SIZE - 1))) == []
    assert clusters(bound(chain(1), grad_req="null")) == []


def test_long_chains_become_several_kernels():
    found = clusters(bound(chain(MOST_INSTRUCTIONS), grad_req="null"))
    assert len(found) > 1
    assert sum(map(len, found)) == MOST_INSTRUCTIONS


def planned(symbol, **options):
    return bound(symbol, (512, 1024), **options).memory_plan.planned_bytes


def test_a_cluster_is_compiled_where_its_operator_is_made_and_so_before_it_runs():
    program = bound(chain(3), (512, 1024)).program  # large arrays go to the kernel in parts
    number = next(i for i, node in enumerate(program.graph.nodes) if isinstance(node, OpNode))
    cluster = program.graph.nodes[number].op
    assert isinstance(cluster, Composite)
    size = cluster.at([(512, 1024)])
    assert "compiled_s" not in vars(size)
    program.operators([number])
    assert vars(size)["compiled_s"] > 0


def test_values_that_are_large_only_together_are_computed_again():
    assert bound(chain(10), (256, 512)).memory_plan.planned_bytes == 0  # half a megabyte each
    assert bound(chain(10), (64, 64)).memory_plan.planned_bytes > 0


def test_backward_computes_again_what_it_would_have_to_read():
    size = 512 * 1024 * 4
    # of its argument, which backward may read, as it is trained
    assert planned(chain(10)) == 0
    # a product's gradient reads what the chain makes, and from there nothing is computed again
    made = sym.dot(chain(10), sym.var("w"), name="p")
    executor = made.simple_bind(x=(512, 1024), w=(1024, 8))
    again = [name for cluster in clusters(executor) for name in cluster if name.endswith("_mirror")]
    assert again == [f"t{i}_mirror" for i in range(9)]
    assert executor.memory_plan.planned_bytes < 2 * size + 2**16


def test_what_is_not_trained_is_not_read_anew():
    # a program may refill its data between forward and backward, so that the first value is kept
    x, w = sym.var("x"), sym.var("w")
    net = sym.tanh(x * 2) * w
    for number in range(6):
        net = sym.tanh(net, name=f"t{number}")
    executor = bound(net, (512, 1024), grad_req={"x": "null", "w": "write"})
    executor.arg_dict["x"][:] = 0.5
    executor.arg_dict["w"][:] = 0.25
    executor.forward(is_train=True)
    executor.arg_dict["x"][:] = 100.0
    executor.backward(od.nd.ones((512, 1024)))
    found = executor.grad_dict["w"].asnumpy()
    value, slope = np.tanh(np.float64(1)) * 0.25, np.tanh(np.float64(1))
    for _ in range(6):
        value = np.tanh(value)
        slope *= 1 - value**2
    np.testing.assert_allclose(found, np.full((512, 1024), slope), rtol=1e-5)


def test_an_attribute_decides_what_is_computed_again():
    size = 512 * 1024 * 4
    with od.AttrScope(force_mirroring="False"):
        net = chain(10)
    assert planned(net) >= 9 * size
    with od.AttrScope(force_mirroring="True"):
        net = chain(10)
    small = bound(net)
    assert any(name.endswith("_mirror") for cluster in clusters(small) for name in cluster)


def test_gradients_of_what_was_recorded_are_clusters():
    x = od.nd.array(np.linspace(-1, 1, 480).reshape(SHAPE))
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.tanh(od.nd.tanh(x) * 2) + 1
    od.profiler.set_config(profile_all=True, aggregate_stats=True)
    od.profiler.set_state("run")
    y.backward()
    od.nd.waitall()
    od.profiler.set_state("stop")
    assert "_fused" in od.profiler.dumps(reset=True)
    inner = np.tanh(x.asnumpy().astype(np.float64))
    right = (1 - np.tanh(2 * inner) ** 2) * 2 * (1 - inner**2)
    np.testing.assert_allclose(x.grad.asnumpy(), right, rtol=2e-6, atol=1e-7)


def test_what_would_wait_for_itself_is_apart():
    x = sym.var("x")
    first = sym.tanh(x, name="first")
    product = sym.FullyConnected(first, num_hidden=SHAPE[1], no_bias=True, flatten=False, name="product")
    last = sym.elemwise_add(first, product, name="last")
    executor = last.simple_bind(od.cpu(), grad_req="null", x=SHAPE)
    assert clusters(executor) == []
    both = sym.tanh(first, name="beside") + last
    found = clusters(both.simple_bind(od.cpu(), grad_req="null", x=SHAPE))
    assert all(not {"first", "last"} <= set(each) for each in found)


def test_exact_takes_only_what_gives_numpys_bits(monkeypatch):
    x = sym.var("x")
    symbol = sym.tanh(sym.relu(x * 2 + 1, name="relu"), name="tanh")
    monkeypatch.setenv("OPERAD_FUSION", "exact")
    executor = bound(symbol, grad_req="null")
    assert not any("tanh" in each for each in clusters(executor))
    assert any("relu" in each for each in clusters(executor))
    monkeypatch.setenv("OPERAD_FUSION", "off")
    plain = bound(symbol, grad_req="null")
    values = np.random.default_rng(0).standard_normal(SHAPE)
    outputs = [each.forward(x=od.nd.array(values))[0].asnumpy() for each in (executor, plain)]
    assert outputs[0].tobytes() == outputs[1].tobytes()


def test_rows_take_in_what_stands_before_and_behind_them():
    x, bias = sym.var("x"), sym.var("bias")
    symbol = sym.softmax(sym.broadcast_add(x, bias) * 2) * 3
    executor = symbol.simple_bind(od.cpu(), grad_req="null", x=SHAPE, bias=(1, SHAPE[1]))
    assert [len(each) for each in clusters(executor)] == [4]


def test_monitors_see_the_users_own_nodes(monkeypatch):
    symbol = sym.broadcast_mul(chain(4), sym.var("scale"), name="scaled")
    shapes = {"x": SHAPE, "scale": (SHAPE[0], 1)}
    rng = np.random.default_rng(1)
    values = {name: od.nd.array(rng.standard_normal(shape)) for name, shape in shapes.items()}
    heads = od.nd.array(rng.standard_normal(SHAPE))
    seen = {}
    for mode in ("off", "on"):
        for every in (False, True):
            monkeypatch.setenv("OPERAD_FUSION", mode)
            executor = symbol.simple_bind(od.cpu(), **shapes)
            found = seen[mode, every] = []
            executor.set_monitor_callback(
                lambda name, array, found=found: found.append((name, array.asnumpy())), monitor_all=every
            )
            executor.forward(is_train=True, **values)
            executor.backward([heads])
    assert clusters(executor)
    for every in (False, True):
        plain, fused = dict(seen["off", every]), dict(seen["on", every])
        assert {f"t{number}_output" for number in range(4)} <= set(fused)
        missing = set(plain) - set(fused)
        assert not missing
        for name, value in plain.items():
            np.testing.assert_allclose(fused[name], value, rtol=1e-5, atol=1e-6)


def test_a_monitor_changes_no_result():
    symbol, values = chain(6), np.random.default_rng(2).standard_normal(SHAPE)
    executor = bound(symbol)
    alone = executor.forward(is_train=True, x=od.nd.array(values))[0].asnumpy()
    executor.set_monitor_callback(lambda name, array: None)
    watched = executor.forward(is_train=True, x=od.nd.array(values))[0].asnumpy()
    assert alone.tobytes() == watched.tobytes()


def test_rows_have_the_same_bits_whatever_stands_beside_them():
    """So parts, and with them numbers of threads, change nothing."""
    symbol = sym.softmax(chain(3)) * sym.var("scale")
    values = np.random.default_rng(3).standard_normal((2, 700, 300))
    found = []
    for rows in (700, 10):
        executor = bound(symbol, (rows, 300))
        arrays = {name: od.nd.array(each[:rows]) for name, each in zip(("x", "scale"), values, strict=True)}
        found.append(executor.forward(is_train=True, **arrays)[0].asnumpy()[:10].tobytes())
    assert found[0] == found[1]


def test_a_profiler_has_a_row_for_a_cluster():
    executor = bound(chain(3))
    od.profiler.set_config(profile_all=True, aggregate_stats=True)
    od.profiler.set_state("run")
    executor.forward(is_train=True)
    od.nd.waitall()
    od.profiler.set_state("stop")
    assert "t0+t1+t2" in od.profiler.dumps(reset=True)


def test_reports_and_kernels_name_clusters():
    executor = bound(chain(3))
    assert fusion.name in [report.name for report in executor.passes]
    assert "_fused.vector" in str(executor.why())
    assert "t0+t1+t2" in str(executor.why())


def test_why_says_what_is_in_a_cluster_and_why_its_neighbours_are_not():
    x, w = sym.var("x"), sym.var("w")
    hidden = sym.tanh(sym.negative(sym.tanh(x, name="a"), name="n"), name="b")
    net = sym.sin(sym.FullyConnected(hidden, w, num_hidden=20, no_bias=True, name="fc"), name="s")
    executor = net.simple_bind(x=SHAPE, w=(20, SHAPE[1]))
    why = executor.why()
    (first, *_), size = why.composites.values(), 4 * SHAPE[0] * SHAPE[1]
    assert first.members == ["a", "n", "b"]
    # what the product does not read is not written, but for what backward reads
    assert first.saved_bytes == size
    assert first.neighbours["fc"] == "numpy.matmul is not element-wise"
    assert "forward" in first.neighbours["b_backward"]
    assert str(first) in str(why)
    assert all(report.compiled_s > 0 for report in why.composites.values())


def test_parts_of_a_joined_gradient_are_read_in_place():
    parts = [sym.tanh(sym.var(name), name=f"t_{name}") for name in "ab"]
    net = sym.sin(sym.concat(*parts, dim=1, name="joined"))
    shapes = {"a": (24, 20), "b": (24, 30)}
    executor = net.simple_bind(od.cpu(), **shapes)
    assert clusters(executor) == [["t_a_backward"], ["t_b_backward"]]
    assert not any(node.name == "joined_backward" for node in executor.program.graph.op_nodes)
    values = {name: np.random.default_rng(4).standard_normal(shape) for name, shape in shapes.items()}
    executor.forward(is_train=True, **{name: od.nd.array(value) for name, value in values.items()})
    heads = np.random.default_rng(5).standard_normal((24, 50))
    executor.backward([od.nd.array(heads)])
    inner = np.tanh(np.concatenate(list(values.values()), axis=1))
    right = np.split(heads * np.cos(inner) * (1 - inner**2), [20], axis=1)
    for name, expected in zip("ab", right, strict=True):
        np.testing.assert_allclose(executor.grad_dict[name].asnumpy(), expected, rtol=1e-5, atol=1e-6)
    neighbours = executor.why().composites["t_a_backward"].neighbours
    assert "read where it is" in neighbours["joined_backward"]


def test_rows_that_would_be_read_across_memory_get_a_copy():
    x = sym.var("x")
    executor = bound(sym.softmax(sym.slice_axis(sym.transpose(x), axis=0, begin=1, end=None)))
    values = np.random.default_rng(6).standard_normal(SHAPE)
    found = executor.forward(x=od.nd.array(values))[0].asnumpy()
    right = np.exp(values.T[1:])
    np.testing.assert_allclose(found, right / right.sum(-1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("wanted", ["write", "null"])
def test_shapes_and_types_are_carried_over_as_they_would_be_inferred(wanted):
    x, y = sym.var("x"), sym.var("y")
    rows = sym.sum(sym.tanh(x) * y, axis=1, keepdims=True)
    net = sym.Group([sym.broadcast_div(sym.exp(x), rows), sym.cast(sym.sigmoid(y), dtype="float64")])
    executor = net.simple_bind(od.cpu(), grad_req=wanted, x=SHAPE, y=SHAPE)
    assert clusters(executor)
    assert [report.name for report in executor.passes].count("infer") == 1
    program = executor.program
    specs = {name: (spec.shape, spec.dtype) for name, spec in program.specs.items()}
    heads = {node.name: node for node in program.graph.nodes if node.name.endswith("_head_grad")}
    given = {name: program.spec(program.variables[name]) for name in heads}
    specs |= {name: (spec.shape, spec.dtype) for name, spec in given.items()}
    shapes = infer_shapes(program.graph, {name: shape for name, (shape, _) in specs.items()})
    types = infer_types(program.graph, {name: dtype for name, (_, dtype) in specs.items()}, np.float32)
    found = [program.spec(number) for number in range(len(program.graph.entries))]
    assert [spec.shape for spec in found] == list(shapes.values)
    assert [spec.dtype for spec in found] == list(types.values)


@pytest.mark.parametrize("size", [8, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
def test_a_cluster_may_read_integers_alone(size, dtype):
    x = sym.var("x")
    y = sym.Cast(sym.Cast(x != 3, dtype="float32") + 1, dtype=dtype)
    values = np.arange(size * size).reshape(size, size) % 5
    executor = y.simple_bind(od.cpu(), x=values.shape, type_dict={"x": "int64"}, grad_req="null")
    [found] = executor.forward(x=od.nd.array(values, dtype="int64"))
    np.testing.assert_array_equal(found.asnumpy(), ((values != 3).astype("float32") + 1).astype(dtype))
