"""Bound graphs, of operad and of MXNet alike: both have the interface that is used here."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.benchmarks import networks
from tests.benchmarks.networks import LEARNING_RATE, TASKS, Task, movement
from tests.benchmarks.work import Fact, Work

FIT_BATCHES = 4


def makers(mx: Any) -> dict[str, Callable[..., Any]]:
    """Makers of rows, by name, for one of the two libraries."""

    def of(make: Callable[..., Any]) -> Callable[..., Any]:
        return lambda **options: make(mx, **options)

    made = (
        step,
        predict,
        chain,
        tanh_chain,
        dcgan,
        fit,
        bind_chain,
        bind_task,
        planned_task,
        planned_tanh_chain,
    )
    return {make.__name__: of(make) for make in made}


class Layers:
    """The layers of `tests.benchmarks.networks`."""

    def __init__(self, mx: Any) -> None:
        self._sym = mx.sym
        self._variables: dict[str, Any] = {}

    def _parameter(self, name: str) -> Any:
        if name not in self._variables:
            self._variables[name] = self._sym.var(name)
        return self._variables[name]

    def dense(self, data: Any, name: str, inputs: int, outputs: int) -> Any:
        weight, bias = (self._parameter(f"{name}_{end}") for end in ("weight", "bias"))
        return self._sym.FullyConnected(data, weight, bias, num_hidden=outputs)

    def conv(
        self, data: Any, name: str, inputs: int, outputs: int, kernel: int,
        stride: int = 1, pad: int = 0, bias: bool = True,
    ) -> Any:  # fmt: skip
        ends = ("weight", "bias") if bias else ("weight",)
        return self._sym.Convolution(
            data, *[self._parameter(f"{name}_{end}") for end in ends], num_filter=outputs, no_bias=not bias,
            kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
        )  # fmt: skip

    def deconv(
        self, data: Any, name: str, inputs: int, outputs: int, kernel: int, stride: int, pad: int
    ) -> Any:
        return self._sym.Deconvolution(
            data, self._parameter(f"{name}_weight"), num_filter=outputs, no_bias=True,
            kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
        )  # fmt: skip

    def batch_norm(self, data: Any, name: str, channels: int) -> Any:
        return self._sym.BatchNorm(data, fix_gamma=False, eps=1e-5, momentum=0.9, name=name)

    def relu(self, data: Any) -> Any:
        return self._sym.Activation(data, act_type="relu")

    def tanh(self, data: Any) -> Any:
        return self._sym.Activation(data, act_type="tanh")

    def sigmoid(self, data: Any) -> Any:
        return self._sym.Activation(data, act_type="sigmoid")

    def max_pool(self, data: Any, kernel: int = 2, stride: int = 2, pad: int = 0) -> Any:
        kernels = {"kernel": (kernel,) * 2, "stride": (stride,) * 2, "pad": (pad,) * 2}
        return self._sym.Pooling(data, pool_type="max", **kernels)

    def mean_pool(self, data: Any) -> Any:
        return self._sym.Pooling(data, global_pool=True, kernel=(1, 1), pool_type="avg")

    def flatten(self, data: Any) -> Any:
        return self._sym.Flatten(data)

    def reshape(self, data: Any, shape: tuple[int, ...]) -> Any:
        return self._sym.Reshape(data, shape=(-1, *shape))

    def split(self, data: Any, parts: int) -> Any:
        return self._sym.SliceChannel(data, num_outputs=parts)


def _variables(mx: Any, names: Any) -> dict[str, Any]:
    return {name: mx.sym.var(name) for name in names}


def loss(mx: Any, task: Task) -> Any:
    """The task's network with a softmax loss for each of its outputs."""
    outputs = task.network(Layers(mx), **_variables(mx, task.shapes))
    heads = [
        mx.sym.SoftmaxOutput(output, mx.sym.var(_label(i)), normalization="batch", name=f"softmax{i}")
        for i, output in enumerate(outputs)
    ]
    return heads[0] if len(heads) == 1 else mx.sym.Group(heads)


def _label(number: int) -> str:
    return f"label{number}"


def bound(mx: Any, task: Task, request: str = "write") -> tuple[Any, list[str]]:
    """An executor with everything in place for a step, and the names of what is trained.

    Args:
        request: What is to happen to the gradients of that.
    """
    net, parameters = loss(mx, task), task.parameters
    trained = [name for name in parameters if task.is_trained(name)]
    requests = {name: request if name in trained else "null" for name in net.list_arguments()}
    executor = net.simple_bind(mx.cpu(), grad_req=requests, **task.shapes)
    labels = {_label(i): label for i, label in enumerate(task.labels())}
    _fill(executor, {**parameters, **task.inputs(), **labels})
    return executor, trained


def _fill(executor: Any, given: dict[str, np.ndarray]) -> None:
    for name, array in executor.arg_dict.items():
        array[:] = given[name]
    for name, array in executor.aux_dict.items():
        array[:] = 1.0 if name.endswith("var") else 0.0


