"""Record what MXNet 1.9.1 computes, and says of its operators; see docs/conformance.md.

    python tests/conformance/record_mxnet.py [--only OPERATOR ...]

runs under the Python of an environment that has MXNet 1.9.1.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conformance.recorded import store
from tests.conformance.recorded.case import Case, digest
from tests.conformance.recorded.catalogue import catalogue
from tests.conformance.recorded.compute import DTYPES, accumulated
from tests.conformance.recorded.operators import PLUGIN_OF, UNBINDABLE
from tests.conformance.recorded.outcome import Outcome, Refusal, difference
from tests.conformance.recorded.store import Result
from tests.conformance.recorded.worker import Worker

CRASH: Final = Refusal("binding it ends MXNet's process", is_fault=True)


def main() -> None:
    """Record every operator, or some, and keep the rest of the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="OPERATOR", help="leave the record of others as it is")
    chosen = parser.parse_args().only or list(PLUGIN_OF)
    if unknown := [op for op in chosen if op not in PLUGIN_OF]:
        parser.error(f"not listed in recorded/operators.py: {', '.join(unknown)}")
    record = store.load()
    catalogue()  # a mistake in a file of cases shows here, not as a fault of MXNet
    worker = Worker()
    try:
        for op in chosen:
            began = time.monotonic()
            record.facts[op] = record_facts(worker, op)
            record.results[op] = {
                case.name: record_case(worker, case, record.facts[op]) for case in catalogue()[op]
            }
            print(f"{op}: {len(catalogue()[op])} cases, {time.monotonic() - began:.1f} s", flush=True)
    finally:
        worker.close()
        record.save()


def record_facts(worker: Worker, op: str) -> dict[str, Any]:
    """The facts of an operator; without cases only what the registry says."""
    facts: dict[str, Any] = {"plugin": PLUGIN_OF[op], **worker.ask("registry_facts", op)}
    cases = catalogue()[op]
    if cases and not isinstance(names := worker.ask("names", cases[0].id), Refusal):
        facts.update(names)
    if cases and not isinstance(symbol := worker.ask("symbol", cases[0].id), Refusal):
        facts["symbol"] = symbol
    if cases and (cases[0].inputs or "dtype" in facts["types"]):
        answers = {name: worker.ask("dtype", op, name) for name in DTYPES}
        facts["dtypes"] = {
            name: f"fault: {answer.reason}" if isinstance(answer, Refusal) else answer
            for name, answer in answers.items()
        }
    return facts


def record_case(worker: Worker, case: Case, facts: dict[str, Any]) -> Result:
    """Results of a case in each of its forms."""
    wrt = worker.ask("wrt", case.id)
    if isinstance(wrt, Refusal):  # not even its symbol can be made
        wrt = []
    forward = worker.ask("forward", case.id)
    if isinstance(forward, Refusal):
        forward = Outcome(forward)
    add = None
    if not isinstance(forward.outputs, Refusal) and wrt:
        written = worker.ask("gradients", case.id, wrt, "write")
        forward = Outcome(forward.outputs, forward.mutated, written)
        if not isinstance(written, Refusal):
            added = worker.ask("gradients", case.id, wrt, "add")
            add = None if difference(added, accumulated(case, written), case) is None else added
    bound = CRASH if case.op in UNBINDABLE else worker.ask("bound", case.id, wrt)
    if isinstance(bound, Refusal):
        bound = Outcome(bound)
    names = worker.ask("names", case.id)
    return Result(
        digest(case),
        tuple(wrt),
        forward,
        add,
        None if is_same(bound, forward, case) else bound,
        names if isinstance(names, dict) and any(facts.get(key) != names[key] for key in names) else None,
        case.compare,
    )


def is_same(bound: Outcome, imperative: Outcome, case: Case) -> bool:
    """Return whether a bound executor gave the results of the imperative call."""
    pairs = [(bound.outputs, imperative.outputs), (bound.mutated, imperative.mutated)]
    if case.is_train:
        pairs.append((bound.gradients, imperative.gradients))
    return all(difference(found, expected, case) is None for found, expected in pairs)


if __name__ == "__main__":
    main()
