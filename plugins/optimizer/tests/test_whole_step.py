"""What a step as one program is bound to."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.executor.dense import filled, network
from operad import nd, sym
from operad.graph import Entry, OpNode, Pass, plugin_passes, rewrite
from operad.graph.compilation import TRAINING
from operad_optimizer.training import TrainingProgram
from operad_optimizer.whole_step import overlap
from plugins.optimizer.tests.descent import Updater, installed

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture(autouse=True)
def update_operators():
    with installed():
        yield


def stepped(grad_req="write"):
    executor = filled(network().simple_bind(grad_req=grad_req, data=(5, 8)))
    program = TrainingProgram(executor, Updater(), {"fc1_weight": 0, "fc2_weight": 1})
    program.step()
    return executor, program


def test_a_gradient_without_an_array_lies_in_the_plan():
    for grad_req, is_planned in (("write", False), ("null", True)):
        _, program = stepped(grad_req)
        graph, plan = program._whole.program.graph, program._whole.program.plan
        updates = [node for node in graph.op_nodes if node.name.endswith("_update")]
        # What is read last has its gradient first.
        assert [node.name for node in updates] == ["fc2_weight_update", "fc1_weight_update"]
        for node in updates:
            gradient = graph.entry_id(node.inputs[1])
            assert (plan.placements[gradient] is not None) is is_planned


def test_a_step_is_compiled_as_its_parts_are(monkeypatch):
    """Passes of plugins see one graph, with its nodes in one order, and every node has the same kernels."""
    seen = []

    def look(graph, facts):
        seen.append(([node.name for node in graph.nodes], facts["wanted"]))
        return graph, {}

    looking = Pass("looking", look, requires=("wanted",), distribution="acme")
    monkeypatch.setattr(
        "operad.graph.passes.passes_of", lambda stage, _: [looking] if stage == TRAINING else []
    )
    symbol, weights = network(), ("fc1_weight", "fc2_weight")
    parts = symbol.simple_bind(grad_req=dict.fromkeys(weights, "write"), data=(5, 8))
    for request in ("write", "null"):
        executor = filled(symbol.simple_bind(grad_req=dict.fromkeys(weights, request), data=(5, 8)))
        program = TrainingProgram(executor, Updater(), dict(zip(weights, range(2), strict=True)))
        program.step()
        assert not program.why_apart
        assert seen[-1] == seen[0]
        assert kernels_of(parts) < kernels_of(program)


def kernels_of(bound):
    return {(row.node, row.part, row.kernel) for row in bound.why().rows}


def test_a_program_is_made_once_and_again_for_other_states():
    executor, program = stepped()
    whole = program._whole
    program.step()
    assert program._whole is whole
    program.updater.states[0] = program.updater.states[0].copy()
    program.step()
    assert program._whole is not whole
    nd.waitall()
    assert np.isfinite(executor.arg_dict["fc1_weight"].asnumpy()).all()


def test_light_gradients_and_light_updates_are_light_together():
    _, program = stepped()
    assert [segment.code.is_light for segment in program._whole._bound.backward] == [True]


def test_memory_that_a_weight_shares_is_named():
    executor, _ = stepped()
    assert overlap(executor, ["fc1_weight"], {}) == ""
    state = executor.arg_dict["fc1_weight"].reshape(-1)
    assert (
        overlap(executor, ["fc1_weight"], {"a state": state}) == "'a state' shares memory with 'fc1_weight'"
    )


def test_one_program_moves_what_its_graph_does_not_read(monkeypatch):
    def visit(old, new):
        if new.op.name == "elemwise_add":
            return new.inputs[:1]
        x = next(node for node in graphs[-1].nodes if node.name == "x")
        return OpNode(new.op, new.name, [Entry(x)]).entries if new.op.name == "_zeros_like_entry" else None

    def run(graph, facts):
        graphs.append(graph)
        return rewrite(graph, visit), {}

    graphs = []
    step = Pass("drop", run)._replace(distribution="acme-passes 1.0")
    monkeypatch.setattr(plugin_passes, "installed_passes", lambda: {"drop": step})
    hidden = sym.tanh(sym.var("x")) + sym.BlockGrad(sym.var("u"))
    net = sym.SquareLoss(hidden, sym.var("label"), name="loss")
    executor = filled(net.simple_bind(grad_req="null", x=(4, 3), label=(4, 3)))
    program = TrainingProgram(executor, Updater(), {"x": 0, "u": 1})
    before = {name: executor.arg_dict[name].asnumpy() for name in ("x", "u")}
    program.step()
    assert not program.why_apart
    assert "u" in {entry.name for node in graphs[-1].op_nodes for entry in node.inputs}
    np.testing.assert_array_equal(executor.arg_dict["u"].asnumpy(), before["u"])
    assert (executor.arg_dict["x"].asnumpy() != before["x"]).any()
