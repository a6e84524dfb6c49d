"""A compiled graph: what runs where, in which order, and what it reads."""

from __future__ import annotations

import gc

import pytest

from operad import sym
from operad.device import cpu
from operad.executor.compiling import compiled
from operad.graph import Graph
from operad.op import OpReq
from operad.program.program import collector_paused

pytestmark = pytest.mark.usefixtures("operators")


def program(net, wanted=(), **shapes):
    return compiled(net.graph, cpu(), dict.fromkeys(wanted, "write"), shapes, {}, {})


def nodes(made, steps):
    return [made.graph.nodes[step].name for step in steps]


def test_the_steps_of_the_outputs_come_before_those_of_the_gradients():
    x = sym.var("x")
    made = program(sym.square(sym.tanh(x, name="inner"), name="outer"), ["x"], x=(3,))
    assert [name for name in nodes(made, made.forward) if name != "x"] == ["inner", "outer"]
    assert list(made.backward) == list(range(len(made.forward), len(made.graph.nodes)))
    assert made.spec(made.gradients["x"]).shape == (3,)


def test_the_second_node_of_a_name_is_told_apart():
    x = sym.var("x")
    net = sym.tanh(sym.tanh(x, name="act"), name="act")
    made = compiled(Graph(net.entries), cpu(), {}, {"x": (3,)}, {}, {})
    assert [label for label in made.labels if label.startswith("act")] == ["act", "act#2"]


def test_a_call_names_the_entries_it_reads_and_writes():
    made = program(sym.tanh(sym.var("x"), name="act"), x=(3,))
    (step,) = [step for step in made.forward if made.graph.nodes[step].name == "act"]
    call = made.call(step)
    assert call.reads == (made.variables["x"],)
    assert call.outs == tuple(made.outputs)
    assert call.req == (OpReq.WRITE,)
    assert made.call(step) is call


def test_an_output_that_nobody_reads_is_not_written():
    made = program(sym.SineCosine(sym.var("x"), name="both")[0], x=(3,))
    (step,) = [step for step in made.forward if made.graph.nodes[step].name == "both"]
    call = made.call(step)
    assert call.outs[0] is not None
    assert set(call.outs[1:]) == {None}
    assert set(call.req[1:]) == {OpReq.NULL}


def test_nodes_that_are_alike_share_one_operator():
    x = sym.var("x")
    made = program(sym.tanh(sym.tanh(x)) + sym.square(x), x=(3,))
    made_of = made.operators(made.forward)
    names = {step: made.graph.nodes[step].op.name for step in made_of}
    assert len({id(made_of[step]) for step, name in names.items() if name == "tanh"}) == 1
    assert len({id(operator) for operator in made_of.values()}) == len(set(names.values()))


def test_what_backward_reads_is_told_in_words():
    net = sym.elemwise_mul(sym.var("x"), sym.tanh(sym.var("y"), name="act"), name="out")
    made = program(net, ["x", "y"], x=(3,), y=(3,))
    assert set(made.read_by_backward.values()) == {"argument 'x'"}
    made = program(sym.tanh(sym.var("x"), name="act"), ["x"], x=(3,))
    assert list(made.read_by_backward.values()) == ["output 'act_output'"]


def test_backward_may_run_again_where_it_leaves_what_it_reads():
    x = sym.var("x")
    assert program(sym.square(x), ["x"], x=(3,)).is_backward_repeatable


def test_garbage_is_not_looked_for_while_compiling_and_is_again_afterwards():
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), collector_paused():
        raise KeyError("compiling")
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled(), "it stays as the caller had it"
    finally:
        gc.enable()
