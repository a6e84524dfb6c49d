"""Threads that wait and compute in machine code, under signals, forks, other engines and an exit."""

from __future__ import annotations

import sys

import pytest

from operad_sdk.vector.team import has_team
from operator_sdk.sdk.tests.vector_code import require_vector_code
from tests.reliability.processes import run

require_vector_code()

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(
        sys.platform != "linux" or not has_team(), reason="helpers wait at semaphores of Linux"
    ),
]

HEAD = """
import os, signal, sys, threading
import numpy as np
import operad as od
from operad_sdk.vector.team import team
from tests.reliability.processor_time import least_share

rng = np.random.default_rng(0)
rows = od.nd.array(rng.standard_normal((1024, 1000)))
left, right = (od.nd.array(rng.standard_normal((400, 400)).astype("f")) for _ in range(2))
images = od.nd.array(rng.standard_normal((6, 8, 40, 40)).astype("f"))
weight = od.nd.array(rng.standard_normal((16, 8, 3, 3)).astype("f"))

def bits():
    "Of kernels whose parts helpers compute: rows, panels of a product, images."
    made = [
        od.nd.softmax(rows), od.nd.dot(left, right),
        od.nd.Convolution(images, weight, kernel=(3, 3), num_filter=16, no_bias=True),
    ]
    return b"".join(one.asnumpy().tobytes() for one in made)

quiet = bits()
assert team._hired, "no helper computes"
ROUNDS = int(sys.argv[1])
"""

STORM = f"""{HEAD}
counts = dict.fromkeys((signal.SIGALRM, signal.SIGCHLD, signal.SIGUSR1, signal.SIGHUP), 0)

def count(number, _):
    counts[number] += 1

for number in counts:
    signal.signal(number, count)
over = threading.Event()

def send():
    "Signals to every thread, whatever it waits for: helpers do not block the last two."
    while not over.is_set():
        for thread in threading.enumerate():
            for number in (signal.SIGUSR1, signal.SIGCHLD, signal.SIGHUP):
                if thread.is_alive():
                    signal.pthread_kill(thread.ident, number)

sender = threading.Thread(target=send)
sender.start()
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
number = 0
while number < ROUNDS or min(counts.values()) <= ROUNDS:
    assert bits() == quiet, "a signal changed a result"
    if number % 20 == 0:
        child = os.spawnlp(os.P_NOWAIT, "true", "true")
        os.waitpid(child, 0)
    number += 1
signal.setitimer(signal.ITIMER_REAL, 0)
over.set()
sender.join()
assert least_share() < 0.05, "a helper computes after the storm"
assert bits() == quiet
"""

CHANGES = f"""{HEAD}
from operad import engine

failures, over = [], threading.Event()

def work():
    while not over.is_set():
        try:
            if bits() != quiet:
                failures.append("other bits")
        except BaseException as error:
            failures.append(repr(error))

threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
for number in range(ROUNDS):
    child = os.fork()
    if not child:
        try:
            found = bits() == quiet and bits() == quiet and team._hired
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            found = False
        os._exit(0 if found else 1)
    assert os.waitpid(child, 0)[1] == 0, "in the child"
    if number % 4 == 0:
        engine.set(("naive", "threaded")[number // 4 % 2])
    assert bits() == quiet
assert not failures, failures
print("done", flush=True)
# The process ends while both threads compute.
"""


@pytest.mark.parametrize("rounds", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_a_storm_of_signals_changes_no_bit_and_leaves_no_thread_computing(rounds: int) -> None:
    done = run("-c", STORM, str(rounds), num_threads=3)
    assert not done.returncode, done.stderr


@pytest.mark.parametrize("rounds", [12, pytest.param(120, marks=pytest.mark.slow)])
def test_forks_and_other_engines_and_an_exit_beside_threads_that_compute(rounds: int) -> None:
    done = run("-W", "ignore", "-c", CHANGES, str(rounds), num_threads=3)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
