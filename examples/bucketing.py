"""Sentences of different lengths: a graph per length, and one set of weights for all of them.

`BucketSentenceIter` puts sentences of about one length into a batch, and `BucketingModule` makes a graph
for each length when its first batch comes. `python -m examples.bucketing` trains a language model of words
on the sentences of Python's reference and prints the perplexity of sentences it has not seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

import operad as mx
from examples.command import program
from examples.data import load_text

BUCKETS = (8, 16, 24, 32)
BATCH, WORDS, UNITS, EMBEDDING = 32, 1500, 96, 64
PADDING, UNKNOWN = 0, "<other>"


def sentences() -> list[list[str]]:
    """The sentences of the text, as lists of words; rare words are all the same one."""
    found = [
        re.findall(r"[a-z]+|[.,:;]", sentence.lower())
        for sentence in re.split(r"(?<=[.:])\s+(?=[A-Z])", load_text())
    ]
    kept = [words for words in found if 3 <= len(words) <= BUCKETS[-1]]
    frequent = {word for word, _ in Counter(word for words in kept for word in words).most_common(WORDS)}
    return [[word if word in frequent else UNKNOWN for word in words] for words in kept]


def network_for(vocabulary: int) -> Any:
    """What a `BucketingModule` asks for each length: the graph, and its names of data and labels."""
    cell = mx.rnn.LSTMCell(UNITS, prefix="lstm_")

    def network(length: int) -> tuple[mx.Symbol, Sequence[str], Sequence[str]]:
        embedded = mx.sym.Embedding(
            mx.sym.Variable("data"), input_dim=vocabulary, output_dim=EMBEDDING, name="embedding"
        )
        cell.reset()
        outputs, _ = cell.unroll(length, embedded, merge_outputs=True, layout="NTC")
        outputs = mx.sym.reshape(outputs, (-1, UNITS))
        scores = mx.sym.FullyConnected(outputs, num_hidden=vocabulary, name="scores")
        label = mx.sym.reshape(mx.sym.Variable("softmax_label"), (-1,))
        loss = mx.sym.SoftmaxOutput(
            scores, label, use_ignore=True, ignore_label=PADDING, normalization="valid", name="softmax"
        )
        return loss, ["data"], ["softmax_label"]

    return network


def train(epochs: int = 6, quick: bool = False) -> tuple[float, int]:
    """The perplexity per word of held-out sentences, and how many graphs were bound."""
    np.random.seed(0)  # of the order of the batches
    numbers, vocabulary = mx.rnn.encode_sentences(sentences(), invalid_label=PADDING, start_label=1)
    if quick:  # two batches of the shortest length
        numbers = [words for words in numbers if len(words) <= BUCKETS[0]][: 2 * BATCH]
    buckets, every = ([BUCKETS[0]], 2) if quick else (list(BUCKETS), 10)
    known = [words for i, words in enumerate(numbers) if i % every]
    held_out = numbers[::every]
    batches = mx.rnn.BucketSentenceIter(known, BATCH, buckets, invalid_label=PADDING)

    mx.random.seed(0)
    module = mx.mod.BucketingModule(network_for(len(vocabulary)), batches.default_bucket_key)
    module.fit(
        batches,
        num_epoch=1 if quick else epochs,
        eval_metric=mx.metric.Perplexity(PADDING),
        initializer=mx.init.Xavier(factor_type="in", magnitude=2.34),
        optimizer="adam",
        optimizer_params={"learning_rate": 0.005, "rescale_grad": 1.0, "clip_gradient": 1.0},
        batch_end_callback=mx.callback.Speedometer(BATCH, frequent=20),
    )
    unseen = mx.rnn.BucketSentenceIter(held_out, BATCH, buckets, invalid_label=PADDING)
    ((_, perplexity),) = module.score(unseen, mx.metric.Perplexity(PADDING))
    return float(perplexity), len(buckets)


main = program(__doc__, train, 6, "perplexity per word {:.1f}, with {} graphs over one set of weights")


if __name__ == "__main__":
    main()
