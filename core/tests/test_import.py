"""What `import operad` imports. Counted, not timed: a count is the same on every machine."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Slow to import (each more than a millisecond), and not needed before something is done.
HEAVY = {
    "ast", "click", "cupy", "dataclasses", "difflib", "hypothesis", "importlib.metadata", "inspect", "json",
    "llvmlite", "msgspec", "numba", "numpy.typing", "packaging", "pathlib", "pluggy", "rich", "subprocess",
    "tempfile", "threadpoolctl", "traceback", "urllib.parse",
}  # fmt: skip


def imported_by(statements: str) -> set[str]:
    """Modules that the statements import in a fresh process, beyond those of `import numpy`."""
    program = (
        "import json as j, sys, numpy; known = set(sys.modules)\n"
        f"{statements}\n"
        "print(j.dumps(sorted(set(sys.modules) - known)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    return set(json.loads(done.stdout))


def test_importing_operad_imports_little():
    modules = imported_by("import operad")
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith("operad_")}
    assert len(modules) <= 40


def test_the_imperative_face_needs_neither_symbols_nor_executors():
    # With fewer threads than the machine has, the engine looks for BLAS pools to limit.
    unlimited = "import os; os.environ['OPERAD_NUM_THREADS'] = str(os.cpu_count())"
    modules = imported_by(f"{unlimited}; import operad as od; od.nd.empty(2)")
    assert not {
        name for name in modules if name.split(".")[:2] in (["operad", "executor"], ["operad", "symbol"])
    }
    # A setting is a path; functions have signatures, for which newer NumPy has imported `inspect` already.
    assert not modules & (HEAVY - {"pathlib", "urllib.parse", "inspect"})


def test_every_face_is_there_when_asked_for():
    imported_by(
        "import operad as od\n"
        "x = od.nd.array([1.0]); x.attach_grad()\n"
        "assert od.symbol is od.sym and od.sym.Symbol is od.Symbol and od.nd.NDArray is od.NDArray\n"
        "assert od.Executor and od.AttrScope and od.name.Prefix and od.autograd.record and od.random.seed\n"
        "od.waitall(); assert od.engine.get() and od.registry and od.cpu() is od.context.cpu(0)\n"
        "assert 'nd' in dir(od) and 'sym' in dir(od)"
    )


FIRST_TOUCHED = ("od.AttrScope", "od.autograd", "od.symbol", "od.nd")
ALSO_TOUCHED = ("od.name", "od.Symbol", "od.NDArray", "od.Executor", "od.sym", "od.ndarray")


@pytest.mark.parametrize(
    "first", [*FIRST_TOUCHED, *(pytest.param(name, marks=pytest.mark.more) for name in ALSO_TOUCHED)]
)
def test_mxnets_spellings_of_the_faces_are_the_faces_whatever_was_touched_first(first):
    imported_by(
        f"import operad as od; {first}\n"
        "assert od.symbol is od.sym and od.symbol.Variable is od.sym.var and 'zeros' in dir(od.symbol)\n"
        "assert od.ndarray.zeros is od.nd.zeros and 'zeros' in dir(od.ndarray)\n"
        "from operad import ndarray, symbol\n"
        "import operad.symbol as by_package, operad.sym as by_name, operad.ndarray as arrays\n"
        "assert symbol is by_package is by_name is od.sym and arrays is ndarray is od.ndarray\n"
        "for face in (symbol, ndarray):\n"
        "    try: face.no_such_operator\n"
        "    except AttributeError: pass\n"
        "    else: raise AssertionError(face)"
    )
