"""Results of other libraries for the cases of `tools.accuracy`, in a process of their own environment.

The environments are those of the benchmarks (`tests.benchmarks.environments`). A process reads jobs from its
standard input, one after another, and writes what MXNet or PyTorch gives: an operator of the same name, or
what `_torch_function` finds. Arrays go as bytes, since versions of NumPy do not read each other's pickles.
This file imports nothing of operad, and one library.
"""

from __future__ import annotations

import pickle
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

_PATIENCE_S = 30.0
"""Time from which on a library has stopped answering; its start is counted."""


class Job(NamedTuple):
    """One run of an operator.

    Attributes:
        arrays: The arguments and states by name; each with shape, type and bytes.
        heads: Gradients of the outputs, likewise.
    """

    name: str
    params: dict[str, Any]
    arrays: dict[str, Any]
    states: dict[str, Any]
    heads: list[Any]
    is_train: bool


def packed(array: Any) -> Any:
    """An array as plain values."""
    return None if array is None else (array.shape, array.dtype.name, array.tobytes())


def unpacked(found: Any) -> Any:
    """The array of plain values."""
    return None if found is None else np.frombuffer(found[2], found[1]).reshape(found[0]).copy()


@final
class Peer:
    """A process of another library, which runs jobs one after another; another one follows if it ends."""

    def __init__(self, python: str, library: str) -> None:
        self._command = [python, str(Path(__file__).resolve()), library]
        self._process = self._started()

    def __call__(self, job: Job) -> tuple[list[Any], list[Any]] | None:
        """Outputs, and gradients of the arguments; None where the library has no such operator or refuses."""
        try:
            found = self._answer(job)
        except (OSError, EOFError):  # it crashed, or waits for ever
            self._process.kill()
            self._process.communicate()
            self._process = self._started()
            return None
        if found is None:
            return None
        outputs, grads = (list(map(unpacked, each)) for each in found)
        return outputs, grads

    def _started(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)

    def _answer(self, job: Job) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(tuple(job), self._process.stdin, protocol=4)
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], _PATIENCE_S)[0]:
            raise TimeoutError
        return pickle.load(self._process.stdout)  # noqa: S301 - our own process


def _of_mxnet(job: Job) -> tuple[list[Any], list[Any]]:
    import mxnet as mx  # type: ignore[import-not-found]  # noqa: PLC0415 - in its own environment alone

    bare = job.name.replace("_contrib_", "")
    places = [(mx.nd, job.name), (mx.nd.contrib, bare), (getattr(mx.nd, "_internal", mx.nd), job.name)]
    function = next(getattr(place, name) for place, name in places if hasattr(place, name))
    given = {name: mx.nd.array(unpacked(one), dtype=one[1]) for name, one in job.arrays.items()}
    states = {name: mx.nd.array(unpacked(one), dtype=one[1]) for name, one in job.states.items()}
    for one in given.values():
        one.attach_grad()
    with mx.autograd.record(train_mode=job.is_train):
        try:
            found = function(**given, **states, **job.params)
        except (mx.base.MXNetError, TypeError):
            found = function(*given.values(), *states.values(), **job.params)
    outputs = found if isinstance(found, list) else [found]
    heads = [mx.nd.array(unpacked(one), dtype=one[1]) for one in job.heads[: len(outputs)]]
    mx.autograd.backward(outputs, heads)
    return [one.asnumpy() for one in outputs], [one.grad.asnumpy() for one in given.values()]


def _of_torch(job: Job) -> tuple[list[Any], list[Any]]:
    import torch  # noqa: PLC0415 - in its own environment alone

    function = _torch_function(torch, job.name, len(job.arrays))
    given = [torch.tensor(unpacked(one)) for one in job.arrays.values()]
    for one in given:
        one.requires_grad_(one.is_floating_point())
    found = function(*given, **job.params)
    outputs = list(found) if isinstance(found, (tuple, list)) else [found]
    pairs = zip(outputs, job.heads, strict=False)
    heads = [torch.tensor(unpacked(head)).reshape(one.shape) for one, head in pairs]
    if outputs[0].requires_grad:
        torch.autograd.backward(outputs, heads)
    grads = [None if one.grad is None else one.grad.numpy() for one in given]
    return [one.detach().numpy() for one in outputs], grads


