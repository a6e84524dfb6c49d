"""Calls of everything public that takes an array, a list or a dictionary, with arguments to be changed later.

A case is called after the public name that it calls, and after what is special about it. Its call takes an
array that is not computed yet, and the arguments. It gives an array, or a function that gives what there is
to see after the arguments were changed.
"""

from __future__ import annotations

import tempfile
from collections import UserList
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import operad as od
from operad import autograd, nd, sym
from operad.context import cpu
from operad.executor import Executor
from operad.ndarray import NDArray

START = np.arange(12, dtype=np.float32).reshape(3, 4)


def setting(x: NDArray, key: Any, value: Any = 70) -> NDArray:
    x[key] = value
    return x


def bound(x: NDArray) -> Any:
    return sym.square(sym.var("x")).bind(cpu(), [x], [nd.empty(x.shape)])


def shapes(symbol: od.Symbol) -> Callable[[], Any]:
    return lambda: symbol.infer_shape(a=START.shape)[1]


def forward(x: NDArray, value: Any) -> NDArray:
    return bound(x).forward(x=value)[0]


def executor_backward(x: NDArray, head: Any) -> NDArray:
    executor = bound(x)
    executor.forward(is_train=True)
    executor.backward([head])
    return executor.grad_dict["x"]


def set_arguments(x: NDArray, value: Any) -> NDArray:
    executor = bound(x)
    executor.set_arguments("a call", {"x": value})
    return executor.forward()[0]


def copy_params(x: NDArray, value: Any) -> NDArray:
    executor = bound(x)
    executor.copy_params_from({"x": value})
    return executor.forward()[0]


def backward(x: NDArray, head: NDArray) -> NDArray:
    x.attach_grad()
    with autograd.record():
        y = nd.square(x)
    y.backward(head)
    return x.grad


def scaled(x: NDArray, factor: NDArray) -> Any:
    class Scaled(autograd.Function):
        def forward(self, x: NDArray) -> NDArray:
            return x * factor

        def backward(self, dy: NDArray) -> NDArray:
            return dy * factor

    return Scaled()(x)


INDEX, MASK = [0, 2], [True, False, True]
ROW, FULL, ONES = [5.0, 6.0, 7.0, 8.0], START + 20, np.ones((2, 4), np.float32)

Case = tuple[Callable[..., Any], Callable[[], list[Any]]]
"""A call, and what makes its arguments."""

ARRAYS: dict[str, Case] = {
    "NDArray.__getitem__: index array": (lambda x, i: x[i], lambda: [np.array(INDEX)]),
    "NDArray.__getitem__: index list": (lambda x, i: x[i], lambda: [list(INDEX)]),
    "NDArray.__getitem__: index NDArray": (lambda x, i: x[i], lambda: [nd.array(INDEX)]),
    "NDArray.__getitem__: mask": (lambda x, m: x[m], lambda: [np.array(MASK)]),
    "NDArray.__getitem__: pair of arrays": (
        lambda x, i, j: x[i, j],
        lambda: [np.array(INDEX), np.array([1, 0])],
    ),
    "NDArray.__getitem__: slice and array": (lambda x, i: x[:, i], lambda: [np.array(INDEX)]),
    "NDArray.__getitem__: nested list": (lambda x, i: x[[i, i]], lambda: [list(INDEX)]),
    "NDArray.__getitem__: other sequence": (lambda x, i: x[i], lambda: [UserList(INDEX)]),
    "NDArray.__setitem__: index array": (setting, lambda: [np.array(INDEX)]),
    "NDArray.__setitem__: index list": (setting, lambda: [list(INDEX)]),
    "NDArray.__setitem__: index NDArray": (setting, lambda: [nd.array(INDEX)]),
    "NDArray.__setitem__: mask": (setting, lambda: [np.array(MASK)]),
    "NDArray.__setitem__: pair of arrays": (
        lambda x, i, j: setting(x, (i, j)),
        lambda: [np.array(INDEX), np.array([1, 0])],
    ),
    "NDArray.__setitem__: slice and array": (
        lambda x, i: setting(x, (slice(None), i)),
        lambda: [np.array(INDEX)],
    ),
    "NDArray.__setitem__: value, array": (lambda x, v: setting(x, slice(None), v), lambda: [np.array(ROW)]),
    "NDArray.__setitem__: value, list": (lambda x, v: setting(x, slice(None), v), lambda: [list(ROW)]),
    "NDArray.__setitem__: value, NDArray": (lambda x, v: setting(x, slice(None), v), lambda: [nd.array(ROW)]),
    "NDArray.__setitem__: value and indices": (setting, lambda: [np.array(INDEX), np.array(ROW)]),
    "nd.array: array": (lambda x, v: x + nd.array(v), lambda: [FULL.copy()]),
    "nd.array: NDArray": (lambda x, v: x + nd.array(v), lambda: [nd.array(FULL)]),
    "NDArray.copyto": (lambda x, v: v.copyto(x), lambda: [nd.array(FULL)]),
    "nd operator: parameter, list": (lambda x, axes: nd.transpose(x, axes=axes), lambda: [[1, 0]]),
    "nd operator: shape, list": (lambda x, shape: nd.Reshape(x, shape=shape), lambda: [[4, 3]]),
    "Executor.forward: array": (forward, lambda: [FULL.copy()]),
    "Executor.forward: NDArray": (forward, lambda: [nd.array(FULL)]),
    "Executor.set_arguments: array": (set_arguments, lambda: [FULL.copy()]),
    "Executor.copy_params_from: array": (copy_params, lambda: [FULL.copy()]),
    "Executor.copy_params_from: NDArray": (copy_params, lambda: [nd.array(FULL)]),
    "Executor.backward: head gradient": (executor_backward, lambda: [nd.array(FULL)]),
    "NDArray.backward": (backward, lambda: [nd.array(FULL)]),
    "Function.__call__": (scaled, lambda: [nd.array(FULL)]),
}


