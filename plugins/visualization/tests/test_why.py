"""What computes each node of a bound graph."""

from __future__ import annotations

import pytest

from operad import registry, sym
from operad.op import Kernel

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture
def fast():
    """A kernel for the outputs of a fully connected layer, from four rows upwards."""
    cls = registry.get("Dense")
    own = cls.kernels[0]
    added = Kernel(
        "Dense.fast",
        own.factory,
        priority=1,
        parts=lambda prop: ("forward",),
        when=lambda call: call.shape("data")[0] >= 4 or "few rows",
        cost=lambda call: 3.0,
        scratch_bytes=lambda call: 64,
    )
    cls.kernels.append(added)
    yield own.name
    cls.kernels.remove(added)


def bound(rows):
    data = sym.var("data")
    return sym.Dense(data, num_hidden=3, name="fc").simple_bind(data=(rows, 2))


def test_each_part_of_each_node_has_a_row(fast):
    rows = {(row.node, row.part): row for row in bound(4).why().rows}
    forward = rows["fc", "forward"]
    assert (forward.operator, forward.kernel, forward.workspace_bytes) == ("Dense", "Dense.fast", 64)
    assert forward.others == {fast: "priority 0 is below 1"}
    weight = rows["fc_backward", "weight_grad"]
    assert (weight.kernel, weight.others) == (fast, {})
    assert weight.cost_us > 0


def test_reasons_against_a_kernel_are_those_of_its_condition(fast):
    forward = bound(3).why().rows[0]
    assert (forward.kernel, forward.others) == (fast, {"Dense.fast": "few rows"})


def test_the_text_is_a_table(fast):
    found = bound(4).why()
    head, first, *_ = str(found).splitlines()
    assert head.split() == ["node", "part", "kernel", "context", "cost", "workspace", "arrays", "and", "not"]
    assert first.split()[:4] == ["fc", "forward", "Dense.fast", "cpu(0)"]
    assert repr(found) == "<the kernels of 2 nodes; print shows them>"


def test_a_bound_graph_runs_the_kernels_that_it_shows(fast):
    executor = bound(4)
    assert executor.program.kernels[-1].forward.name == "Dense.fast"
    assert executor.forward()[0].shape == (4, 3)
