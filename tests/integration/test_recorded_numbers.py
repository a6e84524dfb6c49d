"""Numbers of recorded calls that change from step to step, where passes make new nodes of their gradients."""

from __future__ import annotations

import numpy as np
import pytest

from operad import autograd, nd


@pytest.mark.parametrize("fusion", ["on", "exact", "off"])
def test_gradients_follow_the_numbers_of_their_own_step(monkeypatch: pytest.MonkeyPatch, fusion: str) -> None:
    monkeypatch.setenv("OPERAD_FUSION", fusion)
    x, weight = nd.array(np.random.normal(size=(20, 16))), nd.array(np.random.normal(size=(16, 16)))
    weight.attach_grad()
    for rate in (0.25, 3.0, 0.25, -2.0):
        with autograd.record():
            y = nd.dot(x, weight) / rate
            heads = [y, y.sum()]
        autograd.backward(heads)
        expected = x.asnumpy().T @ np.ones((20, 16), np.float32) * 2 / rate
        np.testing.assert_allclose(weight.grad.asnumpy(), expected, rtol=1e-4, atol=1e-5)
