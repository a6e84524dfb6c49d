"""Probes of the facts in `gluon/`: blocks with fixed parameters, and what can be seen of them."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import numpy as np

Make = Callable[[], Any]


def names(mx: Any) -> dict[str, Any]:
    """The probes for a library, by the name that facts have for them."""
    gluon = mx.gluon
    given = (
        x,
        ids,
        fixed,
        parameters,
        gradients,
        weights,
        flat,
        network,
        png,
        loader,
        estimate,
        *VIEWS.values(),
    )
    parts = ("nn", "rnn", "loss", "data", "utils", "contrib", "model_zoo", "Block", "HybridBlock",
             "SymbolBlock", "Parameter", "ParameterDict", "Constant", "Trainer")  # fmt: skip
    return {
        **{one.__name__: partial(one, mx) for one in given},
        **{name: getattr(gluon, name) for name in parts},
        "gluon": gluon,
        "autograd": mx.autograd,
        "vision": gluon.data.vision,
        "transforms": gluon.data.vision.transforms,
        "zoo": gluon.model_zoo.vision,
        "crnn": gluon.contrib.rnn,
        "cnn": gluon.contrib.nn,
    }


@contextmanager
def fresh_names(mx: Any) -> Iterator[None]:
    """Number blocks from 0 inside `with`, as in a new process."""
    if mx.__name__ == "mxnet":
        yield
        return
    from operad_gluon.block.naming import _local

    before = _local.counts.copy()
    _local.counts.clear()
    try:
        yield
    finally:
        _local.counts.clear()
        _local.counts.update(before)


def x(mx: Any, *shape: int, phase: float = 0.0) -> Any:
    """An array of numbers between -1 and 1 that look random."""
    return mx.nd.array(_wave(shape, phase))


def _wave(shape: tuple[int, ...], phase: float) -> np.ndarray[Any, Any]:
    return np.sin(np.arange(int(np.prod(shape))) * 1.7 + phase).reshape(shape).astype(np.float32)


def ids(mx: Any, most: int, *shape: int) -> Any:
    """An array of integers below `most`."""
    return mx.nd.array((np.arange(int(np.prod(shape))) * 3 % most).reshape(shape))


def loader(mx: Any) -> Any:
    """Three batches of two samples, with labels below 3."""
    return mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x(mx, 6, 4), ids(mx, 3, 6)), 2)


def estimate(mx: Any, net: Any, **options: Any) -> Any:
    """An estimator of the network that logs nothing."""
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    made = mx.gluon.contrib.estimator.Estimator(net, loss, trainer=trainer, context=mx.cpu(), **options)
    made.logger.handlers.clear()
    return made


def png(mx: Any, pixels: np.ndarray[Any, Any]) -> bytes:
    """The file of a colour image of bytes."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)  # each begins with its filter, none
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0),
        b"IDAT": zlib.compress(rows),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks.items()
    )


def fixed(mx: Any, block: Any, *inputs: Any) -> Any:
    """The block, with parameters that follow from their order alone; `inputs` tell their shapes."""
    block.initialize()
    if inputs:
        block(*inputs)
    for number, param in enumerate(block.collect_params().values()):
        wave = _wave(param.shape, 0.3 * number)
        positive = param.name.endswith(("running_var", "gamma"))
        param.set_data(mx.nd.array(1 + wave / 2 if positive else wave / 2))
    return block


def flat(mx: Any, value: Any) -> list[Any]:
    """The arrays or symbols of nested lists."""
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in flat(mx, one)]
    return [value]


def parameters(mx: Any, block: Any) -> list[Any]:
    """Name, shape, type, gradient's request and multipliers of each parameter."""
    return [
        [name, tuple(param.shape), np.dtype(param.dtype).name, param.grad_req, param.lr_mult, param.wd_mult]
        for name, param in block.collect_params().items()
    ]


def weights(mx: Any, block: Any) -> list[Any]:
    """The values of all parameters."""
    return [param.data() for param in block.collect_params().values()]


