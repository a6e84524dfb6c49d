"""Imports of MXNet's programs, by operad's name and by MXNet's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import mxnet as mx
from mxnet import nd, autograd
from mxnet.ndarray import linalg
import mxnet.symbol as sym
from mxnet.optimizer import SGD
from mxnet.optimizer.gradient_descent import SGD as same

assert SGD is same and mx.optimizer.SGD is SGD
assert mx.sym is sym and mx.nd is nd and mx.nd.linalg is linalg
x = nd.array([1.0, 2.0])
x.attach_grad()
with autograd.record():
    y = nd.maximum(x * x, 2.5).sum()
y.backward()
print(x.grad.asnumpy().tolist(), sys.argv[1:])
try:
    nd.ones((2, 3)) + nd.ones((4,))
except mx.base.MXNetError:
    print("refused")
"""


def ran(*words: str, path: Path) -> str:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=path, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_runs_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    out = ran("-m", "operad", "run-mxnet", "train.py", "--epochs", "3", path=tmp_path)
    assert out.splitlines() == ["[0.0, 4.0] ['--epochs', '3']", "refused"]


@pytest.mark.parametrize("wrong", ["mx.nd.ones(2) + mx.nd.ones(3)", "1 / 0"])
def test_an_error_of_a_program_shows_its_lines_alone(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"import mxnet as mx\n{wrong}\n")
    words = (sys.executable, "-m", "operad", "run-mxnet", "train.py")
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    head, first, *_ = done.stderr.splitlines()
    assert head == "Traceback (most recent call last):"
    assert 'train.py", line 2' in first
    assert "runpy" not in done.stderr


def test_a_program_that_is_no_python_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import mxnet as mx\nif\n")
    words = (sys.executable, "-m", "operad", "run-mxnet", "train.py")
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert 'train.py", line 2' in done.stderr.splitlines()[0]


def test_a_program_runs_after_one_import(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import operad.as_mxnet\n" + PROGRAM)
    assert ran("train.py", path=tmp_path).splitlines()[1] == "refused"


@pytest.mark.parametrize(
    "line",
    [
        "import operad.optimizer.optimizer as a, operad_optimizer.optimizer as b; assert a is b",
        "from operad.ndarray.linalg import gemm2",
        "import operad.nd.contrib, operad; assert operad.nd.contrib is operad.ndarray.contrib",
        "from operad.base import MXNetError; import operad; assert MXNetError is operad.OperadError",
    ],
)
def test_modules_of_plugins_are_imported_under_operads_name(line: str, tmp_path: Path) -> None:
    ran("-c", line, path=tmp_path)


@pytest.mark.parametrize(
    "line", ["import operad.nonsense", "import operad.nd.nonsense", "import operad.optimizer.nonsense"]
)
def test_what_is_nowhere_is_an_import_error(line: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        exec(line, {})  # noqa: S102 - an import statement is the subject
