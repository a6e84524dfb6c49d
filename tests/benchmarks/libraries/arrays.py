"""Imperative calls, of operad and of MXNet alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from tests.benchmarks.rows import LARGE_REPEATS, REPEATS, Sizes
from tests.benchmarks.work import Work, chosen, repeated

RECORDED = 100


def makers(mx: Any) -> dict[str, Callable[..., Any]]:
    """Makers of rows, by name, for one of the two libraries."""
    return {make.__name__: partial(make, mx) for make in MADE}


def _array(mx: Any, values: Any, dtype: str = "float32") -> Any:
    return mx.nd.array(values, dtype=dtype)


def normal(*shape: int) -> np.ndarray:
    return np.random.RandomState(0).standard_normal(shape).astype(np.float32)


def scaled(x: Any, count: int) -> Any:
    """A chain of `count` operations with numbers."""
    for i in range(count):
        x = x + 1.0 if i % 2 else x * 0.5
    return x


def author_arrays(name: str, shape: tuple[int, ...]) -> list[np.ndarray]:
    """Arguments of an operator of `tests.benchmarks.authors`, whose first one has this shape."""
    data, other = normal(*shape), normal(*shape)[..., ::-1].copy()
    vector = np.linspace(0.5, 1.5, shape[1] if len(shape) == 4 else shape[-1]).astype(np.float32)
    others = {
        "rms_norm": lambda: [vector], "swiglu": lambda: [other], "fake_quantization": list,
        "masked_softmax": lambda: [other > -0.5], "batch_norm_relu": lambda: [vector, vector - 1],
        "group_norm": lambda: [vector, vector - 1],
        "rotary_embedding": list, "grouped_query_attention": lambda: _keys_and_values(*shape),
        "cross_entropy": lambda: [_labels(*shape)], "selective_scan": lambda: _of_scan(*shape),
        "top_k_gating": list, "focal_loss": lambda: [(other > 1).astype(np.int64)],
        "alibi_attention": lambda: list(normal(2, *shape)[:, ..., ::-1].copy()), "info_nce": lambda: [other],
        "pixel_shuffle_gelu": lambda: [vector[::4].copy()],
    }  # fmt: skip
    return [data, *others[name]()]


def author_head(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of the output of such an operator."""
    if name in ("cross_entropy", "focal_loss", "info_nce"):
        return normal(1)
    if name == "pixel_shuffle_gelu":
        batch, channels, height, width = shape
        shape = (batch, channels // 4, 2 * height, 2 * width)
    return normal(*shape)[::-1].copy()


def _keys_and_values(batch: int, heads: int, length: int, width: int) -> list[np.ndarray]:
    """Of a quarter of the heads."""
    both = normal(2, batch, heads // 4, length, width)
    return [both[0, ..., ::-1].copy(), both[1]]


def _labels(rows: int, classes: int) -> np.ndarray:
    """Classes; every eighth row is ignored."""
    labels = np.random.RandomState(1).randint(0, classes, rows).astype(np.int64)
    labels[::8] = -100
    return labels


def _of_scan(batch: int, length: int, width: int, states: int = 16) -> list[np.ndarray]:
    """Steps of 0.001 to 0.1 and rates of -1 to -`states`, as Mamba begins; what is written and read."""
    steps = 0.001 * 100 ** np.random.RandomState(1).random_sample((batch, length, width))
    rate = np.tile(-np.arange(1.0, states + 1), (width, 1))
    both = normal(2, batch, length, states)
    return [steps.astype(np.float32), rate.astype(np.float32), both[0], both[1]]


def lookup_table() -> np.ndarray:
    """A million rows of 64."""
    return np.tile(normal(1000, 64), (1000, 1))


def call(mx: Any, name: str) -> Work:
    """One small call, on 16x16 where nothing else is said."""
    nd, values = mx.nd, normal(16, 16)
    x, y = _array(mx, values), _array(mx, values)
    numbers = (0.5 * number for number in count())
    data, weight, bias = (_array(mx, np.ones(shape)) for shape in ((32, 64), (64, 64), (64,)))

    def assign() -> Any:
        y[:] = 1
        return y

    calls: dict[str, Callable[[], Any]] = {
        "plus one": lambda: x + 1.0,
        "tanh": lambda: nd.tanh(x),
        "add": lambda: x + x,
        "scale": lambda: x * 2.5,
        "new number": lambda: x * next(numbers),
        "view": lambda: x[1:3],
        "out": lambda: nd.elemwise_add(x, x, out=y),
        "sgd": lambda: nd.sgd_update(y, x, out=y, lr=0.1),
        "sgd, new rate": lambda: nd.sgd_update(y, x, out=y, lr=1 / (1 + next(numbers))),
        "dense": lambda: nd.FullyConnected(data, weight, bias, num_hidden=64),
        "astype": lambda: x.astype("int32"),
        "sum": lambda: x.sum(),
        "zeros": lambda: nd.zeros((16, 16)),
        "assign": assign,
        "softmax": lambda: nd.softmax(x),
    }  # fmt: skip
    yardsticks = {"zeros": "tanh", "assign": "tanh", "sgd, new rate": "sgd"}
    shown = {"tanh": "nd.tanh", "sgd": "same lr"}
    wait = nd.NDArray.wait_to_read
    beside = {
        shown[yardsticks[name]]: repeated(calls[yardsticks[name]], wait, REPEATS)
    } if name in yardsticks else {}  # fmt: skip
    return Work(repeated(chosen(calls, name), wait, REPEATS), REPEATS, beside=beside)


def large_call(mx: Any, name: str) -> Work:
    """One call on arrays of a million elements, or small matrices that are turned."""
    nd, wait = mx.nd, mx.nd.NDArray.wait_to_read
    x, half, small = (_array(mx, normal(*shape)) for shape in ((1000, 1000), (1000, 500), (64, 64)))
    calls: dict[str, Callable[[], Any]] = {
        "normal": lambda: nd.random.normal(0, 1, shape=(1000, 1000)),
        "concat": lambda: nd.concat(half, half, dim=1),
        "transpose": lambda: nd.transpose(small),
    }
    if hasattr(nd, "cumsum"):  # MXNet has it for `mx.np` alone
        calls["cumsum"] = lambda: nd.cumsum(x, axis=1)
    return Work(repeated(chosen(calls, name), wait, LARGE_REPEATS), LARGE_REPEATS)


def recorded(mx: Any, backward: bool) -> Work:
    """A recorded chain of `x + 1` and `tanh` in turn."""
    leaf = _array(mx, normal(16, 16))
    leaf.attach_grad()

    def run() -> None:
        with mx.autograd.record():
            y = leaf
            for i in range(RECORDED):
                y = mx.nd.tanh(y) if i % 2 else y + 1.0
        if backward:
            y.backward()
            leaf.grad.wait_to_read()
        y.wait_to_read()

    return Work(run, RECORDED)


def with_gradients(mx: Any, inputs: list[Any], head: Any, function: Callable[[], Any]) -> Work:
    for array in inputs:
        array.attach_grad()

    def run() -> None:
        with mx.autograd.record():
            output = function()
        output.backward(head)
        mx.nd.waitall()

    def check() -> dict[str, float]:
        run()
        return {str(i): float(np.abs(array.grad.asnumpy()).mean()) for i, array in enumerate(inputs)}

    return Work(run, check=check)


def forward(function: Callable[[], Any]) -> Work:
    def check() -> dict[str, float]:
        return {"output": float(np.abs(function().asnumpy()).mean())}

    return Work(lambda: function().wait_to_read(), check=check)


def rowwise(mx: Any, op: str, shape: tuple[int, int], backward: bool) -> Work:
    """`softmax`, `log_softmax` or `LayerNorm` over the last axis."""
    inputs = [_array(mx, normal(*shape))]
    if op == "LayerNorm":
        inputs += [_array(mx, np.ones(shape[1])), _array(mx, np.zeros(shape[1]))]
    function = partial(getattr(mx.nd, op), *inputs)
    if not backward:
        return forward(function)
    return with_gradients(mx, inputs, _array(mx, normal(*shape)[::-1].copy()), function)


def batch_norm(mx: Any, backward: bool) -> Work:
    """`BatchNorm` of training, on 32x64x28x28."""
    shape = (32, 64, 28, 28)
    inputs = [_array(mx, values) for values in (normal(*shape), np.ones(64), np.zeros(64))]
    states = [_array(mx, values) for values in (np.zeros(64), np.ones(64))]
    function = partial(mx.nd.BatchNorm, *inputs, *states, fix_gamma=False, eps=1e-5)

    def forward() -> None:
        with mx.autograd.record():
            output = function()
        output.wait_to_read()

    if not backward:
        return Work(forward)
    return with_gradients(mx, inputs, _array(mx, normal(*shape)[::-1].copy()), function)


def group_norm(mx: Any, shape: tuple[int, ...], backward: bool) -> Work:
    """`GroupNorm` of 4 groups."""
    inputs = [_array(mx, values) for values in (normal(*shape), np.ones(4), np.zeros(4))]
    function = partial(mx.nd.GroupNorm, *inputs, num_groups=4, eps=1e-5)
    if not backward:
        return forward(function)
    return with_gradients(mx, inputs, _array(mx, normal(*shape)[::-1].copy()), function)


def rnn(mx: Any, sizes: tuple[Any, ...], backward: bool) -> Work:
    """The operator `RNN`; of its arguments the parameters have gradients."""
    given = Sizes(*sizes)
    options = {
        "mode": given.mode, "state_size": given.state_size, "num_layers": given.num_layers,
        "bidirectional": given.bidirectional,
    }  # fmt: skip
    names = ["data", "parameters", "state", "state_cell"][: 4 if given.mode == "lstm" else 3]
    symbol = mx.sym.RNN(*[mx.sym.var(name) for name in names], **options)
    shapes, _, _ = symbol.infer_shape(data=(given.steps, given.batch, given.features))
    arrays = [_array(mx, 0.1 * normal(*shape)) for shape in shapes]
    function = partial(mx.nd.RNN, *arrays, **options)
    if not backward:
        return Work(lambda: function().wait_to_read())
    arrays[1].attach_grad()

    def run() -> None:
        with mx.autograd.record():
            output = function()
        output.backward()
        arrays[1].grad.wait_to_read()

    return Work(run)


def _indices(mx: Any, below: int, count: int) -> Any:
    return _array(mx, np.random.RandomState(1).randint(0, below, count), "int64")


def take(mx: Any) -> Work:
    table, places = _array(mx, lookup_table()), _indices(mx, 1_000_000, 1024)
    return Work(lambda: mx.nd.take(table, places).wait_to_read())


def embedding_gradient(mx: Any, rows: int, looked_up: int) -> Work:
    """The gradient is added to that of before, so that nothing grows with the table but what it needs."""
    given = {"data": _indices(mx, rows, looked_up), "weight": mx.nd.zeros((rows, 64))}
    grad, head = mx.nd.zeros((rows, 64)), mx.nd.ones((looked_up, 64))
    symbol = mx.sym.Embedding(mx.sym.var("data"), mx.sym.var("weight"), input_dim=rows, output_dim=64)
    requests = {"data": "null", "weight": "add"}
    executor = symbol.bind(mx.cpu(), given, args_grad={"weight": grad}, grad_req=requests)
    executor.forward(is_train=True)

    def run() -> None:
        executor.backward(head)
        grad.wait_to_read()

    return Work(run)


def topk(mx: Any) -> Work:
    data = _array(mx, normal(64, 10_000))
    return Work(lambda: mx.nd.topk(data, k=10, ret_typ="both", dtype="int64")[0].wait_to_read())


MADE = (call, large_call, recorded, rowwise, rnn, batch_norm, group_norm, take, embedding_gradient, topk)