def operand(name: str, values: Any) -> dict[str, Case]:
    """A method of Python's operators with a NumPy array, and with an array."""

    def call(x: NDArray, value: Any) -> Any:
        return getattr(x, name)(value)

    made: dict[str, Case] = {f"NDArray.{name}: array": (call, lambda: [values.copy()])}
    if not name.startswith("__r"):  # which Python calls for what is no array
        made[f"NDArray.{name}: NDArray"] = (call, lambda: [nd.array(values)])
    return made


def condition(name: str) -> dict[str, Case]:
    def call(x: NDArray, value: Any) -> Any:
        return getattr(x > 4, name)(value)

    return {f"NDArray.{name}": (call, lambda: [START > 6])}


for _name in (
    "add",
    "radd",
    "iadd",
    "sub",
    "rsub",
    "isub",
    "mul",
    "rmul",
    "imul",
    "truediv",
    "rtruediv",
    "itruediv",
):
    ARRAYS |= operand(f"__{_name}__", FULL)
for _name in ("mod", "rmod", "imod", "floordiv", "rfloordiv"):
    ARRAYS |= operand(f"__{_name}__", START % 3 + 5)
for _name in ("pow", "rpow"):
    ARRAYS |= operand(f"__{_name}__", START % 3)
for _name in ("eq", "ne", "gt", "ge", "lt", "le"):
    ARRAYS |= operand(f"__{_name}__", START)
for _name in ("and", "rand", "or", "ror", "xor", "rxor"):
    ARRAYS |= condition(f"__{_name}__")
ARRAYS |= operand("__matmul__", START.T.copy()) | operand("__rmatmul__", START.T.copy())


def updated(x: NDArray, indices: list[int], weights: list[NDArray], grads: list[NDArray]) -> NDArray:
    od.optimizer.SGD(learning_rate=0.5).update(indices, weights, [grad + x for grad in grads], [None, None])
    return weights[1]


def kept(x: NDArray, factor: Any) -> Any:
    class Kept(autograd.Function):
        def forward(self, x: NDArray) -> NDArray:
            self.save_for_backward(factor)
            return x * 2

        def backward(self, dy: NDArray) -> NDArray:
            return dy * self.saved_tensors[0]

    x.attach_grad()
    with autograd.record():
        y = Kept()(x)
    return lambda: (y.backward(), x.grad)[1]


def backward_of_lists(x: NDArray, heads: list[Any], head_grads: list[NDArray]) -> NDArray:
    x.attach_grad()
    with autograd.record():
        heads += [nd.square(x)]
    autograd.backward(heads, head_grads)
    return x.grad


def grad_of_lists(x: NDArray, heads: list[Any], variables: list[Any], head_grads: list[NDArray]) -> Any:
    x.attach_grad()
    with autograd.record():
        heads += [nd.square(x)]
    variables += [x]
    return autograd.grad(heads, variables, head_grads)


def marked(x: NDArray, variables: list[Any], grads: list[NDArray], reqs: list[str]) -> Any:
    variables += [x]
    gradient = grads[0]
    autograd.mark_variables(variables, grads, reqs)

    def run() -> NDArray:
        with autograd.record():
            y = nd.square(x)
        y.backward()
        return gradient

    return run


