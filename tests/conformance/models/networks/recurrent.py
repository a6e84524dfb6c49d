"""Language models: an LSTM unrolled into single steps, and the fused operator."""

from __future__ import annotations

from typing import Any

WORDS, HIDDEN, STEPS, BATCH = 50, 32, 8, 4


def lstm_unrolled(mx: Any) -> Any:
    """Two layers of cells; their states begin as zeros whose batch size is inferred."""
    stack = mx.rnn.SequentialRNNCell()
    for layer in range(2):
        stack.add(mx.rnn.LSTMCell(num_hidden=HIDDEN, prefix=f"lstm_l{layer}_"))
    words = mx.sym.Embedding(mx.sym.Variable("data"), name="embed", input_dim=WORDS, output_dim=24)
    outputs, _ = stack.unroll(STEPS, inputs=words, merge_outputs=True)
    net = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, HIDDEN)), name="pred", num_hidden=WORDS)
    label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    return mx.sym.SoftmaxOutput(net, label, name="softmax")


def lstm_fused(mx: Any) -> Any:
    """Two layers in both directions in one operator; its last states are outputs too."""
    words = mx.sym.Embedding(mx.sym.Variable("data"), name="embed", input_dim=WORDS, output_dim=24)
    rnn = mx.sym.RNN(
        mx.sym.SwapAxis(words, dim1=0, dim2=1),
        name="lstm",
        mode="lstm",
        num_layers=2,
        bidirectional=True,
        state_size=HIDDEN,
        state_outputs=True,
    )
    outputs = mx.sym.Reshape(mx.sym.SwapAxis(rnn[0], dim1=0, dim2=1), shape=(-1, 2 * HIDDEN))
    net = mx.sym.FullyConnected(outputs, name="pred", num_hidden=WORDS)
    label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    loss = mx.sym.SoftmaxOutput(net, label, name="softmax", normalization="batch")
    return mx.sym.Group([loss, mx.sym.BlockGrad(rnn[1], name="state"), mx.sym.BlockGrad(rnn[2], name="cell")])
