"""Short programs for either library, MXNet 1.9.1 or operad, each of which returns its findings.

What is recorded elsewhere are operators, one call each. Here are rules that only a program shows: what a
call returns, in which order a loop reads and asks, what a file holds after training. A program is a function
of the library; what it returns must be the same under both, numbers but for their last digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

Program = Callable[[Any], Any]
PROGRAMS: Final[dict[str, Program]] = {}
TOLERANCES: Final = {"optimizers_move_half_precision_weights": 1e-3}
"""Of programs whose numbers are rounded to half precision."""


def program(function: Program) -> Program:
    """Add a program under its function's name."""
    PROGRAMS[function.__name__] = function
    return function


@program
def gradients_are_lists(mx: Any) -> Any:
    """The type and values that `autograd.grad` returns for each way to give heads and variables."""
    x, w = mx.nd.array([1, 2, 3]), mx.nd.array([2, 4, 6])
    x.attach_grad()
    w.attach_grad()
    one = mx.nd.ones((3,))
    found = []
    for as_heads in (lambda y: y, lambda y: [y], lambda y: (y,)):
        for variables in (x, [x], (x,), [x, w], (w, x)):
            for keywords in ({}, {"retain_graph": True}, {"create_graph": True}, {"head_grads": one}):
                with mx.autograd.record():
                    y = x * w * x
                    grads = mx.autograd.grad(as_heads(y), variables, **keywords)
                found.append([type(grads).__name__, *(grad.asnumpy().tolist() for grad in grads)])
    return found


class _OneHots:
    """Batches of one-hot rows and their classes, all in the same two arrays; the last one has padding.

    It notes each call in `events`. Every batch holds other classes, so that labels are those of the outputs
    for no other batch.
    """

    def __init__(self, mx: Any, events: list[str]) -> None:
        self.batch_size, self.events = 4, events
        self.provide_data = [mx.io.DataDesc("data", (4, 3))]
        self.provide_label = [mx.io.DataDesc("softmax_label", (4,))]
        self.default_bucket_key = 0
        self._batch = mx.io.DataBatch(
            [mx.nd.zeros((4, 3))], [mx.nd.zeros((4,))], 0, None, 0, self.provide_data, self.provide_label
        )
        self._made = 0

    def reset(self) -> None:
        self.events.append("reset")
        self._made = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        self.events.append("next")
        if self._made == 3:
            raise StopIteration
        classes = (np.arange(4) + self._made) % 3
        self._batch.data[0][:] = np.eye(3)[classes]
        self._batch.label[0][:] = classes
        self._made += 1
        self._batch.pad = 1 if self._made == 3 else 0
        return self._batch

    next = __next__


def _one_hots(mx: Any, events: list[str]) -> Any:
    return type("OneHots", (_OneHots, mx.io.DataIter), {})(mx, events)


def _perfect(mx: Any, kind: str) -> Any:
    """A module whose network is right about every one-hot row."""
    scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, no_bias=True, name="fc")
    network = mx.sym.SoftmaxOutput(scores, name="softmax")
    if kind == "BucketingModule":
        return mx.mod.BucketingModule(lambda key: (network, ("data",), ("softmax_label",)), 0)
    if kind == "SequentialModule":
        loss = mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax")
        chain = mx.mod.SequentialModule().add(mx.mod.Module(scores, label_names=None))
        return chain.add(mx.mod.Module(loss), take_labels=True, auto_wiring=True)
    return mx.mod.Module(network)


@program
def loops_read_a_batch_before_they_ask_for_the_next(mx: Any) -> Any:
    """Results and order of calls of modules' loops, where an iterator fills its arrays again."""
    found = {}
    for kind in ("Module", "BucketingModule", "SequentialModule"):
        events: list[str] = []
        metric = mx.metric.CustomMetric(
            lambda label, pred, events=events: (
                events.append("metric") or float((pred.argmax(1) == label).mean())
            ),
            name="right",
        )
        batches, module = _one_hots(mx, events), _perfect(mx, kind)
        values: list[Any] = []

        def ended(params: Any, events: list[str] = events, values: list[Any] = values) -> None:
            events.append("batch end")
            values.append(params.eval_metric.get()[1])

        module.fit(
            batches,
            eval_metric=metric,
            num_epoch=2,
            batch_end_callback=ended,
            optimizer_params={"learning_rate": 0.0},
            arg_params={"fc_weight": 8 * mx.nd.array(np.eye(3))},
            initializer=None,
        )
        values.append(module.score(batches, metric)[0][1])
        values.append(module.predict(batches).asnumpy().argmax(1).tolist())
        for outputs, _, batch in module.iter_predict(batches):
            right = outputs[0].asnumpy().argmax(1) == batch.label[0].asnumpy()[: 4 - batch.pad]
            values.append(right.tolist())
        found[kind] = [values, events]
    return found


