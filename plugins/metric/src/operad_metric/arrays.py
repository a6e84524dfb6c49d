"""Labels and predictions: read once, in pairs, of shapes that fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from operad import NDArray
from operad.errors import IndexOutOfRangeError, ShapeError


def values(array: Any) -> Any:
    """The values of an NDArray, which waits for them, or of what NumPy takes for an array."""
    return array.asnumpy() if isinstance(array, NDArray) else np.asarray(array)


def check_label_shapes(labels: Any, preds: Any, wrap: bool = False, shape: bool = False) -> tuple[Any, Any]:
    """Labels and predictions, as many of one as of the other.

    Args:
        labels: An array, or a list of arrays.
        preds: As `labels`.
        wrap: Make a list of an array that is given alone.
        shape: Compare the arrays' shapes, not their lengths.

    Raises:
        ShapeError: They differ.
    """
    of_labels, of_preds = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if of_labels != of_preds:
        raise ShapeError(
            f"Shape of labels {of_labels} does not match shape of predictions {of_preds}; "
            "a metric compares each output with a label of its own"
        )
    return (listed(labels), listed(preds)) if wrap else (labels, preds)


def can_broadcast(*shapes: tuple[int, ...]) -> bool:
    """Return whether arrays of these shapes combine, by NumPy's rule."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def listed(arrays: Any) -> Any:
    """Arrays as a list, where one is given alone."""
    return [arrays] if isinstance(arrays, (NDArray, np.ndarray)) else arrays


def pairs(labels: Any, preds: Any) -> Iterator[tuple[Any, Any]]:
    """Each label's values and its prediction's.

    Raises:
        ShapeError: There are more of one than of the other.
    """
    labels, preds = check_label_shapes(listed(labels), listed(preds))
    for label, pred in zip(labels, preds, strict=True):
        yield values(label), values(pred)


def classes(name: str, label: Any, pred: Any, axis: int) -> tuple[Any, Any]:
    """Labels and predicted classes, as rows of integers.

    Args:
        name: Of the metric, for messages.
        label: Classes.
        pred: Classes, or scores of each class along `axis`; as long as `label` then, but for that axis.
        axis: Where scores are.

    Raises:
        ShapeError: There are more labels than predictions, or fewer.
    """
    if pred.shape != label.shape:
        if not -pred.ndim <= axis < pred.ndim:
            raise ShapeError(
                f"{name}: predictions have shape {pred.shape}, and labels {label.shape}; expected the same, "
                f"or scores of each class along axis {axis}"
            )
        pred = pred.argmax(axis=axis)
    label, pred = label.astype(np.int64).ravel(), pred.astype(np.int64).ravel()
    check_label_shapes(label, pred)
    return label, pred


def check_classes(name: str, label: Any, pred: Any, axis: int, least: float = -np.inf) -> None:
    """Make sure that labels are no less than `least`, and not beyond the classes of predictions.

    Raises:
        IndexOutOfRangeError: One is.
    """
    count = pred.shape[axis]
    outside = label[(label < least) | (label >= count)]
    if outside.size:
        raise IndexOutOfRangeError(
            f"{name}: label {outside.flat[0]:g} is no class; predictions {pred.shape} have {count} classes "
            f"along axis {axis}, counted from 0; let the last layer have more, or fix the labels"
        )


def probabilities(name: str, label: Any, pred: Any, axis: int, kept: Any = None) -> Any:
    """The probability that was given to each label.

    Args:
        name: Of the metric, for messages.
        label: Classes, in any shape.
        pred: Probabilities of each class along `axis`.
        axis: Where they are.
        kept: True for labels that are asked for; others may be no class. None: all.

    Raises:
        ShapeError: There are more labels than predictions, or fewer.
        IndexOutOfRangeError: A label is no class of the predictions.
    """
    rows = np.moveaxis(pred, axis, -1).reshape(-1, pred.shape[axis])
    chosen = label.ravel().astype(np.int64)
    check_label_shapes(chosen, rows)
    if kept is not None:
        rows, chosen = rows[kept], chosen[kept]
    check_classes(name, chosen, pred, axis, least=0)
    return rows[np.arange(len(chosen)), chosen]
