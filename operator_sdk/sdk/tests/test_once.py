"""One compilation for each kernel, whatever number of threads ask for it at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from core.tests.together import run_together
from operad_sdk.mapper import mapper
from operad_sdk.once import Once
from operator_sdk.sdk.tests.vector_code import require_vector_code

THREADS = 8


def in_threads(work, count=THREADS):
    """What each thread returned or raised; all begin at once."""
    barrier, found = threading.Barrier(count), [None] * count

    def run(number):
        barrier.wait()
        try:
            found[number] = work(number)
        except Exception as error:  # noqa: BLE001 - a result, too
            found[number] = error

    run_together(run, range(count))
    return found


class Maker:
    """Makes things, and counts them."""

    def __init__(self):
        self.made = []

    def __call__(self, key):
        self.made.append(key)
        return f"thing {key}"


def test_a_thing_is_made_once_and_all_get_it():
    once, maker = Once(), Maker()
    assert in_threads(lambda _: once.get("a", maker, "a")) == ["thing a"] * THREADS
    assert maker.made == ["a"]
    assert once._pending == {}


def test_different_things_are_made_each_by_one_thread():
    once, maker = Once(), Maker()
    found = in_threads(lambda number: once.get(number % 3, maker, number % 3))
    assert found == [f"thing {number % 3}" for number in range(THREADS)]
    assert sorted(maker.made) == [0, 1, 2]


def test_threads_that_wait_get_the_error_of_the_maker_and_a_later_one_tries_again():
    once, waiting = Once(), threading.Semaphore(0)
    error, calls = ValueError("no code"), []

    def fails():
        calls.append(1)
        for _ in range(THREADS - 1):
            waiting.acquire()
        raise error

    class Counting(dict):
        def setdefault(self, key, value):
            found = dict.setdefault(self, key, value)
            if found is not value:
                waiting.release()  # this thread will wait for the maker's lock, or find its error
            return found

    once._pending = Counting()
    assert in_threads(lambda _: once.get("a", fails)) == [error] * THREADS
    assert len(calls) == 1
    assert once.get("a", lambda: 5) == 5
    assert once._pending == {}


def test_an_interruption_of_the_maker_leaves_it_to_the_next():
    once = Once()

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        once.get("a", interrupted)
    assert in_threads(lambda _: once.get("a", lambda: 5)) == [5] * THREADS


def test_making_one_thing_may_ask_for_another():
    once = Once()
    assert once.get("a", lambda: once.get("b", lambda: 1) + 1) == 2


@mapper
def one_more(x):
    return x + 1.0


def test_threads_that_meet_a_new_form_compile_one_kernel(monkeypatch):
    machine = pytest.importorskip("operad_sdk.vector.machine")
    compiled = pytest.importorskip("operad_sdk.vector.compiled")
    require_vector_code()
    texts, real = [], machine.object_code
    monkeypatch.setattr(machine.cache_files, "load", lambda path: None)
    monkeypatch.setattr(machine.cache_files, "save", lambda path, code: None)
    monkeypatch.setattr(machine, "object_code", lambda text, to: texts.append(text) or real(text, to))
    machine._addresses.found.clear()

    def work(number):
        x = np.full(10, number, np.float64)
        compiled.CompiledForm(one_more.form, x.dtype)([x], [x])
        return x[0]

    assert in_threads(work) == [number + 1 for number in range(THREADS)]
    assert len(texts) == 1


def test_a_kernel_that_cannot_be_compiled_fails_in_every_thread(monkeypatch):
    machine = pytest.importorskip("operad_sdk.vector.machine")
    require_vector_code()
    monkeypatch.setattr(machine.cache_files, "load", lambda path: None)
    found = in_threads(lambda _: machine.address_of("define void @kernel() { nonsense }", "kernel"))
    assert all("please report it" in str(error) for error in found)


def test_threads_that_meet_a_new_mapper_compile_one_kernel(monkeypatch):
    machine = pytest.importorskip("operad_sdk.vector.machine")
    require_vector_code()
    form = one_more.backend("vector")
    form.map(np.zeros(9))  # of another type, so that all but the kernel is there
    texts, real = [], machine.object_code
    monkeypatch.setattr(machine.cache_files, "load", lambda path: None)
    monkeypatch.setattr(machine.cache_files, "save", lambda path, code: None)
    monkeypatch.setattr(machine, "object_code", lambda text, to: texts.append(text) or real(text, to))
    found = in_threads(lambda number: form.map(np.full(9, number, np.float32))[0])
    assert found == [number + 1 for number in range(THREADS)]
    assert len(texts) == 1


def test_threads_that_meet_a_new_loop_compile_it_once(monkeypatch):
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    jit = pytest.importorskip("operad_sdk.jit")
    from numba.core.dispatcher import _FunctionCompiler

    names, real = [], _FunctionCompiler.compile

    def counted(self, args, returned):
        names.append(self.py_func.__name__)
        return real(self, args, returned)

    def halve(array):
        for i in range(len(array)):
            array[i] /= 2

    monkeypatch.setattr(_FunctionCompiler, "compile", counted)
    loop = jit.jit(halve, None, nogil=True)
    arrays = [np.full(3, number) * 2.0 for number in range(THREADS)]
    in_threads(lambda number: loop(arrays[number]))
    assert [array[0] for array in arrays] == list(range(THREADS))
    assert names == ["halve"]


FORKS = """
import os, threading
import numpy as np
from operad_sdk.mapper import mapper
from operad_sdk.vector.compiled import CompiledForm
from operad_sdk.mapper.builder import Builder

def work(number):
    b = Builder("f", ["x"])
    form = b.finish(b.apply("multiply", b.apply("tanh", 0), b.constant(float(number))))
    x = np.ones(3, "f")
    CompiledForm(form, x.dtype)([x], [x])
    return x[0]

is_over = False

def compiles():
    number = 1000
    while not is_over:
        work(number)
        number += 1

thread = threading.Thread(target=compiles)
thread.start()
for number in range(12):
    child = os.fork()
    if not child:
        os._exit(0 if work(5000 + number) > 0 else 1)  # a kernel that nobody has compiled
    assert os.waitpid(child, 0)[1] == 0
is_over = True
thread.join()
"""


@pytest.mark.serial
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of POSIX")
def test_a_child_that_was_forked_beside_a_compilation_compiles(tmp_path):
    require_vector_code()
    done = subprocess.run(
        [sys.executable, "-c", FORKS], env={**os.environ, "OPERAD_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr
