"""Random networks: with clusters, without, and in float64."""

from __future__ import annotations

import secrets

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from operad_fusion import again
from operad_fusion import fusion as pass_of_plugin
from operad_fusion.fusion import fusion
from plugins.fusion.tests.networks import Network

FEW, MANY = 40, 1500
assert fusion is pass_of_plugin


def compare(seed, monkeypatch):
    network = Network(seed)
    monkeypatch.setattr(again, "WORTH_BYTES", 1)  # every network computes again what it can
    monkeypatch.setenv("OPERAD_FUSION", "off")
    plain, _ = network.run()
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
    (report,) = [each for each in executor.passes if each.name == fusion.name]
    return report.nodes_before - report.nodes_after


@pytest.mark.parametrize("number", range(FEW))
def test_a_network_computes_the_same(number, monkeypatch):
    compare(secrets.randbits(48), monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_networks_compute_the_same(monkeypatch):
    first = secrets.randbits(48)
    gone = [compare(first + number, monkeypatch) for number in range(MANY)]
    assert sum(each > 0 for each in gone) > MANY / 3
