"""What `fit` says where a program has set up no logging, and where it has."""

import subprocess
import sys

import pytest

PROGRAM = """
import logging
import numpy as np
import operad as od
{before}
net = od.sym.SoftmaxOutput(od.sym.FullyConnected(od.sym.var("data"), num_hidden=2), name="softmax")
data = od.io.NDArrayIter(np.ones((4, 3), "float32"), np.zeros(4), 2)
module = od.mod.Module(net{given})
module.fit(data, data, num_epoch=2{fitted})
root = logging.getLogger()
print(len(root.handlers), root.level)
"""


def run(before="", given="", fitted=""):
    program = PROGRAM.format(before=before, given=given, fitted=fitted)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)


def test_epochs_are_shown_on_stderr_where_no_logging_is_set_up():
    done = run(fitted=", batch_end_callback=lambda param: logging.getLogger('other').info('not asked for')")
    lines = done.stderr.splitlines()
    assert [line.partition("=")[0] for line in lines] == [
        f"Epoch[{epoch}] {what}"
        for epoch in (0, 1)
        for what in ("Train-accuracy", "Time cost", "Validation-accuracy")
    ]
    assert done.stdout == "0 30\n"


@pytest.mark.parametrize(
    ("before", "given"),
    [("logging.getLogger().setLevel(logging.ERROR)", ""), ("", ", logger=logging.getLogger('mine')")],
)
def test_a_program_that_has_set_up_logging_decides(before, given):
    assert run(before, given).stderr == ""


def test_a_program_that_logs_gets_each_line_once():
    lines = run("logging.basicConfig(level=logging.INFO)").stderr.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("INFO:root:Epoch[0] Train-accuracy=")
