"""Where the entries of a program lie."""

from __future__ import annotations

import numpy as np
import pytest

from operad import nd, sym
from operad.device import cpu
from operad.executor.compiling import compiled
from operad.program import Binding

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture
def bound():
    """A chain whose middle has no array of the caller's."""
    return chain()


def chain(pool=None, size=4):
    net = sym.square(sym.Dense(sym.var("x"), num_hidden=size, no_bias=True, name="fc"), name="out")
    program = compiled(net.graph, cpu(), {}, {"x": (size, size)}, {}, {})
    arrays = {entry: nd.array(np.ones(program.spec(entry).shape)) for entry in program.variables.values()}
    arrays[program.outputs[0]] = nd.empty((size, size))
    return Binding(program, arrays, program.operators(program.forward), pool)


def inner(binding):
    (entry,) = [e for e, place in enumerate(binding.program.plan.placements) if place is not None]
    return entry


def test_an_entry_that_the_caller_bound_lies_in_its_array(bound):
    entry = bound.program.variables["x"]
    array = bound.array_of(entry)
    assert bound.data_of([entry])[0] is array._data
    assert bound.var(entry) is array._chunk.var
    assert not bound.is_part(entry)


def test_any_other_entry_is_a_view_into_a_planned_block(bound):
    entry = inner(bound)
    assert bound.array_of(entry) is None
    (view,) = bound.data_of([entry])
    assert (view.shape, view.dtype) == ((4, 4), np.float32)
    assert bound.data_of([entry])[0] is view, "it is made once"
    assert bound.var(entry) is bound.chunk(entry).var


def test_variables_of_entries_are_those_of_their_memory(bound):
    entries = [bound.program.variables["x"], inner(bound)]
    assert bound.vars_of(entries) == [bound.var(entry) for entry in entries]


def test_another_binding_uses_the_blocks_of_a_pool_where_they_suffice(bound):
    other = chain(bound.pool)
    assert list(other.chunks.values()) == list(bound.chunks.values())
    assert not set(chain(bound.pool, size=64).chunks.values()) & set(bound.chunks.values())


def test_of_bindings_that_share_memory_the_one_that_ran_last_owns_its_values(bound):
    other = chain(bound.pool)
    bound.take_ownership()
    assert (bound.is_owner, other.is_owner) == (True, False)
    other.take_ownership()
    assert (bound.is_owner, other.is_owner) == (False, True)
