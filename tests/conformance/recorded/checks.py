"""The checks of operad against the record: an id and a function for each fact and each form of a case.

A check returns how operad differs, in words, or None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import operad as od
from operad.errors import OperatorNotFoundError
from operad.op.params import REQUIRED
from tests.conformance.recorded import compute, files, store
from tests.conformance.recorded.case import Case, digest
from tests.conformance.recorded.catalogue import catalogue
from tests.conformance.recorded.names import symbol_names
from tests.conformance.recorded.operad_peer import Operad, aliases, property_of
from tests.conformance.recorded.outcome import Outcome, Refusal, difference, outcome_difference
from tests.conformance.recorded.signature import of_param, of_text
from tests.conformance.recorded.store import Record, Result

PEER: Final = Operad()
NUMPY_FACES: Final = ("_np", "_sparse_")
"""Prefixes of names in MXNet's NumPy and sparse front ends; operad has neither front end."""
UNSEEN: Final = "MXNet was given other files, or none, when it was recorded; see docs/conformance.md"


@dataclass(frozen=True)
class Check:
    """One comparison with the record."""

    id: str
    operator: str
    aspect: str
    run: Callable[[], str | None]


def checks(record: Record) -> Iterator[Check]:
    """Every comparison there is, in the order of the record.

    An operator that no plugin provides has the one check that says so.
    """
    provided = od.registry.operators()
    for op, facts in record.facts.items():
        yield Check(f"{op}:provided", op, "provided", partial(_provided, op))
        if op not in provided:
            continue
        for aspect, run in _facts(op, facts):
            yield Check(f"{op}:{aspect}", op, aspect, run)
        for case in catalogue()[op]:
            result = record.results.get(op, {}).get(case.name)
            verdict = record.verdicts.get(op, {}).get(case.name)
            for aspect, run in _results(case, result, verdict):
                yield Check(f"{case.id}:{aspect}", op, aspect, run)


def _provided(op: str) -> str | None:
    try:
        property_of(op)
    except OperatorNotFoundError as error:
        return f"no plugin provides it: {error}"
    return None


def _facts(op: str, facts: dict[str, Any]) -> Iterator[tuple[str, Callable[[], str | None]]]:
    yield "aliases", lambda: _compare(_legacy(aliases(op)), _legacy(facts["aliases"]))
    if facts["types"]:
        yield "parameters", lambda: _compare(sorted(property_of(op).params), sorted(facts["types"]))
        yield "types", lambda: _signatures(op, facts, ("kind", "is_optional", "choices"))
        yield "defaults", lambda: _signatures(op, facts, ("default",))
        if len(facts["parameters"]) > 1 and not facts["variadic"]:
            yield "positional", lambda: _compare(list(property_of(op).params), facts["parameters"])
    if "arguments" in facts:
        first = catalogue()[op][0]
        for key in ("arguments", "outputs", "auxiliary", "attributes"):
            if facts[key] or key == "outputs":
                yield key, partial(_name, first, facts, facts, key)
    if "symbol" in facts:
        yield "resaved", lambda: _resaved(facts["symbol"])
    for dtype, expected in facts.get("dtypes", {}).items():
        if expected != "refused" and not expected.startswith("fault"):
            yield f"dtype.{dtype}", partial(_dtype, op, dtype, expected)


def _compare(found: Any, expected: Any) -> str | None:
    return None if found == expected else f"is {found!r}, expected {expected!r}"


def _legacy(names: list[str]) -> list[str]:
    return sorted(name for name in names if not name.startswith(NUMPY_FACES))


def _signatures(op: str, facts: dict[str, Any], fields: tuple[str, ...]) -> str | None:
    params = property_of(op).params
    for name, text in facts["types"].items():
        if name not in params:
            continue  # the fact `parameters` tells
        found, expected = of_param(params[name]), of_text(text)
        for field in fields:
            one, other = getattr(found, field), getattr(expected, field)
            if one != other:
                return f"{name}: {field} is {_told(one)}, expected {_told(other)} ({text})"
    return None


def _told(value: Any) -> str:
    if value is REQUIRED:
        return "missing"
    return f"{sorted(value) if isinstance(value, frozenset) else value!r}"


def _name(case: Case, facts: dict[str, Any], expected: dict[str, Any], key: str) -> str | None:
    found = symbol_names(PEER, case, od.name.NameManager(), facts["variadic"])
    if isinstance(found, Refusal):
        return f"refused: {found.reason}"
    return _compare(found[key], expected[key])


def _resaved(symbol: dict[str, Any]) -> str | None:
    """MXNet's file, read and written again."""
    found = json.loads(od.sym.load_json(json.dumps(symbol)).tojson())
    return _compare([found[key] for key in ("nodes", "heads")], [symbol[key] for key in ("nodes", "heads")])


def _dtype(op: str, dtype: str, expected: str) -> str | None:
    outputs = compute.forward(PEER, compute.with_dtype(catalogue()[op][0], dtype)).outputs
    if isinstance(outputs, Refusal):
        return f"refused: {outputs.reason}"
    return _compare(" ".join(array.dtype.name for array in outputs), expected)


def _results(
    case: Case, result: Result | None, verdict: store.Verdict | None
) -> Iterator[tuple[str, Callable[[], str | None]]]:
    if result is None or result.digest != digest(case):
        yield "recorded", lambda: "the case is newer than the record; see docs/conformance.md"
        return
    expected = result.forward
    if not (isinstance(expected.outputs, Refusal) and expected.outputs.is_fault):
        yield "forward", lambda: _forward(case, expected)
    if result.wrt and not isinstance(expected.outputs, Refusal):
        written = expected.gradients
        if not isinstance(written, Refusal):
            yield "gradient", lambda: _gradient(case, result, "write", written)
            # What to add means is plain; MXNet overwrites or spoils the sum in many operators.
            yield "add", lambda: _gradient(case, result, "add", compute.accumulated(case, written))
    bound = expected if result.bound is None else result.bound
    if not isinstance(bound.outputs, Refusal):
        yield "bound", lambda: _bound(case, result, bound)
        yield "files", lambda: _files(case, verdict)
    if result.names is not None:
        yield "names", lambda: _names(case, result.names or {})


def _forward(case: Case, expected: Outcome) -> str | None:
    computed = Outcome(expected.outputs, expected.mutated, Refusal("of another check"))
    return outcome_difference(compute.forward(PEER, case), computed, case)


def _gradient(case: Case, result: Result, request: str, expected: Any) -> str | None:
    words = difference(compute.gradients(PEER, case, result.wrt, request), expected, case)
    return None if words is None else f"gradient {words}"


def _bound(case: Case, result: Result, expected: Outcome) -> str | None:
    return outcome_difference(compute.bound(PEER, case, result.wrt), expected, case)


def _files(case: Case, verdict: store.Verdict | None) -> str | None:
    """MXNet's verdict on the files, if they are those it was given."""
    try:
        told = files.digest(files.write(PEER, case))
    except Exception as error:  # noqa: BLE001 - whatever is raised is what differs
        return f"refused: {compute.refusal(error).reason}"
    if verdict is None or told != verdict.digest:
        return UNSEEN
    return None if verdict.words == store.SAME else f"of the files: {verdict.words}"


def _names(case: Case, expected: dict[str, Any]) -> str | None:
    key = property_of(case.op).key_var_num_args or ""
    found = symbol_names(PEER, case, od.name.NameManager(), key)
    return f"refused: {found.reason}" if isinstance(found, Refusal) else _compare(found, expected)
