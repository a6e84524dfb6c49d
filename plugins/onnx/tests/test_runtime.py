"""Whole networks in onnxruntime, within 1e-5 of what is computed here."""

from __future__ import annotations

from typing import Any

import numpy as np
import operad.onnx
import pytest

import operad as od
from plugins.onnx.tests.networks import NETWORKS, evaluated

pytestmark = pytest.mark.more
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

NEWEST_OF_RUNTIME = 23
"""A version that the oldest onnxruntime here knows; onnx itself may know later ones."""


def run(model: Any, arrays: Any) -> list[Any]:
    """Outputs by onnxruntime on the processor."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, arrays))


@pytest.mark.parametrize("opset", [17, min(od.onnx.newest_opset(), NEWEST_OF_RUNTIME)])
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_a_network_computes_the_same_for_any_number_of_rows(name: str, opset: int) -> None:
    network = NETWORKS[name]
    params = network.params()
    model = od.onnx.export(network.symbol, params, network.shapes, opset=opset)
    for length in (4, 2):
        arrays = network.arrays(length)
        wanted = evaluated(network.symbol, params, arrays)
        for found, want in zip(run(model, arrays), wanted, strict=True):
            np.testing.assert_allclose(found, want, rtol=0, atol=1e-5)
