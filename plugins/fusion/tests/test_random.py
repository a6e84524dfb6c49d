"""Random networks: with clusters, without, and in float64."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from operad_fusion import again
from operad_fusion import fusion as pass_of_plugin
from operad_fusion.fusion import fusion
from operator_sdk.sdk.tests.vector_code import require_vector_code
from plugins.fusion.tests.networks import Network

require_vector_code()

FEW, MANY = 40, 1500
NUMBERS = [pytest.param(number, marks=() if number < 8 else pytest.mark.more) for number in range(FEW)]
assert fusion is pass_of_plugin


def names_of(executor):
    """Names of the nodes but for clusters, what runs once more, and what prepares weights."""
    nodes = [each for each in executor.program.graph.op_nodes if each.op.name != "_prepare"]
    return Counter(each.name for each in nodes if "+" not in each.name and "_mirror" not in each.name)


def compare(seed, monkeypatch):
    network = Network(seed)
    monkeypatch.setattr(again, "WORTH_BYTES", 1)  # every network computes again what it can
    monkeypatch.setenv("OPERAD_FUSION", "off")
    plain, before = network.run()
    wide, _ = network.run("float64")
    monkeypatch.setenv("OPERAD_FUSION", "on")
    found, executor = network.run()
    recorded = network.record()
    double, _ = network.run("float64")
    monkeypatch.setenv("OPERAD_FUSION", "exact")
    exact, _ = network.run()
    for name, right in wide.items():
        scale = 1 + np.abs(right).max(initial=0)
        # as far from float64 as without clusters, give or take
        allowed = 4 * np.abs(plain[name] - right).max(initial=0) + 2e-5 * scale
        assert np.abs(found[name] - right).max(initial=0) <= allowed, (seed, name)
        assert np.abs(double[name] - right).max(initial=0) <= 1e-11 * scale, (seed, name)
        if name in recorded:
            assert np.abs(recorded[name] - right).max(initial=0) <= allowed, (seed, name)
        assert np.abs(exact[name] - right).max(initial=0) <= allowed, (seed, name)
    assert not names_of(executor) - names_of(before), (seed, "a node that a cluster stands for runs as well")
    (report,) = [each for each in executor.passes if each.name == fusion.name]
    return report.nodes_before - report.nodes_after


@pytest.mark.parametrize("number", NUMBERS)
def test_a_network_computes_the_same(number, drawn_seed, monkeypatch):
    compare(drawn_seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_networks_compute_the_same(drawn_seed, monkeypatch):
    gone = [compare(drawn_seed + number, monkeypatch) for number in range(MANY)]
    assert sum(each > 0 for each in gone) > MANY / 3


AGAIN = (184911170725930, 276257823905299)
"""Networks of which backward takes a view of forward's again, that a cluster of forward passed over."""


def watched(network, monkeypatch, mode, *, inputs):
    """Names and values that a monitor of one step sees, in order; none of what is computed again."""
    monkeypatch.setenv("OPERAD_FUSION", mode)
    seen = []

    def see(name, array):
        if "_mirror" not in name:
            seen.append((name, array.asnumpy()))

    network.run(monitor=see, monitor_all=inputs)
    return seen


@pytest.mark.parametrize("number", [*AGAIN, *NUMBERS[: FEW // 2]])
def test_a_monitor_sees_what_it_sees_without_clusters(number, drawn_seed, monkeypatch):
    network = Network(seed := number if number in AGAIN else drawn_seed)
    # A gradient that is added to what was there is shown alone by a cluster.
    network.requests = {name: req.replace("add", "write") for name, req in network.requests.items()}
    plain, fused = (watched(network, monkeypatch, mode, inputs=False) for mode in ("off", "on"))
    assert sorted(name for name, _ in fused) == sorted(name for name, _ in plain), seed
    plain, fused = (watched(network, monkeypatch, mode, inputs=True) for mode in ("off", "on"))
    assert {name for name, _ in fused} == {name for name, _ in plain}, seed
    for name, value in plain:
        found = [each for other, each in fused if other == name and each.shape == value.shape]
        scale = 1 + np.abs(value).max(initial=0)
        assert min(np.abs(each - value).max(initial=0) for each in found) <= 1e-3 * scale, (seed, name)
