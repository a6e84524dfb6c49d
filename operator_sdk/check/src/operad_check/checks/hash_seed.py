"""Group R: another process, in which strings have other hashes."""

from __future__ import annotations

import dis
import hashlib
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType
from typing import Any, Final

import numpy as np

from operad_check.cases.kinds import ORDINARY
from operad_check.checks.sharing import both_passes
from operad_check.plan.profile import Profile
from operad_check.running.register import Evidence, check
from operad_check.running.session import Session
from operad_check.trials.cause import is_library
from operad_check.trials.subject import Subject, subject_of
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Unavailable, Violation

_SEEDS: Final = ("1", "2")
_CASES: Final = 8
_HASHES: Final = frozenset(("set", "frozenset", "hash"))
_TIMEOUT_S: Final = 60.0
_FEW: Final = Profile("few", _CASES, 1.0)


@check("R509")
def hash_seed(subject: Subject) -> Evidence:
    """Compare the cases here with two processes of other hash seeds, if the code makes sets or hashes."""
    if not any(_hashes(code) for code in _codes(subject)) or subject.contract.nondeterministic:
        return None
    found = {seed: _digest_with(subject, seed) for seed in _SEEDS}
    found[os.environ.get("PYTHONHASHSEED", "random")] = digest(subject)
    if len(set(found.values())) > 1:
        seeds = " and ".join(f"={seed}" for seed in found)
        raise Violation(f"results depend on a hash: with PYTHONHASHSEED{seeds} the same cases differ")
    return _CASES


def digest(operator: Any) -> str:
    """A hash of what both passes give on the first cases."""
    session = Session(subject_of(operator), _FEW)
    total = hashlib.sha256()
    for case in session.pool(ORDINARY):
        trial = Trial(session.subject, case)
        if not trial.is_runnable:
            continue
        for array in both_passes(trial, trial.new_operator()):
            total.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _codes(subject: Subject) -> Iterator[CodeType]:
    """Code of the operator's functions, and of the functions of their own modules that they call."""
    cls: Any = subject.cls
    declared = [getattr(cls, "_forward_function", None), *getattr(cls, "_gradient_functions", {}).values()]
    left = [*(each.function for each in declared if each is not None), *vars(cls).values()]
    left += [getattr(kernel.factory, "_function", None) for kernel in cls.kernels]
    seen: set[int] = set()
    while left:
        value = left.pop()
        value = value.func if isinstance(value, partial) else value
        function = inspect.unwrap(value.__func__) if isinstance(value, staticmethod) else value
        if not isinstance(function, FunctionType) or id(function) in seen or is_library(function.__module__):
            continue
        seen.add(id(function))
        yield function.__code__
        left += [
            function.__globals__[name] for name in _names(function.__code__) & function.__globals__.keys()
        ]


def _names(code: CodeType) -> set[str]:
    inner = [value for value in code.co_consts if isinstance(value, CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _hashes(code: CodeType) -> bool:
    """Return whether the order of a set, or a hash, may matter in the code or in a function inside it."""
    makes_sets = any(instruction.opname == "BUILD_SET" for instruction in dis.get_instructions(code))
    constant = {word for value in code.co_consts if isinstance(value, frozenset) for word in value}
    inner = [value for value in code.co_consts if isinstance(value, CodeType)]
    has_words = any(isinstance(word, str) for word in constant)
    return bool(makes_sets or has_words or _HASHES & set(code.co_names)) or any(map(_hashes, inner))


def _digest_with(subject: Subject, seed: str) -> str:
    module, expression = subject.reference()
    program = (
        "from operad_check.checks.hash_seed import digest\n"
        "from operad_check.trials.subject import importing, subject_of\n"
        f"with importing():\n    {module or 'pass'}\n"
        f"found = subject_of({expression})\n"
        "print('found')\n"
        "print(digest(found))"
    )
    environment = {
        **os.environ,
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
    )
    if done.returncode and "found" not in done.stdout.split():
        raise Unavailable("the operator cannot be found in another process")
    if done.returncode:
        raise RuntimeError(f"the process ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout.strip().splitlines()[-1]
