"""The checks of all functions of a table, each in its own process: `python -m tests.corpus.run torch FILE`.

The file has one line of JSON per function, and functions that it has are passed over, so that a run that was
interrupted goes on. `python -m tests.corpus.page` makes the page of it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time
from typing import Any, Final

from operad_check import Profile
from operad_check.cases.kinds import SMOOTH
from operad_check.foreign.checking import checks_of
from operad_check.foreign.found import backend_named
from operad_check.foreign.function import function_of
from operad_check.foreign.subject import subject_of_function
from operad_check.running.runner import check_operator
from operad_check.running.session import Session
from operad_sdk.contract import Contract

PROFILES: Final = {
    "torch": Profile("corpus", examples=20, seconds=0.1),
    "jax": Profile("corpus", examples=8, seconds=0.03, least=4, shrinking_s=5.0),
}
"""JAX compiles every operation for every shape, so that each case takes about a second."""
LIMIT_S: Final = 240.0
_FIRST: Final = {"torch": "torch.tanh(x)"}
"""What the first process checks, so that those that it forks need not import and compile again.

JAX has threads, which a fork leaves behind: its processes start anew.
"""
_SETTINGS: Final = {
    "jax": {
        "JAX_COMPILATION_CACHE_DIR": "build/jax",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
    }
}
"""Environment of a library: what was compiled for one function serves the others."""


def judged(library: str, name: str) -> dict[str, Any]:
    """The verdict on one function of a table."""
    begin = process_time()
    backend = backend_named(library)
    expression, line, *contract = import_module(f"tests.corpus.of_{library}").TABLE[name]
    made = function_of(backend, expression, line, name=name, contract=(contract or [Contract()])[0])
    subject = subject_of_function(made)
    report = check_operator(subject, checks=checks_of(backend), profile=PROFILES[library])
    return {
        "name": name,
        "version": backend.version,
        "checks": sum(outcome.status == "passed" for outcome in report.outcomes),
        "red": [*report.red_ids, *report.broken_ids],
        "outcomes": [one.to_json() for one in report.outcomes if one.status.is_red or one.traceback],
        "gradcheck": by_gradcheck(subject, made) if library == "torch" else None,
        "seconds": process_time() - begin,
    }


def by_gradcheck(subject: Any, function: Any) -> list[int]:
    """Number of cases for derivatives that PyTorch's own check refuses, and of all that it was shown."""
    import torch

    shown, refused = 0, 0
    for case in Session(subject, PROFILES["torch"]).pool(SMOOTH):
        tensors = [function.backend.array(array.copy()).requires_grad_() for array in case.inputs.values()]
        shown += 1
        try:
            refused += not torch.autograd.gradcheck(function.call, tensors, raise_exception=False)
        except (RuntimeError, ValueError):
            refused += 1
    return [refused, shown]


def apart(library: str, name: str) -> dict[str, Any]:
    """The verdict on one function, by a process of its own, which has `LIMIT_S`."""
    context = get_context("fork" if library in _FIRST else "spawn")
    mine, other = context.Pipe(duplex=False)
    process = context.Process(target=_tell, args=(other, library, name))
    process.start()
    other.close()  # else a dead process would not end the connection
    try:
        if mine.poll(LIMIT_S):
            found: dict[str, Any] = mine.recv()
            return found
        error = f"stopped after {LIMIT_S:g} s"
    except EOFError:
        process.join()
        error = f"ended with exit code {process.exitcode}"
    finally:
        process.kill()
        process.join()
    return _lost(name, error)


def _tell(connection: Connection, library: str, name: str) -> None:
    faulthandler.dump_traceback_later(LIMIT_S - 1.0)
    try:
        found = judged(library, name)
    except Exception as error:  # noqa: BLE001 - whatever ends one function, the others are checked
        found = _lost(name, f"{type(error).__name__}: {error}")
    connection.send(found)


def _lost(name: str, error: str) -> dict[str, Any]:
    return {"name": name, "red": ["R506"], "outcomes": [], "seconds": LIMIT_S, "error": error}


def main(library: str, out: str, *names: str) -> None:
    """Check the functions of a table that the file does not have."""
    os.environ.update(_SETTINGS.get(library, {}))
    if library in _FIRST:
        backend = backend_named(library)
        warm = subject_of_function(function_of(backend, _FIRST[library], "x:(...) -> y:(...)"))
        check_operator(warm, checks=backend.checks[:1], profile=PROFILES[library])
    file = Path(out)
    done = {json.loads(line)["name"] for line in file.read_text().splitlines()} if file.exists() else set()
    for name in names or import_module(f"tests.corpus.of_{library}").TABLE:
        if name in done:
            continue
        found = apart(library, name)
        with file.open("a") as lines:
            lines.write(json.dumps(found) + "\n")
        print(f"{found['seconds']:6.1f}", name, *found["red"], found.get("error", ""), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
