from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_check.testing import gradient_check
from operad_ctc_loss import alignment
from operad_ctc_loss.ctc_loss import CTCLoss
from operad_sdk import OperadError, ShapeError

THIRDS = np.zeros((4, 1, 3))


def ctc(data: Any, label: Any, *lengths: Any, dtype: str = "float64", **params: Any) -> tuple[Any, Any]:
    """The loss and the gradient."""
    x = od.nd.array(data, dtype=dtype)
    x.attach_grad()
    with od.autograd.record():
        loss = od.nd.CTCLoss(x, od.nd.array(label), *(od.nd.array(values) for values in lengths), **params)
    loss.backward()
    assert x.grad is not None
    return loss.asnumpy(), x.grad.asnumpy()


def probability(data: Any, label: Any, *lengths: Any, **params: Any) -> float:
    return float(np.exp(-ctc(data, label, *lengths, **params)[0][0]))


def test_alignments_are_counted() -> None:
    # a label may begin at any step and last any number of steps: 4 + 3 + 2 + 1 of 3^4 sequences
    assert probability(THIRDS, [[1]]) == pytest.approx(10 / 81)
    assert probability(THIRDS, [[0]]) == pytest.approx(1 / 81)
    # equal labels need a blank between them: 1_1 within four steps
    assert probability(THIRDS, [[1, 1]]) == pytest.approx(5 / 81)
    assert probability(THIRDS, [[1, 2]]) == pytest.approx(15 / 81)


def test_labels_end_at_the_first_padding() -> None:
    assert probability(THIRDS, [[1, 0, 2]]) == pytest.approx(10 / 81)
    assert probability(THIRDS, [[0, -1, 1]], blank_label="last") == pytest.approx(10 / 81)


def test_the_blank_is_the_first_class_or_the_last() -> None:
    data = np.random.default_rng(0).normal(size=(5, 2, 4))
    loss, grad = ctc(data, [[1, 3], [2, 0]])
    moved, moved_grad = ctc(np.roll(data, -1, axis=2), [[0, 2], [1, -1]], blank_label="last")
    np.testing.assert_allclose(moved, loss)
    np.testing.assert_allclose(moved_grad, np.roll(grad, -1, axis=2), atol=1e-12)


def test_steps_and_labels_beyond_their_lengths_do_not_count() -> None:
    data = np.random.default_rng(0).normal(size=(5, 1, 4))
    loss, grad = ctc(data, [[1, 2, 3]], [3], [2], use_data_lengths=True, use_label_lengths=True)
    part, part_grad = ctc(data[:3], [[1, 2]])
    np.testing.assert_allclose(loss, part)
    np.testing.assert_allclose(grad[:3], part_grad, atol=1e-12)
    assert not grad[3:].any()


@pytest.mark.parametrize("label", [[[1, 1, 1]], [[2, 2, 1]]])
def test_labels_that_do_not_fit_give_nothing(label: list[list[int]]) -> None:
    loss, grad = ctc(np.ones((3, 1, 3)), label)
    assert (loss.tolist(), grad.any()) == ([0.0], False)
    loss, grad = ctc(THIRDS, label, [2], use_data_lengths=True)
    assert (loss.tolist(), grad.any()) == ([0.0], False)


def test_the_gradient_is_the_derivative() -> None:
    data = np.random.default_rng(1).normal(size=(6, 3, 4))
    gradient_check(CTCLoss, [data, np.array([[1, 1, 2], [3, 0, 0], [2, 1, 2]])])


