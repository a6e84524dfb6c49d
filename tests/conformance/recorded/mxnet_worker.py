"""One process that runs units of recording under MXNet: a line of JSON in, a pickled answer out.

It may crash or hang; the process that started it then knows which unit did it.
"""

from __future__ import annotations

import json
import os
import pickle
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, BinaryIO

import mxnet as mx
import numpy as np

from tests.conformance.recorded import compute, store
from tests.conformance.recorded.case import Case
from tests.conformance.recorded.catalogue import by_id, catalogue
from tests.conformance.recorded.mxnet_peer import MXNet, info, registry_facts
from tests.conformance.recorded.names import symbol_names
from tests.conformance.recorded.outcome import Outcome, Refusal, outcome_difference

PEER = MXNet()


def dtype(op: str, name: str) -> str:
    """The output's element type for inputs of another, or `refused`."""
    outcome = compute.forward(PEER, compute.with_dtype(catalogue()[op][0], name))
    if isinstance(outcome.outputs, Refusal):
        return "refused"
    return " ".join(array.dtype.name for array in outcome.outputs)


def forward(case_id: str) -> Outcome:
    """The imperative call."""
    return compute.forward(PEER, by_id()[case_id])


def gradients(case_id: str, wrt: list[int], request: str) -> Any:
    """Gradients of the imperative call."""
    return compute.gradients(PEER, by_id()[case_id], wrt, request)


def bound(case_id: str, wrt: list[int]) -> Outcome:
    """The bound executor."""
    return compute.bound(PEER, by_id()[case_id], wrt)


def wrt(case_id: str) -> list[int]:
    """The inputs that get a gradient: those the case names, or every floating-point argument."""
    case = by_id()[case_id]
    if case.grad is not None:
        return list(case.grad)
    names = _names(case)
    count = len(case.inputs) - (0 if isinstance(names, Refusal) else len(names["auxiliary"]))
    return [i for i, values in enumerate(case.arrays()[:count]) if values.dtype.kind == "f"]


def names(case_id: str) -> Any:
    """Names of the case's symbol."""
    return _names(by_id()[case_id])


def _names(case: Case) -> Any:
    return symbol_names(PEER, case, mx.name.NameManager(), info(case.op).key_var_num_args)


def symbol(case_id: str) -> dict[str, Any]:
    """The file that it writes of a case."""
    case = by_id()[case_id]
    made = PEER.symbol(case.op, compute.input_names(case), case.params, "op")
    document: dict[str, Any] = json.loads(made.tojson())
    return document


def files(case_id: str, symbol: str, params: str) -> str:
    """Verdict on the files of a case: `same`, or the difference from the record."""
    case = by_id()[case_id]
    result = _record().results[case.op][case.name]
    try:
        with PEER.scope(case):
            arrays = list(dict(mx.nd.load(params)).values())
            found = compute.executed(PEER, case, mx.sym.load(symbol), arrays, result.wrt)
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is recorded
        return f"refused: {compute.refusal(error).reason}"
    return outcome_difference(found, result.bound or result.forward, case) or store.SAME


@cache
def _record() -> store.Record:
    return store.load()


UNITS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (registry_facts, dtype, forward, gradients, bound, wrt, names, symbol, files)
}


def discard_late_errors() -> None:
    """Wait for what a unit left behind, so that its errors do not surface in the next unit."""
    with suppress(mx.MXNetError):
        mx.nd.waitall()


def serve(units: Mapping[str, Callable[..., Any]], answers: BinaryIO) -> None:
    """Answer units until the input ends."""
    for line in sys.stdin:
        unit, *args = json.loads(line)
        payload = pickle.dumps(units[unit](*args))
        discard_late_errors()
        answers.write(struct.pack("<q", len(payload)) + payload)
        answers.flush()


def main(units: Mapping[str, Callable[..., Any]]) -> None:
    """Answer these units, by name, on standard output."""
    np.seterr(all="ignore")
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what MXNet prints must not mix with answers
    serve(units, stream)


if __name__ == "__main__":
    main(UNITS)
