"""A multi-layer perceptron, LeNet and VGG-11."""

from __future__ import annotations

from typing import Any


def mlp(mx: Any) -> Any:
    """Two hidden layers."""
    net = mx.sym.Variable("data")
    net = mx.sym.Activation(
        mx.sym.FullyConnected(net, name="fc1", num_hidden=64), name="relu1", act_type="relu"
    )
    net = mx.sym.Activation(
        mx.sym.FullyConnected(net, name="fc2", num_hidden=32), name="relu2", act_type="relu"
    )
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, name="fc3", num_hidden=10), name="softmax")


def lenet(mx: Any) -> Any:
    """Two convolutions and two dense layers, with tanh between them."""
    net = mx.sym.Variable("data")
    for number, filters in enumerate((6, 16), 1):
        net = mx.sym.Convolution(net, name=f"conv{number}", kernel=(5, 5), num_filter=filters)
        net = mx.sym.Activation(net, name=f"tanh{number}", act_type="tanh")
        net = mx.sym.Pooling(net, name=f"pool{number}", kernel=(2, 2), stride=(2, 2), pool_type="max")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), name="fc1", num_hidden=84)
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh"), name="fc2", num_hidden=10)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def vgg11(mx: Any) -> Any:
    """VGG-11 with an eighth of its filters, for images of 32 x 32."""
    net = mx.sym.Variable("data")
    for stage, (depth, filters) in enumerate(((1, 8), (1, 16), (2, 32), (2, 64), (2, 64)), 1):
        for number in range(1, depth + 1):
            net = mx.sym.Convolution(
                net, name=f"conv{stage}_{number}", kernel=(3, 3), pad=(1, 1), num_filter=filters
            )
            net = mx.sym.Activation(net, name=f"relu{stage}_{number}", act_type="relu")
        net = mx.sym.Pooling(net, name=f"pool{stage}", kernel=(2, 2), stride=(2, 2), pool_type="max")
    net = mx.sym.flatten(net, name="flatten")
    for number in (6, 7):
        net = mx.sym.FullyConnected(net, name=f"fc{number}", num_hidden=64)
        net = mx.sym.Activation(net, name=f"relu{number}", act_type="relu")
        # At 0.5 each library would drop other elements.
        net = mx.sym.Dropout(net, name=f"drop{number}", p=0.0)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, name="fc8", num_hidden=10), name="softmax")