def step(mx: Any, task: str) -> Work:
    """Forward, backward and `sgd_update` of every parameter."""
    executor, names = bound(mx, TASKS[task])
    pairs = [(executor.arg_dict[name], executor.grad_dict[name]) for name in names]
    sgd_update, wait = mx.nd.sgd_update, mx.nd.waitall

    def run() -> None:
        executor.forward(is_train=True)
        executor.backward()
        for weight, grad in pairs:
            sgd_update(weight, grad, lr=LEARNING_RATE, out=weight)
        wait()

    if not hasattr(mx, "TrainingProgram"):
        return Work(run, check=_checked(executor, names, run))
    whole, names = bound(mx, TASKS[task], request="null")
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=LEARNING_RATE))
    program = mx.TrainingProgram(whole, updater, {name: name for name in names})

    def run_whole() -> None:
        program.step()
        wait()

    return Work(run_whole, check=_checked(whole, names, run_whole), beside={"three calls": run})


def predict(mx: Any, task: str) -> Work:
    """The network alone, bound without gradients."""
    chosen = TASKS[task]
    net = chosen.network(Layers(mx), **_variables(mx, chosen.shapes))[0]
    executor = net.simple_bind(mx.cpu(), grad_req="null", **chosen.shapes)
    _fill(executor, {**chosen.parameters, **chosen.inputs()})

    def run() -> None:
        executor.forward(is_train=False)
        mx.nd.waitall()

    def check() -> dict[str, float]:
        run()
        return {"output": float(np.abs(executor.outputs[0].asnumpy()).mean())}

    return Work(run, check=check)


def _checked(executor: Any, names: list[str], run: Callable[[], None]) -> Callable[[], dict[str, float]]:
    """The check of how far a run moves each parameter."""

    def check() -> dict[str, float]:
        before = {name: executor.arg_dict[name].asnumpy() for name in names}
        run()
        return movement(before, {name: executor.arg_dict[name].asnumpy() for name in names})

    return check


def chain(mx: Any, count: int, backward: bool) -> Work:
    """`x * 0.5` and `x + 1` in turn, bound once."""
    net = _scaled(mx, count)
    return _unary(mx, net, np.ones((16, 16), np.float32), backward, count)


def _scaled(mx: Any, count: int) -> Any:
    net = mx.sym.var("x")
    for i in range(count):
        net = net + 1.0 if i % 2 else net * 0.5
    return net


def _tanh_chain(mx: Any) -> Any:
    net = mx.sym.var("x")
    for _ in range(10):
        net = mx.sym.tanh(net * 1.1 + 0.1)
    return net


def tanh_chain(mx: Any, size: int) -> Work:
    values = np.linspace(-1, 1, size, dtype=np.float32).reshape(-1, 1000)
    return _unary(mx, _tanh_chain(mx), values, True, 1)


def _unary(mx: Any, net: Any, values: np.ndarray, backward: bool, operations: int) -> Work:
    executor = net.simple_bind(mx.cpu(), grad_req="write" if backward else "null", x=values.shape)
    executor.arg_dict["x"][:] = values
    ones = mx.nd.ones(values.shape)

    def run() -> None:
        executor.forward(is_train=backward)
        if backward:
            executor.backward(ones)
        mx.nd.waitall()

    def check() -> dict[str, float]:
        run()
        found = {"output": executor.outputs[0]}
        if backward:
            found["gradient"] = executor.grad_dict["x"]
        return {name: float(np.abs(array.asnumpy()).mean()) for name, array in found.items()}

    return Work(run, operations, check)


class _Discriminator:
    """Three executors over the same weights, gradients and states.

    Attributes:
        arrays: Weights and their gradients, by name.
        fake: Images of the generator, which all but one executor look at.
        wrong: The gradient of the generator's loss by `fake`.
    """

    def __init__(self, mx: Any, start: dict[str, np.ndarray], images: np.ndarray) -> None:
        look = networks.discriminator(Layers(mx), mx.sym.var("image"))
        loss = mx.sym.LogisticRegressionOutput(look, mx.sym.var("label"))
        self.arrays = {name: (mx.nd.array(v), mx.nd.zeros(v.shape)) for name, v in start.items()}
        self.fake, self.wrong = mx.nd.zeros(images.shape), mx.nd.zeros(images.shape)
        shapes = loss.infer_shape(image=images.shape)[2]
        states = {
            name: (mx.nd.ones if name.endswith("var") else mx.nd.zeros)(shape)
            for name, shape in zip(loss.list_auxiliary_states(), shapes)  # noqa: B905 - Python 3.8
        }
        weights = {name: weight for name, (weight, _) in self.arrays.items()}
        grads = {name: grad for name, (_, grad) in self.arrays.items()}

        def bound(image: Any, label: float, request: str, asked: dict[str, Any]) -> Any:
            given = {**weights, "image": image, "label": mx.nd.full((len(images), 1), label)}
            requests = {name: request if name in asked else "null" for name in given}
            return loss.bind(mx.cpu(), given, args_grad=asked, grad_req=requests, aux_states=states)

        self._on_fake = bound(self.fake, 0.0, "write", grads)
        self._on_real = bound(mx.nd.array(images), 1.0, "add", grads)
        self._for_generator = bound(self.fake, 1.0, "write", {"image": self.wrong})

    def learn(self) -> None:
        """The gradients of its own loss."""
        for executor in (self._on_fake, self._on_real):
            executor.forward(is_train=True)
            executor.backward()

    def teach(self) -> None:
        """The gradient for the generator."""
        self._for_generator.forward(is_train=True)
        self._for_generator.backward()


