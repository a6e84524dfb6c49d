"""What `operad new` makes is green untouched, in an environment that holds nothing else.

One package has an operator of every kind; among the slow tests each kind has a package of its own, whose
contract is checked.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, final

import pytest

from operad_check.new import KINDS
from tests.integration.environments import CleanEnvironment

NAME = "acme-ops"
CLI = ("-m", "operad")
OTHERS = {"kernel-for": "FullyConnected"}
"""Operators of operad, for kinds that are about an installed one."""
PACKAGES = {"every kind": {OTHERS.get(kind, f"{kind.replace('-', '_')}_example"): kind for kind in KINDS}}
PACKAGES |= {kind: {OTHERS.get(kind, "AcmeExample"): kind} for kind in KINDS}

QUICK = ("every kind",)
CHECKED_QUICKLY = ("unary",)
"""Kinds whose contract is checked among the fast tests; each takes half a minute."""

pytestmark = pytest.mark.timeout(300)


@final
class Author(NamedTuple):
    """Someone who ran `operad new` and `pip install`, and changed nothing.

    Attributes:
        environment: Where the package is installed, in place.
        package: Its folder.
        operators: The operators' names.
    """

    environment: CleanEnvironment
    package: Path
    operators: list[str]

    def run(self, *words: str) -> str:
        """What Python says to `words` in the package's folder."""
        return self.environment.execute(*words, cwd=self.package)


def of_packages(names: Iterable[str], quick: Iterable[str]) -> pytest.MarkDecorator:
    """Parametrizes a test by packages; those that are not quick are for `make test-slow`."""
    cases = [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]
    return pytest.mark.parametrize("author", cases, indirect=True, scope="module")


@pytest.fixture(scope="module")
def author(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, wheels: dict[str, Path]
) -> Author:
    folder = tmp_path_factory.mktemp("author")
    environment = CleanEnvironment(folder / "environment", next(iter(wheels.values())).parent)
    environment.install("operad-check[new]", "operad-sdk[fast]", "operad-fully-connected")
    environment.add_libraries(["mypy", "ruff", "hatchling", "editables"])
    ops = PACKAGES[request.param]
    asked = [word for name, kind in ops.items() for word in ("--op", f"{name}:{kind}")]
    environment.execute(*CLI, "new", str(folder / NAME), *asked, "--author", "Ada Lovelace")
    environment.install_project(folder / NAME, "test")
    return Author(environment, folder / NAME, list(ops))


@of_packages(PACKAGES, QUICK)
@pytest.mark.parametrize("words", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_has_nothing_to_say(author: Author, words: list[str]) -> None:
    # Ruff is one program, the same in every environment.
    command = [sys.executable, "-m", "ruff", *words, "--no-cache", "."]
    done = subprocess.run(command, check=False, cwd=author.package, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@of_packages(PACKAGES, QUICK)
def test_values_and_examples_hold(author: Author) -> None:
    _all_pass(author.run("-m", "pytest", "-p", "no:cacheprovider", "--ignore=tests/test_contract.py"))


@of_packages(PACKAGES, QUICK)
def test_types_are_strict(author: Author) -> None:
    assert "Success" in author.run("-m", "mypy")


@of_packages(KINDS, CHECKED_QUICKLY)
def test_every_test_passes(author: Author) -> None:
    closing = author.run("-m", "pytest", "-p", "no:cacheprovider", "-v")
    _all_pass(closing)
    assert "test_contract.py" in closing


@of_packages(KINDS, CHECKED_QUICKLY)
def test_operad_check_finds_nothing(author: Author) -> None:
    author.run(*CLI, "check", "--strict", "--plugin", NAME)


@of_packages(OTHERS, ())
def test_small_calls_choose_the_kernel(author: Author) -> None:
    small = author.run(*CLI, "why", "FullyConnected", "--shape", "2x8", "--param", "num_hidden=4")
    large = author.run(*CLI, "why", "FullyConnected", "--shape", "99x99", "--param", "num_hidden=4")
    chosen = [
        next(line for line in shown.splitlines() if line.startswith("chosen")) for shown in (small, large)
    ]
    assert ["FullyConnected.small" in line for line in chosen] == [True, False]
    bound = author.environment.run(
        "import operad as od; layer = od.sym.FullyConnected(od.sym.var('data'), num_hidden=4)\n"
        "print(layer.simple_bind(od.cpu(), data=(2, 8)).why())"
    )
    assert "FullyConnected.small" in bound


@of_packages(PACKAGES, QUICK)
def test_the_benchmark_times_every_operator(author: Author) -> None:
    lines = author.run("benchmarks/bench_acme_ops.py").splitlines()
    assert [line.split()[0] for line in lines] == author.operators


def _all_pass(said: str) -> None:
    closing = said.splitlines()[-1]
    assert " passed" in closing
    assert not [word for word in ("skipped", "warning", "xfailed") if word in closing], said
