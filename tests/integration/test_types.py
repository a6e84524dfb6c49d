"""Type checkers on programs of users and authors: faces have types, declarations pass in strict mode."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from operad.cli.stubs.command import write_stubs
from tests.integration.environments import CleanEnvironment

pytestmark = pytest.mark.slow

USER = """
import numpy as np
import operad as od

x = np.zeros((8, 2), "float32")
data = od.io.NDArrayIter(x, np.zeros(8), batch_size=4, shuffle=True, seed=0)
net = od.sym.SoftmaxOutput(od.sym.FullyConnected(od.sym.var("data"), num_hidden=2), name="softmax")
module = od.mod.Module(net)
module.fit(data, num_epoch=1, optimizer="sgd")
metric = od.metric.Accuracy()
metric.update([od.nd.array([1])], [od.nd.array([[0.0, 1.0]])])
pair: tuple[str, float] = metric.get()
y: od.NDArray = od.nd.tanh(od.nd.array(x))
store = od.kv.create("local")

od.mod.Modul(net)  # wrong
od.io.NDArrayIter(x, batch=4)  # wrong
od.metric.Accuracy(axs=1)  # wrong
od.nd.tanh("x")  # wrong
od.sym.FullyConnected(net, num_hiden=3)  # wrong
metric.get().shape  # wrong
"""

AUTHOR = """
from operad_sdk import Array, OpContext, OperatorProperty, gradient, operator, param, unary
from operad_check.testing import check_forward, gradient_check
import numpy as np


@operator("typed_any_order")
class AnyOrder(OperatorProperty):
    factor = param(float, 1.0)
    flag = param(bool, False)
    spec = "data:(N), other:(N) -> output:(N)"

    @staticmethod
    def forward(op_ctx: OpContext, is_train: bool, factor: float, data: Array, other: Array) -> Array:
        return op_ctx.xp.multiply(data, other) * factor

    @staticmethod
    def data_grad(factor: float, other: Array, output_grad: Array) -> Array:
        return output_grad * other * factor

    @staticmethod
    @gradient(inplace="output_grad")
    def other_grad(flag: bool, output_grad: Array, data: Array, factor: float) -> Array:
        return output_grad * data * factor


@unary("typed_function")
def typed_function(data: Array, op_ctx: OpContext, power: int = 2) -> Array:
    return op_ctx.xp.power(data, power)


@typed_function.gradient
def _(power: int, output_grad: Array, data: Array) -> Array:
    return output_grad * power * data ** (power - 1)


ones = np.ones(3)
check_forward(AnyOrder, [ones, 2 * ones], 6 * ones, factor=3.0)
gradient_check(AnyOrder, [ones, 2 * ones], factor=3.0)
check_forward(typed_function, [2 * ones], 8 * ones, power=3)
gradient_check(typed_function, [2 * ones], power=3)
"""

PYRIGHT = shutil.which("basedpyright", path=sysconfig.get_path("scripts")) or shutil.which("pyright")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("typed")
    (made / "user.py").write_text(USER)
    (made / "author.py").write_text(AUTHOR)
    (made / "mypy.ini").write_text("[mypy]\nmypy_path = typings\nstrict = true\n")
    (made / "pyrightconfig.json").write_text('{"stubPath": "typings", "typeCheckingMode": "standard"}')
    assert write_stubs(made / "typings").skipped == []
    return made


def errors(folder: Path, *words: str) -> set[tuple[str, int]]:
    """File and line of each error that a checker finds."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"([\w./-]+\.pyi?):(\d+)(?::\d+)?:? (?:- )?error", done.stdout)
    return {(Path(file).name, int(line)) for file, line in found}


WRONG = {("user.py", n) for n, line in enumerate(USER.splitlines(), 1) if line.endswith("# wrong")}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheels: dict[str, Path]) -> Path:
    """Folder of a user who installed `operad-standard` in `environment`, and did nothing else."""
    made = tmp_path_factory.mktemp("installed")
    environment = CleanEnvironment(made / "environment", next(iter(wheels.values())).parent)
    environment.install("operad-standard")
    (made / "user.py").write_text(USER + "anything = od.nd.acme_of_another_package(y, scale=2)\n")
    (made / "mypy.ini").write_text("[mypy]\nstrict = true\n")
    return made


def test_mypy_strict_knows_what_operad_standard_brings(installed: Path) -> None:
    python = ("--python-executable", "environment/bin/python")
    assert errors(installed, sys.executable, "-m", "mypy", *python, "user.py") == WRONG


@pytest.mark.skipif(PYRIGHT is None, reason="neither pyright nor basedpyright is installed")
def test_pyright_knows_what_operad_standard_brings(installed: Path) -> None:
    assert PYRIGHT is not None
    assert errors(installed, PYRIGHT, "--pythonpath", "environment/bin/python", "user.py") == WRONG


def test_mypy_strict_knows_every_face(folder: Path) -> None:
    assert errors(folder, sys.executable, "-m", "mypy", "user.py") == WRONG


def test_mypy_strict_takes_declarations_in_any_order(folder: Path) -> None:
    assert errors(folder, sys.executable, "-m", "mypy", "author.py") == set()


def test_the_declarations_hold(folder: Path) -> None:
    subprocess.run([sys.executable, "author.py"], cwd=folder, check=True)


@pytest.mark.skipif(PYRIGHT is None, reason="neither pyright nor basedpyright is installed")
@pytest.mark.parametrize(("file", "wrong"), [("user.py", WRONG), ("author.py", set())])
def test_pyright_agrees(folder: Path, file: str, wrong: set[tuple[str, int]]) -> None:
    assert PYRIGHT is not None
    assert errors(folder, PYRIGHT, "--pythonpath", sys.executable, file) == wrong