def dcgan(mx: Any) -> Work:
    """The discriminator learns from images and from the generator's, then the generator from it."""
    noise, images = networks.dcgan_inputs()
    start = networks.dcgan_parameters()
    names = [name for name in start if name[0] == "g"]
    symbol = networks.generator(Layers(mx), mx.sym.var("noise"))
    requests = {**dict.fromkeys(names, "write"), "noise": "null"}
    generator = symbol.simple_bind(mx.cpu(), grad_req=requests, noise=noise.shape)
    _fill(generator, {**start, "noise": noise})
    other = _Discriminator(mx, {name: value for name, value in start.items() if name[0] == "d"}, images)
    made = {name: (generator.arg_dict[name], generator.grad_dict[name]) for name in names}
    rate = LEARNING_RATE / len(images)

    def update(arrays: dict[str, tuple[Any, Any]]) -> None:
        for weight, grad in arrays.values():
            mx.nd.sgd_update(weight, grad, lr=rate, out=weight)

    def run() -> None:
        generator.forward(is_train=True)[0].copyto(other.fake)
        other.learn()
        update(other.arrays)
        other.teach()
        generator.backward(other.wrong)
        update(made)
        mx.nd.waitall()

    def now() -> dict[str, np.ndarray]:
        return {name: weight.asnumpy() for name, (weight, _) in {**other.arrays, **made}.items()}

    def check() -> dict[str, float]:
        before = now()
        run()
        return movement(before, now())

    return Work(run, check=check)


class Repeated:
    """The same batch again and again: an iterator that costs nothing."""

    def __init__(self, batch: Any, data: Any, label: Any, count: int) -> None:
        self.provide_data, self.provide_label = [data], [label]
        self._batch, self._count = batch, count

    def __iter__(self) -> Iterator[Any]:
        return iter([self._batch] * self._count)

    def reset(self) -> None:
        pass


def batches(mx: Any, task: Task, count: int) -> Repeated:
    """The task's batch, `count` times, as an iterator."""
    (data,), (label,) = task.inputs().values(), task.labels()
    batch = mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)], pad=0)
    return Repeated(batch, mx.io.DataDesc("data", data.shape), mx.io.DataDesc(_label(0), label.shape), count)


def module(mx: Any, task: Task) -> Any:
    """A `Module` that logs nothing."""
    silent = logging.getLogger("benchmark")
    silent.setLevel(logging.CRITICAL)
    return mx.mod.Module(loss(mx, task), label_names=(_label(0),), logger=silent)


def fit(mx: Any, task: str) -> Work:
    """Batches of an epoch of `Module.fit` with accuracy as metric, in samples."""
    chosen = TASKS[task]
    trained, given = module(mx, chosen), batches(mx, chosen, FIT_BATCHES)
    arrays = {name: mx.nd.array(value) for name, value in chosen.parameters.items()}

    def run() -> None:
        trained.fit(
            given, num_epoch=1, eval_metric="acc", arg_params=arrays,
            optimizer_params={"learning_rate": LEARNING_RATE},
        )  # fmt: skip
        mx.nd.waitall()

    return Work(run, FIT_BATCHES * chosen.batch)


def bind_chain(mx: Any, count: int) -> Work:
    """`simple_bind` of a chain, with gradients."""
    net = _scaled(mx, count)
    return Work(lambda: net.simple_bind(mx.cpu(), grad_req="write", x=(16, 16)), count)


def bind_task(mx: Any, layers: int) -> Work:
    """`simple_bind` of fully connected layers and activations in turn, with gradients."""
    made, net = Layers(mx), mx.sym.var("data")
    for i in range(layers):
        net = made.tanh(made.dense(net, f"fc{i}", 32, 32))
    return Work(lambda: net.simple_bind(mx.cpu(), grad_req="write", data=(16, 32)), 2 * layers)


def planned_task(mx: Any, task: str) -> Fact:
    """Megabytes that the memory plan of a task has."""
    return Fact(_planned_mb(bound(mx, TASKS[task])[0]))


def planned_tanh_chain(mx: Any, size: int) -> Fact:
    return Fact(_planned_mb(_tanh_chain(mx).simple_bind(mx.cpu(), grad_req="write", x=(size // 1000, 1000))))


def _planned_mb(executor: Any) -> float:
    plan = getattr(executor, "memory_plan", None)
    if plan is not None:
        return float(plan.planned_bytes / 1e6)
    # MXNet says it only in its debugging text, in units of 2**20 bytes.
    found = re.search(r"Total (\d+) MB allocated", executor.debug_str())
    assert found, executor.debug_str()[-200:]
    return int(found[1]) * 2**20 / 1e6
