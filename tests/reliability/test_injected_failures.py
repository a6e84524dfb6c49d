"""A failure at every operator of a training step in turn: forward, backward, update, allocation.

Promised: the failure is raised, once, at the call for an allocation and at a wait for an operator,
as an `OperadError` that names the operator and also is what was raised; what does not depend on it has
its right value; and after the weights are written again the program goes on to the same bits as one
in which nothing failed.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reliability.processes import run

pytestmark = pytest.mark.slow

RUN = {
    "bound": {
        "Activation",
        "Convolution",
        "Dropout",
        "Flatten",
        "FullyConnected",
        "Pooling",
        "SoftmaxOutput",
        "tanh",
    },
    "recorded": {"FullyConnected", "_minus_scalar", "_mul_scalar", "square", "sum", "tanh"},
}
"""The operators of the step; each has a gradient, and each pass of each must fail once."""
UPDATES = {"bound": "sgd_mom_update", "recorded": "sgd_update"}

ENGINES = [("threaded", 1), ("threaded", 4), ("naive", 1)]


def _injected(what: str, style: str, **settings: object) -> list[dict[str, Any]]:
    done = run("-m", "tests.reliability.injection", what, style, **settings)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("engine", "workers"), ENGINES)
@pytest.mark.parametrize("style", ["bound", "recorded"])
@pytest.mark.parametrize("inline_us", [0, 1 << 40], ids=["pushed", "inline"])
def test_a_failed_operator_spoils_what_depends_on_it_and_nothing_else(
    engine: str, workers: int, style: str, inline_us: int
) -> None:
    all_seen = _injected("operators", style, engine=engine, num_threads=workers, inline_us=inline_us)
    passes = {
        kind: {name for found, _, name in (seen["place"].split() for seen in all_seen) if found == kind}
        for kind in ("forward", "backward")
    }
    assert passes["backward"] == RUN[style]
    assert passes["forward"] >= RUN[style] | {UPDATES[style]}
    for seen in all_seen:
        assert seen["at_call"] is None, seen
        assert seen["at_wait"] is not None, seen
        assert {"OperadError", "InjectedError"} <= set(seen["at_wait"]["bases"]), seen
        assert seen["place"].split()[-1] in seen["at_wait"]["text"], seen
        assert seen["apart"], seen
        assert seen["recovered"], seen


@pytest.mark.parametrize(("engine", "workers"), ENGINES)
def test_a_failed_allocation_is_raised_where_memory_was_asked_for(engine: str, workers: int) -> None:
    all_seen = _injected("allocations", "recorded", engine=engine, num_threads=workers, pool=0)
    assert len(all_seen) >= 8  # arrays that the step makes
    for seen in all_seen:
        raised = seen["at_call"] or seen["at_wait"]
        assert raised is not None, seen
        assert {"OutOfMemoryError", "MemoryError"} <= set(raised["bases"]), seen
        assert seen["recovered"], seen
