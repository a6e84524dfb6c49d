"""The record on disk: `facts.json`, `results.json` and `files.json`, a line for each fact and case, and
`values.npz`.

A line of results describes its arrays (`float32 (2, 3)`); their bytes stand in `values.npz`, for each
operator one run of bytes, in the order of the lines. So no offsets are stored, and a change to one case
changes one line. Needs NumPy alone, of any version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.conformance.recorded.case import Array
from tests.conformance.recorded.operators import PLUGIN_OF
from tests.conformance.recorded.outcome import Outcome, Refusal, describe

HERE = Path(__file__).parent
FACTS, RESULTS, VALUES = HERE / "facts.json", HERE / "results.json", HERE / "values.npz"
VERDICTS = HERE / "files.json"
SAME = "same"


@dataclass(frozen=True)
class Result:
    """Results of MXNet for a case.

    Attributes:
        digest: Of the case's inputs and parameters when it was recorded.
        wrt: The inputs whose gradients were asked for.
        forward: The imperative call and, with `write`, its gradients.
        add: Gradients added to prefilled buffers; None where they are the sum of both.
        bound: The bound executor's outcome; None where it is that of the imperative call.
        names: Names of the symbol's variables and outputs; None where they are the operator's usual ones.
    """

    digest: str
    wrt: tuple[int, ...]
    forward: Outcome
    add: Mapping[int, Array] | Refusal | None = None
    bound: Outcome | None = None
    names: dict[str, Any] | None = None
    compare: str = "values"


@dataclass(frozen=True)
class Verdict:
    """MXNet's verdict on the files that operad wrote of a case.

    Attributes:
        digest: Of the files it was given.
        words: `same` if it computed the same with them as with its own symbol.
    """

    digest: str
    words: str


@dataclass
class Record:
    """Everything that was recorded.

    Attributes:
        facts: By operator and name of the fact.
        results: By operator and name of the case; `verdicts` likewise.
    """

    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: dict[str, dict[str, Result]] = field(default_factory=dict)
    verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict)

    def save(self) -> None:
        """Write all files."""
        order = [op for op in PLUGIN_OF if op in self.facts]
        FACTS.write_text(_table({op: self.facts[op] for op in order}), encoding="utf-8")
        lines: dict[str, dict[str, Any]] = {}
        runs: dict[str, Array] = {}
        for op in order:
            run = bytearray()
            lines[op] = {name: _line(result, run) for name, result in self.results.get(op, {}).items()}
            runs[op] = np.frombuffer(bytes(run), np.uint8)
        RESULTS.write_text(_table(lines), encoding="utf-8")
        kept: dict[str, Any] = {op: run for op, run in runs.items() if run.size}
        np.savez_compressed(VALUES, **kept)

    def save_verdicts(self) -> None:
        """Write the verdicts on files alone."""
        told = {op: self.verdicts[op] for op in PLUGIN_OF if self.verdicts.get(op)}
        VERDICTS.write_text(
            _table(
                {op: {name: [v.digest, v.words] for name, v in cases.items()} for op, cases in told.items()}
            ),
            encoding="utf-8",
        )


def load() -> Record:
    """The record, or an empty one where nothing is recorded yet."""
    if not FACTS.exists():
        return Record()
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    lines = json.loads(RESULTS.read_text(encoding="utf-8"))
    results: dict[str, dict[str, Result]] = {}
    with np.load(VALUES) as runs:
        for op, cases in lines.items():
            reader = _Reader(runs[op].tobytes() if op in runs.files else b"")
            results[op] = {name: reader.result(line) for name, line in cases.items()}
    told = json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}
    verdicts = {op: {name: Verdict(*pair) for name, pair in cases.items()} for op, cases in told.items()}
    return Record(facts, results, verdicts)


def _table(table: Mapping[str, Mapping[str, Any]]) -> str:
    """JSON with one line for each inner entry."""
    parts = []
    for op, entries in table.items():
        rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items())
        parts.append(f"{json.dumps(op)}: {{\n{rows}\n}}" if rows else f"{json.dumps(op)}: {{}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(result: Result, run: bytearray) -> dict[str, Any]:
    def put(array: Array) -> str:
        if result.compare == "values":
            run.extend(np.ascontiguousarray(array).tobytes())
        return describe(array)

    line: dict[str, Any] = {"digest": result.digest}
    if result.compare != "values":
        line["compare"] = result.compare
    if result.wrt:
        line["wrt"] = list(result.wrt)
    line.update(_outcome(result.forward, put, bool(result.wrt)))
    if isinstance(result.forward.gradients, Mapping) and result.forward.gradients:
        line["add"] = SAME if result.add is None else _mapping(result.add, put)
    line["bound"] = SAME if result.bound is None else _outcome(result.bound, put, bool(result.wrt))
    if result.names is not None:
        line["names"] = result.names
    return line


def _outcome(outcome: Outcome, put: Callable[[Array], str], has_gradients: bool) -> dict[str, Any]:
    if isinstance(outcome.outputs, Refusal):
        return {"outputs": _refused(outcome.outputs)}
    line: dict[str, Any] = {"outputs": [put(array) for array in outcome.outputs]}
    if outcome.mutated:
        line["mutated"] = _mapping(outcome.mutated, put)
    if has_gradients:
        line["gradients"] = _mapping(outcome.gradients, put)
    return line


def _mapping(arrays: Mapping[int, Array] | Refusal, put: Callable[[Array], str]) -> dict[str, Any]:
    if isinstance(arrays, Refusal):
        return _refused(arrays)
    return {str(key): put(array) for key, array in arrays.items()}


def _refused(refusal: Refusal) -> dict[str, str]:
    return {"fault" if refusal.is_fault else "refused": refusal.reason}


class _Reader:
    """Reads lines of one operator, in order, along with their bytes."""

    def __init__(self, run: bytes) -> None:
        self._run = run
        self._at = 0
        self._has_values = True

    def result(self, line: Mapping[str, Any]) -> Result:
        compare = line.get("compare", "values")
        self._has_values = compare == "values"
        forward = self._outcome(line)
        add = line.get("add", SAME)
        bound = line["bound"]
        return Result(
            line["digest"],
            tuple(line.get("wrt", ())),
            forward,
            None if add == SAME else self._mapping(add),
            None if bound == SAME else self._outcome(bound),
            line.get("names"),
            compare,
        )

    def _outcome(self, line: Mapping[str, Any]) -> Outcome:
        outputs = line["outputs"]
        if isinstance(outputs, dict):
            return Outcome(_refusal(outputs))
        arrays = [self._array(text) for text in outputs]
        mutated = self._mapping(line.get("mutated", {}))
        assert not isinstance(mutated, Refusal)
        return Outcome(arrays, mutated, self._mapping(line.get("gradients", {})))

    def _mapping(self, line: Mapping[str, str]) -> dict[int, Array] | Refusal:
        if "refused" in line or "fault" in line:
            return _refusal(line)
        return {int(key): self._array(text) for key, text in line.items()}

    def _array(self, text: str) -> Array:
        name, _, shape_text = text.partition(" ")
        dtype = np.dtype(name)
        shape = tuple(int(length) for length in shape_text.strip("()").split(",") if length)
        if not self._has_values:
            return np.zeros(shape, dtype)
        count = int(np.prod(shape))
        array = np.frombuffer(self._run, dtype, count, self._at).reshape(shape)
        self._at += array.nbytes
        return array


def _refusal(line: Mapping[str, str]) -> Refusal:
    return Refusal(line["fault"], is_fault=True) if "fault" in line else Refusal(line["refused"])
