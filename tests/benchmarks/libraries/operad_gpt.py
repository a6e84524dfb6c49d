"""The network of `examples/gpt.py`: a step, a prediction, and decoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from examples import gpt
from tests.benchmarks import gpt_inputs as inputs
from tests.benchmarks.work import Work

SIZE = gpt.Size(inputs.LAYERS, inputs.WIDTH, inputs.HEADS, inputs.STEPS, inputs.BATCH)
ADAM = {
    "learning_rate": inputs.RATE, "beta1": inputs.BETAS[0], "beta2": inputs.BETAS[1],
    "epsilon": inputs.ADAM_EPSILON,
}  # fmt: skip


def makers(mx: Any) -> dict[str, Callable[..., Work]]:
    """Makers of rows, by name."""
    made = (gpt_step, gpt_forward, gpt_decoding)
    return {make.__name__: lambda make=make, **options: make(mx, **options) for make in made}


def _parameters(mx: Any) -> dict[str, Any]:
    return {name: mx.nd.array(value) for name, value in inputs.parameters().items()}


def training(way: str, start: dict[str, np.ndarray], clip: float) -> tuple[Callable[..., float], ...]:
    """A step of Adam and the loss without one, as functions of data and label; `way`: symbol or function."""
    import operad as mx

    letters = len(start["embedding_weight"])
    parameters = {name: mx.nd.array(value) for name, value in start.items()}
    updater = mx.optimizer.get_updater(mx.optimizer.Adam(**ADAM, clip_gradient=clip))
    loss = mx.compile(gpt.Layers(mx.nd, parameters.__getitem__, letters, SIZE).loss)

    def evaluate(*given: Any) -> float:
        return float(loss(*map(mx.nd.array, given)).asscalar())

    if way == "symbol":
        shape = (inputs.BATCH, inputs.STEPS)
        given = {"data": mx.nd.zeros(shape), "label": mx.nd.zeros(shape)}
        executor = gpt.network(letters, SIZE).bind(mx.cpu(), {**parameters, **given}, grad_req="null")
        program = mx.TrainingProgram(executor, updater, {name: name for name in parameters})

        def step(*arrays: Any) -> float:
            for target, array in zip(given.values(), arrays, strict=True):
                target[:] = array
            program.step()
            return float(executor.outputs[0].asscalar())

        return step, evaluate

    for array in parameters.values():
        array.attach_grad()

    def recorded(*arrays: Any) -> float:
        with mx.autograd.record():
            value = loss(*map(mx.nd.array, arrays))
        value.backward()
        for index, array in enumerate(parameters.values()):
            updater(index, array.grad, array)
        return float(value.asscalar())

    return recorded, evaluate


def gpt_step(mx: Any) -> Work:
    """Loss, gradients and Adam: as a bound symbol's whole step, and as a compiled function."""
    data, label = (mx.nd.array(value) for value in inputs.batch())
    names = list(inputs.shapes())
    executor = gpt.network(inputs.LETTERS, SIZE).simple_bind(
        mx.cpu(), grad_req="null", data=data.shape, label=label.shape
    )
    executor.copy_params_from(_parameters(mx))
    executor.arg_dict["data"][:], executor.arg_dict["label"][:] = data, label
    updater = mx.optimizer.get_updater(mx.optimizer.Adam(**ADAM))
    program = mx.TrainingProgram(executor, updater, {name: name for name in names})

    def run() -> float:
        program.step()
        mx.nd.waitall()
        return float(executor.outputs[0].asscalar())

    parameters = _parameters(mx)
    for array in parameters.values():
        array.attach_grad()
    loss = mx.compile(gpt.Layers(mx.nd, parameters.__getitem__, inputs.LETTERS, SIZE).loss)
    update = mx.optimizer.get_updater(mx.optimizer.Adam(**ADAM))

    def run_function() -> float:
        with mx.autograd.record():
            value = loss(data, label)
        value.backward()
        for index, array in enumerate(parameters.values()):
            update(index, array.grad, array)
        mx.nd.waitall()
        return float(value.asscalar())

    return Work(
        run, check=lambda: {f"loss {i}": run() for i in range(3)}, beside={"compiled function": run_function}
    )


def gpt_forward(mx: Any) -> Work:
    """The scores of a batch."""
    data = mx.nd.array(inputs.batch()[0])
    variables = gpt.Layers(mx.sym, mx.sym.var, inputs.LETTERS, SIZE)
    executor = variables.logits(mx.sym.var("data")).simple_bind(mx.cpu(), grad_req="null", data=data.shape)
    parameters = _parameters(mx)
    executor.copy_params_from(parameters)
    scores = mx.compile(gpt.Layers(mx.nd, parameters.__getitem__, inputs.LETTERS, SIZE).logits)

    def run() -> None:
        executor.forward(is_train=False, data=data)[0].wait_to_read()

    def check() -> dict[str, float]:
        return {"scores": float(np.abs(executor.forward(is_train=False, data=data)[0].asnumpy()).mean())}

    return Work(run, check=check, beside={"compiled function": lambda: scores(data).wait_to_read()})


def gpt_decoding(mx: Any) -> Work:
    """Letters one at a time, with a cache of keys and values."""
    parameters, letters = _parameters(mx), inputs.batch()[0][0, : inputs.DECODED].tolist()
    decoder = gpt.Decoder(inputs.LETTERS, SIZE, parameters)
    shape = (1, inputs.HEADS, inputs.STEPS, inputs.WIDTH // inputs.HEADS)
    for layer in range(inputs.LAYERS):
        for state in ("keys", "values"):
            parameters[f"layer{layer}_mix_attention_{state}"] = mx.nd.zeros(shape)
    scores = mx.compile(gpt.Layers(mx.nd, parameters.__getitem__, inputs.LETTERS, SIZE).logits)

    def run() -> np.ndarray:
        for place, letter in enumerate(letters):
            found = decoder.scores(letter, place)
        return found

    def run_function() -> np.ndarray:
        for place, letter in enumerate(letters):
            found = scores(mx.nd.array([[letter]]), mx.nd.array([place])).asnumpy()
        return found

    return Work(
        run, len(letters), lambda: {"scores": float(np.abs(run()).mean())},
        beside={"compiled function": run_function},
    )  # fmt: skip
