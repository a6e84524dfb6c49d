"""Networks that the tests write and read, with parameters that are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import operad as od
from examples.gpt import Layers, Size
from examples.lenet import network as lenet

S = od.sym

GPT = Size(layers=2, width=64, heads=4, steps=32)


class Network(NamedTuple):
    """A symbol, the shapes of its inputs, and how many values those have that are numbers of classes."""

    symbol: od.Symbol
    shapes: Mapping[str, Sequence[int | str]]
    classes: Mapping[str, int] = {}

    def fixed(self, length: int = 4) -> dict[str, tuple[int, ...]]:
        """The shapes, with a number for each length that differs from run to run."""
        return {n: tuple(length if isinstance(k, str) else k for k in s) for n, s in self.shapes.items()}

    def params(self) -> dict[str, Any]:
        """Parameters by name, small enough that nothing saturates."""
        rng = np.random.default_rng(0)
        bound = self.symbol.simple_bind(grad_req="null", **self.fixed())
        found = {}
        for name, array in {**bound.arg_dict, **bound.aux_dict}.items():
            if name in self.shapes or name.endswith("label"):
                continue
            value = rng.normal(0, max(int(np.prod(array.shape[1:])), 16) ** -0.5, array.shape)
            value = 0.5 + abs(value) if name.endswith(("var", "gamma")) else value
            found[name] = od.nd.array(value)
        return found

    def arrays(self, length: int = 4) -> dict[str, Any]:
        """Values of the inputs."""
        rng, shapes = np.random.default_rng(1), self.fixed(length)
        return {
            n: rng.integers(0, self.classes[n], s).astype("f")
            if n in self.classes
            else rng.normal(size=s).astype("f")
            for n, s in shapes.items()
        }


def evaluated(symbol: Any, params: Mapping[str, Any], arrays: Mapping[str, Any]) -> list[Any]:
    """Outputs in inference, as arrays of NumPy."""
    given = {**params, **{n: od.nd.array(a, dtype=a.dtype) for n, a in arrays.items()}}
    shapes = {n: a.shape for n, a in arrays.items() if n in symbol.list_inputs()}
    arguments = symbol.list_arguments()
    lacking = dict(zip(arguments, symbol.infer_shape_partial(**shapes)[0], strict=True)) if shapes else {}
    args = {n: given[n] if n in given else od.nd.zeros(lacking[n]) for n in arguments}
    states = {n: given[n] for n in symbol.list_auxiliary_states()}
    bound = symbol.bind(None, args, aux_states=states, grad_req="null")
    return [output.asnumpy() for output in bound.forward(is_train=False)]


def resnet18() -> od.Symbol:
    """ResNet-18 with the normalization first, for images of any size.

    Source: He et al., Identity Mappings in Deep Residual Networks, figure 4 (e).
    """

    def normalized(data: Any, name: str) -> Any:
        return S.Activation(S.BatchNorm(data, fix_gamma=False, eps=2e-5, name=name), act_type="relu")

    def convolved(data: Any, filters: int, kernel: int, stride: int, name: str) -> Any:
        size, pad = (kernel,) * 2, (kernel // 2,) * 2
        return S.Convolution(
            data, num_filter=filters, kernel=size, stride=(stride,) * 2, pad=pad, no_bias=True, name=name
        )

    data = normalized(convolved(S.var("data"), 64, 7, 2, "conv0"), "bn0")
    data = S.Pooling(data, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max")
    for stage, filters in enumerate((64, 128, 256, 512)):
        for block in range(2):
            name, stride = f"stage{stage}_block{block}", 2 if stage and not block else 1
            first = normalized(data, f"{name}_bn1")
            inner = normalized(convolved(first, filters, 3, stride, f"{name}_conv1"), f"{name}_bn2")
            kept = data if block else convolved(first, filters, 1, stride, f"{name}_skip")
            data = convolved(inner, filters, 3, 1, f"{name}_conv2") + kept
    data = S.Pooling(normalized(data, "bn1"), global_pool=True, kernel=(7, 7), pool_type="avg")
    return S.SoftmaxOutput(S.FullyConnected(S.Flatten(data), num_hidden=10, name="fc1"), name="softmax")


def lstm() -> od.Symbol:
    """Two layers of an LSTM over embedded words, and their last states."""
    words = S.transpose(S.Embedding(S.var("data"), input_dim=50, output_dim=16, name="words"), axes=(1, 0, 2))
    made = S.RNN(
        words,
        S.var("parameters"),
        S.var("state"),
        S.var("state_cell"),
        state_size=24,
        num_layers=2,
        mode="lstm",
        state_outputs=True,
        name="lstm",
    )
    scores = S.FullyConnected(
        S.transpose(made[0], axes=(1, 0, 2)), num_hidden=50, flatten=False, name="scores"
    )
    return S.Group([S.softmax(scores, name="shares"), made[1], made[2]])


def detector(*, suppress: bool = False) -> od.Symbol:
    """A detector's head over three sizes of maps: classes, offsets and anchors, or the boxes found."""
    data, scores, offsets, anchors = S.var("data"), [], [], []
    for i, filters in enumerate((16, 32, 32)):
        data = S.Convolution(
            data, num_filter=filters, kernel=(3, 3), pad=(1, 1), stride=(2, 2), name=f"conv{i}"
        )
        data = S.Activation(data, act_type="relu")
        for name, found in (("scores", scores), ("offsets", offsets)):
            made = S.Convolution(data, num_filter=16, kernel=(3, 3), pad=(1, 1), name=f"{name}{i}")
            found.append(S.Flatten(S.transpose(made, axes=(0, 2, 3, 1))))
        sizes = (0.2 + 0.2 * i, 0.3 + 0.2 * i)
        made = S.contrib.MultiBoxPrior(data, sizes=sizes, ratios=(1, 2, 0.5), name=f"anchors{i}")
        anchors.append(S.Reshape(made, shape=(0, -1, 4)))
    classes = S.transpose(S.Reshape(S.Concat(*scores, dim=1), shape=(0, -1, 4)), axes=(0, 2, 1))
    heads = [S.softmax(classes, axis=1, name="classes"), S.Concat(*offsets, dim=1), S.Concat(*anchors, dim=1)]
    if not suppress:
        return S.Group(heads)
    return S.contrib.MultiBoxDetection(*heads, threshold=0.3, nms_threshold=0.45, name="boxes")


NETWORKS: Mapping[str, Network] = {
    "lenet": Network(lenet(), {"data": ("N", 1, 8, 8)}),
    "resnet18": Network(resnet18(), {"data": ("N", 3, 64, 64)}),
    "lstm": Network(
        lstm(), {"data": ("N", 12), "state": (2, "N", 24), "state_cell": (2, "N", 24)}, {"data": 50}
    ),
    "gpt": Network(Layers(S, S.var, 60, GPT).logits(S.var("data")), {"data": ("N", 32)}, {"data": 60}),
    "detector": Network(detector(), {"data": ("N", 3, 32, 32)}),
    "detector_boxes": Network(detector(suppress=True), {"data": (4, 3, 32, 32)}),
}
