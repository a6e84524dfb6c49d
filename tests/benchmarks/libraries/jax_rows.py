"""JAX: steps as one compiled function that takes over the memory of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.benchmarks import networks
from tests.benchmarks.libraries.arrays import lookup_table, normal, scaled
from tests.benchmarks.libraries.symbols import FIT_BATCHES
from tests.benchmarks.networks import LEARNING_RATE, TASKS, Task, movement
from tests.benchmarks.rows import LARGE_REPEATS, REPEATS
from tests.benchmarks.work import Work, chosen, repeated

Values = dict  # of arrays, by name


def makers(_: Any) -> dict[str, Callable[..., Work]]:
    """Makers of rows, by name; calls that change an array are not JAX's."""
    made = (step, predict, fit, chain, tanh_chain, dcgan, call, large_call, rowwise, batch_norm, take, topk)
    return {make.__name__: make for make in made}


class Layers:
    """The layers of `tests.benchmarks.networks`, with arrays by name; keeps the new moving averages."""

    def __init__(self, parameters: Values, states: Values, training: bool = True) -> None:
        self._of, self._training = parameters, training
        self.states = dict(states)

    def dense(self, data: Any, name: str, inputs: int, outputs: int) -> Any:
        return data @ self._of[f"{name}_weight"].T + self._of[f"{name}_bias"]

    def conv(
        self, data: Any, name: str, inputs: int, outputs: int, kernel: int,
        stride: int = 1, pad: int = 0, bias: bool = True,
    ) -> Any:  # fmt: skip
        found = lax.conv_general_dilated(
            data, self._of[f"{name}_weight"], (stride, stride), [(pad, pad)] * 2,
            dimension_numbers=("NCHW", "OIHW", "NCHW"),
        )  # fmt: skip
        return found + self._of[f"{name}_bias"][:, None, None] if bias else found

    def deconv(
        self, data: Any, name: str, inputs: int, outputs: int, kernel: int, stride: int, pad: int
    ) -> Any:
        turned = self._of[f"{name}_weight"][:, :, ::-1, ::-1]
        border = (kernel - 1 - pad,) * 2
        return lax.conv_general_dilated(
            data, turned, (1, 1), [border, border], lhs_dilation=(stride, stride),
            dimension_numbers=("NCHW", "IOHW", "NCHW"),
        )  # fmt: skip

    def batch_norm(self, data: Any, name: str, channels: int) -> Any:
        given = self._of[f"{name}_gamma"], self._of[f"{name}_beta"]
        if not self._training:
            return _scaled(data, self.states[f"{name}_mean"], self.states[f"{name}_var"], *given)
        output, mean, var = _normalized(data, *given)
        for end, new in ((f"{name}_mean", mean), (f"{name}_var", var)):
            self.states[end] = 0.9 * self.states[end] + 0.1 * lax.stop_gradient(new)
        return output

    def max_pool(self, data: Any, kernel: int = 2, stride: int = 2, pad: int = 0) -> Any:
        sizes, border = (1, 1, kernel, kernel), [(0, 0)] * 2 + [(pad, pad)] * 2
        return lax.reduce_window(data, -jnp.inf, lax.max, sizes, (1, 1, stride, stride), border)

    def mean_pool(self, data: Any) -> Any:
        return data.mean((2, 3))

    def flatten(self, data: Any) -> Any:
        return data.reshape(len(data), -1)

    def reshape(self, data: Any, shape: tuple[int, ...]) -> Any:
        return data.reshape(-1, *shape)

    def split(self, data: Any, parts: int) -> Any:
        return jnp.split(data, parts, axis=1)

    relu, tanh, sigmoid = (staticmethod(f) for f in (jax.nn.relu, jnp.tanh, jax.nn.sigmoid))


def _normalized(data: Any, gamma: Any, beta: Any) -> tuple[Any, Any, Any]:
    mean, var = data.mean((0, 2, 3)), data.var((0, 2, 3))
    return _scaled(data, mean, var, gamma, beta), mean, var


