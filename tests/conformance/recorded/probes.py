"""Probes of the facts in `behaviour/`: small networks, and parts of a program that note each call of theirs.

A fact names them: `gradients`, `dense`, `batches`, `batch` and `trained`, and `Trace`, whose iterators,
metrics, callbacks, monitors, optimizers and modules write into one list what is asked of them, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, Final

import numpy as np

_SHAPE: Final = (2, 3, 4, 4)


def names(mx: Any) -> dict[str, Any]:
    """The probes for a library, by the name that facts have for them."""
    given = (imported, gradients, dense, batches, batch, trained)
    return {**{one.__name__: partial(one, mx) for one in given}, "Trace": partial(Trace, mx)}


def imported(mx: Any, path: str) -> Any:
    """The module `mxnet.<path>`."""
    return import_module(f"{mx.__name__}.{path}")


def gradients(mx: Any, network: Any, is_train: bool | None, backward: bool = True) -> dict[str, Any]:
    """Gradients of a network whose outputs' are 1, behind a forward of that mode, or none of any."""
    inputs = dict.fromkeys({"x", "y"} & set(network.list_arguments()), _SHAPE)
    exe = network.simple_bind(mx.cpu(), **inputs)
    random = np.random.RandomState(0)
    for array in exe.arg_dict.values():
        array[:] = random.uniform(0.5, 1.5, array.shape)
    for name, array in exe.aux_dict.items():
        array[:] = 2 if name.endswith("var") else 1
    if is_train is not None:
        exe.forward(is_train=is_train)
    exe.backward([mx.nd.ones(out.shape) for out in exe.outputs], is_train=backward)
    return {name: array for name, array in sorted(exe.grad_dict.items()) if array is not None}


def dense(mx: Any) -> Any:
    """A layer with a loss."""
    scores = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    return mx.sym.SoftmaxOutput(scores, name="softmax")


def batches(mx: Any) -> Any:
    """Two batches of four rows, the last with a row of padding."""
    return mx.io.NDArrayIter(np.ones((7, 3)), np.ones(7), 4)


def batch(mx: Any) -> Any:
    """A batch of four rows."""
    return batches(mx).next()


def trained(mx: Any, **given: Any) -> Any:
    """A module after an epoch."""
    module = mx.mod.Module(dense(mx))
    module.fit(batches(mx), num_epoch=1, **given)
    return module


class Trace:
    """Parts of a program that write down when they are called.

    Attributes:
        events: The calls, in order.
    """

    def __init__(self, mx: Any) -> None:
        self.mx, self.events = mx, list[str]()

    def _noting(self, base: type, label: str, *methods: str) -> type:
        """A subclass whose methods are noted as `label.method`, and then run."""

        def noting(method: str) -> Callable[..., Any]:
            def call(this: Any, *args: Any, **keywords: Any) -> Any:
                self.events.append(f"{label}.{method}" if label else method)
                return getattr(base, method)(this, *args, **keywords)

            return call

        return type(base.__name__, (base,), {method: noting(method) for method in methods})

    def batches(self, label: str = "data", keys: tuple[int, ...] = (0, 0)) -> Any:
        """An iterator that notes resets, batches asked for, and descriptions; batches have these keys."""
        mx, events = self.mx, self.events

        class Batches(mx.io.DataIter):  # type: ignore[misc, name-defined]
            default_bucket_key = max(keys)

            def __init__(self) -> None:
                super().__init__(4)
                self.left = iter(keys)

            @property
            def provide_data(self) -> list[Any]:
                return [mx.io.DataDesc("data", (4, 3))]

            @property
            def provide_label(self) -> list[Any]:
                return [mx.io.DataDesc("softmax_label", (4,))]

            def reset(self) -> None:
                events.append(f"{label}.reset")
                self.left = iter(keys)

            def next(self) -> Any:
                events.append(f"{label}.next")
                key = next(self.left)
                given = self.provide_data, self.provide_label
                return mx.io.DataBatch([mx.nd.ones((4, 3))], [mx.nd.ones(4)], 0, None, key, *given)

            __next__ = next

            def __iter__(self) -> Iterator[Any]:
                return self

        return Batches()

    def metric(self, label: str = "metric") -> Any:
        """A metric that notes resets and updates."""
        made = self._noting(self.mx.metric.Accuracy, label, "reset", "reset_local", "update")()
        self.events.remove(f"{label}.reset")  # by its constructor
        return made

    def callback(self, label: str) -> Callable[..., None]:
        """A callback that notes the numbers it is given."""

        def called(*args: Any) -> None:
            first = args[0]
            numbers = [first.epoch, first.nbatch] if hasattr(first, "nbatch") else [first]
            self.events.append(f"{label}{numbers}")

        return called

    def callbacks(self) -> dict[str, Any]:
        """Every callback that `fit` takes."""
        kinds = ("batch_end", "epoch_end", "eval_end", "eval_batch_end")
        return {f"{kind}_callback": self.callback(kind) for kind in kinds}

    def monitor(self) -> Any:
        """A monitor that notes what is asked of it."""
        return self._noting(self.mx.mon.Monitor, "monitor", "install", "tic", "toc_print")(1)

    def optimizer(self) -> Any:
        """An optimizer that notes the index of each weight it moves."""
        events = self.events

        class Noting(self.mx.optimizer.SGD):  # type: ignore[misc, name-defined]
            def update_multi_precision(self, index: Any, *arrays: Any) -> None:
                events.extend(f"update {one}" for one in (index if isinstance(index, tuple) else [index]))
                super().update_multi_precision(index, *arrays)

        return Noting(learning_rate=0.1, rescale_grad=0.25)

    def initializer(self) -> Any:
        """An initializer that notes the names it is given."""

        def fill(name: Any, array: Any) -> None:
            self.events.append(f"init {name}")
            array[:] = 0

        return fill

    def module(self, kind: str = "Module") -> Any:
        """A module that notes the calls that its loops are made of."""
        mx = self.mx
        methods = (
            "bind", "init_params", "init_optimizer", "prepare", "forward", "backward", "update",
            "update_metric", "get_outputs", "get_params", "set_params", "install_monitor",
        )  # fmt: skip
        noting = self._noting(getattr(mx.mod, kind), "", *methods)
        if kind == "BucketingModule":
            return noting(self.generated, default_bucket_key=1)
        if kind == "SequentialModule":
            loss = mx.sym.SoftmaxOutput(mx.sym.Variable("data"), name="softmax")
            scores = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
            chain = noting().add(mx.mod.Module(scores, label_names=None))
            return chain.add(mx.mod.Module(loss), take_labels=True, auto_wiring=True)
        return noting(dense(mx))

    def generated(self, key: Any) -> Any:
        """The symbol of a bucket, noted."""
        self.events.append(f"sym_gen {key}")
        return dense(self.mx), ("data",), ("softmax_label",)

    def ready(self, kind: str = "Module") -> Any:
        """A module that was trained, whose calls are noted from here on."""
        module = self.module(kind)
        module.fit(self.batches(), num_epoch=1)
        self.events.clear()
        return module