def _numbers(arrays: Any) -> Any:
    return [array.asnumpy().ravel().tolist() for array in arrays]


@program
def attributes_of_array_iterators(mx: Any) -> Any:
    """`cursor` and its kin, before, between and behind batches, and those that may be set."""
    found = []
    for handle in ("pad", "discard", "roll_over"):
        for shuffle in (False, True):
            batches = mx.io.NDArrayIter(np.arange(7), np.arange(7) + 10, 3, shuffle, handle)
            for _ in range(3):
                seen: list[Any] = [batches.cursor]
                seen += [
                    [batches.cursor, *_numbers([*batch.data, *batch.label]), batch.pad] for batch in batches
                ]
                seen += [batches.idx.tolist(), batches.num_data, batches.num_source]
                seen += [batches.last_batch_handle, batches.shuffle, _numbers(dict(batches.data).values())]
                found.append(seen)
                batches.reset()
            if not shuffle:
                found.append(_numbers(batches.data_list))
            batches.cursor = 0  # the row where the current batch begins
            found.append(_numbers([*batches.getdata(), *batches.getlabel()]))
            found.append(_numbers(batches.next().data))
            batches.hard_reset()
            batches.label = [("softmax_label", mx.nd.array(np.arange(7) + 20))]
            found.append([_numbers(dict(batches.data).values()), _numbers(dict(batches.label).values())])
            found.append([_numbers([*batch.data, *batch.label]) for batch in batches])
            batches.hard_reset()
            batches.last_batch_handle = "discard"
            found.append(len(list(batches)))
    return found


@program
def subclasses_of_array_iterators_rewind(mx: Any) -> Any:
    """Rows of three passes of subclasses that move the cursor themselves."""

    class Rewound(mx.io.NDArrayIter):
        def reset(self) -> None:
            self.cursor = -self.batch_size

    class Stepping(Rewound):
        def iter_next(self) -> bool:
            self.cursor += self.batch_size
            return self.cursor < self.num_data

        def next(self) -> Any:
            if not self.iter_next():
                raise StopIteration
            return mx.io.DataBatch(self.getdata(), self.getlabel(), self.getpad(), None)

    class Shuffling(Rewound):
        def reset(self) -> None:
            super().reset()
            np.random.shuffle(self.idx)
            self.data = [(name, mx.nd.array(x.asnumpy()[self.idx])) for name, x in self.data]
            self.label = [(name, mx.nd.array(x.asnumpy()[self.idx])) for name, x in self.label]

    class Skipping(mx.io.NDArrayIter):
        def iter_next(self) -> bool:
            self.cursor += 2 * self.batch_size
            return self.cursor < self.num_data

    found = {}
    for base in (Rewound, Stepping, Shuffling, Skipping):
        for handle in ("pad", "discard"):
            if base is not Rewound and handle == "discard":
                continue  # MXNet gives part of a batch there
            batches = base(np.arange(8), np.arange(8) + 10, 3, last_batch_handle=handle)
            passes = []
            for _ in range(3):
                passes.append([[*_numbers([*one.data, *one.label]), one.pad] for one in batches])
                batches.reset()
            found[f"{base.__name__}, {handle}"] = passes
    return found


@program
def gamma_that_is_fixed(mx: Any) -> Any:
    """Gamma in files after training with weight decay, and in executors."""
    hidden = mx.sym.BatchNorm(mx.sym.var("data"), fix_gamma=True, name="bn")
    scores = mx.sym.FullyConnected(hidden, num_hidden=2, name="fc")
    network = mx.sym.SoftmaxOutput(scores, name="softmax")
    data = np.random.randn(64, 4)
    found = {}
    for name, given in (("sgd", {"momentum": 0.0}), ("sgd", {"momentum": 0.9}), ("adam", {})):
        module = mx.mod.Module(network)
        batches = mx.io.NDArrayIter(data, data[:, 0] > 0, 8)
        params = {"learning_rate": 0.1, "wd": 0.1, **given}
        module.fit(batches, num_epoch=10, optimizer=name, optimizer_params=params)
        found[f"{name} {given}"] = _numbers([module.get_params()[0]["bn_gamma"]])
    executor = network.simple_bind(mx.cpu(), data=(8, 4))
    for is_train in (True, False):
        executor.arg_dict["bn_gamma"][:] = 0.25
        executor.forward(is_train=is_train)[0].wait_to_read()
        found[f"forward(is_train={is_train})"] = _numbers([executor.arg_dict["bn_gamma"]])
    return found


