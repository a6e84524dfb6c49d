"""Places of values: what backward reads in the arena, everything else in scratch memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import operad as od
from core.tests.autograd.recorded import A, B, variable
from core.tests.compiled.polynomial import compiled, recorded
from operad import autograd, nd
from operad.compiled.layout import Runner

pytestmark = pytest.mark.usefixtures("operators")


def test_the_hidden_output_is_as_large_as_what_backward_reads() -> None:
    x, y = variable(A), variable(B)
    z = recorded(x, y)
    prop = z._autograd[0].plan.prop
    assert prop.list_outputs()[-1] == "arena"
    assert prop.layout.arena_bytes == 128  # the square of x, and x * y
    with autograd.pause():
        compiled(x, y)
    assert "0 bytes kept" in compiled.why()


def test_places_of_the_arena_do_not_overlap() -> None:
    layout = recorded(variable(A), variable(B))._autograd[0].plan.prop.layout
    kept = sorted((start, start + size) for is_kept, start, size in layout.places.values() if is_kept)
    assert len(kept) == 2
    assert all(end <= start for (_, end), (start, _) in pairwise(kept))
    assert kept[-1][1] <= layout.arena_bytes


def test_a_run_that_fails_before_its_calls_are_made_leaves_none_behind(monkeypatch) -> None:
    plan = recorded(variable(A), variable(B))._autograd[0].plan
    runner = plan.direct
    assert isinstance(runner, Runner)
    memory = [np.zeros(spec.shape, spec.dtype) for spec in plan.out_specs]
    arrays = [np.array(A, np.float32), np.array(B, np.float32), *memory]
    with monkeypatch.context() as patch:
        patch.setattr(Runner, "_over", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            runner(*arrays)
    runner(*arrays)
    np.testing.assert_allclose(memory[0], A * A * B - A * B * B, rtol=1e-6)
    assert memory[1].any()  # the arena is that of this run


def test_views_follow_the_memory_of_each_run() -> None:
    function = od.compile(lambda x: nd.square(nd.square(x) * 2) + nd.square(x))
    live = []
    for number in range(8):
        x = variable(A + number)
        with autograd.record():
            live.append((x, function(x)))
    for x, y in live:
        y.backward()
        value = x.asnumpy()
        np.testing.assert_allclose(x.grad.asnumpy(), 16 * value**3 + 2 * value, rtol=1e-5)