ARRAYS |= {
    "NDArray.__array_ufunc__": (np.maximum, lambda: [FULL.copy()]),
    "NDArray.__array_function__": (lambda x, v: np.stack([x, v]), lambda: [FULL.copy()]),
    "NDArray.__array_function__: list": (
        lambda x, arrays: np.concatenate(arrays) + x, lambda: [[nd.array(START[:1]), nd.array(START[1:])]],
    ),
    "NDArray.reshape": (lambda x, shape: x.reshape(shape), lambda: [[4, 3]]),
    "NDArray.transpose": (lambda x, axes: x.transpose(axes), lambda: [[1, 0]]),
    "NDArray.broadcast_to": (lambda x, shape: x.broadcast_to(shape), lambda: [[2, 3, 4]]),
    "NDArray.slice_assign": (
        lambda x, places: (x + 0).slice_assign(nd.array(FULL[:1]), *places), lambda: [[[0], [1], [1]]]
    ),
    "NDArray.split_v2": (lambda x, places: x.split_v2(places)[1], lambda: [[1]]),
    "NDArray.squeeze": (lambda x, axes: x.reshape((3, 1, 4, 1)).squeeze(axes), lambda: [[1, 3]]),
    "NDArray.var": (lambda x, axes: x.var(axes), lambda: [[1]]),
    "NDArray.std": (lambda x, axes: x.std(axes), lambda: [[1]]),
    "NDArray.any": (lambda x, axes: (x == 0).any(axes), lambda: [[1]]),
    "NDArray.all": (lambda x, axes: x.all(axes), lambda: [[1]]),
    "nd operator: out, list": (
        lambda x, outs: nd.SliceChannel(x, num_outputs=2, axis=1, out=outs)[1],
        lambda: [[nd.empty((3, 2)), nd.empty((3, 2))]],
    ),
    "nd operator: arrays, list": (
        lambda x, arrays: nd.Concat(arrays, dim=0) + x, lambda: [[nd.array(FULL[:1]), nd.array(FULL[1:])]],
    ),
    "Optimizer.update": (
        updated, lambda: [[0, 1], [nd.array(FULL), nd.array(FULL)], [nd.array(FULL), nd.array(FULL)]]
    ),
    "nd.invoke": (
        lambda _, xs, params: nd.invoke("transpose", xs, params),
        lambda: [[nd.array(START)], {"axes": [1, 0]}],
    ),
    **{
        f"nd.{name}": (lambda x, v, name=name: getattr(nd, name)(x, v), lambda: [nd.array(FULL)])
        for name in (
            "add", "subtract", "multiply", "divide", "true_divide", "modulo", "power", "maximum", "minimum",
            "equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal", "logical_and",
            "logical_or", "logical_xor",
        )
    },
    "nd.converted": (lambda x, values: x + nd.converted(x, values), lambda: [FULL.copy()]),
    "nd.split_v2": (lambda x, places: nd.split_v2(x, places, axis=1), lambda: [[1, 3]]),
    "nd.moveaxis": (lambda x, axes: nd.moveaxis(x, axes, 0), lambda: [[1]]),
    "nd.histogram": (lambda x, edges: nd.histogram(x, edges)[0], lambda: [nd.array([0, 4, 12])]),
    "nd.onehot_encode": (
        lambda x, places: nd.onehot_encode(places, x[:, :3]), lambda: [nd.array([0, 1, 2])]
    ),
    "nd.load_frombuffer": (
        lambda _, content: nd.load_frombuffer(content)[0], lambda: [bytearray(nd.dumps(nd.array(FULL)))]
    ),
    "nd.from_numpy: copied": (lambda x, v: x + nd.from_numpy(v, zero_copy=False), lambda: [FULL.copy()]),
    "nd.concatenate": (
        lambda x, arrays: x + nd.concatenate(arrays), lambda: [[nd.array(FULL[:1]), nd.array(FULL[1:])]]
    ),
    "nd.empty": (lambda _, shape: nd.empty(shape).shape, lambda: [[3, 2]]),
    "nd.zeros": (lambda _, shape: nd.zeros(shape), lambda: [[3, 2]]),
    "nd.make": (lambda _, shape: nd.make("_zeros", shape=shape), lambda: [[3, 2]]),
    "nd.ones": (lambda _, shape: nd.ones(shape), lambda: [[3, 2]]),
    "nd.full": (lambda _, shape: nd.full(shape, 1), lambda: [[3, 2]]),
    "nd.dumps": (lambda _, named: nd.dumps(named), lambda: [{"a": nd.array(FULL)}]),
    "nd.loads": (lambda _, content: nd.loads(content)[0], lambda: [bytearray(nd.dumps(nd.array(FULL)))]),
    "nd.save": (lambda _, named: saved(named), lambda: [{"a": nd.array(FULL)}]),
    "Function.save_for_backward": (kept, lambda: [FULL.copy()]),
    "autograd.backward": (backward_of_lists, lambda: [[], [nd.array(FULL)]]),
    "autograd.grad": (grad_of_lists, lambda: [[], [], [nd.array(FULL)]]),
    "autograd.mark_variables": (marked, lambda: [[], [nd.empty((3, 4))], ["write"]]),
}  # fmt: skip