@program
def which_names_may_be_shared(mx: Any) -> Any:
    """Binding of symbols with nodes of one name: accepted or refused."""
    x, dense, norm = mx.sym.var("x"), mx.sym.FullyConnected, mx.sym.BatchNorm
    networks = {
        "two variables": mx.sym.broadcast_add(x, mx.sym.var("x")),
        "one variable twice": mx.sym.broadcast_add(x, x),
        "parameters of two operators": dense(dense(x, num_hidden=3, name="fc"), num_hidden=3, name="fc"),
        "states": norm(norm(x, name="bn"), name="bn"),
        "a state alone": norm(norm(x, name="bn"), mx.sym.var("a"), mx.sym.var("b"), name="bn"),
        "an argument and a state": norm(x, mx.sym.var("m"), moving_mean=mx.sym.var("m"), name="bn"),
        "two operators": mx.sym.tanh(mx.sym.tanh(x, name="t"), name="t"),
        "a variable and an operator": mx.sym.tanh(x, name="x"),
    }
    found = {}
    for name, network in networks.items():
        try:
            network.simple_bind(mx.cpu(), x=(2, 3))
            found[name] = "bound"
        except Exception:  # noqa: BLE001 - MXNet's errors of this kind are of several classes
            found[name] = "refused"
    return found


_MOMENTUM: Final = {"learning_rate": 0.1, "momentum": 0.9}
_OPTIMIZERS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("sgd", {"learning_rate": 0.1}), ("sgd", _MOMENTUM), ("ccsgd", _MOMENTUM),
    ("nag", {"learning_rate": 0.1}), ("nag", _MOMENTUM),
    ("signum", {}), ("signum", {"momentum": 0.0}), ("signum", {"wd_lh": 0.1}),
    ("dcasgd", {"learning_rate": 0.1}), ("lars", _MOMENTUM), ("lbsgd", _MOMENTUM),
    ("adam", {"learning_rate": 0.1}), ("adamax", {}), ("nadam", {}), ("ftml", {"learning_rate": 0.1}),
    ("ftrl", {}), ("adagrad", {"learning_rate": 0.1}), ("adadelta", {}),
    ("rmsprop", {"learning_rate": 0.1}), ("rmsprop", {"learning_rate": 0.1, "centered": True}),
    ("rmsprop", {"learning_rate": 0.1, "clip_weights": 0.9}),
    ("lamb", {"learning_rate": 0.1}), ("lamb", {"learning_rate": 0.1, "bias_correction": False}),
]  # fmt: skip
_COMMON: Final[list[dict[str, Any]]] = [
    {}, {"wd": 0.3}, {"wd": 0.3, "clip_gradient": 0.4, "rescale_grad": 0.5}
]  # fmt: skip


def _moved(mx: Any, dtype: str, **given: Any) -> Any:
    """Weights after each of four steps of every optimizer."""
    values = [np.random.randn(2, 3), np.random.randn(4)]
    gradients = [[np.random.randn(*value.shape) for value in values] for _ in range(4)]
    found = {}
    for name, own in _OPTIMIZERS:
        for common in _COMMON:
            optimizer = mx.optimizer.create(
                name, param_idx2name={0: "a_weight", 1: "b_weight"}, **given, **common, **own
            )
            update = mx.optimizer.get_updater(optimizer)
            weights = [mx.nd.array(value, dtype=dtype) for value in values]
            steps = []
            for several in gradients:
                for index, gradient in enumerate(several):
                    update(index, mx.nd.array(gradient, dtype=dtype), weights[index])
                moved = np.concatenate([weight.asnumpy().ravel() for weight in weights])
                steps.append([float(f"{value:.7g}") for value in moved])
            found[f"{name} {own} {common}"] = steps
    return found


@program
def optimizers_move_weights(mx: Any) -> Any:
    """Trajectories with weight decay, clipping and momentum."""
    return _moved(mx, "float32")


@program
def optimizers_move_half_precision_weights(mx: Any) -> Any:
    """The same of float16 weights with a float32 copy."""
    return _moved(mx, "float16", multi_precision=True)


def run(name: str, mx: Any) -> Any:
    """Run a program from seeds of its own, and return its findings."""
    np.random.seed(7)
    mx.random.seed(7)
    return PROGRAMS[name](mx)
