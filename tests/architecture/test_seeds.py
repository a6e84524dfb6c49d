"""Tests draw from seeds that a run can be given again: `drawn_seed`, or what they write down.

NumPy's and Python's global generators start from the test's seed (`conftest.py`), so functions of those may
draw inside a test. At import, and in a program that a test runs, nothing has seeded them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_run import run, suite  # noqa: F401 - a fixture
from tools.workspace import ROOT

FOLDERS = ("core/tests", "operator_sdk/*/tests", "plugins/*/tests", "contrib_ops/*/tests", "tests")
OF_OPERATORS = ROOT / "operator_sdk/check/tests/zoo"
"""Operators that are wrong on purpose, some by what they draw."""
UNSEEDED = {"urandom", "SystemRandom", "getrandom", "uuid1", "uuid4"}
GENERATORS = {
    "Random", "default_rng", "RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "Philox", "MT19937",
    "SFC64", "seed",
}  # fmt: skip
DRAWN = re.compile("|".join(["secrets", "random", *UNSEEDED, *GENERATORS]))
"""A name in every file that draws."""
CHANCE = {"time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "getpid", "id", "hash"}


def draws(source: str, *, is_program: bool = False) -> Iterator[tuple[int, str]]:
    """Lines and texts of draws that cannot be repeated."""
    is_seeded = is_program and ".seed(" in source
    for node, is_inside in _nodes(ast.parse(source)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names]
            if "secrets" in names:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call):
            is_global = (is_program and not is_seeded) or (not is_program and not is_inside)
            if _is_chance(node, is_global=is_global):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            yield from ((node.lineno, text) for _, text in _of_program(node.value))


def _nodes(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Nodes, and whether each is a function or stands in one."""
    rest = [(tree, False)]
    for node, is_inside in rest:
        is_inside = is_inside or _is_function(node)
        yield node, is_inside
        rest += [(each, is_inside) for each in ast.iter_child_nodes(node)]


def _of_program(text: str) -> list[tuple[int, str]]:
    """Draws of a text, if that is a program."""
    try:
        return [*draws(text, is_program=True)] if "import " in text and DRAWN.search(text) else []
    except SyntaxError:
        return []


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))


def _is_chance(node: ast.Call, *, is_global: bool) -> bool:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in UNSEEDED:
        return True
    if name in GENERATORS:
        given = [*node.args, *[keyword.value for keyword in node.keywords]]
        calls = [each for one in given for each in ast.walk(one) if isinstance(each, ast.Call)]
        is_empty = not given or all(isinstance(one, ast.Constant) and one.value is None for one in given)
        return is_empty or any(ast.unparse(each.func).split(".")[-1] in CHANCE for each in calls)
    return is_global and ast.unparse(node.func).split(".")[:-1] in (
        ["random"],
        ["np", "random"],
        ["numpy", "random"],
    )


def test_no_test_draws_what_cannot_be_drawn_again() -> None:
    paths = {path for folder in FOLDERS for root in ROOT.glob(folder) for path in root.rglob("*.py")}
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in sorted(paths)
        if not path.is_relative_to(OF_OPERATORS) and path != Path(__file__)
        if DRAWN.search(source := path.read_text())
        for line, text in draws(source)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "draws_by_chance"),
    [
        ("import secrets", True),
        ("from secrets import randbits", True),
        ("def test(): os.urandom(3)", True),
        ("def test(): random.Random()", True),
        ("def test(): random.Random(7).random()", False),
        ("def test(): np.random.default_rng()", True),
        ("def test(): np.random.default_rng(None)", True),
        ("def test(): np.random.RandomState(seed=time.time_ns())", True),
        ("def test(): np.random.default_rng([3, hash(name)])", True),
        ("def test(drawn_seed): np.random.default_rng(drawn_seed)", False),
        ("def test(): random.shuffle(x)", False),
        ("X = np.random.normal(size=3)", True),
        ("X = np.random.default_rng(0).normal(size=3)", False),
        ("def test(): run('''\nimport random\nrandom.random()\n''')", True),
        ("def test(): run('''\nimport random\nrandom.seed(3)\nrandom.random()\n''')", False),
    ],
)
def test_draws_are_found(source: str, draws_by_chance: bool) -> None:
    assert bool([*draws(source)]) is draws_by_chance


DRAWING = """
import random
import numpy as np

def test_fixture(drawn_seed):
    assert not drawn_seed

def test_global():
    assert not [random.random(), float(np.random.normal())]

def test_without():
    assert not 1
"""


@pytest.mark.more
def test_a_failure_names_the_command_that_draws_the_same_again(suite: Path) -> None:  # noqa: F811
    (suite / "test_few.py").write_text(DRAWING)
    first = run(suite)
    seed = next(line for line in first if line.startswith("seed: ")).removeprefix("seed: ")
    commands = [line for line in first if line.startswith("python -m pytest")]
    assert commands == [
        f"python -m pytest 'test_few.py::{name}' --seed {seed}" for name in ("test_fixture", "test_global")
    ]
    (drawn,) = [line for line in first if line.startswith("E       assert not [")]
    # alone, and in a process of pytest-xdist
    assert drawn in run(suite, "--seed", seed, "-k", "global", "-n", "1")