def _scaled(data: Any, mean: Any, var: Any, gamma: Any, beta: Any) -> Any:
    scale = gamma * lax.rsqrt(var + 1e-5)
    return data * scale[:, None, None] + (beta - mean * scale)[:, None, None]


def _cross_entropy(logits: Any, label: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), label[:, None], 1).mean()


def _arrays(values: dict[str, np.ndarray]) -> Values:
    return {name: jnp.asarray(value) for name, value in values.items()}


def _first_states(values: dict[str, np.ndarray]) -> Values:
    """Moving averages before the first step, of every normalization that has parameters here."""
    of = [(name[: -len("gamma")], value) for name, value in values.items() if name.endswith("_gamma")]
    means = {f"{name}mean": jnp.zeros(value.shape) for name, value in of}
    return {**means, **{f"{name}var": jnp.ones(value.shape) for name, value in of}}


def _updated(parameters: Values, grads: Values, rate: float) -> Values:
    return {name: parameters[name] - rate * grads[name] for name in parameters}


def _scanned_lstm(layers: Layers, state: Any, cell: Any, hidden: int, **steps: Any) -> list[Any]:
    """The unrolled LSTM as a loop, which is compiled once, as JAX's programs have it."""

    def body(carried: tuple[Any, Any], data: Any) -> tuple[tuple[Any, Any], Any]:
        state, cell, output = networks.lstm_step(layers, data, *carried, hidden)
        return (state, cell), output

    # By number: JAX sorts a mapping's names, x10 before x2.
    data = jnp.stack([steps[f"x{t}"] for t in range(len(steps))])
    _, outputs = lax.scan(body, (state, cell), data)
    return list(outputs)


class _Training:
    """A task's step; holds the parameters, which every step replaces.

    Whatever a step reads is an argument of the compiled function: with constants it would compute beforehand.
    """

    def __init__(self, task: Task, network: Callable[..., list[Any]] | None = None) -> None:
        network = network or task.network
        values = task.parameters
        self.parameters = _arrays({n: v for n, v in values.items() if task.is_trained(n)})
        fixed = _arrays({n: v for n, v in values.items() if not task.is_trained(n)})
        inputs = _arrays(task.inputs())
        self.labels = [jnp.asarray(label) for label in task.labels()]
        self.states = _first_states(values)
        self._given = fixed, inputs, self.labels

        def loss(parameters: Values, states: Values, fixed: Values, inputs: Values, labels: Any) -> Any:
            layers = Layers({**parameters, **fixed}, states)
            outputs = network(layers, **inputs)
            both = zip(outputs, labels)  # noqa: B905 - of one length
            return sum(_cross_entropy(output, label) for output, label in both), (layers.states, outputs[0])

        def update(parameters: Values, states: Values, *given: Any) -> Any:
            graded = jax.value_and_grad(loss, has_aux=True)
            (value, (states, output)), grads = graded(parameters, states, *given)
            return _updated(parameters, grads, LEARNING_RATE), states, value, output

        self._update = jax.jit(update, donate_argnums=(0, 1))

    def __call__(self) -> Any:
        found = self._update(self.parameters, self.states, *self._given)
        self.parameters, self.states, value, output = found
        jax.block_until_ready((self.parameters, value))
        return output

    def check(self) -> dict[str, float]:
        before = {name: np.array(value) for name, value in self.parameters.items()}
        self()
        return movement(before, {name: np.array(value) for name, value in self.parameters.items()})


def step(task: str) -> Work:
    """`value_and_grad` and the update, compiled together."""
    chosen_task = TASKS[task]
    looped = partial(_scanned_lstm, **chosen_task.network.keywords) if task == "lstm" else None
    training = _Training(chosen_task, looped)
    return Work(training, check=training.check)


