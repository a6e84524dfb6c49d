"""Random networks of elementwise operators, rows, views and products, each drawn by a seed."""

from __future__ import annotations

import json

import numpy as np

import operad as od
from operad import sym

LENGTHS = (1, 2, 3, 5, 7, 16, 17, 31, 64, 97, 128)
UNARY = {
    "tanh": sym.tanh,
    "sigmoid": sym.sigmoid,
    "relu": sym.relu,
    "softsign": sym.softsign,
    "square": lambda x: sym.square(sym.tanh(x)),
    "abs": sym.abs,
    "exp": lambda x: sym.exp(-sym.abs(x)),
    "log1p": lambda x: sym.log1p(sym.abs(x)),
    "rsqrt": lambda x: sym.rsqrt(sym.square(x) + 1),
    "elu": lambda x: sym.LeakyReLU(x, act_type="elu", slope=0.3),
    "softrelu": lambda x: sym.Activation(x, act_type="softrelu"),
    "scaled": lambda x: x * 1.5,
    "shifted": lambda x: 0.25 - x,
    "block": sym.BlockGrad,
    "negative": sym.negative,
}
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: sym.tanh(x) * y,
    "div": lambda x, y: x / (sym.abs(y) + 1),
    "maximum": sym.maximum,
    "minimum": sym.minimum,
    "hypot": lambda x, y: sym.hypot(x, sym.abs(y) + 1),
}


