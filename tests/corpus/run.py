"""The checks of all functions of a table, each in its own process: `python -m tests.corpus.run kornia FILE`.

The file has one line of JSON per function, and functions that it has are passed over, so that a run that was
interrupted goes on. `python -m tests.corpus.page` makes the page of it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
from contextlib import redirect_stdout
from io import StringIO
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time
from typing import Any, Final

from operad_check import Profile
from operad_check.cases.kinds import SMOOTH
from operad_check.foreign.backend import quiet
from operad_check.foreign.checking import checks_of
from operad_check.foreign.found import backend_named
from operad_check.foreign.function import function_of
from operad_check.foreign.subject import subject_of_function
from operad_check.running.runner import check_operator
from operad_check.running.session import Session
from tests.corpus.tables import BACKENDS, function_named, table

PROFILES: Final = {
    "torch": Profile("corpus", examples=20, seconds=0.1, shrinking_s=2.0),
    "jax": Profile("corpus", examples=8, seconds=0.03, least=4, shrinking_s=1.0),
}
"""JAX compiles every operation for every shape, so that each case takes about a second.

A case that fails is shrunk for a short time, as the page has one line of it.
"""
LIMIT_S: Final = 120.0
"""Processor time in seconds that a function has."""
_MOST_WAITING: Final = 20
"""How many times as long it may take on a machine that others use as well."""
_FIRST: Final = {"torch": "torch.tanh(x)"}
"""What the first process checks, so that those that it forks need not compile again.

JAX starts threads with its first array, and a fork leaves them behind: the first process only imports it.
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


def judged(name: str, function: str) -> dict[str, Any]:
    """The verdict on one function of a table."""
    begin = process_time()
    library = BACKENDS[name]
    backend = backend_named(library)
    made = function_named(name, function, backend)
    subject = subject_of_function(made)
    report = check_operator(subject, checks=checks_of(backend), profile=PROFILES[library])
    outcomes = [one.to_json() for one in report.outcomes if one.status.is_red or one.traceback]
    return {
        "name": function,
        "version": backend.version,
        "checks": sum(outcome.status == "passed" for outcome in report.outcomes),
        "red": [*report.red_ids, *report.broken_ids],
        "hard": list(report.hard_ids),
        "undeclared": list(report.undeclared_ids),
        "outcomes": [{**outcome, "program": by_program(outcome)} for outcome in outcomes],
        "gradcheck": by_gradcheck(subject, made) if library == "torch" else None,
        "seconds": process_time() - begin,
    }


def by_program(outcome: dict[str, Any]) -> str:
    """What the printed program of an outcome does when it is run on its own."""
    script = (outcome["failure"] or {}).get("script", "")
    if not script:
        return "none"
    try:
        with quiet(), redirect_stdout(StringIO()):
            exec(compile(script, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - printed by the checks
    except (NameError, ImportError, SyntaxError) as error:
        return f"cannot run: {error}"
    except Exception:  # noqa: BLE001 - that is what it is to show
        return "fails"
    return "prints" if "print(" in script else "passes"


def by_gradcheck(subject: Any, function: Any) -> list[int]:
    """Number of cases for derivatives that PyTorch's own check refuses, and of all that it was shown."""
    import torch

    shown, refused = 0, 0
    for case in Session(subject, PROFILES["torch"]).pool(SMOOTH):
        arrays = [function.backend.array(array.copy()) for array in case.inputs.values()]
        tensors = [array.requires_grad_(array.is_floating_point()) for array in arrays]
        shown += 1
        try:
            refused += not torch.autograd.gradcheck(function.call, tensors, raise_exception=False)
        except (RuntimeError, ValueError):
            refused += 1
    return [refused, shown]


def apart(name: str, function: str) -> dict[str, Any]:
    """The verdict on one function, by a process of its own, which has `LIMIT_S` of processor time."""
    context = get_context("fork")
    mine, other = context.Pipe(duplex=False)
    process = context.Process(target=_tell, args=(other, name, function))
    process.start()
    other.close()  # else a dead process would not end the connection
    try:
        if mine.poll(_MOST_WAITING * LIMIT_S):
            found: dict[str, Any] = mine.recv()
            return found
        error = f"stopped after {_MOST_WAITING * LIMIT_S:g} s of waiting"
    except EOFError:
        process.join()
        is_late = process.exitcode == -signal.SIGXCPU
        error = f"stopped after {LIMIT_S:g} s" if is_late else f"ended with exit code {process.exitcode}"
    finally:
        process.kill()
        process.join()
    return _lost(function, error)


def _tell(connection: Connection, name: str, function: str) -> None:
    faulthandler.register(signal.SIGXCPU, chain=True)
    resource.setrlimit(resource.RLIMIT_CPU, (int(LIMIT_S), int(LIMIT_S) + 5))
    try:
        found = judged(name, function)
    except Exception as error:  # noqa: BLE001 - whatever ends one function, the others are checked
        found = _lost(function, f"{type(error).__name__}: {error}")
    connection.send(found)


def _lost(name: str, error: str) -> dict[str, Any]:
    return {"name": name, "red": ["R506"], "outcomes": [], "seconds": LIMIT_S, "error": error}


def main(name: str, out: str, *functions: str) -> None:
    """Check the functions of a table that the file does not have."""
    library = BACKENDS[name]
    os.environ.update(_SETTINGS.get(library, {}))
    backend = backend_named(library)
    function_named(name, next(iter(table(name).TABLE)), backend)  # the imports of the table
    if library in _FIRST:
        warm = subject_of_function(function_of(backend, _FIRST[library], "x:(...) -> y:(...)"))
        check_operator(warm, checks=backend.checks[:1], profile=PROFILES[library])
    file = Path(out)
    for function in functions or table(name).TABLE:
        if function in _done(file):
            continue
        found = apart(name, function)
        with file.open("a") as lines:
            lines.write(json.dumps(found) + "\n")
        print(f"{found['seconds']:6.1f}", function, *found["red"], found.get("error", ""), flush=True)


def _done(file: Path) -> set[str]:
    """Functions that a file has; read again for each, so that two runs may share it."""
    return {json.loads(line)["name"] for line in file.read_text().splitlines()} if file.exists() else set()


if __name__ == "__main__":
    main(*sys.argv[1:])
