"""Signals to threads that operad starts: none computes for nothing afterwards or takes a program's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(sys.platform != "linux", reason="masks are read in /proc"),
]

PROGRAM = """
import os, signal, sys, threading, time
from contextlib import suppress
import numpy as np
import operad as od
from tests.reliability.processor_time import least_share

SIGNALS = [signal.SIGUSR1, signal.SIGALRM, signal.SIGHUP, signal.SIGCHLD]  # the last two are open in helpers
for number in SIGNALS:
    signal.signal(number, lambda *_: None)

rows = od.nd.array(np.ones((2000, 1000), "f4"))

def work():
    od.nd.softmax(od.nd.tanh(rows)).asnumpy()  # a thread that waits in machine code
    od.nd.random.uniform(shape=(1 << 21,)).asnumpy()  # a thread for parts of an operation
    ahead = od.io.PrefetchingIter(od.io.NDArrayIter(np.ones((80, 2), "f4"), batch_size=2))
    ahead.next()
    return ahead

def helpers():
    main = threading.main_thread()
    while True:
        found = [each for each in threading.enumerate() if each is not main and each.is_alive()]
        if set(sys.argv[1:]) <= {kind(each) for each in found}:
            return found
        time.sleep(0.001)  # one is on its way, and others have done its work

def kind(thread):
    return thread.name.rstrip("-0123456789")

def expect_rest(kept):
    for number in SIGNALS:
        for thread in helpers():
            with suppress(ProcessLookupError):  # that of an iterator that is gone
                signal.pthread_kill(thread.ident, number)
    assert least_share() < 0.05, "a helper computes after a signal"
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    work()
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert least_share() < 0.05, "a helper computes after a timer"
    work()  # each is still there
    assert least_share() < 0.05, "a helper computes after more work"

kept = work()
kinds = {kind(thread) for thread in helpers()}
expect_rest(kept)
child = os.fork()
if not child:
    try:
        expect_rest(work())
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0, "in the child"
print(*sorted(kinds))
for thread in helpers():
    with suppress(FileNotFoundError, ProcessLookupError):  # as above
        with open(f"/proc/self/task/{thread.native_id}/status") as file:
            blocked = int(next(line for line in file if line.startswith("SigBlk")).split()[1], 16)
        print([number.name for number in SIGNALS if blocked >> number - 1 & 1])
"""

STOPPED = """
import subprocess
import numpy as np
import operad as od

class Starts(od.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        started = subprocess.Popen(["sleep", "100"])
        started.terminate()
        self.assign(out_data[0], req[0], od.nd.array([started.wait()]))

@od.operator.register("starts")
class StartsProp(od.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Starts()

print(int(od.nd.Custom(od.nd.zeros(1), op_type="starts").asnumpy()[0]))
"""


KINDS = ["operad-cpu", "operad-intra-op", "operad-prefetching", "operad-team"]


def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *words], env={**os.environ, "OPERAD_NUM_THREADS": "2"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_no_helper_computes_after_a_signal() -> None:
    done = run(PROGRAM, *KINDS)
    assert not done.returncode, done.stderr
    kinds, *masks = done.stdout.splitlines()
    assert kinds.split() == KINDS
    assert set(masks) == {"['SIGUSR1', 'SIGALRM']"}, "signals that a program uses are left to its threads"


def test_a_process_that_an_operation_starts_can_be_stopped() -> None:
    done = run(STOPPED)
    assert done.stdout.split() == [str(-signal.SIGTERM)], done.stderr
