"""Rows that only operad has: its engine, its tape, operators of a program, the cost of an import."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

import operad as od
from operad import autograd
from operad.autograd import program
from operad.context import cpu
from operad.engine import Engine, NaiveEngine, ThreadedEngine
from operad_sdk import OperatorProperty
from tests.benchmarks.libraries.arrays import author_arrays, author_head, forward, with_gradients
from tests.benchmarks.libraries.symbols import LEARNING_RATE, batches, module
from tests.benchmarks.networks import TASKS
from tests.benchmarks.work import Work

_PUSHES: Final = 2000
_BATCHES: Final = 50
_TAPE: Final = 200


def makers(_: Any) -> dict[str, Callable[..., Work]]:
    """Makers of rows, by name."""
    return {
        make.__name__: make for make in (engine, custom, tape, importing, fit_and_loop, eager_loop, author)
    }


def _nothing(*_: object) -> None:
    """The function that is pushed."""


INSTALLED: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "rms_norm": ("RMSNorm", {}), "rotary_embedding": ("rotary_embedding", {}), "swiglu": ("swiglu", {}),
    "grouped_query_attention": ("attention", {"causal": True, "group_size": 4}),
    "cross_entropy": ("cross_entropy", {"smoothing": 0.1}), "top_k_gating": ("top_k_gating", {}),
}  # fmt: skip
"""Operators of operad-transformer that are timed beside those of `tests.benchmarks.authors`."""


def author_operator(name: str) -> OperatorProperty:
    """The operator of a row: installed, or what a file of `tests.benchmarks.authors` declares."""
    if name in INSTALLED:
        installed, params = INSTALLED[name]
        return od.registry.get(installed)(**params)
    module = importlib.import_module(f"tests.benchmarks.authors.{name}")
    (declared,) = [
        value for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, OperatorProperty) and value is not OperatorProperty
    ]  # fmt: skip
    return declared()


def author(name: str, shape: Sequence[int], backward: bool) -> Work:
    """An operator of `tests.benchmarks.authors`, or of operad-transformer."""
    installed, params = INSTALLED.get(name, (f"author_{name}", {}))
    if name not in INSTALLED:
        od.registry.register(type(author_operator(name)), override=True)  # two rows are of one operator
    inputs = [od.nd.array(value, dtype=value.dtype) for value in author_arrays(name, tuple(shape))]
    function = partial(getattr(od.nd, installed), *inputs, **params)
    if not backward:
        return forward(function)
    floating = [array for array in inputs if array.dtype == np.float32]
    return with_gradients(od, floating, od.nd.array(author_head(name, tuple(shape))), function)


def engine(what: str) -> Work:
    """Pushes of a function that does nothing; the yardstick of the inline path is the bare call."""
    used: Engine = NaiveEngine() if what == "naive" else ThreadedEngine()
    made = {
        "dependent push + run": _dependent, "independent push + run": _independent,
        "push, then wait": _round_trips, "run inline, 2 variables": _inline, "naive": _dependent,
    }[what](used)  # fmt: skip
    return Work(made, _PUSHES, beside={"bare call": _bare} if "inline" in what else {})


def _dependent(engine: Engine) -> Callable[[], object]:
    opr = engine.new_operator(_nothing, (engine.new_variable(),), (engine.new_variable(),))
    ctx = cpu()

    def run() -> None:
        for _ in range(_PUSHES):
            engine.push(opr, ctx)
        engine.wait_for_all()

    return run


def _independent(engine: Engine) -> Callable[[], object]:
    oprs = [engine.new_operator(_nothing, (), (engine.new_variable(),)) for _ in range(_PUSHES)]
    ctx = cpu()

    def run() -> None:
        for opr in oprs:
            engine.push(opr, ctx)
        engine.wait_for_all()

    return run


def _round_trips(engine: Engine) -> Callable[[], object]:
    var, ctx = engine.new_variable(), cpu()
    opr = engine.new_operator(_nothing, (), (var,))

    def run() -> None:
        for _ in range(_PUSHES):
            engine.push(opr, ctx)
            engine.wait_for_var(var)

    return run


def _inline(engine: Engine) -> Callable[[], object]:
    reads, writes, ctx = (engine.new_variable(),), (engine.new_variable(),), cpu()

    def run() -> None:
        for _ in range(_PUSHES):
            engine.run_inline(_nothing, (1, 2), ctx, reads, writes, "nothing")

    return run


def _bare() -> None:
    arguments = (1, 2)
    for _ in range(_PUSHES):
        _nothing(*arguments)


class _Tanh(od.operator.CustomOp):  # type: ignore[name-defined, misc]  # of operad-custom
    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], od.nd.tanh(in_data[0]))

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        output = out_data[0]
        self.assign(in_grad[0], req[0], out_grad[0] * (1 - output * output))


class _TanhProp(od.operator.CustomOpProp):  # type: ignore[name-defined, misc]  # likewise
    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> _Tanh:
        return _Tanh()


def custom(shape: tuple[int, int]) -> Work:
    """A round trip of an operator that a program registers; the yardstick is the built-in one."""
    od.operator.register("benchmark_tanh")(_TanhProp)
    ours = partial(od.nd.Custom, op_type="benchmark_tanh")
    return Work(_round_trip(ours, shape), beside={"nd.tanh": _round_trip(od.nd.tanh, shape)})


def _round_trip(function: Callable[[Any], Any], shape: tuple[int, int]) -> Callable[[], None]:
    data = od.nd.array(np.random.default_rng(0).standard_normal(shape))
    data.attach_grad()

    def run() -> None:
        with autograd.record():
            output = function(data)
        output.backward()
        data.grad.wait_to_read()

    return run


def tape(new: bool) -> Work:
    """The backward pass of a recorded chain, of a structure seen before or never."""
    x = od.nd.ones((16, 16))
    x.attach_grad()
    y = x
    with autograd.record():
        for _ in range(_TAPE // 2):
            y = od.nd.tanh(y) + 1.0

    def run() -> None:
        if new:
            program.forget()
        y.backward(retain_graph=True)
        od.waitall()

    return Work(run, _TAPE)


def importing() -> Work:
    """`import operad` in a new interpreter; the yardstick is `import numpy`."""

    def of(module: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    return Work(of("operad"), beside={"numpy": of("numpy")})


def fit_and_loop(task: str) -> Work:
    """A batch of `Module.fit`; the yardstick is a loop around the same executor and updater."""
    chosen = TASKS[task]
    given, trained, metric = batches(od, chosen, _BATCHES), module(od, chosen), od.metric.Accuracy()
    (batch,) = set(given)
    (data,), (label,) = batch.data, batch.label

    def fit() -> None:
        trained.fit(given, num_epoch=1, eval_metric=metric, optimizer_params={"learning_rate": LEARNING_RATE})
        od.waitall()

    fit()
    names = list(trained.get_params()[0])
    requests = {name: "write" if name in names else "null" for name in trained.symbol.list_arguments()}
    executor = trained.symbol.simple_bind(cpu(), grad_req=requests, **chosen.shapes)
    executor.copy_params_from(trained.get_params()[0])
    numbers = list(range(len(names)))
    weights, grads = ([each[name] for name in names] for each in (executor.arg_dict, executor.grad_dict))
    sgd = od.optimizer.SGD(learning_rate=LEARNING_RATE, rescale_grad=1 / chosen.batch)
    updater = od.optimizer.get_updater(sgd)
    of_data, of_label = executor.arg_dict["data"], executor.arg_dict["label0"]

    def loop() -> None:
        metric.reset()
        for _ in range(_BATCHES):
            data.copyto(of_data)
            label.copyto(of_label)
            executor.forward(is_train=True)
            executor.backward()
            updater(numbers, grads, weights)
            metric.update_dict({"label0": label}, executor.output_dict)
        od.waitall()

    return Work(fit, _BATCHES, beside={"loop": loop})


def eager_loop(batch: int, state_size: int, length: int) -> Work:
    """A step of training an LSTM cell operator by operator, in a loop that waits only at its end.

    The yardstick is the loop that waits after each step.
    """
    nd, random = od.nd, np.random.default_rng(0)
    inputs = [nd.array(random.standard_normal((batch, state_size), np.float32)) for _ in range(length)]
    of_input, of_state = (
        nd.array(0.1 * random.standard_normal((4 * state_size, state_size), np.float32)) for _ in range(2)
    )
    bias = nd.zeros(4 * state_size)
    parameters = [of_input, of_state, bias]
    for parameter in parameters:
        parameter.attach_grad()

    def step() -> None:
        with autograd.record():
            h, c = nd.zeros((batch, state_size)), nd.zeros((batch, state_size))
            for x in inputs:
                gates = nd.FullyConnected(x, of_input, bias, num_hidden=4 * state_size)
                gates = gates + nd.FullyConnected(h, of_state, bias, num_hidden=4 * state_size)
                i, f, o, u = nd.split(gates, num_outputs=4, axis=1)
                c = nd.sigmoid(f) * c + nd.sigmoid(i) * nd.tanh(u)
                h = nd.sigmoid(o) * nd.tanh(c)
            loss = (h * h).sum()
        loss.backward()
        for parameter in parameters:
            nd.sgd_update(parameter, parameter.grad, lr=0.001, out=parameter)

    def loop(wait: Callable[[], object]) -> None:
        for _ in range(_BATCHES):
            step()
            wait()
        od.waitall()

    return Work(partial(loop, _nothing), _BATCHES, beside={"waiting": partial(loop, od.waitall)})