class Network:
    """A symbol with the shapes of its arguments.

    Attributes:
        symbol: One output or several.
        shapes: Of the arguments, by name.
        requests: What is to happen to the gradient of each.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.shapes: dict[str, tuple[int, ...]] = {}
        rank = int(self._rng.integers(1, 4))
        lengths = [int(self._rng.choice(LENGTHS)) for _ in range(rank)]
        lengths[-1] = max(lengths[-1], 2)
        self._shape = tuple(lengths)
        pool = [self._argument(self._shape) for _ in range(int(self._rng.integers(1, 4)))]
        for _ in range(int(self._rng.integers(2, 24))):
            pool.append(self._made(pool))
        count = min(len(pool), int(self._rng.integers(1, 4)))
        heads = [pool[-1], *(pool[int(i)] for i in self._rng.choice(len(pool), count - 1))]
        self.symbol = heads[0] if len(heads) == 1 else sym.Group(heads)
        names = self.symbol.list_arguments()
        self.shapes = {name: self.shapes[name] for name in names}
        drawn = self._rng.choice(["write", "add", "null"], len(names), p=[0.6, 0.25, 0.15])
        self.requests = dict(zip(names, map(str, drawn), strict=True))

    def _argument(self, shape):
        name = f"v{len(self.shapes)}"
        self.shapes[name] = shape
        return sym.var(name)

    def _made(self, pool):
        rng, shape = self._rng, self._shape
        x = pool[int(rng.integers(len(pool)))]
        kind = rng.choice(
            ["unary", "binary", "broadcast", "rows", "views", "product"],
            p=[0.34, 0.2, 0.12, 0.12, 0.18, 0.04],
        )
        if kind == "unary":
            return UNARY[str(rng.choice(list(UNARY)))](x)
        if kind == "binary":
            return BINARY[str(rng.choice(list(BINARY)))](x, pool[int(rng.integers(len(pool)))])
        if kind == "broadcast":
            small = tuple(1 if rng.random() < 0.5 else length for length in shape)
            function = (sym.broadcast_add, sym.broadcast_mul, sym.broadcast_sub, sym.broadcast_maximum)
            return function[int(rng.integers(4))](x, self._argument(small))
        if kind == "rows":
            return self._rows(x)
        if kind == "views":
            return self._views(x)
        hidden = sym.FullyConnected(
            x, self._argument((shape[-1], shape[-1])), flatten=False, no_bias=True, num_hidden=shape[-1]
        )
        return sym.tanh(hidden / shape[-1])

    def _rows(self, x):
        choice, last = int(self._rng.integers(5)), self._shape[-1]
        if choice == 0:
            return sym.softmax(x)
        if choice == 1:
            return sym.log_softmax(x)
        if choice == 2:
            return sym.LayerNorm(x, self._argument((last,)), self._argument((last,)), eps=0.1)
        if choice == 3:
            return sym.broadcast_sub(x, sym.mean(x, axis=-1, keepdims=True))
        return sym.broadcast_div(x, 1 + sym.sum(sym.abs(x), axis=-1, keepdims=True))

    def _views(self, x):
        """Something of the shape, behind slices, transposes and reshapes that lead away and back."""
        choice, shape = int(self._rng.integers(8)), self._shape
        axes = tuple(int(axis) for axis in self._rng.permutation(len(shape)))
        back = tuple(int(axis) for axis in np.argsort(axes))
        cut = max(1, shape[-1] // 2)
        if choice == 0:
            return sym.reshape(sym.tanh(sym.reshape(x, shape=(-1,))), shape=shape)
        if choice == 1:
            return sym.transpose(sym.sigmoid(sym.transpose(x, axes=axes)), axes=back)
        if choice == 2:
            first = sym.slice_axis(x, axis=-1, begin=0, end=cut)
            rest = sym.slice_axis(x, axis=-1, begin=cut, end=None)
            return sym.concat(sym.tanh(first), rest, dim=len(shape) - 1)
        if choice == 3:
            return sym.reverse(x, axis=len(shape) - 1)
        if choice == 4:  # parts of one product side by side, as gates are
            wide = sym.FullyConnected(
                x, self._argument((3 * shape[-1], shape[-1])), flatten=False, no_bias=True,
                num_hidden=3 * shape[-1],
            )  # fmt: skip
            first, second, third = sym.SliceChannel(wide / shape[-1], num_outputs=3, axis=len(shape) - 1)
            return sym.sigmoid(first) * sym.tanh(second) + sym.broadcast_mul(
                third, sym.mean(x, axis=-1, keepdims=True)
            )
        if choice == 5:
            flat = sym.expand_dims(sym.reshape(x, shape=(-1,)), axis=0)
            return sym.reshape(sym.square(sym.tanh(flat)) + flat, shape=shape)
        if choice == 6 and len(shape) > 1:
            turned = sym.SwapAxis(x, dim1=0, dim2=len(shape) - 1)
            return sym.SwapAxis(turned * 2 + sym.abs(turned), dim1=0, dim2=len(shape) - 1) + x
        part = sym.slice_axis(sym.transpose(x, axes=axes), axis=0, begin=0, end=1)
        return sym.broadcast_add(x, sym.transpose(part * 0.5, axes=back))

    def run(self, dtype="float32", seed=0, monitor=None, monitor_all=False):
        """Outputs and gradients of one step, by name; a monitor sees the step."""
        rng, values, before = self._drawn(seed)
        types = dict.fromkeys(self.shapes, dtype)
        executor = self.symbol.simple_bind(od.cpu(), grad_req=self.requests, type_dict=types, **self.shapes)
        for name, array in executor.arg_dict.items():
            array[:] = od.nd.array(values[name], dtype=dtype)
        for name, array in executor.grad_dict.items():
            if array is not None:
                array[:] = od.nd.array(before[name], dtype=dtype)
        if monitor is not None:
            executor.set_monitor_callback(monitor, monitor_all=monitor_all)
        outputs = executor.forward(is_train=True)
        heads = [od.nd.array(rng.standard_normal(output.shape), dtype=dtype) for output in outputs]
        executor.backward(heads)
        found = {f"output {i}": output.asnumpy() for i, output in enumerate(outputs)}
        found |= {name: array.asnumpy() for name, array in executor.grad_dict.items() if array is not None}
        predicted = executor.forward(is_train=False)
        found |= {f"predicted {i}": output.asnumpy() for i, output in enumerate(predicted)}
        return found, executor

    def record(self, dtype="float32", seed=0):
        """As `run`, of the same calls under `autograd.record`."""
        rng, values, before = self._drawn(seed)
        arrays = {name: od.nd.array(value, dtype=dtype) for name, value in values.items()}
        for name, request in self.requests.items():
            arrays[name].attach_grad(request)
            if request != "null":
                arrays[name].grad[:] = od.nd.array(before[name], dtype=dtype)
        with od.autograd.record():
            outputs = self._called(arrays)
        heads = [od.nd.array(rng.standard_normal(output.shape), dtype=dtype) for output in outputs]
        od.autograd.backward(outputs, heads)
        found = {f"output {i}": output.asnumpy() for i, output in enumerate(outputs)}
        return found | {
            name: arrays[name].grad.asnumpy() for name, request in self.requests.items() if request != "null"
        }

    def _drawn(self, seed):
        rng = np.random.default_rng(seed)
        values = {name: rng.standard_normal(shape) for name, shape in self.shapes.items()}
        before = {name: rng.standard_normal(shape) for name, shape in self.shapes.items()}
        return rng, values, before

    def _called(self, arrays):
        """The outputs, by a call for each node."""
        graph = json.loads(self.symbol.tojson())
        made = []
        for node in graph["nodes"]:
            if node["op"] == "null":
                made.append([arrays[node["name"]]])
                continue
            inputs = [made[number][index] for number, index, *_ in node["inputs"]]
            result = getattr(od.nd, node["op"])(*inputs, **node.get("attrs", {}))
            made.append(result if isinstance(result, list) else [result])
        return [made[number][index] for number, index, *_ in graph["heads"]]
