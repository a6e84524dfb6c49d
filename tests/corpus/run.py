"""The checks of all functions of a table, each in its own process: `python -m tests.corpus.run torch FILE`.

The file has one line of JSON per function, and functions that it has are passed over, so that a run that was
interrupted goes on. `python -m tests.corpus.page` makes the page of it.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any, Final

from operad_sdk.check import Profile
from operad_sdk.check.cases.kinds import SMOOTH
from operad_sdk.check.foreign.checking import checks_of
from operad_sdk.check.foreign.found import backend_named
from operad_sdk.check.foreign.function import function_of
from operad_sdk.check.foreign.subject import subject_of_function
from operad_sdk.check.running.runner import check_operator
from operad_sdk.check.running.session import Session
from operad_sdk.contract import Contract

PROFILE: Final = Profile("corpus", examples=20, seconds=0.1)
LIMIT_S: Final = 300.0
_FIRST: Final = {"torch": "torch.tanh(x)", "jax": "jnp.tanh(x)"}
"""What the first process checks, so that those that it forks need not import and compile again."""
_START: Final = {"torch": "fork", "jax": "spawn"}
"""How processes start: JAX has threads, which a fork leaves behind."""


def judged(library: str, name: str) -> dict[str, Any]:
    """The verdict on one function of a table."""
    begin = process_time()
    backend = backend_named(library)
    expression, line, *contract = import_module(f"tests.corpus.of_{library}").TABLE[name]
    made = function_of(backend, expression, line, name=name, contract=(contract or [Contract()])[0])
    subject = subject_of_function(made)
    report = check_operator(subject, checks=checks_of(backend), profile=PROFILE)
    return {
        "name": name,
        "version": backend.version,
        "checks": sum(outcome.status == "passed" for outcome in report.outcomes),
        "red": report.red_ids,
        "outcomes": [outcome.to_json() for outcome in report.outcomes if outcome.status.is_red],
        "gradcheck": by_gradcheck(subject, made) if library == "torch" else None,
        "seconds": process_time() - begin,
    }


def by_gradcheck(subject: Any, function: Any) -> list[int]:
    """Number of cases for derivatives that PyTorch's own check refuses, and of all that it was shown."""
    import torch

    shown, refused = 0, 0
    for case in Session(subject, PROFILE).pool(SMOOTH):
        tensors = [function.backend.array(array.copy()).requires_grad_() for array in case.inputs.values()]
        shown += 1
        try:
            refused += not torch.autograd.gradcheck(function.call, tensors, raise_exception=False)
        except (RuntimeError, ValueError):
            refused += 1
    return [refused, shown]


def main(library: str, out: str, *names: str) -> None:
    """Check the functions of a table that the file does not have."""
    table = import_module(f"tests.corpus.of_{library}").TABLE
    backend = backend_named(library)
    warm = subject_of_function(function_of(backend, _FIRST[library], "x:(...) -> y:(...)"))
    check_operator(warm, checks=backend.checks[:1], profile=PROFILE)
    file = Path(out)
    done = {json.loads(line)["name"] for line in file.read_text().splitlines()} if file.exists() else set()
    for name in [name for name in names or table if name not in done]:
        pool = get_context(_START[library]).Pool(1)
        try:
            found = pool.apply_async(judged, (library, name)).get(LIMIT_S)
        except Exception as error:  # noqa: BLE001 - whatever ends one function, the others are checked
            text = f"{type(error).__name__}: {error}"
            found = {"name": name, "red": ["R506"], "outcomes": [], "seconds": LIMIT_S, "error": text}
        pool.terminate()
        with file.open("a") as lines:
            lines.write(json.dumps(found) + "\n")
        print(f"{found['seconds']:6.1f}", name, *found["red"], found.get("error", ""), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