_SAME = (
    "abs arccos:acos arccosh:acosh arcsin:asin arcsinh:asinh arctan:atan arctanh:atanh ceil cos cosh "
    "degrees:rad2deg erf erfinv exp expm1 floor gammaln:lgamma log log10 log1p log2 negative:neg "
    "radians:deg2rad reciprocal relu rsqrt sigmoid sign sin sinh softsign sqrt square tan tanh trunc "
    "digamma elemwise_add:add elemwise_sub:sub elemwise_mul:mul elemwise_div:div broadcast_add:add "
    "broadcast_sub:sub broadcast_mul:mul broadcast_div:div broadcast_power:pow broadcast_hypot:hypot "
    "broadcast_maximum:maximum broadcast_minimum:minimum _power:pow _hypot:hypot _maximum:maximum "
    "_minimum:minimum arctan2 _contrib_arctan2:atan2 "
)
"""Operators that PyTorch has under the same name, or the one behind the colon."""


def _torch_function(torch: Any, name: str, count: int) -> Callable[..., Any]:
    names = {word.partition(":")[0]: word.rpartition(":")[2] for word in _SAME.split()}
    if name in names:
        own = names[name]
        found = getattr(torch, own, None) or getattr(torch.nn.functional, own)
        return lambda *given, **params: found(*given)
    reduced = {"sum": "sum", "mean": "mean", "nansum": "nansum"}
    if name in reduced:
        return lambda data, axis=None, keepdims=False, exclude=False: _reduced(
            getattr(torch, reduced[name]), data, axis, keepdims, exclude
        )
    norms = torch.nn.functional
    others: dict[str, Callable[..., Any]] = {
        "norm": lambda data, ord=2, axis=None, keepdims=False: _reduced(
            lambda x, dim, keepdim: torch.linalg.vector_norm(x, ord, dim, keepdim),
            data, axis, keepdims, False,
        ),
        "cumsum": lambda a, axis=None: torch.cumsum(a.reshape(-1) if axis is None else a, axis or 0),
        "softmax": lambda data, axis=-1, temperature=1.0: torch.softmax(data / (temperature or 1.0), axis),
        "log_softmax": lambda data, axis=-1, temperature=1.0: torch.log_softmax(
            data / (temperature or 1.0), axis
        ),
        "LayerNorm": lambda data, gamma, beta, axis=-1, eps=1e-5: norms.layer_norm(
            data, gamma.shape, gamma, beta, eps
        ),
        "InstanceNorm": lambda data, gamma, beta, eps=1e-3: norms.instance_norm(
            data, weight=gamma, bias=beta, eps=eps
        ),
        "FullyConnected": lambda data, weight, bias, num_hidden=0, flatten=True: norms.linear(
            data.reshape(len(data), -1) if flatten else data, weight, bias
        ),
        "dot": lambda lhs, rhs, transpose_a=False, transpose_b=False: torch.tensordot(
            lhs.permute(*range(1, lhs.ndim), 0) if transpose_a else lhs,
            rhs.permute(-1, *range(rhs.ndim - 1)) if transpose_b else rhs, 1,
        ),
        "smooth_l1": lambda data, scalar=1.0: norms.smooth_l1_loss(
            data, torch.zeros_like(data), reduction="none", beta=1 / scalar**2
        ),
        "linalg_inverse": torch.linalg.inv, "linalg_det": torch.linalg.det,
        "linalg_potrf": torch.linalg.cholesky,
        "linalg_slogdet": torch.linalg.slogdet,
    }  # fmt: skip
    return others[name]


def _reduced(function: Any, data: Any, axis: Any, keepdims: bool, exclude: bool) -> Any:
    axes = [axis] if isinstance(axis, int) else list(axis or range(data.ndim))
    axes = [one % data.ndim for one in axes]
    if exclude and axis:
        axes = [one for one in range(data.ndim) if one not in axes]
    return function(data, dim=axes, keepdim=keepdims)


def main(words: Sequence[str]) -> None:
    """Run jobs until there are no more."""
    run = {"mxnet": _of_mxnet, "torch": _of_torch}[words[1]]
    while True:
        try:
            job = Job(*pickle.load(sys.stdin.buffer))  # noqa: S301 - of the process that started this one
        except EOFError:
            return
        try:
            outputs, grads = run(job)
            found: Any = [list(map(packed, outputs)), list(map(packed, grads))]
        except Exception:  # noqa: BLE001 - whatever the library says, there is nothing to compare
            found = None
        pickle.dump(found, sys.stdout.buffer, protocol=4)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv)