def saved(named: Mapping[str, NDArray]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        nd.save(Path(folder) / "arrays", named)
        return nd.load(Path(folder) / "arrays")["a"]


NET = sym.FullyConnected(sym.var("data"), num_hidden=2, no_bias=True, name="fc")


def ran(executor: Executor) -> Any:
    """What an executor computes from here on."""

    def run() -> Any:
        for array in executor.arg_dict.values():
            array[:] = 3
        executor.forward(is_train=True)
        executor.backward([nd.array([[1, 2]] * 3)])
        return [executor.outputs, [grad for grad in executor.grad_arrays if grad is not None]]

    return run


def arrays() -> list[NDArray]:
    return [nd.empty((3, 4)), nd.empty((2, 4))]


def named() -> dict[str, NDArray]:
    return dict(zip(("data", "fc_weight"), arrays(), strict=True))


SYMBOLS: dict[str, Case] = {
    "sym.Group": (lambda _, symbols: sym.Group(symbols).list_outputs, lambda: [[sym.var("a"), sym.var("b")]]),
    "sym.var": (
        lambda _, attr, shape: sym.var("a", attr=attr, shape=shape).list_attr,
        lambda: [{"mood": "good"}, [3, 4]],
    ),
    "sym.zeros": (lambda _, shape: sym.zeros(shape).eval, lambda: [[3, 2]]),
    "sym.ones": (lambda _, shape: sym.ones(shape).eval, lambda: [[3, 2]]),
    "sym.full": (lambda _, shape: sym.full(shape, 1).eval, lambda: [[3, 2]]),
    "sym.split_v2": (lambda _, at: shapes(sym.split_v2(sym.var("a"), at, axis=1)), lambda: [[1, 3]]),
    "sym operator": (
        lambda _, axes, attr: sym.transpose(sym.var("a"), axes=axes, attr=attr).list_attr,
        lambda: [[1, 0], {"__mood__": "good"}],
    ),
    "sym.AttrScope": (lambda _, attrs: scoped(od.AttrScope(**attrs)), lambda: [{"mood": "good"}]),
    "Symbol.__call__": (lambda _, named: NET(**named).list_arguments, lambda: [{"data": sym.var("other")}]),
    "Symbol.infer_shape": (lambda _, shape: NET.infer_shape(data=shape), lambda: [[3, 4]]),
    "Symbol.infer_shape_partial": (lambda _, shape: NET.infer_shape_partial(data=shape), lambda: [[3, 4]]),
    "Symbol.eval": (
        lambda _, named: NET.eval(**named), lambda: [{"data": nd.array(FULL), "fc_weight": nd.array(ONES)}]
    ),
    "Symbol.bind: lists": (
        lambda _, args, grads, reqs, aux: ran(NET.bind(cpu(), args, grads, reqs, aux)),
        lambda: [arrays(), arrays(), ["write", "null"], []],
    ),
    "Symbol.bind: mappings": (
        lambda _, args, grads, reqs, aux, groups: ran(NET.bind(cpu(), args, grads, reqs, aux, groups)),
        lambda: [named(), named(), {"data": "write"}, {}, {"there": cpu(0)}],
    ),
    "Symbol.simple_bind": (
        lambda _, shape, reqs, types, groups: ran(
            NET.simple_bind(cpu(), reqs, types, group2ctx=groups, data=shape)
        ),
        lambda: [[3, 4], {"data": "write"}, {"data": "float32"}, {"there": cpu(0)}],
    ),
    "Executor.rebound": (
        lambda _, args, grads, aux: ran(
            NET.bind(cpu(), named(), named(), {"data": "write"}).rebound(args, grads, aux)
        ),
        lambda: [named(), named(), {}],
    ),
    "Executor.reshape": (
        lambda _, shape: ran(NET.simple_bind(cpu(), data=(5, 4)).reshape(partial_shaping=True, data=shape)),
        lambda: [[3, 4]],
    ),
    "Executor.copy_params_from: mapping": (
        lambda x, values: copied(bound(x), values), lambda: [{"x": nd.array(FULL)}]
    ),
    "Executor.backward: list": (
        lambda x, heads: executor_backward_of_list(x, heads), lambda: [[nd.array(FULL)]]
    ),
}  # fmt: skip


def scoped(scope: od.AttrScope) -> Any:
    with scope:
        return sym.var("a").list_attr


def copied(executor: Executor, values: dict[str, NDArray]) -> NDArray:
    executor.copy_params_from(values)
    return executor.forward()[0]


def executor_backward_of_list(x: NDArray, heads: list[NDArray]) -> Any:
    executor = bound(x)
    executor.forward(is_train=True)
    executor.backward(heads)
    return executor.grad_dict["x"]


CASES = ARRAYS | SYMBOLS
