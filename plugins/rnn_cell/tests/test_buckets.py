from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError

SENTENCES = [[1, 2], [3, 4], [5], [6, 7, 8], [9, 8, 7], [1, 2, 3, 4, 5]]


def batches(**arguments: Any) -> list[Any]:
    return list(od.rnn.BucketSentenceIter(SENTENCES, 2, **arguments))


@pytest.mark.parametrize("layout", ["NT", "TN"])
def test_every_sentence_that_fits_comes_once_with_the_next_words_as_labels(layout: str) -> None:
    found = {}
    for batch in batches(buckets=[2, 3], invalid_label=0, layout=layout):
        assert batch.provide_data[0].shape == batch.data[0].shape
        rows, labels = (array.asnumpy() if layout == "NT" else array.asnumpy().T
                        for array in (batch.data[0], batch.label[0]))  # fmt: skip
        assert rows.shape == (2, batch.bucket_key)
        np.testing.assert_array_equal(labels, np.pad(rows[:, 1:], ((0, 0), (0, 1))))
        found[batch.bucket_key] = found.get(batch.bucket_key, []) + rows.tolist()
    assert sorted(found[3]) == [[6, 7, 8], [9, 8, 7]]
    assert len(found[2]) == 2
    assert all(row in [[1, 2], [3, 4], [5, 0]] for row in found[2])


def test_lengths_that_fill_a_batch_are_the_buckets() -> None:
    iterator = od.rnn.BucketSentenceIter(SENTENCES, 2)
    assert (iterator.buckets, iterator.default_bucket_key) == ([2, 3], 3)
    assert iterator.provide_data[0].shape == (2, 3)
    assert len(list(iterator)) == 2
    assert list(iterator) == []
    iterator.reset()
    assert len(list(iterator)) == 2


def test_without_a_bucket_it_is_refused() -> None:
    with pytest.raises(ParamError, match="no length fills a batch of 9"):
        od.rnn.BucketSentenceIter(SENTENCES, 9)
    with pytest.raises(ParamError, match="expected 'NT' or 'TN'"):
        od.rnn.BucketSentenceIter(SENTENCES, 2, layout="NTC")
