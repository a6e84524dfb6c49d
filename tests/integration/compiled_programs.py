"""Random imperative programs over a few arrays, for the judge of compiled functions.

A program is a list of steps, each drawn with its own numbers. It is a function of arrays, of a float and of a
flag, and it closes over weights and states. Steps that a compiled function may refuse are marked.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import operad as od

nd = od.nd
Arrays = list[Any]


class Setting(NamedTuple):
    """Arrays and numbers that a program closes over, or is called with.

    Attributes:
        weights: Parameters, captured.
        constants: Arrays without gradients, captured.
        states: Mean and variance of a normalization, captured.
    """

    weights: Arrays
    constants: Arrays
    states: Arrays
    rate: float
    flag: bool


Step = Callable[[Arrays, Setting], None]


class Drawn(NamedTuple):
    """A step, its name, and whether a compiled function may refuse it."""

    name: str
    run: Step
    may_refuse: bool = False


class Program(NamedTuple):
    """Steps over a list of arrays, of which the last is what most steps change."""

    rows: int
    columns: int
    steps: Sequence[Drawn]
    result: str

    def __call__(self, arrays: Sequence[Any], setting: Setting) -> Any:
        values = list(arrays)
        for step in self.steps:
            step.run(values, setting)
        if self.result == "all":
            return tuple(values)
        if self.result == "dict":
            return {"first": values[0], "last": [values[-1], values[-1].sum()]}
        return values[-1]

    @property
    def may_refuse(self) -> bool:
        return any(step.may_refuse for step in self.steps)

    def __repr__(self) -> str:
        names = ", ".join(step.name for step in self.steps)
        return f"{self.rows}x{self.columns} -> {self.result}: {names}"


def _on_last(function: Callable[[Any, Setting], Any]) -> Step:
    """A step that puts a new array in the place of the last one."""

    def step(values: Arrays, setting: Setting) -> None:
        values[-1] = function(values[-1], setting)

    return step


def _elementwise(draw: random.Random) -> Drawn:
    name = draw.choice(["tanh", "relu", "sigmoid", "square", "abs", "sin", "softsign", "negative"])
    return Drawn(name, _on_last(lambda x, _: getattr(nd, name)(x)))


def _scalar(draw: random.Random) -> Drawn:
    number, kind = draw.choice([0.5, -1.25, 2, 3.0]), draw.choice(["+", "-", "*", "/", "r-"])

    def compute(x: Any, _: Setting) -> Any:
        found = {"+": x + number, "-": x - number, "*": x * number, "/": x / number, "r-": number - x}
        return found[kind]

    return Drawn(f"scalar {kind}", _on_last(compute))


def _rate(draw: random.Random) -> Drawn:
    kind = draw.choice(["x * rate", "rate - x", "x / (1 + rate * rate)", "x > rate", "if rate", "x ** rate"])

    def compute(x: Any, setting: Setting) -> Any:
        rate = setting.rate
        if kind == "x * rate":
            return x * rate
        if kind == "rate - x":
            return rate - x
        if kind == "x > rate":
            return (x > rate) * x
        if kind == "x ** rate":
            return (nd.abs(x) + 0.5) ** rate
        if kind == "if rate":
            return x + 1 if rate > 0.3 else x - 1
        return x / (1 + rate * rate)

    return Drawn(kind, _on_last(compute))


def _dense(draw: random.Random) -> Drawn:
    number, has_bias = draw.randrange(2), draw.random() < 0.7

    def compute(x: Any, setting: Setting) -> Any:
        weight, bias = setting.weights[number], setting.weights[2]
        if not has_bias:
            return nd.dot(x, weight)
        return nd.FullyConnected(x, weight, bias, num_hidden=weight.shape[0])

    return Drawn("dense", _on_last(compute))


def _constant(draw: random.Random) -> Drawn:
    kind = draw.choice(["row", "full", "column", "made"])

    def compute(x: Any, setting: Setting) -> Any:
        row, full = setting.constants
        if kind == "row":
            return nd.broadcast_mul(x, row)
        if kind == "column":
            return nd.broadcast_add(x, full.T[0:1].T)
        if kind == "made":
            return nd.broadcast_add(x, nd.array([[0.5]])) + nd.ones(x.shape)
        return x - full.reshape((-1, x.shape[1]))[0 : x.shape[0]]

    return Drawn(f"constant {kind}", _on_last(compute))


def _combine(draw: random.Random) -> Drawn:
    kind = draw.choice(["+", "*", "where", "concat", "maximum"])

    def step(values: Arrays, _: Setting) -> None:
        first, last = values[0], values[-1]
        if kind == "+":
            values[-1] = first + last
        elif kind == "*":
            values[-1] = first * last
        elif kind == "where":
            values[-1] = nd.where(first > last, first, last)
        elif kind == "maximum":
            values[-1] = nd.broadcast_maximum(first, last)
        else:
            both = nd.concat(first, last, dim=1)
            values.append(both[:, : last.shape[1]])

    return Drawn(f"combine {kind}", step)


def _view(draw: random.Random) -> Drawn:
    kind = draw.choice(["reshape", "transpose", "slice", "row", "flip", "copy", "same"])

    def compute(x: Any, _: Setting) -> Any:
        if kind == "reshape":
            return x.reshape((-1,)).reshape(x.shape) * 1.5
        if kind == "transpose":
            return x.T.T
        if kind == "slice":
            return nd.concat(x[1:], x[:1], dim=0)
        if kind == "row":
            return nd.broadcast_add(x, x[0].reshape((1, -1)))
        if kind == "flip":
            return x[::-1]
        return x.copy() if kind == "copy" else x[:]

    return Drawn(f"view {kind}", _on_last(compute))


def _in_place(draw: random.Random) -> Drawn:
    kind = draw.choice(["iadd", "imul", "row", "fill", "all", "out", "part", "view", "argument"])

    def step(values: Arrays, setting: Setting) -> None:
        x = values[-1] if kind == "argument" else values[-1] + 0.25
        if kind == "iadd":
            x += values[0]
        elif kind == "imul":
            x *= 0.5
        elif kind == "row":
            x[0] = x[1]
        elif kind == "fill":
            x[1:3] = 0.75
        elif kind == "all":
            x[:] = values[0]
        elif kind == "out":
            nd.tanh(x, out=x)
        elif kind == "part":
            x[:, 1] = setting.constants[0].reshape((-1,))[0:1]
        elif kind == "view":
            view = x.reshape((-1,))
            view += 1
        else:
            x -= 1
        values[-1] = x

    return Drawn(f"in place {kind}", step, kind in ("row", "view", "argument", "iadd", "imul", "out"))


def _loop(draw: random.Random) -> Drawn:
    count = draw.randrange(1, 4)

    def step(values: Arrays, setting: Setting) -> None:
        for number in range(count):
            values[-1] = nd.tanh(values[-1]) * 0.9 + number
        if setting.flag:
            values.append(values[-1] - 1)

    return Drawn("loop", step)


def _many(draw: random.Random) -> Drawn:
    kind = draw.choice(["split", "mean", "softmax", "log"])

    def compute(x: Any, _: Setting) -> Any:
        if kind == "split":
            first, *_ = nd.split(nd.concat(x, x * 2, dim=1), num_outputs=2, axis=1)
            return first
        if kind == "mean":
            return nd.broadcast_sub(x, x.mean(axis=1, keepdims=True))
        return nd.softmax(x) if kind == "softmax" else nd.log(nd.abs(x) + 1)

    return Drawn(kind, _on_last(compute))


def _norm(draw: random.Random) -> Drawn:
    def compute(x: Any, setting: Setting) -> Any:
        _, _, beta, gamma = setting.weights
        return nd.BatchNorm(x, gamma, beta, *setting.states, fix_gamma=False, momentum=0.7)

    return Drawn("BatchNorm", _on_last(compute))


def _random(draw: random.Random) -> Drawn:
    kind = draw.choice(["Dropout", "uniform", "normal", "unread"])

    def compute(x: Any, _: Setting) -> Any:
        if kind == "Dropout":
            return nd.Dropout(x, p=0.4)
        if kind == "unread":
            nd.random.uniform(shape=(3,))
            return x
        drawn = nd.random.uniform if kind == "uniform" else nd.random.normal
        return x + drawn(0, 1, shape=x.shape)

    return Drawn(f"random {kind}", _on_last(compute))


def _paused(draw: random.Random) -> Drawn:
    kind = draw.choice(["pause", "detach", "BlockGrad", "is_training"])

    def compute(x: Any, _: Setting) -> Any:
        if kind == "pause":
            with od.autograd.pause(od.autograd.is_training()):
                scale = nd.tanh(x) + 1
            return x * scale
        if kind == "is_training":
            return x * 2 if od.autograd.is_training() else x
        return x * (x.detach() if kind == "detach" else nd.BlockGrad(x))

    return Drawn(kind, _on_last(compute))


def _refused(draw: random.Random) -> Drawn:
    kind = draw.choice(["truth", "asnumpy", "train_mode", "write", "record", "mask", "int"])

    def step(values: Arrays, setting: Setting) -> None:
        x = values[-1]
        if kind == "truth":
            values[-1] = x + 1 if (x.sum() > 0) else x - 1
        elif kind == "asnumpy":
            values[-1] = x + nd.array(setting.constants[1].asnumpy()[: x.shape[0]])
        elif kind == "train_mode":
            with od.autograd.train_mode():
                values[-1] = nd.Dropout(x, p=0.5)
        elif kind == "write":
            setting.constants[0][:] = 1
        elif kind == "record":
            with od.autograd.record():
                values[-1] = x * 2
        elif kind == "mask":
            values[-1] = x * float(x.shape[0] + (x > 0).sum().asscalar())
        else:
            values[-1] = x * int(x[0, 0].asscalar() > 0)

    return Drawn(f"refused {kind}", step, may_refuse=True)


_USUAL = (_elementwise, _scalar, _rate, _dense, _constant, _combine, _view, _in_place, _loop, _many, _norm,
          _random, _paused)  # fmt: skip


def drawn_program(draw: random.Random) -> Program:
    """A program of one to ten steps."""
    rows, columns = draw.choice([(4, 3), (6, 5), (20, 16), (33, 40)])
    steps = [draw.choice(_USUAL)(draw) for _ in range(draw.randrange(1, 10))]
    if draw.random() < 0.15:
        steps.insert(draw.randrange(len(steps) + 1), _refused(draw))
    return Program(rows, columns, steps, draw.choice(["last", "last", "all", "dict"]))


def drawn_setting(program: Program, seed: int) -> tuple[Setting, Arrays]:
    """What a program closes over, and its arguments, made again."""
    generator = np.random.default_rng(seed)

    def made(*shape: int) -> Any:
        return nd.array(generator.normal(size=shape) * 0.5)

    rows, columns = program.rows, program.columns
    weights = [made(columns, columns), made(columns, columns), made(columns), made(columns)]
    constants = [made(1, columns), made(rows, columns)]
    states = [nd.zeros((columns,)), nd.ones((columns,))]
    arguments = [made(rows, columns) for _ in range(2)]
    return Setting(weights, constants, states, 0.0, False), arguments
