"""Values and gradients equal those that MXNet 1.9.1 computed (see `mxnet/record.py`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od

CASES = json.loads((Path(__file__).parent / "mxnet" / "losses.json").read_text())


@pytest.mark.walk
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['operator']}-{CASES.index(case)}")
def test_computes_what_mxnet_computes(case: dict[str, Any]) -> None:
    data = od.nd.array(case["data"])
    data.attach_grad()
    inputs = [data, od.nd.array(case["label"])] if "label" in case else [data]
    with od.autograd.record():
        output = getattr(od.nd, case["operator"])(*inputs, **case["params"])
    output.backward(od.nd.array(case["head"]))
    np.testing.assert_allclose(output.asnumpy(), case["output"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(data.grad.asnumpy(), case["gradient"], rtol=1e-5, atol=1e-6)
