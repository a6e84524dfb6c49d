"""Random graphs: however they are run, the same bits come out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad import autograd, engine, nd, sym
from operad.device import cpu

pytestmark = pytest.mark.usefixtures("operators", "two_threads")

UNARY = ("tanh", "square", "reverse_last", "sign", "BlockGrad")
BINARY = ("elemwise_add", "elemwise_sub", "elemwise_mul")
SHAPE = (3, 4)


@st.composite
def programs(draw):
    """A list of (operator, operands): operand i < 3 is a variable, others are earlier results."""
    steps: list[tuple[str, tuple[int, ...]]] = []
    count = 3
    for _ in range(draw(st.integers(1, 15))):
        operand = st.integers(0, count - 1)
        name = draw(st.sampled_from([*UNARY, *BINARY, "SineCosine", "_plus_scalar", "Centre"]))
        steps.append((name, (draw(operand), draw(operand)) if name in BINARY else (draw(operand),)))
        count += 2 if name == "SineCosine" else 1
    heads = draw(st.lists(st.integers(3, count - 1), min_size=1, max_size=3))
    return steps, heads


def build(face: Any, program, variables, states=None):
    """The heads of `program`, by the functions of `nd` or `sym`."""
    values = list(variables)
    for number, (name, operands) in enumerate(program[0]):
        args = [values[i] for i in operands]
        params: dict[str, Any] = {"scalar": 0.25} if name == "_plus_scalar" else {}
        if name == "Centre" and states is not None:
            args.append(states.setdefault(f"n{number}_mean", nd.array(np.full(SHAPE[1:], 0.5))))
        made = getattr(face, name)(*args, name=f"n{number}", **params)
        values += list(made) if name == "SineCosine" else [made]
    return [values[i] for i in program[1]]


def values(count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, SHAPE).astype(np.float32) for _ in range(count)]


def run_executor(program, grad_req="write", ctx_group=None, monitor=False):
    """Outputs, gradients (by variable) and states."""
    variables = [sym.var(name) for name in "abc"]
    symbol = sym.Group(build(sym, program, variables))
    exe = symbol.simple_bind(grad_req=grad_req, **dict.fromkeys(symbol.list_arguments(), SHAPE))
    if monitor:
        exe.set_monitor_callback(lambda name, array: array.wait_to_read(), monitor_all=True)
    for name, value in zip("abc", values(3), strict=True):
        if name in exe.arg_dict:
            exe.arg_dict[name][:] = value
    for array in exe.aux_arrays:
        array[:] = 0.5
    for grad in exe.grad_arrays:
        grad[:] = 7
    exe.forward(is_train=True)
    exe.backward([nd.array(head) for head in values(len(program[1]), seed=1)])
    grads = {name: grad.asnumpy() for name, grad in exe.grad_dict.items()}
    return (
        [out.asnumpy() for out in exe.outputs],
        grads,
        {name: array.asnumpy() for name, array in exe.aux_dict.items()},
    )


def run_eagerly(program, grad_req="write"):
    variables = [nd.array(value) for value in values(3)]
    buffers = [nd.array(np.full(SHAPE, 7)) for _ in variables]
    autograd.mark_variables(variables, buffers, grad_req)
    states: dict[str, nd.NDArray] = {}
    with autograd.record():
        outputs = build(nd, program, variables, states)
    recorded = [(out, head) for out, head in zip(outputs, values(len(outputs), seed=1), strict=True)
                if out._autograd is not None]  # fmt: skip
    if recorded:
        autograd.backward([out for out, _ in recorded], [nd.array(head) for _, head in recorded])
    return (
        [out.asnumpy() for out in outputs],
        dict(zip("abc", [buffer.asnumpy() for buffer in buffers], strict=True)),
        {name: array.asnumpy() for name, array in states.items()},
    )


def reached(program):
    """The variables that the recorded heads depend on through operators with gradients."""
    reach: list[set[str]] = [{name} for name in "abc"]
    for name, operands in program[0]:
        new = set() if name in {"sign", "BlockGrad"} else set().union(*(reach[i] for i in operands))
        reach += [new, new] if name == "SineCosine" else [new]
    return set().union(*(reach[i] for i in program[1]))


def assert_same(one, other, names=None):
    for first, second in zip(one[0], other[0], strict=True):
        np.testing.assert_array_equal(first, second)
    for name in one[1].keys() & other[1].keys() if names is None else names:
        np.testing.assert_array_equal(one[1][name], other[1][name], err_msg=f"gradient of {name}")
    for name in one[2].keys() & other[2].keys():
        np.testing.assert_array_equal(one[2][name], other[2][name], err_msg=name)


@given(program=programs(), grad_req=st.sampled_from(["write", "add"]))
def test_a_planned_run_equals_a_run_node_by_node(program, grad_req):
    assert_same(run_executor(program, grad_req), run_executor(program, grad_req, monitor=True))


@given(program=programs(), grad_req=st.sampled_from(["write", "add"]))
def test_symbolic_equals_imperative(program, grad_req):
    symbolic = run_executor(program, grad_req)
    names = reached(program)
    assert names <= symbolic[1].keys()
    assert_same(symbolic, run_eagerly(program, grad_req), names)


@given(program=programs())
def test_threaded_equals_naive(program):
    threaded = run_executor(program), run_eagerly(program)
    engine.set("naive")
    try:
        naive = run_executor(program), run_eagerly(program)
    finally:
        engine.set("threaded")
    assert_same(threaded[0], naive[0])
    assert_same(threaded[1], naive[1])


@given(program=programs())
def test_a_second_run_repeats_the_first(program):
    variables = [sym.var(name) for name in "abc"]
    symbol = sym.Group(build(sym, program, variables))
    exe = symbol.simple_bind(**dict.fromkeys(symbol.list_arguments(), SHAPE))
    heads = [nd.array(head) for head in values(len(program[1]), seed=1)]
    for name, value in zip("abc", values(3), strict=True):
        if name in exe.arg_dict:
            exe.arg_dict[name][:] = value
    results = []
    for _ in range(2):
        for array in exe.aux_arrays:
            array[:] = 0.5
        exe.forward(is_train=True)
        exe.backward(heads)
        results.append(
            ([x.asnumpy() for x in exe.outputs], {k: g.asnumpy() for k, g in exe.grad_dict.items()}, {})
        )
    assert_same(*results)


@pytest.mark.more
@given(program=programs(), data=st.data())
def test_groups_on_two_contexts_change_no_bit(program, data):
    from operad import AttrScope

    marks = [data.draw(st.sampled_from(["one", "two"])) for _ in program[0]]
    values_: list[Any] = [sym.var(name) for name in "abc"]
    for number, ((name, operands), mark) in enumerate(zip(program[0], marks, strict=True)):
        with AttrScope(ctx_group=mark):
            params = {"scalar": 0.25} if name == "_plus_scalar" else {}
            made = getattr(sym, name)(*[values_[i] for i in operands], name=f"n{number}", **params)
        values_ += list(made) if name == "SineCosine" else [made]
    symbol = sym.Group([values_[i] for i in program[1]])
    shapes = dict.fromkeys(symbol.list_arguments(), SHAPE)
    exe = symbol.simple_bind(cpu(0), group2ctx={"two": cpu(1)}, **shapes)
    for name, value in zip("abc", values(3), strict=True):
        if name in exe.arg_dict:
            exe.arg_dict[name][:] = value
    for array in exe.aux_arrays:
        array[:] = 0.5
    exe.forward(is_train=True)
    exe.backward([nd.array(head) for head in values(len(program[1]), seed=1)])
    grads = {name: grad.asnumpy() for name, grad in exe.grad_dict.items()}
    states = {name: array.asnumpy() for name, array in exe.aux_dict.items()}
    assert_same(run_executor(program), ([x.asnumpy() for x in exe.outputs], grads, states))
