"""What the programs learn from: scikit-learn's digits, and a text that comes with Python."""

from __future__ import annotations

from pydoc_data import topics
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets


class Digits(NamedTuple):
    """Images of shape (N, 1, 8, 8) in [0, 1] and labels of shape (N,), for training and held out."""

    train_images: Any
    train_labels: Any
    test_images: Any
    test_labels: Any

    def first(self, count: int) -> Digits:
        """The first `count` images of both parts."""
        return Digits(*(array[:count] for array in self))

    def of_classes(self, low: int, high: int) -> Digits:
        """The images of the digits `low` to `high`, with labels that count from 0."""
        train = (self.train_labels >= low) & (self.train_labels <= high)
        test = (self.test_labels >= low) & (self.test_labels <= high)
        return Digits(
            self.train_images[train],
            self.train_labels[train] - low,
            self.test_images[test],
            self.test_labels[test] - low,
        )


def load_digits() -> Digits:
    """1797 scans of handwritten digits, shuffled with a fixed seed; every fifth is held out."""
    images, labels = datasets.load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    images = (images[order] / 16.0).reshape(-1, 1, 8, 8).astype(np.float32)
    labels = labels[order].astype(np.float32)
    held_out = np.arange(len(images)) % 5 == 0
    return Digits(images[~held_out], labels[~held_out], images[held_out], labels[held_out])


def load_text() -> str:
    """Python's own reference on its statements and types, as `help()` shows it: some 450,000 letters."""
    return "\n".join(text for _, text in sorted(topics.topics.items()))
