"""Batches of sentences of about the same length; needs the iterators of `operad.io`.

Source: BucketSentenceIter, python/mxnet/rnn/io.py.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

import operad
from operad import nd
from operad.errors import ParamError

_log: Final = logging.getLogger("operad.rnn")


class BucketSentenceIter(operad.io.DataIter):  # type: ignore[misc]  # of another plugin
    """Batches of sentences for `BucketingModule`; the label of a word is the next word.

    A sentence goes to the shortest bucket that it fits in, and is filled up with `invalid_label`. Sentences
    longer than all buckets, and those that do not fill a batch, are left out.

    Args:
        sentences: Lists of numbers, such as `encode_sentences` makes.
        batch_size: Sentences in a batch.
        buckets: Lengths; None: all lengths that fill a batch.
        invalid_label: What sentences are filled up with.
        data_name: Name of the input.
        label_name: Name of the label.
        dtype: Type of both.
        layout: `"NT"` or `"TN"`.

    Attributes:
        default_bucket_key: The greatest length.
        major_axis: The axis of the sentences.

    Raises:
        ParamError: There is no bucket, or the layout is another.
    """

    def __init__(
        self,
        sentences: Sequence[Sequence[int]],
        batch_size: int,
        buckets: Sequence[int] | None = None,
        invalid_label: int = -1,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: str = "float32",
        layout: str = "NT",
    ) -> None:
        super().__init__(batch_size)
        if layout not in ("NT", "TN"):
            raise ParamError(f"BucketSentenceIter: layout is {layout!r}, expected 'NT' or 'TN'")
        lengths = Counter(map(len, sentences))
        self.buckets = sorted(
            [length for length, count in lengths.items() if count >= batch_size]
            if buckets is None
            else buckets
        )
        if not self.buckets:
            raise ParamError(
                f"BucketSentenceIter: no length fills a batch of {batch_size} sentences; give buckets"
            )
        self.data_name, self.label_name = data_name, label_name
        self.invalid_label = invalid_label
        self.dtype, self.layout, self.major_axis = dtype, layout, layout.find("N")
        self.default_bucket_key = self.buckets[-1]
        self.data = [self._filled_up(sentences, number) for number in range(len(self.buckets))]
        left_out = sum(count for length, count in lengths.items() if length > self.default_bucket_key)
        if left_out:
            _log.warning("left out %d sentences longer than the largest bucket", left_out)
        self.provide_data = [self._described(data_name, self.default_bucket_key)]
        self.provide_label = [self._described(label_name, self.default_bucket_key)]
        self.idx = [
            (number, start)
            for number, rows in enumerate(self.data)
            for start in range(0, len(rows) - batch_size + 1, batch_size)
        ]
        self.reset()

    def reset(self) -> None:
        """Begin again, in another order, which `np.random.seed` decides."""
        self.curr_idx = 0
        np.random.shuffle(self.idx)
        for rows in self.data:
            np.random.shuffle(rows)

    def next(self) -> Any:
        """The next batch.

        Raises:
            StopIteration: The data has ended.
        """
        if self.curr_idx == len(self.idx):
            raise StopIteration
        number, start = self.idx[self.curr_idx]
        self.curr_idx += 1
        rows = self.data[number][start : start + self.batch_size]
        labels = np.full_like(rows, self.invalid_label)
        labels[:, :-1] = rows[:, 1:]
        key = self.buckets[number]
        return operad.io.DataBatch(
            [self._array(rows)],
            [self._array(labels)],
            pad=0,
            bucket_key=key,
            provide_data=[self._described(self.data_name, key)],
            provide_label=[self._described(self.label_name, key)],
        )

    def _filled_up(self, sentences: Sequence[Sequence[int]], number: int) -> Any:
        """The rows of a bucket."""
        chosen = [sentence for sentence in sentences if bisect_left(self.buckets, len(sentence)) == number]
        rows = np.full((len(chosen), self.buckets[number]), self.invalid_label, self.dtype)
        for row, sentence in zip(rows, chosen, strict=True):
            row[: len(sentence)] = sentence
        return rows

    def _array(self, rows: Any) -> Any:
        return nd.array(rows if self.layout == "NT" else rows.T, dtype=self.dtype)

    def _described(self, name: str, length: int) -> Any:
        shape = (self.batch_size, length) if self.layout == "NT" else (length, self.batch_size)
        return operad.io.DataDesc(name, shape, self.dtype, self.layout)
