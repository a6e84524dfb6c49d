from __future__ import annotations

import numpy as np

import operad as od


def test_rows_that_do_not_count_have_no_gradient_and_the_others_sum_to_zero() -> None:
    rng = np.random.default_rng(0)
    logits = od.nd.array(rng.normal(size=(4, 5)), dtype="float64")
    label = od.nd.array([2, -100, 0, -100], dtype="int64")
    weight = od.nd.array([0.5, 1, 2, 3, 4], dtype="float64")
    logits.attach_grad()
    with od.autograd.record():
        loss = od.nd.cross_entropy(logits, label, weight, use_weight=True, smoothing=0.2)
    loss.backward()
    assert logits.grad is not None
    grad = logits.grad.asnumpy()
    assert (grad[1::2] == 0).all()
    assert (grad[::2] != 0).all()
    np.testing.assert_allclose(grad.sum(axis=1), 0, atol=1e-15)


def test_no_row_that_counts_is_a_loss_of_zero() -> None:
    logits, label = od.nd.ones((2, 3)), od.nd.array([-1, -1], dtype="int64")
    weights = od.nd.array([0, 1, 1])
    assert od.nd.cross_entropy(logits, label, ignored=-1).asnumpy() == 0
    assert od.nd.cross_entropy(logits, label * 0, weights, use_weight=True).asnumpy() == 0