def predict(task: str) -> Work:
    """The network alone, as one compiled function."""
    chosen_task = TASKS[task]
    values = chosen_task.parameters
    parameters, states = _arrays(values), _first_states(values)
    inputs = _arrays(chosen_task.inputs())

    @jax.jit
    def network(parameters: Values, states: Values, inputs: Values) -> Any:
        return chosen_task.network(Layers(parameters, states, training=False), **inputs)[0]

    def run() -> Any:
        return network(parameters, states, inputs).block_until_ready()

    return Work(run, check=lambda: {"output": float(jnp.abs(run()).mean())})


def fit(task: str) -> Work:
    """Steps and their accuracy."""
    training = _Training(TASKS[task])

    def run() -> float:
        right = 0
        for _ in range(FIT_BATCHES):
            right += int((training().argmax(1) == training.labels[0]).sum())
        return right / (FIT_BATCHES * TASKS[task].batch)

    return Work(run, FIT_BATCHES * TASKS[task].batch)


def _tanh_chain(x: Any) -> Any:
    for _ in range(10):
        x = jnp.tanh(x * 1.1 + 0.1)
    return x


def chain(count: int, backward: bool) -> Work:
    return _unary(partial(scaled, count=count), jnp.ones((16, 16)), backward, count)


def tanh_chain(size: int) -> Work:
    return _unary(_tanh_chain, jnp.linspace(-1, 1, size).reshape(-1, 1000), True, 1)


def _unary(function: Callable[[Any], Any], x: Any, backward: bool, operations: int) -> Work:
    def both(x: Any) -> dict[str, Any]:
        output, pull = jax.vjp(function, x)
        return {"output": output, "gradient": pull(jnp.ones_like(x))[0]}

    compiled = jax.jit(both if backward else lambda x: {"output": function(x)})
    return Work(
        lambda: jax.block_until_ready(compiled(x)),
        operations,
        lambda: {name: float(np.abs(np.asarray(value)).mean()) for name, value in compiled(x).items()},
    )


def dcgan() -> Work:
    """The discriminator learns from images and from the generator's, then the generator from it."""
    noise, images = (jnp.asarray(value) for value in networks.dcgan_inputs())
    values = networks.dcgan_parameters()
    held: dict[str, Any] = {"states": _first_states(values)}
    for letter in "gd":
        held[letter] = _arrays({name: value for name, value in values.items() if name[0] == letter})
    rate = LEARNING_RATE / len(images)

    def make(of_made: Values, states: Values, noise: Any) -> Any:
        layers = Layers(of_made, states)
        return networks.generator(layers, noise), layers.states

    def judge(of_look: Values, states: Values, image: Any, is_real: bool) -> Any:
        layers = Layers(of_look, states)
        logits = networks.discriminator(layers, image)
        return jax.nn.softplus(-logits if is_real else logits).sum(), layers.states

    def on_both(of_look: Values, states: Values, fake: Any, images: Any) -> Any:
        value, states = judge(of_look, states, fake, False)
        other, states = judge(of_look, states, images, True)
        return value + other, states

    def update(of_made: Values, of_look: Values, states: Values, noise: Any, images: Any) -> Any:
        fake, pull, states = jax.vjp(lambda given: make(given, states, noise), of_made, has_aux=True)
        grads, states = jax.grad(on_both, has_aux=True)(of_look, states, fake, images)
        of_look = _updated(of_look, grads, rate)
        grad, states = jax.grad(lambda image: judge(of_look, states, image, True), has_aux=True)(fake)
        return _updated(of_made, pull(grad)[0], rate), of_look, states

    compiled = jax.jit(update, donate_argnums=(0, 1, 2))

    def run() -> None:
        given = held["g"], held["d"], held["states"], noise, images
        held["g"], held["d"], held["states"] = compiled(*given)
        jax.block_until_ready(held["g"])

    def now() -> dict[str, np.ndarray]:
        return {name: np.array(value) for name, value in {**held["g"], **held["d"]}.items()}

    def check() -> dict[str, float]:
        before = now()
        run()
        return movement(before, now())

    return Work(run, check=check)


