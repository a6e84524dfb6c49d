"""Sequences: letters of a text, and digits as rows of pixels or one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.held_out.learning import (
    BATCH,
    Data,
    cross_entropy,
    dense,
    draws,
    fitted,
    outputs,
    program,
    start,
)

LETTERS = 27


def windows(data: Data, length: int) -> tuple[Any, Any]:
    """Windows of the text and of what follows each letter, those to train on and those held out."""
    text = data["text"]
    every = np.stack([text[at : at + length + 1] for at in range(0, len(text) - length - 1, 3)])
    cut = len(every) * 4 // 5
    return every[:cut], every[cut + length :]


@program
def letters_by_lstm(mx: Any, data: Data) -> float:
    """The next letter, by an LSTM that is unrolled over 12."""
    train, held = windows(data, 12)
    cell = mx.rnn.LSTMCell(24, prefix="lstm_")
    embedded = mx.sym.Embedding(mx.sym.var("data"), input_dim=LETTERS, output_dim=12, name="embed")
    states, _ = cell.unroll(12, inputs=embedded, merge_outputs=True)
    scores = mx.sym.FullyConnected(mx.sym.Reshape(states, shape=(-1, 24)), num_hidden=LETTERS, name="out")
    label = mx.sym.Reshape(mx.sym.var("softmax_label"), shape=(-1,))
    net = mx.sym.SoftmaxOutput(scores, label, name="softmax")
    given = {"data": train[:, :-1]}, {"softmax_label": train[:, 1:]}
    module = fitted(mx, net, *given, epochs=6, learning_rate=0.01, rescale_grad=1 / (BATCH * 12))
    rows = held[: len(held) // BATCH * BATCH]
    return cross_entropy(outputs(mx, module, {"data": rows[:, :-1]})[0], rows[:, 1:])


class Buckets:
    """Batches of windows of two lengths in turn."""

    def __init__(self, mx: Any, rows: Any, lengths: tuple[int, ...] = (10, 6)) -> None:
        self.mx, self.rows, self.lengths = mx, rows, lengths

    def __iter__(self) -> Any:
        for number, begin in enumerate(range(0, len(self.rows) - BATCH + 1, BATCH)):
            key = self.lengths[number % 2]
            words, mx = self.rows[begin : begin + BATCH], self.mx
            data, label = (mx.nd.array(words[:, at : at + key]) for at in (0, 1))
            shapes = [("data", data.shape)], [("softmax_label", label.shape)]
            yield mx.io.DataBatch([data], [label], 0, None, key, *shapes)


@program
def letters_in_buckets(mx: Any, data: Data) -> float:
    """The same by GRU cells and `BucketingModule`."""
    train, held = windows(data, 10)

    def network(length: int) -> Any:
        cell = mx.rnn.GRUCell(20, prefix="gru_")
        embedded = mx.sym.Embedding(mx.sym.var("data"), input_dim=LETTERS, output_dim=10, name="embed")
        states, _ = cell.unroll(length, inputs=embedded, merge_outputs=True)
        scores = dense(mx, mx.sym.Reshape(states, shape=(-1, 20)), LETTERS, name="out")
        label = mx.sym.Reshape(mx.sym.var("softmax_label"), shape=(-1,))
        return mx.sym.SoftmaxOutput(scores, label, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(network, default_bucket_key=10, context=mx.cpu())
    module.bind([("data", (BATCH, 10))], [("softmax_label", (BATCH, 10))])
    module.init_params(start)
    module.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.01, "rescale_grad": 1 / 256})
    for _ in range(4):
        for batch in Buckets(mx, train):
            module.forward_backward(batch)
            module.update()
    losses = []
    for batch in Buckets(mx, held):
        module.forward(batch, is_train=False)
        losses.append(cross_entropy(module.get_outputs()[0].asnumpy(), batch.label[0].asnumpy()))
    return float(np.mean(losses))


@program
def vowels_by_convolutions(mx: Any, data: Data) -> float:
    """Kim, 2014: convolutions of several widths over embedded letters say whether a vowel follows."""
    train, held = windows(data, 9)
    embedded = mx.sym.Embedding(mx.sym.var("data"), input_dim=LETTERS, output_dim=8, name="embed")
    image = mx.sym.Reshape(embedded, shape=(-1, 1, 9, 8))
    found = []
    for width in (2, 3):
        conv = mx.sym.Convolution(image, kernel=(width, 8), num_filter=8, name=f"conv{width}")
        found.append(mx.sym.Pooling(mx.sym.tanh(conv), kernel=(10 - width, 1), pool_type="max"))
    features = mx.sym.Flatten(mx.sym.concat(*found, dim=1))
    net = mx.sym.SoftmaxOutput(dense(mx, features, 2, name="out"), name="softmax")
    labels = [np.isin(part[:, -1], [1, 5, 9, 15, 21]) for part in (train, held)]
    given = {"data": train[:, :-1]}, {"softmax_label": labels[0]}
    module = fitted(mx, net, *given, epochs=4, learning_rate=0.01)
    return cross_entropy(outputs(mx, module, {"data": held[:, :-1]})[0], labels[1])


@program
def rows_of_pixels(mx: Any, data: Data) -> float:
    """A digit as eight steps of eight pixels, by one `RNN` that reads them both ways."""
    (x, y), (rows, classes) = (way("digits", "digits_target") for way in (data.train, data.held_out))
    steps = mx.sym.transpose(mx.sym.var("data"), axes=(1, 0, 2))
    cell = mx.rnn.FusedRNNCell(12, num_layers=1, mode="gru", bidirectional=True, prefix="rnn_")
    states, _ = cell.unroll(8, inputs=steps, layout="TNC", merge_outputs=True)
    last = mx.sym.Reshape(mx.sym.SequenceLast(states), shape=(-1, 24))
    net = mx.sym.SoftmaxOutput(dense(mx, last, 10, name="out"), name="softmax")
    given = {"data": x.reshape(-1, 8, 8)}, {"softmax_label": y}
    module = fitted(mx, net, *given, epochs=6, learning_rate=0.01)
    return cross_entropy(outputs(mx, module, {"data": rows.reshape(-1, 8, 8)})[0], classes)


@program
def digits_in_a_line(mx: Any, data: Data) -> float:
    """Graves and others, 2006: three digits side by side are tagged by CTC, a frame for each of 12 strips."""
    given = []
    for pixels, classes in (data.train("digits", "digits_target"), data.held_out("digits", "digits_target")):
        count = len(pixels) // 3
        lines = pixels[: count * 3].reshape(count, 3, 8, 8).transpose(0, 2, 1, 3).reshape(count, 8, 12, 2)
        given.append(
            (lines.transpose(0, 2, 1, 3).reshape(count, 12, 16), classes[: count * 3].reshape(-1, 3) + 1)
        )
    (x, y), (rows, wanted) = given
    frames = mx.sym.var("data")
    following = [mx.sym.slice_axis(frames, axis=1, begin=begin, end=12) for begin in (1, 11)]
    wide = mx.sym.concat(frames, mx.sym.concat(*following, dim=1), dim=2)
    hidden = mx.sym.tanh(mx.sym.FullyConnected(wide, num_hidden=48, flatten=False, name="hidden"))
    scores = mx.sym.FullyConnected(hidden, num_hidden=11, flatten=False, name="scores")
    loss = mx.sym.CTCLoss(mx.sym.transpose(scores, axes=(1, 0, 2)), mx.sym.var("label"))
    module = fitted(mx, mx.sym.MakeLoss(loss), {"data": x}, {"label": y}, 10, learning_rate=0.01)
    tested = mx.mod.Module(mx.sym.MakeLoss(loss), ["data", "label"], None)
    tested.bind([("data", rows.shape), ("label", wanted.shape)], for_training=False)
    tested.set_params(*module.get_params())
    tested.forward(mx.io.DataBatch([mx.nd.array(rows), mx.nd.array(wanted)], None))
    return float(tested.get_outputs()[0].asnumpy().mean())


@program
def reversed_digits(mx: Any, data: Data) -> float:
    """Sutskever and others, 2014: an encoder's last states begin a decoder, which says classes backwards."""
    names = draws("reversed").permutation(len(data["digits_target"]) // 4 * 4).reshape(-1, 4)
    words = data["digits_target"][np.concatenate([names, np.roll(names, 1, 0)[:, ::-1], names[:, ::-1]])]
    cut = len(words) * 4 // 5
    embedded = mx.sym.Embedding(mx.sym.var("data"), input_dim=10, output_dim=10, name="embed")
    _, last = mx.rnn.LSTMCell(32, prefix="encoder_").unroll(4, inputs=embedded)
    said = mx.sym.Embedding(mx.sym.var("said"), input_dim=11, output_dim=10, name="said_embed")
    decoder = mx.rnn.LSTMCell(32, prefix="decoder_")
    states, _ = decoder.unroll(4, inputs=said, begin_state=last, merge_outputs=True)
    scores = dense(mx, mx.sym.Reshape(states, shape=(-1, 32)), 10, name="out")
    net = mx.sym.SoftmaxOutput(scores, mx.sym.Reshape(mx.sym.var("label"), shape=(-1,)), name="softmax")

    def given(rows: Any) -> dict[str, Any]:
        backwards = rows[:, ::-1]
        return {"data": rows, "said": np.concatenate([np.full((len(rows), 1), 10), backwards[:, :-1]], 1)}

    labels = {"label": words[:cut, ::-1]}
    how = {"learning_rate": 0.02, "rescale_grad": 1 / (4 * BATCH)}
    module = fitted(mx, net, given(words[:cut]), labels, 8, **how)
    held = words[cut:][: (len(words) - cut) // BATCH * BATCH]
    return cross_entropy(outputs(mx, module, given(held))[0], held[:, ::-1])