def gradients(mx: Any, block: Any, *inputs: Any) -> list[Any]:
    """Outputs in training, and gradients of inputs and parameters of their weighted sum."""
    given = [one for one in flat(mx, list(inputs)) if one.dtype == np.float32]
    for one in given:
        one.attach_grad()
    with mx.autograd.record():
        outputs = flat(mx, block(*inputs))
        total = sum((out * mx.nd.array(_wave(out.shape, 0.5))).sum() for out in outputs)
    total.backward()
    params = [p for p in block.collect_params().values() if p.grad_req != "null"]
    # No scalar of shape (): a mean has one element in both.
    return [*outputs, *(one.grad for one in given), *(param.grad() for param in params)]


def network(mx: Any, name: str, size: int) -> list[Any]:
    """Parameters of a network of the zoo: how many, the first, the last and digests; and the features."""
    net = mx.gluon.model_zoo.vision.get_model(name)
    net.infer_shape(mx.nd.zeros((1, 3, size, size)))
    found = [[*one[:4]] for one in parameters(mx, net)]
    structured = sorted([key, param.shape] for key, param in net._collect_params_with_prefix().items())
    texts = [json.dumps(one) for one in (found, structured)]
    digests = [hashlib.sha256(one.encode()).hexdigest() for one in texts]
    return [len(found), found[0], found[-1], len(net.features), *digests]


def shown(mx: Any, make: Make, inputs: Make) -> str:
    """Text of the block before its first call."""
    return repr(make())


def named(mx: Any, make: Make, inputs: Make) -> list[Any]:
    """The parameters before the first call and after it."""
    block = make()
    before = parameters(mx, block)
    return [before, parameters(mx, fixed(mx, block, *inputs()))]


def predicted(mx: Any, make: Make, inputs: Make) -> list[Any]:
    """The outputs outside of `autograd.record`."""
    return flat(mx, fixed(mx, make(), *inputs())(*inputs()))


def trained(mx: Any, make: Make, inputs: Make) -> list[Any]:
    """Outputs and gradients, and the parameters after it: statistics may have moved."""
    block = fixed(mx, make(), *inputs())
    return [*gradients(mx, block, *inputs()), *weights(mx, block)]


def hybridized(mx: Any, make: Make, inputs: Make) -> list[Any]:
    """`trained`, compiled; nothing where the block cannot be."""
    block = fixed(mx, make(), *inputs())
    block.hybridize()
    return [*gradients(mx, block, *inputs()), *weights(mx, block)]


def deferred(mx: Any, make: Make, inputs: Make) -> list[Any]:
    """Shapes of the parameters after a first call that is hybridized."""
    block = make()
    block.initialize()
    block.hybridize()
    return [
        [out.shape for out in flat(mx, block(*inputs()))],
        [p.shape for p in block.collect_params().values()],
    ]


def traced(mx: Any, make: Make, inputs: Make) -> list[Any]:
    """Arguments and states of the block's symbol."""
    given = inputs()
    variables: Any = [mx.sym.var(f"in{number}") for number in range(len(flat(mx, given)))]
    leaves = iter(variables)
    nested = [[next(leaves) for _ in one] if isinstance(one, list) else next(leaves) for one in given]
    outputs = flat(mx, make()(*nested))
    symbol = mx.sym.Group(outputs)
    return [
        sorted(symbol.list_arguments()),
        sorted(symbol.list_auxiliary_states()),
        len(symbol.list_outputs()),
    ]


def saved(mx: Any, make: Make, inputs: Make) -> list[Any]:
    """Names and shapes in the file of its parameters, and the outputs of a second block that reads it."""
    block = fixed(mx, make(), *inputs())
    block.save_parameters("block.params")
    other = make()
    other.load_parameters("block.params")
    file = mx.nd.load("block.params")
    return [
        sorted([name, array.shape] for name, array in file.items()) if file else [],
        *flat(mx, other(*inputs())),
    ]


VIEWS: Final[dict[str, Any]] = {
    one.__name__: one for one in (shown, named, predicted, trained, hybridized, deferred, traced, saved)
}
"""Views of a block that are recorded."""
