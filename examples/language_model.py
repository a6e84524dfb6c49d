"""A language model of letters: an LSTM that reads Python's reference and guesses the next letter.

`python -m examples.language_model` trains on the text of `help()`'s topics and prints the perplexity of
the part it has not seen: among how many letters it hesitates. Knowing only how frequent each letter is
gives the figure beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import operad as mx
from examples.command import program
from examples.data import load_text

BATCH, STEPS = 32, 48
UNITS, EMBEDDING = 192, 32


def network(letters: int) -> mx.Symbol:
    """An embedding, an LSTM over `STEPS` letters in one operator, and a softmax at each of them."""
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")  # (BATCH, STEPS) both
    embedded = mx.sym.Embedding(data, input_dim=letters, output_dim=EMBEDDING, name="embedding")
    cell = mx.rnn.FusedRNNCell(UNITS, mode="lstm", prefix="lstm_")
    outputs, _ = cell.unroll(STEPS, embedded, merge_outputs=True, layout="NTC")
    scores = mx.sym.FullyConnected(mx.sym.reshape(outputs, (-1, UNITS)), num_hidden=letters, name="scores")
    return mx.sym.SoftmaxOutput(scores, mx.sym.reshape(label, (-1,)), name="softmax", normalization="batch")


def batches(numbers: Any, shuffle: bool) -> mx.io.NDArrayIter:
    """Pieces of `STEPS` letters; the label of each letter is the one that follows it."""
    count = (len(numbers) - 1) // STEPS
    data = numbers[: count * STEPS].reshape(count, STEPS)
    label = numbers[1 : count * STEPS + 1].reshape(count, STEPS)
    return mx.io.NDArrayIter(data, label, BATCH, shuffle=shuffle, last_batch_handle="discard", seed=0)


def unigram_perplexity(train: Any, test: Any, letters: int) -> float:
    """The perplexity of `test` for one who knows how often each letter comes, and nothing else."""
    frequency = np.bincount(train, minlength=letters) + 1
    return float(np.exp(-np.log(frequency / frequency.sum())[test].mean()))


def train(epochs: int = 4, quick: bool = False) -> tuple[float, float]:
    """Perplexities of the held-out end of the text: the model's, and that of letters by frequency."""
    text = load_text()
    alphabet, numbers = np.unique(np.array(list(text)), return_inverse=True)
    cut = 9 * len(numbers) // 10
    seen, unseen = numbers[:cut], numbers[cut:]
    if quick:
        seen, unseen = seen[: BATCH * STEPS + 1], unseen[: BATCH * STEPS + 1]

    mx.random.seed(0)
    module = mx.mod.Module(network(len(alphabet)))
    module.fit(
        batches(seen, shuffle=True),
        num_epoch=1 if quick else epochs,
        eval_metric=mx.metric.Perplexity(ignore_label=None),
        initializer=mx.init.Xavier(factor_type="in", magnitude=2.34),
        optimizer="adam",
        optimizer_params={"learning_rate": 0.004, "rescale_grad": 1.0, "clip_gradient": 1.0},
        batch_end_callback=mx.callback.Speedometer(BATCH, frequent=100),
    )
    ((_, perplexity),) = module.score(batches(unseen, shuffle=False), mx.metric.Perplexity(None))
    return float(perplexity), unigram_perplexity(seen, unseen, len(alphabet))


main = program(__doc__, train, 4, "perplexity per letter {:.2f}, of letters by frequency {:.2f}")


if __name__ == "__main__":
    main()
