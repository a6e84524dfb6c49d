"""Cases of CTCLoss. Only data gets a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal


def ctc_losses() -> Iterator[Case]:
    """Data of (length, batch, alphabet); where the blank is, padding is 0 or -1."""
    op = "CTCLoss"
    first: dict[str, Any] = {"blank_label": "first"}
    last: dict[str, Any] = {"blank_label": "last"}
    data = normal(5, 2, 4)
    labels = exactly([[1.0, 2.0, 0.0], [3.0, 0.0, 0.0]])
    from_zero = exactly([[0.0, 2.0, -1.0], [1.0, -1.0, -1.0]])
    rows: list[tuple[str, tuple[Recipe, ...], dict[str, Any]]] = [
        ("defaults", (data, labels), {}),
        ("blank_first", (data, labels), first),
        ("blank_last", (data, from_zero), last),
        ("repeated_label", (data, exactly([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0]])), {}),
        ("repeated_label_that_fits_exactly", (normal(3, 1, 3), exactly([[1.0, 1.0]])), {}),
        ("label_as_long_as_the_data", (normal(3, 1, 4), exactly([[1.0, 2.0, 3.0]])), {}),
        ("refused_label_longer_than_the_data", (normal(2, 1, 4), exactly([[1.0, 2.0, 3.0]])), {}),
        ("empty_label", (normal(3, 2, 3), exactly([[0.0, 0.0], [1.0, 0.0]])), {}),
        ("one_step", (normal(1, 2, 3), exactly([[1.0], [2.0]])), {}),
        ("one_sample", (normal(4, 1, 3), exactly([[2.0, 1.0]])), {}),
        ("two_symbols", (normal(4, 2, 2), exactly([[1.0, 0.0], [1.0, 1.0]])), {}),
        ("large", (normal(4, 1, 3, scale=30.0), exactly([[2.0, 1.0]])), {}),
        (
            "refused_float64",
            (normal(5, 2, 4, dtype="float64"), exactly([[1.0, 2.0], [3.0, 0.0]], "float64")),
            {},
        ),
    ]
    for name, inputs, params in rows:
        yield Case(op, name, inputs, params, grad=(0,))
    lengths = exactly([5.0, 3.0])
    counts = exactly([2.0, 1.0])
    for word, params in (("first", first), ("last", last)):
        label = labels if word == "first" else from_zero
        given = {**params, "use_data_lengths": True}
        yield Case(op, f"data_lengths_blank_{word}", (data, label, lengths), given, grad=(0,))
        given = {**params, "use_data_lengths": True, "use_label_lengths": True}
        yield Case(op, f"both_lengths_blank_{word}", (data, label, lengths, counts), given, grad=(0,))
    unpadded = exactly([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]])
    given = {"use_data_lengths": True, "use_label_lengths": True}
    yield Case(op, "label_lengths_cut_labels", (data, unpadded, lengths, counts), given, grad=(0,))
    yield Case(op, "refused_labels_of_another_batch", (data, exactly([[1.0, 2.0]])), grad=(0,))


CASES: list[Case] = [*ctc_losses()]
