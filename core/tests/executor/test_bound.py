"""Programs bound to an executor's arrays: its own, and those of longer steps."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.executor.dense import filled, network
from core.tests.simple import simple
from operad import nd
from operad.errors import BindError
from operad.executor import BoundProgram, compiled
from operad.graph import Entry, OpNode, Variable
from operad.program import Program
from operad.symbol import Symbol

pytestmark = pytest.mark.usefixtures("operators", "two_threads")


def executor():
    return filled(network().simple_bind(data=(5, 3)))


def bound_again(exe, **options):
    """A second program of the executor's graph, over its arrays."""
    arrays = {**exe.arg_dict, **exe.aux_dict}
    program = compiled(
        exe.graph,
        exe.ctx,
        exe.grad_req,
        {name: array.shape for name, array in arrays.items()},
        {name: array.dtype for name, array in arrays.items()},
        {},
    )
    bound = {entry: arrays[name] for name, entry in program.variables.items()}
    bound |= {entry: exe.grad_dict[name] for name, entry in program.gradients.items()}
    bound |= dict(zip(program.outputs, exe.outputs, strict=True))
    return BoundProgram(program, bound, **options)


def results(exe):
    nd.waitall()
    return [a.asnumpy() for a in (*exe.outputs, *[grad for grad in exe.grad_arrays if grad is not None])]


@pytest.mark.parametrize("shares", [False, True])
def test_another_program_over_the_same_arrays_computes_the_same(each_engine, shares):
    exe = executor()
    exe.forward(is_train=True)
    exe.backward()
    expected = results(exe)
    for array in (*exe.outputs, *exe.grad_arrays):
        array[:] = np.nan
    again = bound_again(exe, pool=exe.pool if shares else None)
    exe.run_extended(again, lambda node_ids: lambda: None)
    for found, right in zip(results(exe), expected, strict=True):
        np.testing.assert_array_equal(found, right)


def test_what_comes_before_a_segment_is_asked_for_backward_alone_and_called_inside():
    exe, seen = executor(), []
    again = bound_again(exe)
    exe.run_extended(again, lambda node_ids: lambda: seen.append(tuple(node_ids)))
    nd.waitall()
    assert seen == [tuple(segment.node_ids) for segment in again.backward]


def test_backward_wants_a_forward_of_its_own_behind_it():
    exe = executor()
    exe.forward(is_train=True)
    exe.run_extended(bound_again(exe), lambda node_ids: lambda: None)
    with pytest.raises(BindError, match="call forward first"):
        exe.backward()


def test_of_programs_that_share_memory_the_last_one_begun_has_its_values_there():
    exe = executor()
    first = bound_again(exe)
    second = bound_again(exe, pool=first.binding.pool)
    assert first.binding.chunks
    for begun, other in ((first, second), (second, first)):
        begun.begin()
        assert begun.binding.is_owner
        assert not other.binding.is_owner


@pytest.fixture
def made(monkeypatch):
    """Nodes whose operators were made, in order."""
    found = []

    def operator(self, node_id, alike, real=Program.operator):
        found.append(node_id)
        return real(self, node_id, alike)

    monkeypatch.setattr(Program, "operator", operator)
    return found


def test_operators_are_made_at_the_first_run_of_their_nodes(made):
    exe = executor()
    assert not made
    exe.forward(is_train=False)
    nd.waitall()
    forward = [*exe.program.forward]
    assert made
    assert set(made) <= set(forward)
    exe.forward(is_train=True)
    exe.backward()
    nd.waitall()
    assert len(made) == len(set(made))  # once, though both modes and both directions have run


def test_what_only_predicts_has_no_segments_of_backward():
    exe = executor()
    exe.forward()
    assert "backward" not in vars(exe._bound)
    exe.forward(is_train=True)
    exe.backward()
    assert vars(exe._bound)["backward"] == exe._bound.backward


def test_operators_that_keep_a_state_are_made_where_arrays_are_bound(made):
    """So what their maker refuses is refused there."""
    prop = simple("keeps", ["data"], np.square, params={"is_stateful": True})
    exe = Symbol([Entry(OpNode(prop(), "keeps", [Entry(Variable("data"))]))]).simple_bind(data=(3,))
    assert made == [1]
    exe.forward()
    assert made == [1]
