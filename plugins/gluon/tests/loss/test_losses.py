"""What the recorded facts of losses do not hold: compiled losses that MXNet cannot compile, and contexts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operad.gluon import loss

import operad as od
from operad import nd


@pytest.mark.parametrize("make", [loss.SDMLLoss, lambda: loss.SDMLLoss(0.1), loss.CosineEmbeddingLoss])
def test_compiled_losses_give_the_same_on_every_context(make: Any) -> None:
    random = np.random.RandomState(1)
    for place in (od.cpu(0), od.cpu(1)):
        inputs = [nd.array(random.uniform(-1, 1, (4, 3)), ctx=place) for _ in range(2)]
        if make is loss.CosineEmbeddingLoss:
            inputs.append(nd.array([1, -1, 1, -1], ctx=place))
        one = make()
        plain = one(*inputs)
        assert plain.context == place
        one.hybridize()
        np.testing.assert_allclose(one(*inputs).asnumpy(), plain.asnumpy(), rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: loss.CTCLoss(layout="NCT"), AssertionError, "Only 'NTC' and 'TNC'"),
        (lambda: loss.CTCLoss(label_layout="X"), AssertionError, "Only 'NT' and 'TN'"),
        (lambda: loss.LogisticLoss(label_format="x"), ValueError, "signed or binary, received x"),
        (lambda: loss.L1Loss("heavy")(nd.ones(1), nd.ones(1)), AssertionError, "expected a number"),
    ],
)
def test_what_a_loss_cannot_be_is_refused(call: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        call()
