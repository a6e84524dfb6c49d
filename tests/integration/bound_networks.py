"""Small random networks as people write them, at sizes at which passes act on them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import operad as od
from operad import sym

WIDTH: Final = 32
DTYPE: Final = "float64"
BATCHES: Final = (36, 48)
LIKE_THE_OUTPUT: Final = ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput")
KINDS: Final = (
    "activation", "activation", "block", "dense", "drop", "like", "norm", "offset", "shared", "skip", "wide"
)  # fmt: skip
LOSSES: Final = ("SoftmaxOutput", *LIKE_THE_OUTPUT, "SVMOutput")
ACTIVATIONS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "relu": lambda h, name: sym.relu(h, name=name),
    "sigmoid": lambda h, name: sym.Activation(h, act_type="sigmoid", name=name),
    "tanh": lambda h, name: sym.tanh(h, name=name),
    "exp": lambda h, name: sym.exp(h * 0.1, name=name),
    "twice": lambda h, name: h * 2,
    "softmax": lambda h, name: sym.softmax(h, name=name),
    "leaky": lambda h, name: sym.LeakyReLU(h, act_type="leaky", slope=0.1, name=name),
    "flat": lambda h, name: sym.Flatten(h, name=name),
}


class Network:
    """A symbol with values for its arguments and states, drawn by a seed.

    Args:
        batch: Rows of the data; None: they are drawn, too. The symbol does not depend on them.

    Attributes:
        symbol: A loss, perhaps beside other outputs.
        label: Name of the loss's label.
        shapes: Shapes of the data and the label, by name.
        shows_label: Positions of outputs that the label can be read from.
        arguments: Values of all arguments, by name.
        states: Values of all auxiliary states.
        trained: Names of the arguments whose gradients are wanted.
        is_grouped: Whether its layers have context groups, `a` and `b`.
        contexts: Context of each argument and state where group `b` is on another one, after `place`.
    """

    label: Final = "lab"

    def __init__(self, seed: int, batch: int | None = None) -> None:
        self._rng = random.Random(seed)
        self._count = 0
        drawn = self._rng.choice(BATCHES)
        self._batch = drawn if batch is None else batch
        self._shared = sym.var("shared_weight")
        self.shapes = {"x": (self._batch, WIDTH)}
        hidden = [sym.var("x")]
        self.is_grouped = self._rng.random() < 0.5
        for _ in range(self._rng.randint(1, 6)):
            with od.AttrScope(**({"ctx_group": self._rng.choice("ab")} if self.is_grouped else {})):
                hidden.append(self._layer(hidden))
        loss = self._rng.choice(LOSSES)
        is_like = loss in LIKE_THE_OUTPUT
        self.shapes[self.label] = (self._batch, WIDTH) if is_like else (self._batch,)
        label = sym.var(self.label)
        last = getattr(sym, loss)(hidden[-1], label, name="loss")
        others: dict[str, Callable[[], Any]] = {
            "blocked": lambda: sym.BlockGrad(self._rng.choice(hidden), name=self._name("blocked")),
            "blocked label": lambda: sym.BlockGrad(label, name=self._name("blocked")),
            "label": lambda: label,
            "data": lambda: hidden[0],
            "the loss again": lambda: last,
            "blocked loss": lambda: sym.BlockGrad(last, name=self._name("blocked")),
        }
        kinds = self._rng.choices(list(others), k=self._rng.choice([0, 0, 1, 2]))
        self.symbol = sym.Group([last, *[others[kind]() for kind in kinds]]) if kinds else last
        self.shows_label = {1 + i for i, kind in enumerate(kinds) if kind in ("label", "blocked label")}
        self._draw(seed, classes=0 if is_like else WIDTH)

    def _draw(self, seed: int, classes: int) -> None:
        rng = np.random.default_rng(seed)
        names = self.symbol.list_arguments()
        self.shapes = {name: shape for name, shape in self.shapes.items() if name in names}
        shapes, _, state_shapes = self.symbol.infer_shape(**self.shapes)
        self.arguments = {
            name: rng.uniform(-0.4, 0.4, shape) for name, shape in zip(names, shapes, strict=True)
        }
        self.arguments["x"] = rng.uniform(-1.0, 1.0, self.shapes["x"])
        if classes:
            self.arguments[self.label] = rng.integers(0, classes, self._batch).astype(float)
        states = zip(self.symbol.list_auxiliary_states(), state_shapes, strict=True)
        self.states = {name: rng.uniform(0.5, 1.5, shape) for name, shape in states}
        self.trained = [name for name in names if name not in self.shapes]

    def place(self) -> None:
        """Note where each argument and state is, in groups; to be called without passes of plugins."""
        types = dict.fromkeys(self.arguments, DTYPE)
        executor = self.symbol.simple_bind(od.cpu(), "null", types, group2ctx={"b": od.cpu(1)}, **self.shapes)
        every = {**executor.arg_dict, **executor.aux_dict}
        self.contexts = {name: array.context for name, array in every.items()}

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"

    def _like(self) -> Any:
        """An argument of which some operator only wants the shape."""
        name = self._name("like")
        self.shapes[name] = (self._batch, WIDTH)
        return sym.var(name)

    def _layer(self, hidden: list[Any]) -> Any:
        h = hidden[-1]
        kind = self._rng.choice(KINDS)
        name = self._name(kind)
        if kind == "activation":
            return self._rng.choice(list(ACTIVATIONS.values()))(h, name)
        if kind == "dense":
            return sym.FullyConnected(h, num_hidden=WIDTH, name=name)
        if kind == "shared":
            return self._recurrent(h, name)
        if kind == "norm":
            fixed, as_stored = self._rng.choice([(True, False), (False, False), (False, True)])
            return sym.BatchNorm(h, fix_gamma=fixed, use_global_stats=as_stored, name=name)
        if kind == "drop" and not self.is_grouped:  # another context draws other numbers
            return sym.Dropout(h, p=0.3, name=name)
        if kind == "like":
            return self._rng.choice(LIKES)(h, self._like(), name)
        if kind == "offset":
            # The second is trained as well, since it is neither data nor label.
            offset = sym.var(f"{name}_bias", shape=(WIDTH,), dtype=DTYPE)
            like = sym.var(f"{name}_like_bias", shape=(1, WIDTH), dtype=DTYPE)
            return sym.broadcast_add(h, sym.reshape_like(offset, like), name=name)
        if kind == "skip":
            return sym.elemwise_add(h, self._rng.choice(hidden), name=name)
        if kind == "block":
            return h + sym.BlockGrad(sym.tanh(h), name=name)
        return sym.FullyConnected(
            sym.relu(sym.FullyConnected(h, num_hidden=4 * WIDTH, name=f"{name}_up")),
            num_hidden=WIDTH,
            name=f"{name}_down",
        )

    def _recurrent(self, h: Any, name: str) -> Any:
        """Three steps with one weight."""
        for step in range(3):
            h = sym.FullyConnected(h, self._shared, num_hidden=WIDTH, no_bias=True, name=f"{name}_step{step}")
            h = sym.tanh(h, name=f"{name}_act{step}")
        return h


LIKES: Final[list[Callable[[Any, Any, str], Any]]] = [
    lambda h, like, name: sym.reshape_like(h, like, name=name),
    lambda h, like, name: sym.broadcast_like(h, like, name=name),
    lambda h, like, name: sym.slice_like(h, like, name=name),
    lambda h, like, name: sym.elemwise_add(h, sym.zeros_like(like), name=name),
    lambda h, like, name: sym.elemwise_mul(h, sym.ones_like(like), name=name),
]


def arrays(values: dict[str, Any]) -> dict[str, Any]:
    """Values as arrays of the type in which networks are bound."""
    return {name: od.nd.array(value, dtype=DTYPE) for name, value in values.items()}
