"""Running a case, imperatively and bound, under any implementation of MXNet's API. Needs NumPy alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from tests.conformance.recorded.case import Array, Case
from tests.conformance.recorded.outcome import Outcome, Refusal

_CHANGING: Final = re.compile(r"0x[0-9a-f]{6,}|\[\d\d:\d\d:\d\d\] ")
"""Addresses and times, which another run tells otherwise."""


class Peer(Protocol):
    """MXNet or operad, as far as their calls differ."""

    @property
    def autograd(self) -> Any:
        """The module of automatic differentiation."""
        ...

    def array(self, values: Array) -> Any:
        """A new array of these values and their dtype."""
        ...

    def invoke(
        self, op: str, arrays: Sequence[Any], params: Mapping[str, Any], out: Sequence[Any] | None = None
    ) -> list[Any]:
        """The visible outputs of an operator, written to `out` where it is given."""
        ...

    def symbol(self, op: str, inputs: Sequence[str], params: Mapping[str, Any], name: str | None) -> Any:
        """An operator of variables of these names; automatic ones where there are none."""
        ...

    def bind(self, symbol: Any, args: Any, grads: Any, aux: Any) -> Any:
        """An executor; arguments whose gradient is None get none."""
        ...

    def scope(self, case: Case) -> Any:
        """Context manager around the whole computation of a case."""
        ...


def refusal(error: BaseException) -> Refusal:
    """The refusal that an error stands for."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Traceback", "[bt]", "Stack trace", "File "))]
    return Refusal(_CHANGING.sub("", (told or [type(error).__name__])[0])[:200])


def forward(peer: Peer, case: Case) -> Outcome:
    """Call the operator without recording."""
    with peer.scope(case):
        try:
            arrays = [peer.array(values) for values in case.arrays()]
            with peer.autograd.train_mode() if case.is_train else peer.autograd.predict_mode():
                made = peer.invoke(case.op, arrays, case.params, given_outputs(peer, case, arrays))
            return Outcome([value.asnumpy() for value in made], _mutated(case.arrays(), arrays))
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is recorded
            return Outcome(refusal(error))


def gradients(peer: Peer, case: Case, wrt: Sequence[int], request: str) -> Mapping[int, Array] | Refusal:
    """Gradients through autograd; with `add`, added to the prefilled buffers."""
    with peer.scope(case):
        try:
            return _gradients(peer, case, wrt, request)
        except Exception as error:  # noqa: BLE001 - as above
            return refusal(error)


def _gradients(peer: Peer, case: Case, wrt: Sequence[int], request: str) -> Mapping[int, Array]:
    arrays = [peer.array(values) for values in case.arrays()]
    filling = prefill(case, wrt)
    for i in wrt:
        arrays[i].attach_grad(request)
        if request == "add" and filling[i].size:
            arrays[i].grad[:] = peer.array(filling[i])
    with peer.autograd.record(train_mode=case.is_train):
        outputs = peer.invoke(case.op, arrays, case.params)
    heads = [peer.array(values) for values in head_gradients(case, [out.asnumpy() for out in outputs])]
    peer.autograd.backward(outputs, heads, train_mode=case.is_train)
    return {i: arrays[i].grad.asnumpy() for i in wrt}


def bound(peer: Peer, case: Case, wrt: Sequence[int]) -> Outcome:
    """Bind the operator as a symbol, run forward and, in training mode, backward."""
    with peer.scope(case):
        try:
            return _bound(peer, case, wrt)
        except Exception as error:  # noqa: BLE001 - as above
            return Outcome(refusal(error))


def _bound(peer: Peer, case: Case, wrt: Sequence[int]) -> Outcome:
    arrays = [peer.array(values) for values in case.arrays()]
    symbol = peer.symbol(case.op, input_names(case), case.params, "op")
    return executed(peer, case, symbol, arrays, wrt)


def input_names(case: Case) -> list[str]:
    """Names of a case's inputs in symbols and files."""
    return [f"x{i}" for i in range(len(case.inputs))]