def test_the_gradient_of_each_step_sums_to_zero() -> None:
    _, grad = ctc(np.random.default_rng(2).normal(size=(50, 3, 7)), [[1, 2, 2], [3, 0, 0], [6, 5, 4]])
    np.testing.assert_allclose(grad.sum(axis=2), 0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_thousands_of_steps_stay_finite_and_exact(dtype: str) -> None:
    steps, classes = 5000, 4
    loss, grad = ctc(np.zeros((steps, 1, classes)), [[1]], dtype=dtype)
    runs = steps * (steps + 1) / 2  # a label begins at any step and lasts any number of steps
    np.testing.assert_allclose(loss, steps * np.log(classes) - np.log(runs), rtol=1e-6)
    # by symmetry the middle step gives the label in half of all alignments
    np.testing.assert_allclose(grad[steps // 2, 0, 1], 1 / classes - 0.5, atol=1e-3)
    np.testing.assert_allclose(grad.sum(axis=2), 0, atol=1e-6)


def test_large_scores_do_not_overflow() -> None:
    data = np.tile([1000.0, 0.0, 0.0], (3, 1, 1))
    loss, grad = ctc(data, [[1, 2]], dtype="float32")
    np.testing.assert_allclose(loss, 2000 - np.log(3), rtol=1e-6)
    np.testing.assert_allclose(grad[0, 0], [2 / 3, -2 / 3, 0], atol=1e-6)


def test_a_class_of_probability_zero_leaves_the_other_alignments() -> None:
    data = np.array([[[-np.inf, 0.0, 0.0]]] * 2)
    loss, grad = ctc(data, [[1]])
    np.testing.assert_allclose(loss, np.log(4))
    np.testing.assert_allclose(grad, [[[0, -0.5, 0.5]]] * 2, atol=1e-12)


@pytest.mark.parametrize(
    ("label", "lengths", "message"),
    [
        ([[1, 3]], {}, r"label\[0, 1\] is 3, expected 1 to 2"),
        ([[1, -1]], {}, r"label\[0, 1\] is -1, expected 1 to 2"),
        ([[1, 2]], {"data_lengths": [5]}, r"data_lengths\[0\] is 5, expected 0 to 4"),
        ([[1, 2]], {"label_lengths": [3]}, r"label_lengths\[0\] is 3, expected 0 to 2"),
        ([[1, 2]], {"label_lengths": [-1]}, r"label_lengths\[0\] is -1, expected 0 to 2"),
    ],
)
def test_classes_and_lengths_out_of_range_are_named(
    label: list[list[int]], lengths: dict[str, list[int]], message: str
) -> None:
    given = {name: od.nd.array(values) for name, values in lengths.items()}
    uses = {f"use_{name}": True for name in lengths}
    with pytest.raises(OperadError, match="CTCLoss: " + message):
        od.nd.CTCLoss(od.nd.array(THIRDS), od.nd.array(label), **given, **uses).wait_to_read()


def test_more_labels_than_steps_are_refused() -> None:
    with pytest.raises(ShapeError, match="expected at most 2 labels"):
        od.nd.CTCLoss(od.nd.zeros((2, 1, 4)), od.nd.zeros((1, 3)))


@pytest.mark.parametrize("shape", [(0, 2, 3), (3, 0, 3), (2, 2, 1)])
def test_empty_sequences_batches_and_alphabets_have_a_loss(shape: tuple[int, int, int]) -> None:
    loss, grad = ctc(np.zeros(shape), np.zeros((shape[1], 0)))
    np.testing.assert_allclose(loss, np.full(shape[1], shape[0] * np.log(shape[2])))
    assert grad.shape == shape


def test_compiled_and_other_code_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    rng = np.random.default_rng(0)
    data = rng.normal(size=(9, 6, 5)) * 3
    data[2, 1, 3], data[3, 2, 1], data[4, 5] = -np.inf, np.nan, [-np.inf, -np.inf, -np.inf, -np.inf, 0]
    label = rng.integers(1, 5, (6, 4))
    lengths = [9, 9, 9, 5, 0, 9], [4, 3, 2, 4, 0, 0]
    found = []
    for size in (0, 1 << 30):
        monkeypatch.setattr(alignment.LOOPS, "from_size", size)
        od.registry.refresh()  # plans know the kernels that were chosen
        found.append(ctc(data, label, *lengths, use_data_lengths=True, use_label_lengths=True))
    for first, second in zip(*found, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-12)


def test_aliases_are_the_operator() -> None:
    for alias in ("ctc_loss", "_contrib_ctc_loss", "_contrib_CTCLoss"):
        assert od.registry.get(alias) is CTCLoss
