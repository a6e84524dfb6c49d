"""Two steps of every update operator equal those that MXNet 1.9.1 took (see `mxnet/record.py`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od

CASES = json.loads((Path(__file__).parent / "mxnet" / "updates.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['operator']}-{CASES.index(case)}")
def test_takes_the_steps_that_mxnet_takes(case: dict[str, Any]) -> None:
    weight, grad = (od.nd.array(value, dtype=case["dtype"]) for value in case["inputs"][:2])
    states = [od.nd.array(value) for value in case["inputs"][2:]]
    update = getattr(od.nd, case["operator"])
    tolerance = {"rtol": 1e-5, "atol": 2e-6} if case["dtype"] == "float32" else {"rtol": 1e-3, "atol": 1e-3}
    for expected in case["steps"]:
        if "phase1" in case["operator"]:
            out = update(weight, grad, *states, **case["params"])
        else:
            out = update(weight, grad, *states, **case["params"], out=weight)
        for got, want in zip([out, *states], expected, strict=True):
            np.testing.assert_allclose(got.asnumpy(), want, **tolerance)