def call(name: str) -> Work:
    """One small call, on 16x16 where nothing else is said; nothing is compiled by hand."""
    x = jnp.asarray(normal(16, 16))
    numbers = (0.5 * number for number in count())
    data, weight, bias = (jnp.ones(shape) for shape in ((32, 64), (64, 64), (64,)))
    calls: dict[str, Callable[[], Any]] = {
        "plus one": lambda: x + 1.0,
        "tanh": lambda: jnp.tanh(x),
        "add": lambda: x + x,
        "scale": lambda: x * 2.5,
        "new number": lambda: x * next(numbers),
        "view": lambda: x[1:3],
        "dense": lambda: data @ weight.T + bias,
        "astype": lambda: x.astype(jnp.int32),
        "sum": lambda: x.sum(),
        "zeros": lambda: jnp.zeros((16, 16)),
        "softmax": lambda: jax.nn.softmax(x),
    }
    return Work(repeated(chosen(calls, name), jax.block_until_ready, REPEATS), REPEATS)


def large_call(name: str) -> Work:
    """One call on arrays of a million elements, or small matrices that are turned."""
    x, half, small = (jnp.asarray(normal(*shape)) for shape in ((1000, 1000), (1000, 500), (64, 64)))
    key = jax.random.key(0)
    calls: dict[str, Callable[[], Any]] = {
        "normal": lambda: jax.random.normal(key, (1000, 1000)),
        "concat": lambda: jnp.concatenate([half, half], 1),
        "transpose": lambda: jnp.transpose(small),
        "cumsum": lambda: jnp.cumsum(x, 1),
    }
    return Work(repeated(chosen(calls, name), jax.block_until_ready, LARGE_REPEATS), LARGE_REPEATS)


def rowwise(op: str, shape: tuple[int, int], backward: bool) -> Work:
    inputs = [jnp.asarray(normal(*shape))]
    if op == "LayerNorm":
        inputs += [jnp.ones(shape[1]), jnp.zeros(shape[1])]
        function = _layer_norm
    else:
        function = getattr(jax.nn, op)
    head = jnp.asarray(normal(*shape)[::-1].copy())
    return _compiled(function, inputs, head, backward)


def _layer_norm(data: Any, gamma: Any, beta: Any) -> Any:
    mean, var = data.mean(-1, keepdims=True), data.var(-1, keepdims=True)
    return (data - mean) * lax.rsqrt(var + 1e-5) * gamma + beta


def _compiled(function: Callable[..., Any], inputs: list[Any], head: Any, backward: bool) -> Work:
    def grads(above: Any, *arrays: Any) -> dict[str, Any]:
        output, pull = jax.vjp(function, *arrays)
        return {"output": output, **{str(i): grad for i, grad in enumerate(pull(above))}}

    compiled = jax.jit(grads if backward else lambda *arrays: {"output": function(*arrays)})
    given = [head, *inputs] if backward else inputs

    def check() -> dict[str, float]:
        found = compiled(*given)
        names = [name for name in found if not backward or name != "output"]
        return {name: float(np.abs(np.asarray(found[name])).mean()) for name in names}

    return Work(lambda: jax.block_until_ready(compiled(*given)), check=check)


def batch_norm(backward: bool) -> Work:
    shape = (32, 64, 28, 28)
    inputs = [jnp.asarray(normal(*shape)), jnp.ones(64), jnp.zeros(64)]
    head = jnp.asarray(normal(*shape)[::-1].copy())
    return _compiled(lambda *arrays: _normalized(*arrays)[0], inputs, head, backward)._replace(
        **({} if backward else {"check": None})
    )


def take() -> Work:
    table = jnp.asarray(lookup_table())
    places = jnp.asarray(np.random.RandomState(1).randint(0, 1_000_000, 1024))
    compiled = jax.jit(lambda table, places: jnp.take(table, places, 0))
    return Work(lambda: compiled(table, places).block_until_ready())


def topk() -> Work:
    data, compiled = jnp.asarray(normal(64, 10_000)), jax.jit(lambda data: lax.top_k(data, 10))
    return Work(lambda: jax.block_until_ready(compiled(data)))
