"""Runs without a distribution: failures for want of it are skipped, and none else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tools.absent import Absent
from tools.workspace import ROOT

# Operators of three distributions: one that is absent on purpose, one that is not, and none.
_TESTS = """
import subprocess
import sys

import pytest

import operad as od


@pytest.fixture
def composed():
    return od.sym.tanh(od.sym.var("x"))


def test_skipped_for_a_call():
    od.nd.tanh(od.nd.array([1]))


def test_skipped_for_a_method():
    od.nd.array([1]).exp()


def test_skipped_for_a_fixture(composed):
    pass


def test_skipped_for_a_cause():
    try:
        od.nd.array([1]) * 2
    except AttributeError as error:
        raise ValueError("what came of it") from error


def test_skipped_for_one_of_a_group():
    try:
        od.sym.tanh
    except AttributeError as error:
        raise ExceptionGroup("several", [ValueError("one"), error])


def test_skipped_for_what_is_expected_to_raise_otherwise():
    with pytest.raises(AttributeError, match="another text"):
        od.sym.tanh


def test_skipped_for_what_a_program_printed():
    program = "import operad; operad.nd.tanh"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_failed_for_want_of_another():
    od.sym.Convolution


def test_failed_for_want_of_what_nothing_provides():
    od.sym.tanhh


def test_failed_for_a_python_attribute():
    object().exp


def test_failed_for_its_own_sake():
    assert "pip install operad-elemwise" == "no installed plugin provides it"


def test_passed():
    with pytest.raises(AttributeError, match="tanh"):
        od.sym.tanh
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Outcome of each test, with pytest's text on it."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, folder)
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "absent.py", folder / "tools")
    (folder / "test_wanting.py").write_text(_TESTS)
    words = ["-p", "no:cacheprovider", "-v", "--absent", "operad-elemwise", "test_wanting.py"]
    # As if nothing were installed, whatever is.
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    settings |= {"OPERAD_SAFE": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "pytest", *words]
    done = subprocess.run(command, check=False, cwd=folder, env=settings, capture_output=True, text=True)
    return dict(re.findall(r"^test_wanting.py::test_(\w+) (.*\S) +\[ *\d+%\]$", done.stdout, re.MULTILINE))


def test_each_test_is_called_for_what_becomes_of_it(outcomes: dict[str, str]) -> None:
    became = {name: outcome.split()[0].lower() for name, outcome in outcomes.items()}
    assert became == {name: name.partition("_")[0] for name in became}
    assert len(became) == _TESTS.count("def test_")


def test_a_skip_says_what_was_missing_from_which_distribution(outcomes: dict[str, str]) -> None:
    reason = "SKIPPED (needs operad-elemwise: no installed plugin provides operator 'tanh')"
    assert outcomes["skipped_for_a_call"] == reason


@pytest.mark.parametrize(
    "text",
    [
        "no installed plugin provides namespace 'optimizer'; pip install operad-optimizer",
        "No module named 'operad.optimizer'",
        "No module named 'operad.optimizer.updates'",
    ],
)
def test_a_namespace_is_wanting_like_an_operator(text: str) -> None:
    assert Absent(["operad-optimizer"]).why(text) is not None
    assert Absent(["operad-metric"]).why(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "NDArray has no attribute 'split_v2', a plugin adds it: pip install operad-mxnet",
        "no installed plugin provides operator 'test_utils'; a plugin adds it to od.nd: ...",
    ],
)
def test_a_name_of_a_face_is_wanting_like_an_operator(text: str) -> None:
    assert Absent(["operad-mxnet", "operad-test-utils"]).why(text) is not None
    assert Absent(["operad-metric"]).why(text) is None