def executed(peer: Peer, case: Case, symbol: Any, arrays: Sequence[Any], wrt: Sequence[int]) -> Outcome:
    """Run a symbol of a case over its arrays; exceptions before the gradients are passed on."""
    names = input_names(case)
    by_name = dict(zip(names, arrays, strict=True))
    args = {name: by_name[name] for name in symbol.list_arguments()}
    aux = {name: by_name[name] for name in symbol.list_auxiliary_states()}
    grads = {names[i]: peer.array(np.zeros_like(arrays[i].asnumpy())) for i in wrt if names[i] in args}
    executor = peer.bind(symbol, args, grads, aux)
    executor.forward(is_train=case.is_train)
    outputs = [value.asnumpy() for value in executor.outputs]
    mutated = _mutated(case.arrays(), arrays)
    if not case.is_train or not grads:
        return Outcome(outputs, mutated)
    try:
        executor.backward([peer.array(values) for values in head_gradients(case, outputs)])
        return Outcome(outputs, mutated, {i: grads[names[i]].asnumpy() for i in wrt})
    except Exception as error:  # noqa: BLE001 - as above
        return Outcome(outputs, mutated, refusal(error))


def given_outputs(peer: Peer, case: Case, arrays: Sequence[Any]) -> Sequence[Any] | None:
    """Arrays for `out` in a call, or None: some operators of MXNet write to given arrays only.

    An update writes its weights, `_scatter_set_nd` its first input, `_copyto` an array like its input.
    """
    if case.op == "_copyto":
        return [peer.array(np.zeros_like(values)) for values in case.arrays()]
    if case.op == "_scatter_set_nd":
        return arrays[:1]
    return _weights(case, arrays) if case.op.endswith("_update") else None


def _weights(case: Case, arrays: Sequence[Any]) -> Sequence[Any]:
    """The first input of each tensor."""
    count = int(case.params.get("num_weights", case.params.get("num_tensors", 1)))
    shared = 2 if case.op.startswith("preloaded") else int("adamw" in case.op)  # behind the last tensor
    own = arrays[: len(arrays) - shared]
    return own[:: len(own) // count]


def _mutated(before: Sequence[Array], after: Sequence[Any]) -> dict[int, Array]:
    pairs = [(old, new.asnumpy()) for old, new in zip(before, after, strict=True)]
    return {
        i: new
        for i, (old, new) in enumerate(pairs)
        if old.shape != new.shape or old.tobytes() != new.tobytes()
    }


def head_gradients(case: Case, outputs: Sequence[Array]) -> list[Array]:
    """The case's head gradients: normally distributed, small integers for integers."""
    stream = case.random_state("head_grads")
    return [_drawn(stream, output) for output in outputs]


def prefill(case: Case, wrt: Sequence[int]) -> dict[int, Array]:
    """Contents of gradient buffers before something is added to them."""
    stream = case.random_state("prefill")
    arrays = case.arrays()
    return {i: _drawn(stream, arrays[i]) for i in wrt}


def _drawn(stream: np.random.RandomState, like: Array) -> Array:
    drawn: Any = stream.standard_normal(like.shape)
    if like.dtype.kind != "f":
        drawn = stream.randint(1, 4, like.shape)
    return np.asarray(drawn).astype(like.dtype)


def accumulated(case: Case, written: Mapping[int, Array]) -> dict[int, Array]:
    """Result that `add` must give, from the result of `write`."""
    filling = prefill(case, list(written))
    return {i: (filling[i] + value).astype(value.dtype) for i, value in written.items()}


def with_dtype(case: Case, dtype: str) -> Case:
    """The case with another element type in every input that has the first input's.

    An operator without inputs gets the type as its parameter `dtype`.
    """
    if not case.inputs:
        return Case(case.op, f"{case.name}_{dtype}", (), {**case.params, "dtype": dtype}, (), "shapes")
    arrays = case.arrays()

    def converted(values: Array) -> Array:
        if values.dtype != arrays[0].dtype:
            return values
        with np.errstate(invalid="ignore", over="ignore"):
            return (np.abs(values) if dtype.startswith("u") else values).astype(dtype)

    inputs = [lambda _, values=values: converted(values) for values in arrays]
    return Case(case.op, f"{case.name}_{dtype}", inputs, case.params, (), "shapes")


DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")
