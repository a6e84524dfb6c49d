"""The table of a suite's times: by folder and by function, with what started processes took."""

from __future__ import annotations

import pytest

from tools.suite_times import Cost, folder, function, table
from tools.workspace import ROOT

PROGRAM = """
import subprocess, sys, time
import pytest

BUSY = "import time\\nend = time.process_time() + 0.2\\nwhile time.process_time() < end: pass"

@pytest.mark.parametrize("number", range(2))
def test_here(number): exec(BUSY)

def test_elsewhere(): subprocess.run([sys.executable, "-c", BUSY], check=True)

def test_nothing(): pass
"""
pytest_plugins = ["pytester"]


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_run_ends_with_what_its_tests_took(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(test_busy=PROGRAM)
    words = ("-p", "tools.suite_times", "-p", "no:cacheprovider", "-n", workers)
    lines = pytester.runpytest_subprocess(*words).outlines
    rows = {cells[3]: cells for line in lines if len(cells := line.split()) == 4 and cells[0].isdigit()}
    assert rows["test_busy.py::test_here"][0] == "2"
    assert float(rows["test_busy.py::test_here"][1]) >= 0.4
    assert float(rows["test_busy.py::test_elsewhere"][1]) >= 0.2
    assert rows["all"][0] == "4"


def test_groups_are_summed_and_ranked() -> None:
    costs = {
        "core/tests/engine/test_var.py::test_a[1]": Cost(1, 1.0, 1.0),
        "core/tests/engine/test_var.py::test_a[2]": Cost(1, 1.0, 2.0),
        "plugins/rnn/tests/test_rnn.py::test_b": Cost(1, 9.0, 4.0),
    }
    assert [line.split()[-1] for line in table(costs, folder, 5)] == [
        "of",
        "plugins/rnn",
        "core/tests/engine",
        "all",
    ]
    assert table(costs, function, 1)[1:] == [
        "     1       4.0       9.0  plugins/rnn/tests/test_rnn.py::test_b",
        "     3       7.0      11.0  all",
    ]
